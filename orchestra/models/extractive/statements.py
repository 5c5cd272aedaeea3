"""A text as statements: sentences and table rows, each with its lines and what stands above it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from orchestra.models.extractive.heads import Heads
from orchestra.models.extractive.rows import MAX_ROW_CHARACTERS, fitted_to, row_of
from orchestra.models.extractive.vocabulary import phrase, stems

_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.+?)[ \t]*#*[ \t]*$")
_UNDERLINE = re.compile(r" {0,3}(=+|-{2,})[ \t]*$")
_DELIMITER = re.compile(r"[\s|:]*-[\s|:-]*$")
_ITEM = re.compile(r"\s*(?:[-*+•●▪◦]|\(?\d{1,2}[.)]|\([a-z]\))\s+")
_RUN_IN = re.compile(r"\*\*([^*]{2,80}?)[.:]?\*\*[.:]?\s+")
_COMMENT = re.compile(r" {0,3}<!--")
_FENCE = re.compile(r" {0,3}(```|~~~)")
_END = re.compile(r"[.!?][\"'”’)\]*_]*(?=\s+[\"'“‘(\[*_]*[A-Z0-9])")
_ABBREVIATION = re.compile(
    r"(?:\b(?:Mr|Mrs|Ms|Dr|Prof|Inc|Corp|Co|Ltd|No|Nos|vs|St|Jr|Sr|Fig|Sec|Art|approx|e\.g|i\.e|cf|al|etc)|\b[A-Z])\.$"
)
_FURNITURE = re.compile(
    r"\s*(?:table of contents|page\s+\d+(?:\s+of\s+\d+)?|[-–—]?\s*\d{1,4}\s*[-–—]?)\s*$", re.IGNORECASE
)
_IN_BRACKETS = re.compile(r"\s*\([^()]*\)")
MAX_CAPTION_WORDS = 14
MAX_TITLE_WORDS = 9
ABBREVIATION_CHARACTERS = 16


@dataclass(frozen=True)
class Statement:
    """A sentence, a table row or a line of code. `titles` are the headings above it, outermost first.

    A row has `cells` (its label first), the `header` of its table (as many cells, empty when unknown) with its line
    (the last one, where dates stand one below the other), and the `caption` above the table with its line; lines are 0
    where there is none. `unit` is what the text above says of the figures ("In millions"). `around` holds the stems
    of the labels of its table, or of the title above it.
    """

    text: str
    key: str
    first_line: int
    last_line: int
    titles: tuple[str, ...] = ()
    place: int = 0
    cells: tuple[str, ...] = ()
    header: tuple[str, ...] = ()
    header_line: int = 0
    header_first_line: int = 0
    caption: str = ""
    caption_line: int = 0
    unit: str = ""
    around: frozenset[str] = frozenset()
    is_item: bool = False
    is_code: bool = False

    @property
    def is_row(self) -> bool:
        return bool(self.cells)

    @property
    def label(self) -> str:
        """What a row is about: its first cell that is no figure."""
        return next((cell for cell in self.cells if cell and not is_figure(cell)), "")

    @property
    def header_lines(self) -> range:
        """The lines of the header; none where it is unknown."""
        first = self.header_first_line or self.header_line
        return range(first, self.header_line + 1) if first else range(0)

    @property
    def is_aligned(self) -> bool:
        """Whether it is a row that is set with spaces, no row of a marked table."""
        return self.is_row and "|" not in self.text

    @property
    def is_title(self) -> bool:
        """Whether it is a few words without an end, which say no more than a heading."""
        is_text = not (self.is_row or self.is_item or self.is_code)
        return is_text and self.text[-1:].isalnum() and len(self.text.split()) <= MAX_TITLE_WORDS

    @cached_property
    def label_stems(self) -> tuple[str, ...]:
        """The stems of a row's label without what stands in brackets."""
        return tuple(stems(_IN_BRACKETS.sub("", self.label))) if self.is_row else ()

    @cached_property
    def stems(self) -> tuple[str, ...]:
        """Of a sentence the whole text, of a row all its words."""
        return tuple(stems(" ".join(cell for cell in self.cells if not is_figure(cell)) if self.is_row else self.text))

    @cached_property
    def sequence(self) -> tuple[str, ...]:
        """All stems of the text in order, stop words too: where phrases are looked for."""
        return phrase(self.text)

    @cached_property
    def header_stems(self) -> tuple[frozenset[str], ...]:
        return tuple(frozenset(stems(head)) for head in self.header)

    @cached_property
    def caption_stems(self) -> frozenset[str]:
        return frozenset(stems(self.caption))

    @cached_property
    def title_stems(self) -> tuple[frozenset[str], ...]:
        return tuple(frozenset(stems(title)) for title in self.titles)


def is_figure(cell: str) -> bool:
    """Whether a table cell is an amount, a percentage, a dash or empty rather than words."""
    text = cell.strip(" *_$€£%x()+-–—.,")
    return not text or text.replace(",", "").replace(".", "").isdigit()


def read(
    lines: Sequence[str],
    first_line: int,
    key: str = "",
    titles: tuple[str, ...] = (),
    *,
    is_paged: bool = False,
    before: Sequence[str] = (),
) -> list[Statement]:
    """The statements of `lines`, the first of which is number `first_line`. Headings inside change the titles.

    The headings of a paged text bear no marks: there, a short line that stands alone is one. `before` are the lines
    right before, where the head of a table may stand that goes on here.
    """
    return list(_Reader(lines, first_line, key, titles, is_paged=is_paged, before=before).read())


class _Reader:
    """One pass over lines that keeps the headings, the caption and the table that are open."""

    def __init__(
        self,
        lines: Sequence[str],
        first_line: int,
        key: str,
        titles: tuple[str, ...],
        *,
        is_paged: bool,
        before: Sequence[str],
    ) -> None:
        self._lines, self._first, self._key = lines, first_line, key
        self._is_paged = is_paged
        self._under: tuple[str, ...] = ()
        self._heads, self._offset = Heads([*before, *lines]), len(before)
        self._titles = titles
        self._levels: list[int] = []
        self._place = 0
        self._caption: tuple[str, int] = ("", 0)

    def read(self) -> Iterator[Statement]:
        position = 0
        while position < len(self._lines):
            line = self._lines[position]
            if not line.strip() or _FURNITURE.match(line):
                position += 1
            elif heading := _HEADING.match(line):
                self._open(len(heading[1]), heading[2], is_first=position == 0)
                position += 1
            elif _COMMENT.match(line):
                position = self._comment_end(position)
            elif _FENCE.match(line):
                stop = self._fence_end(position)
                yield from self._code(position, stop)
                position = stop
            elif self._is_table(position):
                stop = self._table_end(position)
                yield from self._table(position, stop)
                position = stop
            else:
                stop = self._paragraph_end(position)
                yield from self._paragraph(position, stop)
                position = stop

    def _open(self, level: int, title: str, *, is_first: bool) -> None:
        """A heading: titles of its level and below end. The first line's own heading is in the titles already."""
        self._caption = ("", 0)
        if len(self._levels) < len(self._titles):
            depth = len(self._titles)
            self._levels = [level - depth + number for number in range(1, depth + 1)]
            if is_first and stems(self._titles[-1]) == stems(title):
                return
        kept = sum(1 for each in self._levels if each < level)
        self._titles = (*self._titles[:kept], title)
        self._levels = [*self._levels[:kept], level]

    def _fence_end(self, start: int) -> int:
        mark = self._lines[start].strip()[:3]
        for position in range(start + 1, len(self._lines)):
            if self._lines[position].strip().startswith(mark):
                return position + 1
        return len(self._lines)

    def _comment_end(self, start: int) -> int:
        for position in range(start, len(self._lines)):
            if "-->" in self._lines[position]:
                return position + 1
        return start + 1

    def _code(self, start: int, stop: int) -> Iterator[Statement]:
        for position in range(start, stop):
            text = self._lines[position].strip()
            if text and not _FENCE.match(self._lines[position]):
                yield self._statement(text, position, position, is_code=True)

    def _is_table(self, position: int) -> bool:
        following = self._lines[position + 1] if position + 1 < len(self._lines) else ""
        return "|" in self._lines[position] and bool("|" in following and _DELIMITER.match(following))

    def _is_before_table(self, position: int) -> bool:
        while position < len(self._lines) - 1 and not self._lines[position].strip():
            position += 1
        return position < len(self._lines) and self._is_table(position)

    def _table_end(self, start: int) -> int:
        stop = start + 2
        while stop < len(self._lines) and "|" in self._lines[stop]:
            stop += 1
        return stop

    def _table(self, start: int, stop: int) -> Iterator[Statement]:
        header = _cells(self._lines[start])
        caption, caption_line = self._caption
        around = frozenset(stems(" ".join(_cells(line)[0] for line in self._lines[start + 2 : stop])))
        for position in range(start + 2, stop):
            cells = _cells(self._lines[position])
            cells = (*cells, *[""] * (len(header) - len(cells)))[: len(header)]
            text = self._lines[position].strip()
            yield self._statement(
                text,
                position,
                position,
                cells=cells,
                header=header,
                header_line=self._first + start,
                caption=caption,
                caption_line=caption_line,
                around=around,
            )

    def _paragraph_end(self, start: int) -> int:
        stop = start + 1
        while stop < len(self._lines):
            line = self._lines[stop]
            starts_other = (
                _HEADING.match(line)
                or _FENCE.match(line)
                or _COMMENT.match(line)
                or _ITEM.match(line)
                or self._is_table(stop)
            )
            if (
                not line.strip()
                or _FURNITURE.match(line)
                or starts_other
                or row_of(line)
                or row_of(self._lines[stop - 1])
            ):
                return stop
            stop += 1
        return stop

    def _paragraph(self, start: int, stop: int) -> Iterator[Statement]:
        """The sentences of a paragraph; a lone figure line is a row; a short one may be the caption of a table."""
        if stop - start == 1 and (row := row_of(self._lines[start])):
            if not self._heads.is_head(self._offset + start):
                yield self._aligned(start, row)
            return
        lines = ["" if _UNDERLINE.match(line) else line for line in self._lines[start:stop]]
        item = _ITEM.match(lines[0])
        lines[0] = lines[0][item.end() :] if item else lines[0]
        titles = (*self._titles, *self._under)
        if run_in := _RUN_IN.match(lines[0]):
            titles = (*titles, run_in[1])
        elif self._is_paged and not item and (title := self._title(start, stop)):
            self._under = (title,)
        text = "\n".join(line.strip().lstrip("> ") for line in lines)
        self._caption = ("", 0)
        if len(text.split()) <= MAX_CAPTION_WORDS and not text.rstrip("*_").endswith((".", "!", "?")):
            self._caption = (text.strip(" *_:").replace("\n", " "), self._first + start)
            if self._is_before_table(stop):
                return
        for begin, end in _sentences(text):
            sentence = text[begin:end]
            first = start + text.count("\n", 0, begin)
            last = first + sentence.count("\n")
            if re.search(r"\w", sentence):
                yield self._statement(" ".join(sentence.split()), first, last, titles=titles, is_item=bool(item))

    def _title(self, start: int, stop: int) -> str:
        """What a paragraph of a paged text says as a heading: a short line that stands alone; else nothing."""
        text = self._lines[start].strip()
        is_alone = stop == start + 1 and (stop == len(self._lines) or not self._lines[stop].strip())
        is_short = len(text.split()) <= MAX_TITLE_WORDS and text[:1].isupper() and text[-1:] not in ".,;!?"
        return text.rstrip(":") if is_alone and is_short else ""

    def _aligned(self, position: int, row: tuple[str, ...]) -> Statement:
        """A row of figures set with spaces, under the nearest head of years above it that has as many columns."""
        head = self._heads.above(self._offset + position)
        fitting = fitted_to(row, len(head.columns)) if head else row
        row = self._with_start(position, fitting)
        first = position - 1 if row != fitting else position
        text = " ".join(" ".join(self._lines[first : position + 1]).split())
        titles = (*self._titles, *self._under)
        if head is None:
            return self._statement(text, first, position, cells=row, titles=titles)
        fits = len(head.columns) == len(row) - 1
        return self._statement(
            text,
            first,
            position,
            cells=row,
            titles=titles,
            header=("", *head.columns) if fits else (),
            header_line=self._first + head.position - self._offset if fits else 0,
            header_first_line=self._first + head.first_position - self._offset if fits else 0,
            around=frozenset(stems(head.title)),
            unit=head.unit,
            caption_line=self._first + head.unit_position - self._offset if head.unit else 0,
        )

    def _with_start(self, position: int, row: tuple[str, ...]) -> tuple[str, ...]:
        """A row whose label began on the line before, made whole: it goes on in small letters."""
        before = self._lines[position - 1].strip() if position else ""
        is_continued = row[0][:1].islower() and before[:1].isupper() and before[-1:] not in ".:;" and not row_of(before)
        return (f"{before} {row[0]}", *row[1:]) if is_continued and len(before) <= MAX_ROW_CHARACTERS else row

    def _statement(self, text: str, first: int, last: int, **more: object) -> Statement:
        self._place += 1
        values = {"titles": self._titles} | more
        return Statement(text, self._key, self._first + first, self._first + last, place=self._place, **values)  # type: ignore[arg-type]


def _cells(line: str) -> tuple[str, ...]:
    inner = line.strip().removeprefix("|")
    inner = inner[:-1] if inner.endswith("|") and not inner.endswith("\\|") else inner
    return tuple(cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", inner))


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    """Where sentences begin and end. A full stop after an abbreviation or an initial ends none."""
    begin = 0
    for match in _END.finditer(text):
        before = text[max(begin, match.end() - ABBREVIATION_CHARACTERS) : match.end()]
        if _ABBREVIATION.search(before.rstrip("\"'”’)]*_")):
            continue
        yield begin, match.end()
        begin = match.end()
        while begin < len(text) and text[begin].isspace():
            begin += 1
    if begin < len(text):
        yield begin, len(text)
