"""Parts: an over-long own text divided between paragraphs, never inside a fence or a table that can be shown whole.

Blocks parted by blank lines are packed into parts of even size. A block that is too long by itself stays whole,
unless it is lines of plain prose (text out of a PDF often has no blank lines): these part at a sentence's or an
item's end, else at any line, but not between the rows of a table. Beyond `WHOLE_TOKENS` anything parts at any line.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from heapq import merge

from orchestra.document.lines import Lines
from orchestra.document.stretches import blocks_around
from orchestra.document.titles import is_numeric_row
from orchestra.document.tokens import EXACT_CHARACTERS, count_tokens

PART_TOKENS = 1200
WHOLE_TOKENS = 10 * PART_TOKENS  # a longer fence or table, such as a log, is not shown whole anyway

_LONGEST_TOKEN = 128  # characters, in o200k
_LONGEST_ROW = 4_000  # characters
_STEP = 400  # characters between the places where what is too long parts at any line
_HIDING = re.compile(r"^[ \t>*+\d.)-]*+(?:```|~~~|<[A-Za-z/!?])", re.MULTILINE)
_HTML_TABLE = re.compile(r"<table\b.*?(?:</table>|\Z)", re.IGNORECASE | re.DOTALL)
_ITEM = re.compile(r"\s*(?:[-+*•▪◦●–]|\(?\w{1,3}[.)])\s")
_SENTENCE_END = re.compile(r"[.!?:;][\"”’')\]]*\s*$")


@dataclass(frozen=True, slots=True)
class _Block:
    first: int
    last: int
    tokens: int


def divide(lines: Lines, first: int, last: int) -> tuple[tuple[int, int, int], ...]:
    """(first line, last line, tokens) of each part of lines first..last; empty when they are short or one block.

    In a huge text the tokens of a part are the sum of its blocks', which is about right.
    """
    if not _is_long(lines, first, last):
        return ()
    spans = _Spans(_whole(lines, first, last))
    pieces = (
        piece
        for block in _glued(lines, _blocks(lines, first, last, spans))
        for piece in ([block] if block.tokens <= PART_TOKENS else _pieces(lines, block, spans))
    )
    parts = _packed(first, pieces)
    if len(parts) < 2:
        return ()
    if _characters(lines, first, last) > EXACT_CHARACTERS:
        return tuple(parts)
    return tuple((start, end, count_tokens(lines.span(start, end))) for start, end, _ in parts)


def _is_long(lines: Lines, first: int, last: int) -> bool:
    characters = _characters(lines, first, last)
    if characters > PART_TOKENS * _LONGEST_TOKEN:
        return True
    # a character has 4 tokens at most
    return characters * 4 > PART_TOKENS and count_tokens(lines.span(first, last)) > PART_TOKENS


def _characters(lines: Lines, first: int, last: int) -> int:
    return lines.start(last + 1) - lines.start(first)


class _Spans:
    """Ranges of lines that a cut should spare, given in order of their first lines; those that overlap are joined."""

    def __init__(self, spans: Iterable[tuple[int, int]]) -> None:
        self._firsts = array("I")
        self._lasts = array("I")
        for first, last in spans:
            if self._lasts and first <= self._lasts[-1]:
                self._lasts[-1] = max(self._lasts[-1], last)
            else:
                self._firsts.append(first)
                self._lasts.append(last)

    def go_on_at(self, line: int) -> bool:
        """Whether one of them began before this line and is not over."""
        position = bisect_left(self._firsts, line) - 1
        return position >= 0 and line <= self._lasts[position]

    def overlap(self, first: int, last: int) -> bool:
        position = bisect_right(self._firsts, last) - 1
        return position >= 0 and first <= self._lasts[position]


def _whole(lines: Lines, first: int, last: int) -> Iterator[tuple[int, int]]:
    """Lines of fences, HTML blocks and HTML tables, which stay whole, in order."""
    start, end = lines.start(first), lines.start(last + 1)
    if not _HIDING.search(lines.text, start, end):
        return iter(())
    text = lines.text[start:end]
    tables = (
        (lines.number_at(start + table.start()), min(lines.number_at(start + table.end()), last))
        for table in _HTML_TABLE.finditer(text)
    )
    return merge(_hidden(text, first), tables)


def _hidden(text: str, first: int) -> Iterator[tuple[int, int]]:
    """Lines of fences and HTML blocks of a text whose first line has the number `first`."""
    for line, block, fence_lines in blocks_around(text, _HIDING, {}):
        before = first + line - 1
        if fence_lines:
            yield before + block.line, before + block.line + fence_lines - 1
        for token in block.tokens:
            if token.type in ("fence", "html_block") and token.map:
                yield before + token.map[0], before + token.map[1] - 1


def _blocks(lines: Lines, first: int, last: int, spans: _Spans) -> Iterator[_Block]:
    """What blank lines part, each block with the blank lines after it."""
    start, is_after_blank = first, False
    for number in range(first, last + 1):
        is_blank = not lines.line(number).strip()
        if is_after_blank and not is_blank and not spans.go_on_at(number):
            yield _block(lines, start, number - 1)
            start = number
        is_after_blank = is_blank
    yield _block(lines, start, last)


def _glued(lines: Lines, found: Iterable[_Block]) -> Iterator[_Block]:
    """A block that ends in a colon, or is a heading alone, stays with the block that it introduces."""
    held: _Block | None = None
    for block in found:
        if held and held.tokens + block.tokens <= PART_TOKENS:
            block = _Block(held.first, block.last, held.tokens + block.tokens)
        elif held:
            yield held
        held = block if _introduces(lines, block) else None
        if not held:
            yield block
    if held:
        yield held


def _introduces(lines: Lines, block: _Block) -> bool:
    if block.tokens * 4 > PART_TOKENS:
        return False
    text = lines.span(block.first, block.last).rstrip()
    return text.endswith(":") or (text.startswith("#") and "\n" not in text)


def _pieces(lines: Lines, block: _Block, spans: _Spans) -> Iterator[_Block]:
    """A long block at its sentences' and items' ends; what is still long, at any line outside a table."""
    if spans.overlap(block.first, block.last):
        yield from _whole_or_steps(lines, block)
        return
    for sentence in _cut(lines, block, _is_natural):
        if sentence.tokens <= PART_TOKENS:
            yield sentence
            continue
        for piece in _cut(lines, sentence, _is_free):
            yield from _whole_or_steps(lines, piece)


def _whole_or_steps(lines: Lines, block: _Block) -> Iterable[_Block]:
    return [block] if block.tokens <= WHOLE_TOKENS else _cut(lines, block, _is_step)


def _cut(lines: Lines, block: _Block, may_follow: Callable[[Lines, int], bool]) -> Iterator[_Block]:
    """The block in pieces, a cut after each line that one may follow."""
    start = block.first
    for number in range(block.first, block.last):
        if may_follow(lines, number):
            yield _block(lines, start, number)
            start = number + 1
    yield _block(lines, start, block.last)


def _is_natural(lines: Lines, number: int) -> bool:
    ends = _SENTENCE_END.search(lines.line(number)) or _ITEM.match(lines.line(number + 1))
    return bool(ends) and _is_free(lines, number)


def _is_free(lines: Lines, number: int) -> bool:
    return not _is_row(lines.line(number)) and not _is_row(lines.line(number + 1))


def _is_step(lines: Lines, number: int) -> bool:
    return lines.start(number + 1) // _STEP != lines.start(number + 2) // _STEP


def _is_row(line: str) -> bool:
    return "|" in line or "\t" in line.strip() or (len(line) <= _LONGEST_ROW and is_numeric_row(line))


def _packed(first: int, pieces: Iterable[_Block]) -> list[tuple[int, int, int]]:
    """Neighbouring pieces together, as even as they allow, none above the limit that is not a single piece."""
    lasts, sizes = array("I"), array("I")
    for piece in pieces:
        lasts.append(piece.last)
        sizes.append(piece.tokens)
    parts: list[tuple[int, int, int]] = []
    left = sum(sizes)
    size, before, even = 0, first - 1, _even(left)
    for last, tokens in zip(lasts, sizes, strict=True):
        if size and (size + tokens > PART_TOKENS or size + tokens / 2 > even):
            parts.append((first, before, size))
            first, size, even = before + 1, 0, _even(left)
        size += tokens
        left -= tokens
        before = last
    return [*parts, (first, before, size)]


def _even(tokens: int) -> float:
    """The size of each part when as few as possible share the tokens."""
    return tokens / max(1, -(-tokens // PART_TOKENS))


def _block(lines: Lines, first: int, last: int) -> _Block:
    characters = _characters(lines, first, last)
    if characters > WHOLE_TOKENS * _LONGEST_TOKEN:
        return _Block(first, last, characters // 4)  # how long exactly makes no difference
    return _Block(first, last, count_tokens(lines.span(first, last) + "\n"))
