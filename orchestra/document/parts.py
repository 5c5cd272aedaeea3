"""Parts: an over-long own text divided between paragraphs, never inside a fence or a table."""

from __future__ import annotations

from orchestra.document.lines import Lines

PART_TOKENS = 1200


def divide(lines: Lines, first: int, last: int) -> tuple[tuple[int, int, int], ...]:
    """(first line, last line, tokens) of each part of lines first..last; empty when they are short."""
    return ()
