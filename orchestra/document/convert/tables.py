"""HTML tables to pipe tables, without the empty columns and parted signs that filings are full of."""

from __future__ import annotations

import re
from typing import Any

_MAX_SPAN = 100  # columns a cell may claim; pages exist that claim thousands
_BLOCKS = frozenset({"br", "p", "div", "li", "tr"})
_LEADING_SIGN = re.compile(r"(?:[A-Z]{0,3}[$€£¥₩₹]|\(|[$€£]\s*\()")
_TRAILING_SIGN = re.compile(r"\)?\s*%?\)?|\)?\s*(?:pts|pp|bps)\)?")


def pipe_table(table: Any) -> str:
    """A pipe table of an HTML table; its first row is the header. One column alone becomes lines.

    A currency sign in a cell of its own joins the number after it, a closing bracket or % the number before it.
    Columns that one cell spans become one where no row has two texts in them. Empty rows and columns are left out.
    """
    rows: list[list[str]] = []
    spans: set[range] = set()
    for row in table.find_all("tr"):
        cells: list[str] = []
        for cell in row.find_all(["td", "th"], recursive=False):
            text, width = _text(cell), _width(cell)
            if width > 1 and text:
                spans.add(range(len(cells), len(cells) + width))
            cells += [text, *[""] * (width - 1)]
        rows.append(_join_signs(cells))
    for span in sorted(spans, key=lambda span: (len(span), span.start)):
        rows = _merge(rows, span)
    rows = _without_empty([row for row in rows if any(row)])
    caption = table.find("caption")
    head = f"{_text(caption)}\n\n" if caption and _text(caption) else ""
    if not rows or not rows[0]:
        return head.strip()
    if len(rows[0]) == 1:
        return head + "\n\n".join(row[0].replace("\\|", "|") for row in rows)
    lines = [_line(row) for row in rows]
    return head + "\n".join([lines[0], _line(["---"] * len(rows[0])), *lines[1:]])


def _width(cell: Any) -> int:
    span = str(cell.get("colspan") or "1")
    return min(max(int(span), 1), _MAX_SPAN) if span.isdecimal() else 1


def _merge(rows: list[list[str]], span: range) -> list[list[str]]:
    """The rows with the texts in these columns moved to the first of them, unless a row has two there."""
    if any(sum(map(bool, row[span.start : span.stop])) > 1 for row in rows):
        return rows
    merged = [list(row) for row in rows]
    for row in merged:
        row[span.start : span.stop] = sorted(row[span.start : span.stop], key=bool, reverse=True)
    return merged


def _text(cell: Any) -> str:
    """The text of a cell in one line; a bar in it is escaped."""
    pieces: list[str] = []
    for node in cell.descendants:
        if node.name in _BLOCKS:
            pieces.append(" ")
        elif node.name is None and type(node).__name__ == "NavigableString":
            pieces.append(str(node))
    return " ".join("".join(pieces).split()).replace("|", "\\|")


def _join_signs(row: list[str]) -> list[str]:
    """Signs in cells of their own joined to their number; the columns stay where they are."""
    joined = list(row)
    for place, cell in enumerate(row):
        if not cell:
            continue
        if _LEADING_SIGN.fullmatch(cell):
            following = next((p for p in range(place + 1, len(row)) if row[p]), None)
            if following is not None and following - place <= 2 and row[following][:1] in "0123456789(.—-–":
                joined[following], joined[place] = cell + joined[following], ""
        elif _TRAILING_SIGN.fullmatch(cell):
            before = next((p for p in range(place - 1, -1, -1) if joined[p]), None)
            if before is not None and place - before <= 2 and joined[before][-1:].isdigit():
                joined[before], joined[place] = joined[before] + cell, ""
    return joined


def _without_empty(rows: list[list[str]]) -> list[list[str]]:
    """Rows of one width, without the columns that no row fills."""
    width = max((len(row) for row in rows), default=0)
    padded = [row + [""] * (width - len(row)) for row in rows]
    used = [column for column in range(width) if any(row[column] for row in padded)]
    return [[row[column] for column in used] for row in padded]


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"
