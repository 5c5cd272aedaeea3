"""Figures of a report, computed again: totals, rows that stand in several tables, and changes that sentences state."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import combinations
from typing import Any

from orchestra.document import Document
from orchestra.document.sentences import blocks, sentences
from orchestra.skills.code import CodeContext

HALF = Decimal("0.5")
NEAR = Decimal("0.05")  # a lone column that misses by less was meant to add up
FEWEST_ALIKE = 2  # years that agree before one that does not is a contradiction
TELLING = 4  # digits of an amount that two rows do not share by chance: one such year is enough

_TOTAL = re.compile(
    r"(?:sub-?|grand )?totals?\b|sum\b|summe\b|gesamt|insgesamt|somme\b|totaal\b|totale\b", re.IGNORECASE
)
_RULE = re.compile(r"\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*")
_ENGLISH = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+\.\d+|\d+")
_CONTINENTAL = re.compile(r"\d{1,3}(?:\.\d{3})+(?:,\d+)?|\d+,\d+|\d+")
_CELL = re.compile(r"(\(?)[$€£]?[ ]?([-−–+]?)[$€£]?(\d[\d.,]*)[ ]?(\)?)")
_YEAR = re.compile(r"(?:19|20)\d\d")

_AMOUNT = r"(?:[$€£]\s?)?(\d[\d.,]*\d|\d)(?:\s(?:thousand|million|billion|bn|m))?"
_RISES = "rose|grew|increased|climbed|went up"
_FALLS = "fell|declined|decreased|dropped|shrank|went down"
_CHANGE = re.compile(
    rf"(?:^|[,;] (?:and |while |but )?)(?P<subject>[^,;]{{2,80}}?)\s+(?:(?P<rises>{_RISES})|{_FALLS})\s+(?:by\s+)?"
    rf"(?P<percent>\d+(?:[.,]\d+)?)\s?(?:%|percent|per cent)\s+to\s+{_AMOUNT}(?:[^,.;]{{0,20}})?,?\s+"
    rf"(?:from|after|compared with|against)\s+{_AMOUNT}",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Figure:
    """A number as written, with the step of its last digit."""

    text: str
    value: Decimal

    @property
    def step(self) -> Decimal:
        exponent = self.value.as_tuple().exponent
        return Decimal(1).scaleb(exponent if isinstance(exponent, int) else 0)


@dataclass(frozen=True, slots=True)
class Row:
    line: int
    label: str
    cells: tuple[Figure | None, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """`columns` are the titles of the cells, the label's own left out; `line` is that of the titles."""

    line: int
    columns: tuple[str, ...]
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Shown:
    """What the tables of a document show: the folded labels of their rows, and their amounts."""

    labels: frozenset[str]
    amounts: tuple[Figure, ...]

    def holds(self, figure: Figure) -> bool:
        """Whether an amount stands in some table, whatever its sign: costs are shown in brackets."""
        return any(_agree(figure, Figure(each.text, abs(each.value))) for each in self.amounts)


@dataclass(slots=True)
class Review:
    """What was found in one document, and how much was looked at."""

    prefix: str
    findings: list[dict[str, str]]
    checked: Counter[str]

    def find(self, kind: str, claim: str, problem: str, first: int, last: int) -> None:
        mark = f"L{first}-L{last}" if first < last else f"L{first}"
        self.findings.append({"kind": kind, "claim": claim, "problem": problem, "lines": f"[{self.prefix}{mark}]"})


def check(context: CodeContext) -> dict[str, Any]:
    """`{"findings": [...], "checked": {...}}` of all documents, each finding with its lines."""
    findings: list[dict[str, str]] = []
    names = ("tables", "totals", "unclear_totals", "compared_rows", "stated_changes")
    checked = Counter[str](dict.fromkeys(names, 0))
    for key, _, document in context.documents.items() if context.documents else ():
        review = Review(f"{key}:" if key else "", findings, checked)
        is_continental = _is_continental(document.text)
        tables = list(tables_of(document, is_continental=is_continental))
        checked["tables"] += len(tables)
        for table in tables:
            check_totals(table, review)
        compare_rows(tables, review)
        check_changes(document, tables, review, is_continental=is_continental)
    return {"findings": findings, "checked": dict(checked)}


def _is_continental(text: str) -> bool:
    """Whether a text writes 1.234,5 rather than 1,234.5."""
    english = re.findall(r"(?<![\d.,])\d{1,3}(?:,\d{3})+\.\d|(?<![\d.,])\d+\.\d{1,2}(?![\d.,])", text)
    continental = re.findall(r"(?<![\d.,])\d{1,3}(?:\.\d{3})+,\d|(?<![\d.,])\d+,\d{1,2}(?![\d.,])", text)
    return len(continental) > len(english)


def figure(text: str, *, is_continental: bool) -> Figure | None:
    """The amount that a cell is; None for a percentage, a year's text, or anything but an amount."""
    text = text.strip().strip("*_").replace("\u00a0", " ").strip()
    found = _CELL.fullmatch(text)
    if found is None or not (_CONTINENTAL if is_continental else _ENGLISH).fullmatch(found[3]):
        return Figure(text, Decimal(0)) if text in ("–", "—") else None
    digits = found[3].replace(".", "").replace(",", ".") if is_continental else found[3].replace(",", "")
    is_negative = bool(found[1] and found[4]) or found[2] in ("-", "−", "–")
    return Figure(text, -Decimal(digits) if is_negative else Decimal(digits))


def tables_of(document: Document, *, is_continental: bool) -> Iterator[Table]:
    """The markdown tables that have titles and more than one row."""
    number = 1
    while number < document.line_count:
        if not _is_row(document.line(number)) or not _RULE.fullmatch(document.line(number + 1).strip()):
            number += 1
            continue
        first, titles = number, _cells(document.line(number))
        rows: list[Row] = []
        number += 2
        while number <= document.line_count and _is_row(document.line(number)):
            label, *cells = _cells(document.line(number)) or [""]
            figures = tuple(figure(cell, is_continental=is_continental) for cell in cells[: len(titles) - 1])
            padding = (None,) * (len(titles) - 1 - len(figures))
            rows.append(Row(number, label.strip("*_ "), (*figures, *padding)))
            number += 1
        if len(rows) > 1 and len(titles) > 1:
            yield Table(first, tuple(titles[1:]), tuple(rows))


def _is_row(line: str) -> bool:
    return line.lstrip().startswith("|")


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]


def check_totals(table: Table, review: Review) -> None:
    """Every total row against the rows above it, and a total column against those before it."""
    open_rows: list[int] = []  # those that no subtotal stands for yet
    for at, row in enumerate(table.rows):
        if _TOTAL.match(row.label) and len(open_rows) > 1:
            start = _check_row(table, at, open_rows, review)
            if start is not None:
                del open_rows[start:]
        open_rows.append(at)
    for column, title in enumerate(table.columns):
        if _TOTAL.match(title) and column > 1:
            _check_column(table, column, review)


def _check_row(table: Table, at: int, open_rows: Sequence[int], review: Review) -> int | None:
    """Where in `open_rows` the rows begin that the total adds up; None where that cannot be told."""
    row = table.rows[at]
    columns = [column for column, cell in enumerate(row.cells) if cell is not None]
    spans: list[tuple[int, int, list[tuple[int, Decimal]]]] = []
    for start in range(len(open_rows) - 1):
        parts = [table.rows[each].cells for each in open_rows[start:]]
        sums = [(column, *_compared(row.cells[column], [part[column] for part in parts])) for column in columns]
        usable = [(column, total, gap) for column, total, gap in sums if total is not None]
        fits = sum(not gap for _, _, gap in usable)
        spans.append((fits, start, [(column, total) for column, total, gap in usable if gap and total is not None]))
    spans = [span for span in spans if span[0] or span[2]]
    if not spans:
        return None
    fits, start, wrong = max(spans, key=lambda span: (span[0], -len(span[2]), -span[1]))
    review.checked["totals"] += 1
    if not wrong and fits:
        return start
    if fits < len(wrong) and not (fits == 0 and len(columns) == 1 and _is_near(row.cells[columns[0]], spans)):
        review.checked["unclear_totals"] += 1
        return None
    if not fits:
        start, column, total = _nearest(row.cells[columns[0]], spans)
        wrong = [(column, total)]
    for column, total in wrong:
        cell = row.cells[column]
        claim = f'{table.columns[column] or "The table"}, "{row.label}": {cell.text if cell else ""}'
        problem = f"The {len(open_rows) - start} rows that it adds up come to {total:,f}"
        review.find("total", claim, problem, table.line, row.line)
    return start


def _compared(total: Figure | None, parts: Sequence[Figure | None]) -> tuple[Decimal | None, bool]:
    """What the parts add up to, and whether that misses the total by more than rounding; None of fewer than two."""
    figures = [part for part in parts if part is not None]
    if total is None or len(figures) < 2:
        return None, False
    computed = sum((part.value for part in figures), Decimal(0))
    slack = HALF * sum((part.step for part in figures), total.step)
    return computed, abs(computed - total.value) > slack


def _is_near(total: Figure | None, spans: Sequence[tuple[int, int, list[tuple[int, Decimal]]]]) -> bool:
    if total is None or not any(wrong for _, _, wrong in spans):
        return False
    _, _, computed = _nearest(total, spans)
    return abs(computed - total.value) <= NEAR * abs(total.value)


def _nearest(
    total: Figure | None, spans: Sequence[tuple[int, int, list[tuple[int, Decimal]]]]
) -> tuple[int, int, Decimal]:
    """(start, column, sum) of the span whose sum comes closest to the total."""
    value = total.value if total else Decimal(0)
    sums = [(start, column, computed) for _, start, wrong in spans for column, computed in wrong]
    return min(sums, key=lambda each: abs(each[2] - value))


def _check_column(table: Table, column: int, review: Review) -> None:
    """A column of totals, as far as most of its rows show that it adds up those before it."""
    outcomes = [(row, *_compared(row.cells[column], row.cells[:column])) for row in table.rows]
    usable = [(row, total, gap) for row, total, gap in outcomes if total is not None]
    wrong = [(row, total) for row, total, gap in usable if gap]
    review.checked["totals"] += len(usable)
    if len(wrong) * 2 >= len(usable):
        review.checked["unclear_totals"] += len(usable)
        return
    for row, total in wrong:
        cell = row.cells[column]
        claim = f'{table.columns[column]}, "{row.label}": {cell.text if cell else ""}'
        problem = f"The {column} columns before it come to {total:,f}"
        review.find("total", claim, problem, table.line, row.line)


def compare_rows(tables: Sequence[Table], review: Review) -> None:
    """Rows of the same label in several tables that agree in most years, and differ in one."""
    known: dict[str, list[tuple[Table, Row, dict[str, Figure]]]] = defaultdict(list)
    for table in tables:
        for row in table.rows:
            years = {
                found[0]: cell
                for title, cell in zip(table.columns, row.cells, strict=True)
                if cell is not None and len(found := _YEAR.findall(title)) == 1
            }
            if row.label and len(years) > 1:
                known[row.label.casefold()].append((table, row, years))
    for rows in known.values():
        for (one, first, years), (other, second, others) in combinations(rows, 2):
            shared = [title for title in years if title in others]
            differing = [title for title in shared if not _agree(years[title], others[title])]
            alike = {years[title].value for title in shared if title not in differing and years[title].value}
            review.checked["compared_rows"] += 1
            is_same_row = len(alike) >= FEWEST_ALIKE or any(len(each.as_tuple().digits) >= TELLING for each in alike)
            if len(differing) != 1 or not is_same_row:
                continue
            year = differing[0]
            claim = f'{year}, "{second.label}": {others[year].text}'
            problem = (
                f"The row of the same name in L{one.line}-L{first.line} says {years[year].text}, "
                "and agrees in every other year"
            )
            review.find("contradiction", claim, problem, other.line, second.line)


def _agree(one: Figure, other: Figure) -> bool:
    return abs(one.value - other.value) <= HALF * max(one.step, other.step)


def check_changes(document: Document, tables: Sequence[Table], review: Review, *, is_continental: bool) -> None:
    """Sentences such as "Revenue rose 9.5% to $2,839.5 million, from $2,593.9 million"."""
    rows = [row for table in tables for row in table.rows]
    shown = Shown(
        frozenset(row.label.casefold() for row in rows),
        tuple(cell for row in rows for cell in row.cells if cell is not None and cell.value),
    )
    for first, last in blocks(document.text):
        if document.text.startswith("|", first):
            continue
        for start, end in sentences(document.text, first, last):
            sentence = " ".join(document.text[start:end].split())
            lines = document.line_at(start), document.line_at(end - 1)
            for found in _CHANGE.finditer(sentence):
                review.checked["stated_changes"] += 1
                _check_change(found, sentence, shown, review, lines, is_continental=is_continental)


def _check_change(
    found: re.Match[str],
    sentence: str,
    shown: Shown,
    review: Review,
    lines: tuple[int, int],
    *,
    is_continental: bool,
) -> None:
    """The stated percentage against the two amounts beside it, and these against the tables."""
    texts = (found["percent"], found[found.lastindex - 1 if found.lastindex else 0], found[found.lastindex or 0])
    percent, new, old = (figure(text, is_continental=is_continental) for text in texts)
    if percent is None or new is None or old is None or not old.value or old.value <= old.step:
        return
    claim = sentence.rstrip(".")
    sign = 1 if found["rises"] else -1
    ends = [
        sign * (a / b - 1) * 100
        for a in (new.value - HALF * new.step, new.value + HALF * new.step)
        for b in (old.value - HALF * old.step, old.value + HALF * old.step)
    ]
    slack = HALF * percent.step
    if not min(ends) - slack <= percent.value <= max(ends) + slack:
        change = (new.value / old.value - 1) * 100
        problem = f"From {old.text} to {new.text} is {change:+.1f}%, not {'+' if sign > 0 else '-'}{percent.text}%"
        review.find("change", claim, problem, *lines)
    missing = [each.text for each in (new, old) if not shown.holds(each)]
    if missing and found["subject"].strip().casefold() in shown.labels:
        review.find("unsupported", claim, f"No table of the document states {' or '.join(missing)}", *lines)
