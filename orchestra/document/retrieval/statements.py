"""Financial statements: which places of a document print one, told from those that only talk about it.

A statement is a place with many rows of figures that bear its labels, under its title. Those that stand together are
the primary ones, and the first of several is: what comes later restates or condenses it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set

from orchestra.document.retrieval.index import TITLES
from orchestra.document.retrieval.line_table import Line, LineTable
from orchestra.document.retrieval.scores import Scores, best, plain
from orchestra.document.retrieval.shelf import Shelf
from orchestra.document.retrieval.vocabulary import Statement

_CANDIDATES = 12  # places that are looked at line by line for each statement
_TITLE_LABELS = 4.0  # a title speaks as much for a place as so many labels
_LABELS_HALF = 4  # so many labels make half of a statement
_TABLE_SHARE = 0.4  # of a statement's lines are rows with figures
_CONTINUED, _UNTITLED = 0.7, 0.35
_TITLE_WORDS = 10
_NEAR = 8  # places within which the primary statements stand
_ALONE = 0.6
_ALIKE = 0.8  # of the best score
_LATER = 0.85


def statement_places(statements: Sequence[Statement], shelf: Shelf) -> dict[str, Scores]:
    """For each statement's name, how surely places print it, from 0 to 1."""
    rough = [_rough(statement, shelf) for statement in statements]
    candidates = sorted({row for scores in rough for row in best(scores, _CANDIDATES)})
    table = LineTable((row, *shelf.at(row)) for row in candidates)
    shares = _row_shares(table.lines)
    titled = {statement.name: _titled(statement, table, shelf) for statement in statements}
    every = frozenset[int]().union(*titled.values())
    printed = {
        statement.name: _printed(statement, table, shares, titled[statement.name], every) for statement in statements
    }
    return {name: _first(_together(name, printed)) for name in printed}


def _rough(statement: Statement, shelf: Shelf) -> Scores:
    """How many of a statement's labels a place mentions, and whether it is titled so."""
    scores: Scores = dict.fromkeys(shelf.frequencies(plain(statement.titles), TITLES), _TITLE_LABELS)
    for label in plain(statement.rows):
        for row in shelf.frequencies([label]):
            scores[row] = scores.get(row, 0.0) + 1.0
    return scores


def _titled(statement: Statement, table: LineTable, shelf: Shelf) -> frozenset[int]:
    titles = plain(statement.titles)
    lines = {table.lines[at].place for at in table.holders(titles) if _is_title(table.lines[at])}
    return frozenset(lines.union(shelf.frequencies(titles, TITLES)))


def _printed(
    statement: Statement, table: LineTable, shares: Mapping[int, float], titled: Set[int], every: Set[int]
) -> Scores:
    """By labels and rows, more under a title; a place without one may go on with the statement before it."""
    scores: Scores = {}
    for row, count in table.labelled(plain(statement.rows)).items():
        goes_on = row - 1 in titled and row not in every
        title = 1.0 if row in titled else _CONTINUED if goes_on else _UNTITLED
        scores[row] = title * min(shares[row] / _TABLE_SHARE, 1.0) * count / (count + _LABELS_HALF)
    return scores


def _is_title(line: Line) -> bool:
    return not line.is_row and len(line.text.split()) <= _TITLE_WORDS and line.text[-1] not in ".,;"


def _row_shares(lines: Iterable[Line]) -> dict[int, float]:
    """For each place, the share of its lines that are rows with figures."""
    rows: dict[int, int] = {}
    every: dict[int, int] = {}
    for line in lines:
        every[line.place] = every.get(line.place, 0) + 1
        rows[line.place] = rows.get(line.place, 0) + line.is_row
    return {place: rows[place] / count for place, count in every.items()}


def _together(name: str, printed: Mapping[str, Scores]) -> Scores:
    """Less for places without other statements near them."""
    others = [scores for other, scores in printed.items() if other != name]
    if not others:
        return dict(printed[name])
    return {
        row: score * (_ALONE + (1 - _ALONE) * sum(_near(row, scores) for scores in others) / len(others))
        for row, score in printed[name].items()
    }


def _near(row: int, scores: Scores) -> float:
    return max((score for other, score in scores.items() if abs(other - row) <= _NEAR), default=0.0)


def _first(scores: Scores) -> Scores:
    """Less for all but the first of those that are nearly the best."""
    least = _ALIKE * max(scores.values(), default=0.0)
    first = min((row for row, score in scores.items() if score >= least), default=-1)
    return {row: score if row == first else score * _LATER for row, score in scores.items()}
