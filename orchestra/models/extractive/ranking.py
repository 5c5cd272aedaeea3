"""How well a statement answers a question, as a number that two statements can be compared by.

The base is coverage: the share of the question's words, weighted by how rare they are in the text, that a
statement holds, itself or in the headings, the table head and the caption above it. It is raised or lowered
by words that stand together as in the question, by the kind of answer that is asked for, and by brevity.
The years of a question are matched apart, since a table's column carries them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from orchestra.models.extractive.kinds import AMOUNT, NAME, Kind, answer_place
from orchestra.models.extractive.query import Query, title_fit
from orchestra.models.extractive.statements import Statement, is_figure
from orchestra.models.extractive.vocabulary import YEAR, contains, stem, stems, words
from orchestra.models.extractive.word_lists import STOP_WORDS

# To what share a statement counts as holding a word that stands elsewhere than in its own text.
SYNONYM, CORNER, HEADER, NAMED_TITLE, INNER_TITLE, OUTER_TITLE, TABLE = 0.85, 0.85, 0.9, 0.8, 0.65, 0.5, 0.4
PRONOUN = 0.8  # the same for a sentence whose subject is a pronoun: it speaks of its heading
FEATURE, MISFIT = 0.12, -0.15
NEAR_WORDS = 4
PERIOD_YEARS = 5  # a year further away dates an event, and is no other period of account
_REFERENCE = re.compile(
    r"\b(?:described|discussed|set out|explained|see|refer to)\s+(?:\w+\s+){0,3}?(?:under|in|note|section|item)\b",
    re.IGNORECASE,
)
_MONEY = re.compile(r"[$€£]\s?\d|\b(?:dollars|euros|pounds)\b")
_LINK_ONLY = re.compile(r"!?\[[^\]]*\](?:\([^)]*\)|\[[^\]]*\])?[.,]?$")
_PRONOUN = re.compile(r"(?:It|Its|They|Their|This|These|He|She|His|Her)\b")
_CAUSE = re.compile(
    r"\b(?:because|caused?|due to|driven|drove|owing to|as a result|resulted|led to|reflect\w*|thanks to|since|"
    r"attributable|contributed|offset|explain\w*|reason|consequence|therefore|helped|held back|benefit\w*|"
    r"added|took away|reduced|raised|came from)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Ranked:
    """A statement with its score; `coverage` is the share of the question that it holds, 0 to 1.

    `column` is the column of a row that the question asks for, 0 for none. `answers` says whether the statement
    holds an answer of the kind asked for.
    """

    statement: Statement
    score: float
    coverage: float
    column: int = 0
    answers: bool = True


def rank(query: Query, statements: Iterable[Statement]) -> list[Ranked]:
    """Statements that have something of the question, best first; equal ones in document order."""
    ranked = [score(query, statement) for statement in statements]
    return sorted((each for each in ranked if each.coverage > 0), key=lambda each: -each.score)


def score(query: Query, statement: Statement) -> Ranked:
    """The score of one statement. One that has the question's words only in its headings counts half."""
    column = _column(query, statement)
    held = {each: share for each in query.weights if (share := _share(query, each, statement, column))}
    coverage = sum(query.weights[each] * share for each, share in held.items()) / query.total
    hits = {each for each, share in held.items() if share >= SYNONYM}
    if not hits:
        return Ranked(statement, 0.5 * coverage, coverage, column, answers=False)
    gain = FEATURE * (_brevity(hits, statement) + _heading_share(query, statement) + _together(query, statement))
    kind, answers = _kind(query, statement, column, hits)
    gain += kind + _year(query, statement) - _out_of_place(query, statement)
    if query.is_causal and not statement.is_row:
        gain += FEATURE if states_cause(statement.text) else -0.05
    return Ranked(statement, coverage * (1 + gain), coverage, column, answers)


def place_worth(query: Query, path: Sequence[str], ranked: Sequence[Ranked]) -> float:
    """A place by its best statements (best first) and by how well the headings above them fit the question."""
    best, *rest = (each.score for each in ranked[:5])
    fits = (title_fit(query, title) * (1.0 if depth == 0 else 0.6) for depth, title in enumerate(reversed(path[1:])))
    return best + 0.06 * sum(rest) + 0.5 * max(fits, default=0.0)


def starts_with_pronoun(text: str) -> bool:
    return bool(_PRONOUN.match(text))


def states_cause(text: str) -> bool:
    return bool(_CAUSE.search(text))


def answer_facts(query: Query, ranked: Ranked) -> frozenset[str]:
    """The figures and names by which two answers can be told to be the same."""
    statement = ranked.statement
    if statement.is_row:
        cells = (statement.cells[ranked.column],) if ranked.column else statement.cells
        label = statement.label.split() if "who" in query.kinds else ()
        return frozenset({*(cell.strip("$ ()") for cell in cells if is_figure(cell) or ranked.column), *label})
    found = {match.strip("$€£().,") for match in re.findall(r"[$€£]?\d[\d,.]*\d|\d", statement.text)}
    found |= {word for name in NAME.findall(statement.text) for word in name.split()}
    return frozenset(found) - set(query.years) - set(query.text.split())


def _share(query: Query, each: str, statement: Statement, column: int) -> float:
    """To what share the statement holds a stem of the question."""
    if each in statement.stems:
        return 1.0
    if any(contains(statement.sequence, other) for other in query.others.get(each, ())):
        return SYNONYM
    if statement.header and each in statement.header_stems[0]:
        return CORNER
    if column and each in statement.header_stems[column]:
        return HEADER
    in_table = each in statement.caption_stems or each in statement.around
    share = max(_title_share(query, each, statement), TABLE if in_table else 0.0)
    return PRONOUN if share and _PRONOUN.match(statement.text) else share


def _title_share(query: Query, each: str, statement: Statement) -> float:
    """By the innermost heading that has the stem; one that the question names in full counts most."""
    titles = statement.title_stems
    for position in range(len(titles) - 1, -1, -1):
        if query.is_in(each, titles[position]):
            is_named = titles[position] <= query.weights.keys()
            return NAMED_TITLE if is_named else INNER_TITLE if position >= len(titles) - 2 else OUTER_TITLE
    return 0.0


def _column(query: Query, statement: Statement) -> int:
    """The column whose head holds the question's year or most of its words, among those with a value; 0 for none.

    Where several years are asked for, no single column says it.
    """
    best, best_value = 0, 0.0
    if sum(1 for head in statement.header if any(year in head for year in query.years)) > 1 < len(query.years):
        return 0
    for number in range(1, min(len(statement.header), len(statement.cells))):
        if not statement.cells[number].strip(" -–—"):
            continue
        value = sum(query.weights.get(each, 0.0) for each in statement.header_stems[number])
        value += 5.0 * sum(1 for year in query.years if year in statement.header[number])
        if value > best_value + 1e-9:
            best, best_value = number, value
    return best


def _brevity(hits: set[str], statement: Statement) -> float:
    return len(hits) / (len(set(statement.stems)) + 2)


def _heading_share(query: Query, statement: Statement) -> float:
    """How much of one of the two innermost headings the question says."""
    inner = [title for title in statement.title_stems[-2:] if title]
    return max((len(title & query.weights.keys()) / len(title) for title in inner), default=0.0)


def _together(query: Query, statement: Statement) -> float:
    """The share of neighbouring words of the question that are neighbours in the statement too."""
    if not query.pairs:
        return 0.0
    near = set(pairwise(statement.stems))
    return sum(1 for pair in query.pairs if pair in near) / len(query.pairs)


def _kind(query: Query, statement: Statement, column: int, hits: set[str]) -> tuple[float, bool]:
    """What the kind of answer adds, and whether the statement holds an answer of all kinds asked for."""
    if query.kinds == ("other",):
        return 0.0, True
    if query.kinds == ("definition",) and statement.is_row and set(stems(statement.label)) == query.weights.keys():
        return FEATURE, True
    text = f"{statement.label} {statement.cells[column]}" if column else statement.text
    places = [answer_place(kind, text, query.text) for kind in query.kinds]
    near = [_is_near(query, kind, text, place, hits) for kind, place in zip(query.kinds, places, strict=True)]
    gains = [
        MISFIT if place < 0 else FEATURE if is_near else FEATURE / 2
        for place, is_near in zip(places, near, strict=True)
    ]
    gain = sum(gains) / len(gains)
    if "number" in query.kinds:
        gain += _counted(query, text) + (0.06 if query.asks_for_money and _MONEY.search(statement.text) else 0.0)
    return gain, all(place >= 0 for place in places)


def _is_near(query: Query, kind: Kind, text: str, place: int, hits: set[str]) -> bool:
    """Whether a word of the question stands near the answer; what is defined stands right before, in its own form."""
    before, after = words(text[:place])[-NEAR_WORDS:], words(text[place:])[: NEAR_WORDS + 3]
    if kind == "definition":
        asked = set(words(query.text)) - STOP_WORDS
        return any(word in asked for word in before)
    is_subject = kind == "who" and len(before) < 2
    return is_subject or any(stem(word) in hits for word in (*before, *after))


def _counted(query: Query, text: str) -> float:
    """For "how many shares": a number right before the shares speaks for a statement, its absence against it."""
    if not query.counted:
        return 0.0
    ends = (match.end() for match in AMOUNT.finditer(text))
    following = ([stem(word) for word in words(text[end : end + 40])[:3]] for end in ends)
    return 0.15 if any(query.counted in some for some in following) else -0.05


def _year(query: Query, statement: Statement) -> float:
    """A bonus for the question's year, a malus for another one instead; without one, the main year is meant."""
    if not query.years:
        found = [int(year) for year in YEAR.findall(statement.text)]
        if not found or not query.main_year or int(query.main_year) in found:
            return 0.05 if found and query.main_year else 0.0
        return -0.05 if any(abs(int(query.main_year) - year) < PERIOD_YEARS for year in found) else 0.0
    own = " ".join((statement.text, *statement.header))
    if all(year in own for year in query.years):
        return 0.15
    if all(year in f"{own} {' '.join(statement.titles[1:])}" for year in query.years):
        return 0.08
    if len(query.years) > 1 and any(year in own for year in query.years):
        return 0.1
    return -0.2 if YEAR.search(statement.text) else -0.12


def _out_of_place(query: Query, statement: Statement) -> float:
    """What speaks against a statement: depth in the outline, a table of something else, code, a mere reference."""
    loss = 0.02 * max(len(statement.titles) - 2, 0) + 0.05 * statement.is_code
    if statement.header and statement.header[0] and not statement.header_stems[0] & query.weights.keys():
        loss += 0.05
    if _LINK_ONLY.match(statement.text):
        loss += 0.3
    if statement.is_title:
        loss += 0.25
    return loss + (0.2 if _REFERENCE.search(statement.text) else 0.0)
