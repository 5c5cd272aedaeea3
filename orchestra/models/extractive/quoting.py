"""Statements as an answer shows them: as they stand, each with the mark of its lines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from orchestra.document import LineRange
from orchestra.models.extractive.query import Query
from orchestra.models.extractive.ranking import Ranked
from orchestra.models.extractive.statements import Statement
from orchestra.models.extractive.vocabulary import stems

MAX_CELLS_SHOWN = 8
MAX_ROWS_SHOWN = 12
_UNIT_WORDS = re.compile(
    r"million|thousand|billion|percent|%|[$€£]|dollar|euro|points?|headcount|tonnes?|area|unaudited|units?", re.I
)


def mark(statement: Statement, *lines: int) -> str:
    """`[L120]`, `[L120-L134]`, or `[L120, L125-L126]` when other lines belong to it as well."""
    spans = sorted({(statement.first_line, statement.last_line), *((line, line) for line in lines if line)})
    merged: list[tuple[int, int]] = []
    for first, last in spans:
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(merged[-1][1], last))
        else:
            merged.append((first, last))
    return f"[{', '.join(str(LineRange(statement.key, first, last)) for first, last in merged)}]"


def quote(query: Query, ranked: Ranked) -> str:
    """A sentence as it stands, or a table's row as label, column and value; then its lines."""
    statement = ranked.statement
    if not statement.is_row:
        return f"{statement.text} {mark(statement)}"
    corner = statement.header[0] if statement.header else ""
    is_bare = not re.search(r"[%$€£]", statement.text)
    said = statement.unit or next(
        (each for each in (statement.caption, corner) if is_bare and _UNIT_WORDS.search(each)), ""
    )
    unit = f" ({said if said.isupper() or said[1:2].isupper() else said[:1].lower() + said[1:]})" if said else ""
    cited = (*statement.header_lines, statement.caption_line if said and said != corner else 0)
    return f"{_row(query, statement, ranked.column)}{unit} {mark(statement, *cited)}"


def _row(query: Query, statement: Statement, column: int) -> str:
    label = statement.label.strip("*_ ")
    if column:
        label = " ".join((label, *_told_apart(query, statement, column)))
        head = statement.header[column].strip("*_ ")
        return f"{label}, {head}: {statement.cells[column]}" if head else f"{label}: {statement.cells[column]}"
    at = statement.cells.index(statement.label) if statement.label else -1
    shown: list[str] = []
    for number, cell in enumerate(statement.cells):
        if number == at or not cell.strip(" -–—"):
            continue
        head = statement.header[number] if number < len(statement.header) else ""
        shown.append(f"{head} {cell}" if head else cell)
    return f"{label}: {'; '.join(shown[:MAX_CELLS_SHOWN])}"


def _told_apart(query: Query, statement: Statement, column: int) -> Iterator[str]:
    """Other cells that the question names: the 2029 of the notes that are due in 2029."""
    for number, cell in enumerate(statement.cells):
        is_named = any(year in cell for year in query.years) or set(stems(cell)) & query.weights.keys()
        if number != column and cell != statement.label and is_named:
            yield f"({cell})"


def bullets(query: Query, chosen: Iterable[Ranked]) -> list[str]:
    """A list of quotes in document order; rows of one table stand together under its head."""
    ordered = sorted(chosen, key=lambda each: (each.statement.key, each.statement.first_line, each.statement.place))
    lines: list[str] = []
    position = 0
    while position < len(ordered):
        table = [ordered[position]]
        while position + len(table) < len(ordered) and _same_table(table[0], ordered[position + len(table)]):
            table.append(ordered[position + len(table)])
        lines += _table(table) if len(table) > 1 else [f"- {quote(query, table[0])}"]
        position += len(table)
    return lines


def _same_table(one: Ranked, other: Ranked) -> bool:
    first, second = one.statement, other.statement
    is_one = bool(first.header_line) and (first.key, first.header_line) == (second.key, second.header_line)
    return first.is_row and second.is_row and is_one


def _table(rows: Sequence[Ranked]) -> list[str]:
    """A table's head with some of its rows, and the lines of all of them."""
    shown = [each.statement for each in rows[:MAX_ROWS_SHOWN]]
    first = shown[0]
    lines = ["", "| " + " | ".join(first.header) + " |", "| --- |" + " ---: |" * (len(first.header) - 1)]
    lines += ["| " + " | ".join(statement.cells) + " |" for statement in shown]
    says_own_unit = all(re.search(r"[%$€£]", statement.text) for statement in shown)
    caption = first.caption if _UNIT_WORDS.search(first.caption) and not says_own_unit else ""
    caption = f"{first.unit[:1].upper()}{first.unit[1:]}" if first.unit else caption
    cited = [*first.header_lines, first.caption_line if caption else 0, *(each.first_line for each in shown[1:])]
    return [*lines, "", f"{caption + ' ' if caption else ''}{mark(first, *cited)}", ""]
