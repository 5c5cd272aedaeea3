"""The lines that hold most of a task's words, and rows of tables whose label is what is asked for."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache

from orchestra.document.retrieval.index import TITLES
from orchestra.document.retrieval.line_table import Line, LineTable
from orchestra.document.retrieval.question import Question
from orchestra.document.retrieval.shelf import Shelf
from orchestra.document.retrieval.words import words_of
from orchestra.document.search import STOP_WORDS

_LABELLED = 1.0  # for a row of a table whose label the task says: as much as all its words
_TITLE_SHARE = 0.5  # for a line of a few words that says nothing else
_CONTENTS_SHARE = 0.2
_PLACE_SHARE = 0.5
_AROUND = 0.5  # of the words that the title or the line above says
_SPREAD = 0.85  # for each line of the same place before it
_LEAST = 0.25  # of the best line's score
_REPEATED = 4  # places with the same line make it a running head
_TITLE_WORDS = 6
_FEWEST_SAID = 2  # words of a label

_DIGITS = re.compile(r"\d+")
_LABEL = re.compile(r"[^\d$€£¥]*")

ScoredLine = tuple[float, Line]


def best_lines(
    question: Question, table: LineTable, shelf: Shelf, places: Mapping[int, float], most: int
) -> list[ScoredLine]:
    """At most `most` lines, best first; `places` are the gains of the places, of which the highest is 1."""
    scores = _scores(question, table, shelf)
    heads = _running(table.lines)
    weighed = [
        (score * (1 - _PLACE_SHARE + _PLACE_SHARE * places.get(table.lines[at].place, 0.0)), at)
        for at, score in scores.items()
        if score > 0 and _folded(table.lines[at]) not in heads
    ]
    weighed.sort(key=lambda one: (-one[0], one[1]))
    return _spread([(score, table.lines[at]) for score, at in weighed], most)


def _scores(question: Question, table: LineTable, shelf: Shelf) -> dict[int, float]:
    """Each line's share of the task's words, by weight and rarity, and what speaks for it besides.

    Words of the titles and the line above it count half: they say what it is about. Words that no line holds count in
    the whole, so that the few others do not seem to be all.
    """
    own: dict[int, int] = {}
    titles: dict[int, int] = {}
    words: Counter[int] = Counter()
    weights: list[float] = []
    for term in question.terms:
        bit = 1 << len(weights)
        holders = table.holders(term.phrases)
        weights.append(term.weight * table.rarity(len(holders)) if holders or " " not in term.phrases[0] else 0.0)
        for at in holders:
            own[at] = own.get(at, 0) | bit
            words[at] += " " not in term.phrases[0]
        for place in shelf.frequencies(term.phrases, TITLES):
            titles[place] = titles.get(place, 0) | bit
    total = sum(weights)
    if not total:
        return {}
    weigh = _weigher(weights)
    found: dict[int, float] = {}
    for at, line in enumerate(table.lines):
        around = titles.get(line.place, 0) | own.get(line.intro, 0)
        score = weigh(own.get(at, 0)) + _AROUND * weigh(around & ~own.get(at, 0))
        found[at] = score / total * _fit(line, words[at])
    for at in sorted(_labelled(question, table)):
        found[at] += _LABELLED
    return found


def _weigher(weights: Sequence[float]) -> Callable[[int], float]:
    """The sum of the weights whose bits are set; lines repeat the same few sums."""

    @cache
    def weigh(bits: int) -> float:
        return sum(weight for bit, weight in enumerate(weights) if bits >> bit & 1)

    return weigh


def _labelled(question: Question, table: LineTable) -> frozenset[int]:
    """Rows that begin with a label that the task's terms ask for, or whose label the task says."""
    said = {word for term in question.terms for phrase in term.phrases for word in phrase.split()}
    spoken = frozenset(
        at
        for at, line in enumerate(table.lines)
        if line.is_row and len(label := _label(line)) >= _FEWEST_SAID and said.issuperset(label)
    )
    wanted = {" ".join(words_of(label)) for need in question.needs for label in need.rows}
    return spoken | frozenset(
        at
        for label in sorted(wanted)
        for at in table.holders([label])
        if table.lines[at].is_row and len(_label(table.lines[at])) <= len(label.split()) + 3
    )


def _fit(line: Line, words: int) -> float:
    """More for a row whose label is mostly what is asked for; less for what can only be a title."""
    if line.is_contents:
        return _CONTENTS_SHARE
    if line.is_row:
        return 1.0 + 0.5 * min(words / max(len(_label(line)), 1), 1.0)
    is_title = len(line.text.split()) <= _TITLE_WORDS and line.text[-1] not in ".;"
    return _TITLE_SHARE if is_title else 1.0


def _label(line: Line) -> list[str]:
    found = _LABEL.match(line.text)
    return [word for word in words_of(found[0] if found else "") if word not in STOP_WORDS]


def _running(lines: Sequence[Line]) -> frozenset[str]:
    places: dict[str, set[int]] = {}
    for line in lines:
        places.setdefault(_folded(line), set()).add(line.place)
    return frozenset(text for text, where in places.items() if len(where) >= _REPEATED and "#" not in text.split()[-1])


def _folded(line: Line) -> str:
    """Its text without its numbers, which run on in a head; two sentences that differ in a number are two."""
    text = " ".join(line.text.casefold().split())
    return text if text.endswith(".") else _DIGITS.sub("#", text)


def _spread(lines: Iterable[ScoredLine], most: int) -> list[ScoredLine]:
    """The lines, each distinct text once, those that follow others of their place further down."""
    before: Counter[int] = Counter()
    seen: set[str] = set()
    spread: list[ScoredLine] = []
    least = 0.0
    for score, line in lines:
        least = least or score * _LEAST
        text = " ".join(line.text.casefold().split())
        if score < least or text in seen:
            continue
        seen.add(text)
        spread.append((score * _SPREAD ** before[line.place], line))
        before[line.place] += 1
    spread.sort(key=lambda one: (-one[0], one[1].place, one[1].number))
    return spread[:most]
