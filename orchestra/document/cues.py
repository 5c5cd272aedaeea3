"""Cues: what stands in for headings in a text that has none.

A cue is a labelled line (`ITEM 7. ...`, `Note 12 - ...`), a numbered one (`1.2 Scope`) or a short title-like one
(`CONSOLIDATED BALANCE SHEETS`, `Income Taxes`) that stands apart from what is before it. Lines that repeat on many
pages are running heads, rows with a page number at their end a table of contents: neither are cues.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from orchestra.document.heading import Heading
from orchestra.document.lines import Lines
from orchestra.document.pages import running_heads
from orchestra.document.titles import Title, is_contents_row, is_numeric_row, is_prose, may_be_labelled, read_title

Cue = tuple[int, Title]

_CONTENTS_ROWS = 4  # so many rows near each other are a table of contents
_CONTENTS_GAP = 3
_LIST_ROWS = 4  # so many title-like lines and nothing else are a list
_MOST_TITLES = 1_000  # at the front of one block
_LONGEST_ROW = 4_000  # characters of a line that can be a row of a table of contents, wide gaps included
_TABLE_ROWS = 3
_OWNER_WORDS = 6
_SPARSE = 8  # fewer cues than one in so many pages leave too much unnamed: the pages become sections too
_PAGE_RANK = 9.0


def find_cues(lines: Lines, page_starts: tuple[int, ...] = ()) -> tuple[Heading, ...]:
    """Cues in line order, their levels dense from 1. With few of them, pages, where known, are sections too."""
    contents = _contents(lines)
    cues: dict[int, Title] = {}
    for block, is_page_top in _blocks(lines, frozenset(page_starts), running_heads(lines, page_starts)):
        found = _cues_of(lines, block, is_page_top=is_page_top)
        cues.update(cue for cue in found if not _is_within(contents, cue[0]) and cue[0] < lines.count)
    cues = _with_text(_joined(cues, lines), lines)
    if len(cues) * _SPARSE < len(page_starts):
        for page, line in enumerate(page_starts, start=1):
            cues.setdefault(line, Title(f"Page {page}", _PAGE_RANK, "words", is_open=False))
    return _levelled(sorted(cues.items()))


def _joined(cues: dict[int, Title], lines: Lines) -> dict[int, Title]:
    """A label that stands alone takes the title that comes next, or gives way to it; only blank lines may part them."""
    joined: dict[int, Title] = {}
    label = 0
    for number, title in sorted(cues.items()):
        if label and not any(_text(lines, between) for between in range(label + 1, number)):
            if title.kind in ("capitals", "words"):
                joined[label] = replace(joined[label], text=f"{joined[label].text} {title.text}", is_open=False)
                label = 0
                continue
            if title.text.casefold().startswith(joined[label].text.casefold()):  # a running head, then the title itself
                del joined[label]
        joined[number] = title
        label = number if title.kind == "label" and title.is_open else 0
    return joined


def _with_text(cues: dict[int, Title], lines: Lines) -> dict[int, Title]:
    """Without the heads of columns: words that neither prose nor a table of some length follows before the next cue."""
    return {
        number: cues[number]
        for number, following in pairwise([*sorted(cues), lines.count + 1])
        if cues[number].kind != "words" or _has_text(cues[number], lines, range(number + 1, following))
    }


def _has_text(title: Title, lines: Lines, under: range) -> bool:
    rows = 0
    for number in under:
        text = _text(lines, number)
        rows += bool(text)
        if (rows >= _TABLE_ROWS and " " in title.text) or is_prose(text):
            return True
    return False


def from_bookmarks(bookmarks: tuple[tuple[int, str, int], ...], line_count: int) -> tuple[Heading, ...]:
    """Headings from a file's bookmark tree of (level, title, line), in line order, levels clipped to 1..6.

    Bookmarks to the same line become one heading, their titles joined by " / " at the highest level among them.
    """
    by_line: dict[int, list[tuple[int, str]]] = {}
    for level, title, line in sorted(bookmarks, key=lambda mark: mark[2]):
        if 1 <= line <= line_count and title.strip():
            by_line.setdefault(line, []).append((min(max(level, 1), 6), " ".join(title.split())))
    return tuple(
        Heading(" / ".join(dict.fromkeys(title for _, title in marks)), min(level for level, _ in marks), line)
        for line, marks in by_line.items()
    )


def _text(lines: Lines, number: int) -> str:
    return lines.line(number).strip()


def _blocks(lines: Lines, page_starts: frozenset[int], heads: frozenset[int]) -> Iterator[tuple[range, bool]]:
    """Runs of lines with text, and whether each is the first of its page.

    Blank lines, page starts and running heads part them. A run is kept as its line numbers: it may be the whole text.
    """
    first = 0
    is_top = block_is_top = True
    for number in range(1, lines.count + 1):
        is_blank = not _text(lines, number)
        if first and (is_blank or number in page_starts or number in heads):
            yield range(first, number), block_is_top
            first = 0
        is_top = is_top or number in page_starts
        if not is_blank and number not in heads:
            block_is_top = is_top if not first else block_is_top
            is_top = False
            first = first or number
    if first:
        yield range(first, lines.count + 1), block_is_top


def _after_owner(lines: Lines, block: range) -> int:
    """Where titles begin at the top of a page: after a short line, such as a company's name, that is none itself."""
    top = _text(lines, block[0])
    short = len(block) > 1 and len(top.split()) <= _OWNER_WORDS and not read_title(top)
    return 1 if short and read_title(_text(lines, block[1])) and not is_numeric_row(top) else 0


def _cues_of(lines: Lines, block: range, *, is_page_top: bool) -> Iterator[Cue]:
    """The titles at the front of a block, and labelled ones within it that begin after a sentence's end."""
    front: list[Cue] = []
    position = _after_owner(lines, block) if is_page_top else 0
    while position < len(block) and len(front) < _MOST_TITLES and (title := read_title(_text(lines, block[position]))):
        number = block[position]
        following = _text(lines, block[position + 1]) if position + 1 < len(block) else ""
        is_last = position + 2 >= len(block)
        if following and title.is_open and _goes_on(following, is_last=is_last):
            title = replace(title, text=f"{title.text} {following}", is_open=False)
            position += 1
        front.append((number, title))
        position += 1
    is_list = position == len(block) >= _LIST_ROWS or len(front) == _MOST_TITLES
    if is_list and all(title.kind == "words" for _, title in front):
        front = []
    if front and position < len(block) and not _introduces(front[-1][1], _text(lines, block[position])):
        front.pop()
    yield from front
    before = ""
    for number in block[position:]:
        text = _text(lines, number)
        if (
            before
            and may_be_labelled(text)
            and (title := read_title(text))
            and title.kind == "label"
            and (before[-1] in ".:;)" or text.isupper())
        ):
            yield number, title
        before = text


def _goes_on(text: str, *, is_last: bool) -> bool:
    """Whether a line can be the rest of a title that broke off."""
    title = read_title(text)
    if title:
        return title.kind in ("capitals", "words")
    return is_last and len(text.split()) <= 12 and text[-1] not in ".,;:"


def _introduces(title: Title, text: str) -> bool:
    """Whether what follows a title in its own block is text under it, not the rest of a sentence or a table."""
    if title.kind == "label":
        return True
    if text[0].islower():
        return False
    return title.kind != "words" or not is_numeric_row(text)


def _contents(lines: Lines) -> list[range]:
    """The lines of tables of contents: rows near each other, what stands between them, and a label above them."""
    zones: list[range] = []
    first = last = count = since = 0
    above = (0, "")
    for number in range(1, lines.count + 1):
        line = lines.line(number)
        text = " ".join(line.split()) if len(line) <= _LONGEST_ROW else "..."
        if not text:
            continue
        if is_contents_row(text):
            first, last, count, since = first or _label_or(number, above), number, count + 1, 0
        elif (since := since + 1) > _CONTENTS_GAP:
            if count >= _CONTENTS_ROWS:
                zones.append(range(first, last + 1))
            first = count = 0
        above = (number, text)
    if count >= _CONTENTS_ROWS:
        zones.append(range(first, last + 1))
    return zones


def _is_within(zones: list[range], number: int) -> bool:
    position = bisect_right(zones, number, key=lambda zone: zone.start) - 1
    return position >= 0 and number in zones[position]


def _label_or(number: int, above: tuple[int, str]) -> int:
    title = read_title(above[1])
    return above[0] if title and title.kind == "label" else number


def _levelled(cues: list[Cue]) -> tuple[Heading, ...]:
    """Headings whose levels are the ranks that occur, counted from 1."""
    ranks = sorted({title.rank for _, title in cues})
    levels = {rank: min(position, 6) for position, rank in enumerate(ranks, start=1)}
    return tuple(Heading(title.text, levels[title.rank], number, "cue") for number, title in cues)
