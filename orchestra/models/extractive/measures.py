"""Measures that reports print or that are computed from what they print: which rows of which statement hold them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from orchestra.document.retrieval.vocabulary import read_vocabulary
from orchestra.document.retrieval.words import folded
from orchestra.models.extractive.query import Query
from orchestra.models.extractive.questions import Question
from orchestra.models.extractive.ranking import Ranked
from orchestra.models.extractive.statements import Statement
from orchestra.models.extractive.vocabulary import contains, stems

MOST_ROWS, ROWS_PER_MEASURE = 8, 4
LEAST_FIT, NEAR = 0.4, 0.12
LONGEST_TERM = 6
_OF_REVENUE = re.compile(r"\bmargins?\b|(?:%|percent(?:age)?) of (?:net |total )?(?:sales|revenues?)\b", re.IGNORECASE)
IN_STATEMENT, IN_YEAR, WITHOUT_HEAD, OTHER_YEAR = 0.5, 0.35, 0.1, 0.35


@dataclass(frozen=True, slots=True)
class Measure:
    """`rows` that one side of a question needs, any of them, and the headings of the statement that has them."""

    rows: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]
    titles: tuple[frozenset[str], ...]

    @property
    def is_of_statement(self) -> bool:
        """Whether a financial statement has the rows; text may say it as well elsewhere."""
        return bool(self.titles)


def measures_in(question: Question) -> tuple[Measure, ...]:
    """The measures that a question and its definitions name, from the vocabulary of report terms; longest names count.

    A margin is a share of revenue, so that it needs revenue too.
    """
    said = " ; ".join((question.asked, *question.definitions))
    return _measures_in(f"{said} ; revenue" if _OF_REVENUE.search(said) else said)


@lru_cache(maxsize=64)
def _measures_in(said: str) -> tuple[Measure, ...]:
    vocabulary = read_vocabulary()
    words = folded(said)
    found: dict[Measure, None] = {}
    at = 0
    while at < len(words):
        phrases = (words[at : at + length] for length in range(LONGEST_TERM, 0, -1))
        known = next((each for each in phrases if each in vocabulary.asked or each in vocabulary.named), ())
        for need in vocabulary.asked.get(known, ()):
            statement = vocabulary.statements.get(need.statement)
            titles = tuple(frozenset(stems(title)) for title in statement.titles) if statement else ()
            if need.rows:
                found.setdefault(Measure(need.rows, tuple(tuple(stems(row)) for row in need.rows), titles))
        at += max(len(known), 1)
    return tuple(found)


def rows_for(measures: Sequence[Measure], query: Query, statements: Sequence[Statement]) -> list[Ranked]:
    """The best rows for the labels of each measure; nothing where no label fits."""
    rows = [each for each in statements if each.is_row and each.label]
    chosen: dict[int, Ranked] = {}
    for measure in measures:
        for row in _rows_of(measure, query, rows)[:ROWS_PER_MEASURE]:
            chosen.setdefault(id(row.statement), row)
    return sorted(chosen.values(), key=lambda each: -each.score)[:MOST_ROWS]


def _rows_of(measure: Measure, query: Query, rows: Sequence[Statement]) -> list[Ranked]:
    """For each label that occurs the row that fits best, and one of another table that fits nearly as well."""
    found: dict[int, Ranked] = {}
    for label in measure.labels:
        scored = [
            Ranked(row, fit + _in_place(measure, query, row), 1.0, column_of_year(query, row))
            for row in rows
            if (fit := _fit(label, row)) >= LEAST_FIT
        ]
        best = sorted(scored, key=lambda each: -each.score)[:1]
        near = (each for each in scored if best and each.score >= best[0].score - NEAR)
        other = next((each for each in near if each.statement.cells[1:] != best[0].statement.cells[1:]), None)
        for each in (*best, *([other] if other else [])):
            known = found.get(id(each.statement))
            if known is None or known.score < each.score:
                found[id(each.statement)] = each
    return sorted(found.values(), key=lambda each: -each.score)


def _fit(label: tuple[str, ...], row: Statement) -> float:
    """The share of a row's label that the sought words make up, where they stand in it together."""
    own = row.label_stems
    return len(label) / len(own) if label and contains(own, label) else 0.0


def _in_place(measure: Measure, query: Query, row: Statement) -> float:
    """What speaks for a row beside its label: the statement that it stands in, and the years of its columns."""
    around = (row.caption_stems | row.around).union(*row.title_stems[-2:])
    gain = IN_STATEMENT if any(title <= around for title in measure.titles) else 0.0
    years = " ".join(row.header)
    if not row.header:
        return gain - WITHOUT_HEAD
    if not query.years:
        return gain
    return gain + (IN_YEAR if any(year in years for year in query.years) else -OTHER_YEAR)


def column_of_year(query: Query, row: Statement) -> int:
    """The column of the one year that is asked for; 0 where several are, or none, or two columns are of that year."""
    if len(query.years) != 1:
        return 0
    found = [at for at, head in enumerate(row.header) if query.years[0] in head and 0 < at < len(row.cells)]
    return found[0] if len(found) == 1 else 0
