"""What is quoted for a question, skill by skill."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from orchestra.models.extractive.choosing import best, with_items
from orchestra.models.extractive.comparison import blocks, compared
from orchestra.models.extractive.kinds import asks_for_several
from orchestra.models.extractive.listing import members_of, table_by
from orchestra.models.extractive.query import Query
from orchestra.models.extractive.quoting import bullets, quote
from orchestra.models.extractive.ranking import Ranked, answer_facts, place_worth, starts_with_pronoun, states_cause
from orchestra.models.extractive.statements import Statement
from orchestra.models.extractive.vocabulary import YEAR, stem, words
from orchestra.models.extractive.word_lists import STOP_WORDS

FEWEST_FITTING = 3
FACTS, CAUSES, FEW_CAUSES, CENTRAL, OTHERS = 3, 7, 3, 8, 6
NEAR_CAUSE, OTHER_YEAR = 0.75, 0.9
SENTENCES_BEFORE, SENTENCES_AFTER = 2, 8
PRONOUN_LOSS = 0.25  # out of its place nobody knows of whom it speaks
BREAKDOWN_ROWS, BREAKDOWN_REACH_LINES = 12, 6
_NEGATION = re.compile(
    r"\b(?:not|no|none|never|neither|nothing|without|unknown|unresolved|undisclosed|missing|absent|cannot|yet to|"
    r"no amount|not been|unable)\b",
    re.IGNORECASE,
)
_CLAIM = re.compile(
    r"\b(?:believe|expect|assume|estimate|may|might|could|should|likely|probabl\w+|possible"
    r"|in our (?:judgement|opinion|view)|because|therefore|however|although|but|if)\b",
    re.IGNORECASE,
)


def _facts(query: Query, ranked: Sequence[Ranked], statements: Sequence[Statement]) -> list[str]:
    """The best answer first, others only if they come near and say something else; a list if one is asked for."""
    if rows := table_by(query, ranked):
        return bullets(query, rows)
    if asks_for_several(query.text) and (members := members_of(query, statements)):
        return bullets(query, members)
    if query.kinds == ("other",) or asks_for_several(query.text):
        return most_relevant(query, ranked, statements)
    if ranked[0].statement.text.endswith(":"):
        return bullets(query, with_items(ranked[:1], statements))
    chosen = [ranked[0]]
    known = answer_facts(query, ranked[0])
    for each in ranked[1:]:
        facts = answer_facts(query, each)
        is_near = each.score >= 0.88 * ranked[0].score and each.coverage >= 0.88 * ranked[0].coverage
        if is_near and facts and not facts & known and len(chosen) < FACTS:
            chosen.append(each)
            known |= facts
    return [quote(query, chosen[0])] if len(chosen) == 1 else [f"- {quote(query, each)}" for each in chosen]


def _causes(query: Query, ranked: Sequence[Ranked], statements: Sequence[Statement]) -> list[str]:
    """The outcome, and the sentences around it that name causes; then what elsewhere says why.

    A sentence near the outcome need not repeat the question's words. One about other years than the outcome's
    latest counts for less. A short table right after the outcome is shown whole: it mostly breaks the change down.
    """
    sentences = [each for each in ranked if not each.statement.is_row and not each.statement.is_code]
    if not sentences:
        return most_relevant(query, ranked, statements)
    outcome = max(sentences, key=lambda each: each.score - 0.15 * states_cause(each.statement.text))
    latest = query.years or tuple(sorted(YEAR.findall(outcome.statement.text))[-1:])
    scores = {id(each.statement): each for each in sentences}
    prose = [each for each in statements if not each.is_row and not each.is_code]
    at = next(position for position, each in enumerate(prose) if each is outcome.statement)
    raised: list[Ranked] = []
    for position, statement in enumerate(prose):
        known = scores.get(id(statement), Ranked(statement, 0.0, 0.0))
        is_close = -SENTENCES_BEFORE <= position - at <= SENTENCES_AFTER
        is_near = is_close and (statement.titles, statement.key) == (outcome.statement.titles, outcome.statement.key)
        gain = NEAR_CAUSE if is_near and states_cause(statement.text) else 0.0
        found = YEAR.findall(statement.text)
        loss = OTHER_YEAR if latest and found and latest[-1] not in found else 0.0
        raised.append(replace(known, score=known.score + gain - loss))
    raised = [each for each in raised if each.statement is not outcome.statement]
    chosen = [outcome, *best(raised, CAUSES - 1, share=0.5)]
    chosen = with_items(chosen, statements)
    return bullets(query, chosen if len(chosen) > FEW_CAUSES else [*chosen, *_breakdown(outcome.statement, statements)])


def _breakdown(outcome: Statement, statements: Sequence[Statement]) -> list[Ranked]:
    """The rows of the table that follows a statement at once, if it is a short one."""
    below = [each for each in statements if each.key == outcome.key and each.header_line > outcome.last_line]
    line = min((each.header_line for each in below), default=0)
    rows = [Ranked(each, 0.0, 0.0) for each in below if each.header_line == line]
    is_close = 0 < line - outcome.last_line <= BREAKDOWN_REACH_LINES
    return rows if is_close and 3 <= len(rows) <= BREAKDOWN_ROWS and len(rows[0].statement.header) <= 3 else []


def _comparison(query: Query, ranked: Sequence[Ranked], statements: Sequence[Statement]) -> list[str]:
    """One block for each compared thing; without two things, what is most relevant."""
    things = compared(query.text, statements)
    return blocks(query, things, statements) if len(things) > 1 else most_relevant(query, ranked, statements)


def _summary(query: Query, ranked: Sequence[Ranked], statements: Sequence[Statement]) -> list[str]:
    """Central sentences, spread over the sections: frequent words count once, so that each sentence adds something."""
    relevance = {id(each.statement): each.score for each in ranked}
    sentences = [
        each for each in statements if not each.is_row and not each.is_code and 6 <= len(each.text.split()) <= 60
    ]
    frequency = Counter(word for each in sentences for word in set(each.stems))
    weight = {word: count / max(len(sentences), 1) for word, count in frequency.items() if count > 1}
    first_of = {each.titles: each.place for each in reversed(sentences)}
    chosen: list[Ranked] = []
    taken: Counter[tuple[str, ...]] = Counter()

    def worth(each: Statement) -> float:
        central = sum(weight.get(word, 0.0) for word in set(each.stems)) / (len(set(each.stems)) + 6)
        figures = 0.05 if re.search(r"\d", each.text) else 0.0
        lead = 0.1 if first_of[each.titles] == each.place else 0.0
        lead -= PRONOUN_LOSS if starts_with_pronoun(each.text) else 0.0
        return central * 3 + 0.5 * relevance.get(id(each), 0.0) + figures + lead - 0.3 * taken[each.titles]

    while sentences and len(chosen) < CENTRAL:
        central = max(sentences, key=worth)
        chosen.append(Ranked(central, worth(central), 1.0))
        taken[central.titles] += 1
        sentences.remove(central)
        weight = {word: value * (0.3 if word in central.stems else 1.0) for word, value in weight.items()}
    return bullets(query, chosen) if chosen else most_relevant(query, ranked, statements)


def _gaps(query: Query, ranked: Sequence[Ranked], statements: Sequence[Statement]) -> list[str]:
    """Sentences that say that something is not there, then words of the question that occur nowhere."""
    open_points = [replace(each, score=each.score + 0.3) for each in ranked if _NEGATION.search(each.statement.text)]
    lines = bullets(query, best(open_points, OTHERS, share=0.5))
    unsaid = absent(query, statements)
    return [*lines, *([f"- Not mentioned: {', '.join(unsaid)}."] if unsaid else [])] or [
        "INSUFFICIENT: no sentence says that something is missing."
    ]


def _critique(query: Query, ranked: Sequence[Ranked], statements: Sequence[Statement]) -> list[str]:
    """Sentences that claim, assume or limit something."""
    claims = [replace(each, score=each.score + (0.2 if _CLAIM.search(each.statement.text) else 0.0)) for each in ranked]
    return bullets(query, best(claims, OTHERS, share=0.5))


def about_the_whole(query: Query, skill: str, statements: Sequence[Statement]) -> list[str]:
    """Central sentences of a text that is asked about as a whole: its claims for a critique, its gaps for gaps."""
    pattern = {"critique": _CLAIM, "gap-analysis": _NEGATION}.get(skill)
    fitting = [each for each in statements if pattern is None or pattern.search(each.text)]
    chosen = fitting if len(fitting) >= FEWEST_FITTING else statements
    return _summary(query, [Ranked(each, 1.0, 1.0) for each in chosen], chosen)


def most_relevant(query: Query, ranked: Sequence[Ranked], statements: Sequence[Statement]) -> list[str]:
    """The best statements, those first that stand together under a heading with other good ones."""
    groups: dict[tuple[str, ...], list[Ranked]] = {}
    for each in ranked:
        groups.setdefault(each.statement.titles, []).append(each)
    worth = {titles: place_worth(query, titles, some) for titles, some in groups.items()}
    leading = max(worth, key=lambda titles: worth[titles])
    lead = next(each for each in statements if each.titles == leading)

    def raised(each: Ranked) -> Ranked:
        gain = 0.6 * worth[each.statement.titles] / worth[leading] + 0.3 * (each.statement is lead)
        return replace(each, score=each.score + gain)

    chosen = best((raised(each) for each in ranked), OTHERS, share=0.65)
    return bullets(query, with_items(chosen, statements))


BY_SKILL: dict[str, Callable[[Query, Sequence[Ranked], Sequence[Statement]], list[str]]] = {
    "fact-extraction": _facts,
    "causal-reasoning": _causes,
    "analytical-comparison": _comparison,
    "summarization": _summary,
    "gap-analysis": _gaps,
    "critique": _critique,
}


def absent(query: Query, statements: Sequence[Statement]) -> list[str]:
    """The question's words that no statement and no heading has."""
    present: set[str] = set()
    for statement in statements:
        present.update(statement.stems, *statement.title_stems)
    missing = {each for each in query.weights if each not in present}
    return list(dict.fromkeys(word for word in words(query.text) if stem(word) in missing and word not in STOP_WORDS))
