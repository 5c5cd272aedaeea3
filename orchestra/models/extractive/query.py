"""A question made ready for matching: which of its words count, and for how much."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import pairwise

from orchestra.models.extractive.kinds import Kind, kinds
from orchestra.models.extractive.periods import spelt_out
from orchestra.models.extractive.vocabulary import YEAR, alternatives, contains, phrase, stem, stems, words
from orchestra.models.extractive.word_lists import ASKING, ASKING_BY_SKILL, GENERIC, MOVEMENTS, STOP_WORDS

LEAST_WEIGHT, MOVEMENT_SHARE, GENERIC_SHARE, ABSENT_SHARE, NAME_SHARE = 0.15, 0.35, 0.15, 0.5, 1.5
CHARACTERS_PER_STATEMENT = 80
MAX_STEMS = 40
CAUSAL_SKILL = "causal-reasoning"
_ASKING = frozenset(stems(" ".join(ASKING)))
_ASKING_BY_SKILL = {skill: frozenset(stems(" ".join(asking))) for skill, asking in ASKING_BY_SKILL.items()}
_MOVEMENTS = frozenset(stems(" ".join(MOVEMENTS)))
_GENERIC = frozenset(stems(" ".join(GENERIC)))
_CAPITALISED = re.compile(r"(?<=\w[\s,(])[A-ZÀ-Þ][\w'’-]+")  # a name, since no sentence begins there
_NAME = re.compile(r"\b[A-Z0-9][\w&.-]*(?:['’]s)?(?:\s+[A-Z][\w&.-]*(?:['’]s)?)*")
_POSSESSIVE = re.compile(r"\b((?:[A-Z][\w&.-]*\s+){0,2}[A-Z0-9][\w&.-]*)['’]s\b")
_ASIDE = re.compile(r"\s*\((?:formerly|as|in|not|e\.g\.|i\.e\.|for example|or|if)\b[^()]*\)", re.IGNORECASE)
_HOW_MANY = re.compile(r"\bhow many\s+(.+)", re.IGNORECASE)
_MONEY = re.compile(r"\bhow much\b|\b(?:cost|price|pay|paid|charged?|spent|spend|worth)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Query:
    """A question with the weights of its stems, the pairs that stand together in it, its years and kinds of answer.

    `main_year` is the latest of the years that the text speaks of most: what is meant where none is said.
    """

    text: str
    weights: dict[str, float]
    sequence: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...]
    years: tuple[str, ...]
    kinds: tuple[Kind, ...]
    main_year: str = ""
    is_causal: bool = False

    @cached_property
    def counted(self) -> str:
        """The stem of what "how many" asks to be counted; "" when it does not."""
        asked = _HOW_MANY.search(self.text)
        return next((stem(word) for word in words(asked[1]) if word not in STOP_WORDS), "") if asked else ""

    @cached_property
    def asks_for_money(self) -> bool:
        return bool(_MONEY.search(self.text))

    @cached_property
    def others(self) -> dict[str, tuple[tuple[str, ...], ...]]:
        """For each stem the phrases that may stand instead of it, or of the phrase that it belongs to."""
        found: dict[str, tuple[tuple[str, ...], ...]] = {}
        for member, rest in alternatives(self.sequence).items():
            for each in member:
                found[each] = (*found.get(each, ()), *rest)
        return found

    @cached_property
    def total(self) -> float:
        return sum(self.weights.values()) or 1.0

    def is_in(self, each: str, words_there: Iterable[str]) -> bool:
        """Whether a stem of the question, or a single word that may stand instead, is among some stems."""
        there = set(words_there)
        return each in there or any(len(other) == 1 and other[0] in there for other in self.others.get(each, ()))


def make_query(question: str, texts: Iterable[str], skill: str = "", subjects: Iterable[str] = ()) -> Query:
    """A query whose words weigh by how rarely they occur in `texts`; those that only name the skill are left out.

    `subjects` name what the texts are about as a whole: such a name tells no statement from another.
    """
    question = _ASIDE.sub("", spelt_out(question))
    lowered = [text.lower() for text in texts]
    size = sum(map(len, lowered)) / CHARACTERS_PER_STATEMENT + 20
    ordered = stems(question)
    content = [each for each in dict.fromkeys(ordered) if not YEAR.fullmatch(each)]
    dropped = _ASKING | _ASKING_BY_SKILL.get(skill, frozenset())
    named = {each for match in _CAPITALISED.finditer(question) for each in stems(match[0])}
    subject = _subject_stems(question, subjects)
    owners = {each for match in _POSSESSIVE.finditer(question) for each in stems(match[1])}
    weights: dict[str, float] = {}
    for each in ([each for each in content if each not in dropped] or content)[:MAX_STEMS]:
        count = sum(text.count(_trunk(each)) for text in lowered)
        share = MOVEMENT_SHARE if each in _MOVEMENTS else GENERIC_SHARE if each in _GENERIC else 1.0
        share *= (1.0 if count else ABSENT_SHARE) * (NAME_SHARE if each in named else 1.0)
        is_subject = each in subject or (each in owners and not count)
        share = min(share, GENERIC_SHARE) if is_subject else share
        weights[each] = share * max(math.log((size + 1) / (count + 1)), LEAST_WEIGHT)
    return Query(
        text=question,
        weights=weights,
        sequence=phrase(question),
        pairs=tuple((one, two) for one, two in pairwise(ordered) if one in weights and two in weights),
        years=tuple(dict.fromkeys(YEAR.findall(question))),
        kinds=kinds(question),
        main_year=_main_year(lowered),
        is_causal=skill == CAUSAL_SKILL,
    )


def about(query: Query, named: Iterable[str]) -> Query:
    """The same question without the words that name its subject, if others are left."""
    left = {each: weight for each, weight in query.weights.items() if each not in set(named)}
    return replace(query, weights=left) if left else query


def title_fit(query: Query, title: str) -> float:
    """The harmonic mean of how much of a title the question says and how much of the question the title says."""
    own, sequence = _title_words(title)
    shared = [
        each
        for each in query.weights
        if each in own or any(contains(sequence, other) for other in query.others.get(each, ()))
    ]
    if not shared or not own:
        return 0.0
    precision, recall = min(len(shared) / len(own), 1.0), sum(query.weights[each] for each in shared) / query.total
    return 2 * precision * recall / (precision + recall)


@lru_cache(maxsize=4096)
def _title_words(title: str) -> tuple[frozenset[str], tuple[str, ...]]:
    return frozenset(stems(title)), phrase(title)


def _subject_stems(question: str, subjects: Iterable[str]) -> set[str]:
    """The stems of the names in a question that a document bears too: "Best Buy" and BESTBUY_2023_10K."""
    borne = [re.sub(r"[^a-z0-9]", "", subject.lower()) for subject in subjects]
    names = [match[0] for match in _NAME.finditer(question)]
    squeezed = [(name, re.sub(r"['’]s$|[^a-z0-9]", "", name.lower().replace("’", "'"))) for name in names]
    borne_too = [name for name, short in squeezed if len(short) > 1 and any(short in one for one in borne)]
    return {each for name in borne_too for each in stems(name)}


def _trunk(each: str) -> str:
    """What the forms of a word have in common as written: a final y is an i in its stem."""
    return each[:-1] if each.endswith("i") and len(each) > 4 else each


def _main_year(texts: Iterable[str]) -> str:
    seen = Counter(year for text in texts for year in YEAR.findall(text))
    return max((year for year in seen if 2 * seen[year] >= max(seen.values())), default="")
