"""Pages: where they begin, and what is printed on many of them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict

from orchestra.document.lines import Lines

_FEWEST_PAGES = 3
_REPEATED_SHARE = 0.08  # of the pages: then a line is a running head
_SECTION_SHARE = 0.6  # a head that runs over fewer, on neighbouring pages, is a section's
_EDGE_LINES = 4
_DIGITS = re.compile(r"\d+")
_LONGEST_HEAD = 160


def form_feeds(lines: Lines) -> tuple[int, ...]:
    """The first line of each page of a text whose pages are parted by form feeds; empty without one."""
    if "\f" not in lines.text:
        return ()
    starts = {1}
    offset = lines.text.find("\f")
    while offset >= 0:
        number = lines.number_at(offset)
        is_first = not lines.text[lines.start(number) : offset].strip()
        starts.add(number if is_first else number + 1)
        offset = lines.text.find("\f", offset + 1)
    return tuple(sorted(start for start in starts if start <= lines.count))


def page_at(page_starts: tuple[int, ...], line: int) -> int:
    """The page that holds a line, from 1; lines before the first page count to it."""
    return max(bisect_right(page_starts, line), 1)


def running_heads(lines: Lines, page_starts: tuple[int, ...]) -> frozenset[int]:
    """Lines at the edges of pages that repeat on many of them, digits folded.

    Where such a line runs over neighbouring pages only, it names a section: its first occurrence is left out.
    """
    if len(page_starts) < _FEWEST_PAGES:
        return frozenset()
    found: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for page, (first, following) in enumerate(zip(page_starts, (*page_starts[1:], lines.count + 1), strict=True)):
        for number in _edges(lines, first, following - 1):
            found[_folded(lines.line(number))].append((page, number))
    heads: set[int] = set()
    for places in found.values():
        pages = sorted({page for page, _ in places})
        if len(pages) < max(_FEWEST_PAGES, _REPEATED_SHARE * len(page_starts)):
            continue
        numbers = sorted(number for _, number in places)
        first = lines.line(numbers[0]).strip()
        heads.update(numbers[1:] if _names_section(first, pages, len(page_starts)) else numbers)
    return frozenset(heads)


def _names_section(text: str, pages: list[int], page_count: int) -> bool:
    """Whether a head is a section's: a label, or a line on neighbouring pages from somewhere after the first."""
    from orchestra.document.titles import may_be_labelled

    if may_be_labelled(text):
        return True
    reach = pages[-1] - pages[0] + 1
    return bool(text) and pages[0] > 0 and reach <= _SECTION_SHARE * page_count and len(pages) >= 0.8 * reach


def _edges(lines: Lines, first: int, last: int) -> list[int]:
    """The first and last few lines of a page that hold text."""
    top: list[int] = []
    for number in range(first, last + 1):
        if lines.line(number).strip():
            top.append(number)
        if len(top) == _EDGE_LINES:
            break
    bottom: list[int] = []
    for number in range(last, top[-1] if top else last, -1):
        if lines.line(number).strip():
            bottom.append(number)
        if len(bottom) == _EDGE_LINES:
            break
    return [number for number in (*top, *bottom) if len(lines.line(number)) <= _LONGEST_HEAD]


def _folded(line: str) -> str:
    """Case, spaces and numbers folded; the number of a label stays, for it tells sections apart."""
    from orchestra.document.titles import read_title

    text = " ".join(line.split())
    title = read_title(text)
    if title and title.kind in ("label", "numbered"):
        return title.text.casefold()
    return _DIGITS.sub("#", (title.text if title else text).casefold())
