"""Cues: what stands in for headings in a text that has none.

A cue is a labelled line (`ITEM 7. ...`, `Note 12 - ...`), a numbered one (`1.2 Scope`) or a short title-like one
(`CONSOLIDATED BALANCE SHEETS`, `Income Taxes`) that stands apart from what is before it. Lines that repeat on many
pages are running heads, rows with a page number at their end a table of contents: neither are cues.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from orchestra.document.heading import Heading
from orchestra.document.lines import Lines
from orchestra.document.pages import running_heads
from orchestra.document.titles import Title, is_contents_row, is_numeric_row, is_prose, may_be_labelled, read_title

Row = tuple[int, str]
Cue = tuple[int, Title]

_CONTENTS_ROWS = 4  # so many rows near each other are a table of contents
_CONTENTS_GAP = 3
_LIST_ROWS = 4  # so many title-like lines and nothing else are a list
_TABLE_ROWS = 3
_OWNER_WORDS = 6
_SPARSE = 8  # fewer cues than one in so many pages leave too much unnamed: the pages become sections too
_PAGE_RANK = 9.0


def find_cues(lines: Lines, page_starts: tuple[int, ...] = ()) -> tuple[Heading, ...]:
    """Cues in line order, their levels dense from 1. With few of them, pages, where known, are sections too."""
    contents = _contents(lines)
    cues: dict[int, Title] = {}
    for block, is_page_top in _blocks(lines, frozenset(page_starts), running_heads(lines, page_starts)):
        found = _cues_of(block, is_page_top=is_page_top)
        cues.update(cue for cue in found if cue[0] not in contents and cue[0] < lines.count)
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
        if label and not lines.span(label + 1, number - 1).strip():
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
    kept: dict[int, Title] = {}
    for number, following in pairwise([*sorted(cues), lines.count + 1]):
        title = cues[number]
        under = [text for line in range(number + 1, following) if (text := lines.line(line).strip())]
        is_named = " " in title.text and len(under) >= _TABLE_ROWS
        if title.kind != "words" or is_named or any(is_prose(text) for text in under):
            kept[number] = title
    return kept


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


def _blocks(lines: Lines, page_starts: frozenset[int], heads: frozenset[int]) -> Iterator[tuple[list[Row], bool]]:
    """Runs of lines with text, and whether each is the first of its page.

    Blank lines, page starts and running heads part them.
    """
    block: list[Row] = []
    is_top = block_is_top = True
    for number in range(1, lines.count + 1):
        text = lines.line(number).strip()
        if block and (not text or number in page_starts or number in heads):
            yield block, block_is_top
            block = []
        is_top = is_top or number in page_starts
        if text and number not in heads:
            block_is_top = is_top if not block else block_is_top
            is_top = False
            block.append((number, text))
    if block:
        yield block, block_is_top


def _after_owner(block: list[Row]) -> int:
    """Where titles begin at the top of a page: after a short line, such as a company's name, that is none itself."""
    short = len(block) > 1 and len(block[0][1].split()) <= _OWNER_WORDS and not read_title(block[0][1])
    return 1 if short and read_title(block[1][1]) and not is_numeric_row(block[0][1]) else 0


def _cues_of(block: list[Row], *, is_page_top: bool) -> list[Cue]:
    """The titles at the front of a block, and labelled ones within it that begin after a sentence's end."""
    front: list[Cue] = []
    position = _after_owner(block) if is_page_top else 0
    while position < len(block) and (title := read_title(block[position][1])):
        number = block[position][0]
        following = block[position + 1][1] if position + 1 < len(block) else ""
        is_last = position + 2 >= len(block)
        if following and title.is_open and _goes_on(following, is_last=is_last):
            title = replace(title, text=f"{title.text} {following}", is_open=False)
            position += 1
        front.append((number, title))
        position += 1
    if position == len(block) >= _LIST_ROWS and all(title.kind == "words" for _, title in front):
        return []
    if front and position < len(block) and not _introduces(front[-1][1], block[position][1]):
        front.pop()
    return front + [
        (number, title)
        for (_, before), (number, text) in zip(block[position:], block[position + 1 :], strict=False)
        if may_be_labelled(text)
        and (title := read_title(text))
        and title.kind == "label"
        and (before[-1] in ".:;)" or text.isupper())
    ]


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


def _contents(lines: Lines) -> frozenset[int]:
    """The lines of tables of contents: rows near each other, what stands between them, and a label above them."""
    inside: set[int] = set()
    rows: list[int] = []
    above, since = (0, ""), 0
    for number in range(1, lines.count + 1):
        text = " ".join(lines.line(number).split())
        if not text:
            continue
        if is_contents_row(text):
            rows, since = [*(rows or [_label_or(number, above)]), number], 0
        elif (since := since + 1) > _CONTENTS_GAP:
            inside.update(_zone(rows))
            rows = []
        above = (number, text)
    inside.update(_zone(rows))
    return frozenset(inside)


def _label_or(number: int, above: Row) -> int:
    title = read_title(above[1])
    return above[0] if title and title.kind == "label" else number


def _zone(rows: list[int]) -> range:
    """The lines of a table of contents with enough rows; the first number is where it begins."""
    return range(rows[0], rows[-1] + 1) if len(rows) > _CONTENTS_ROWS else range(0)


def _levelled(cues: list[Cue]) -> tuple[Heading, ...]:
    """Headings whose levels are the ranks that occur, counted from 1."""
    ranks = sorted({title.rank for _, title in cues})
    levels = {rank: min(position, 6) for position, rank in enumerate(ranks, start=1)}
    return tuple(Heading(title.text, levels[title.rank], number, "cue") for number, title in cues)
