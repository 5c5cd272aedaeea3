"""Cues: what stands in for headings in a text that has none."""

from __future__ import annotations

from orchestra.document.headings import Heading
from orchestra.document.lines import Lines


def find_cues(lines: Lines, page_starts: tuple[int, ...] = ()) -> tuple[Heading, ...]:
    """Lines that look like headings: numbered ones, short title-like ones, else the pages' first lines."""
    return ()


def from_bookmarks(bookmarks: tuple[tuple[int, str, int], ...], line_count: int) -> tuple[Heading, ...]:
    """Headings from a file's bookmark tree of (level, title, line): in line order, levels clipped to 1..6."""
    inside = (mark for mark in bookmarks if 1 <= mark[2] <= line_count)
    ordered = sorted(inside, key=lambda mark: mark[2])
    return tuple(Heading(" ".join(title.split()), min(max(level, 1), 6), line) for level, title, line in ordered)


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
