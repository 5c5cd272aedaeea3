"""Measures that reports print or that are computed from what they print: which rows of which statement hold them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from orchestra.document.retrieval.vocabulary import read_vocabulary
from orchestra.document.retrieval.words import folded
from orchestra.models.extractive.query import Query
from orchestra.models.extractive.ranking import Ranked
from orchestra.models.extractive.statements import Statement
from orchestra.models.extractive.vocabulary import stems

MOST_ROWS, ROWS_PER_NEED = 7, 4
LEAST_FIT = 0.4
LONGEST_TERM = 6
IN_STATEMENT, IN_YEAR, WITHOUT_HEAD, OTHER_YEAR = 0.5, 0.35, 0.1, 0.35


@dataclass(frozen=True, slots=True)
class Measure:
    """Labels of rows that one side of a question needs, and the headings of the statement that has them."""

    labels: tuple[frozenset[str], ...]
    titles: tuple[frozenset[str], ...]


def measures_in(question: str) -> tuple[Measure, ...]:
    """The measures that a question names, from the vocabulary of report terms; the longest name counts."""
    return _measures_in(question)


@cache
def _measures_in(question: str) -> tuple[Measure, ...]:
    vocabulary = read_vocabulary()
    words = folded(question)
    found: dict[Measure, None] = {}
    at = 0
    while at < len(words):
        length = next((n for n in range(LONGEST_TERM, 0, -1) if words[at : at + n] in vocabulary.asked), 0)
        for need in vocabulary.asked.get(words[at : at + length], ()) if length else ():
            statement = vocabulary.statements.get(need.statement)
            if need.rows:
                found.setdefault(Measure(_sets(need.rows), _sets(statement.titles) if statement else ()))
        at += max(length, 1)
    return tuple(found)


def rows_for(measures: Sequence[Measure], query: Query, statements: Sequence[Statement]) -> list[Ranked]:
    """The best row for each label of each measure, in the order of the text; nothing where no label fits."""
    rows = [each for each in statements if each.is_row and each.label]
    chosen: dict[int, Ranked] = {}
    for measure in measures:
        for row in list(_rows_of(measure, query, rows))[:ROWS_PER_NEED]:
            chosen.setdefault(id(row.statement), row)
    best = sorted(chosen.values(), key=lambda each: -each.score)[:MOST_ROWS]
    return best


def _rows_of(measure: Measure, query: Query, rows: Sequence[Statement]) -> Iterator[Ranked]:
    """One row for each label that occurs, those that fit best first."""
    found: dict[int, Ranked] = {}
    for label in measure.labels:
        scored = [(fit, row) for row in rows if (fit := _fit(label, row)) >= LEAST_FIT]
        if not scored:
            continue
        worth, row = max(((fit + _in_place(measure, query, row), row) for fit, row in scored), key=lambda pair: pair[0])
        known = found.get(id(row))
        if known is None or known.score < worth:
            found[id(row)] = Ranked(row, worth, 1.0, column_of_year(query, row))
    yield from sorted(found.values(), key=lambda each: -each.score)


def _fit(label: frozenset[str], row: Statement) -> float:
    """The share of a row's label that the sought label makes up, if it has all of its words."""
    own = row.label_stems
    return len(label) / len(own) if label <= own else 0.0


def _in_place(measure: Measure, query: Query, row: Statement) -> float:
    """What speaks for a row beside its label: the statement that it stands in, and the years of its columns."""
    around = row.caption_stems.union(*row.title_stems[-2:])
    gain = IN_STATEMENT if any(title <= around for title in measure.titles) else 0.0
    years = " ".join(row.header)
    if not row.header:
        return gain - WITHOUT_HEAD
    if not query.years:
        return gain
    return gain + (IN_YEAR if any(year in years for year in query.years) else -OTHER_YEAR)


def column_of_year(query: Query, row: Statement) -> int:
    """The column of the one year that is asked for; 0 where several are, or none."""
    if len(query.years) != 1:
        return 0
    return next((at for at, head in enumerate(row.header) if at and query.years[0] in head and at < len(row.cells)), 0)


@cache
def _set(text: str) -> frozenset[str]:
    return frozenset(stems(text))


def _sets(texts: Sequence[str]) -> tuple[frozenset[str], ...]:
    return tuple(each for text in texts if (each := _set(text)))
