"""Parts: an over-long own text divided between paragraphs, never inside a fence or a table.

Blocks parted by blank lines are packed into parts of even size. A block that is too long by itself stays whole,
unless it is lines of plain prose (text out of a PDF often has no blank lines): these part at a sentence's or an
item's end, else at any line, but not between the rows of a table.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from orchestra.document.commonmark import blocks
from orchestra.document.lines import Lines
from orchestra.document.titles import is_numeric_row
from orchestra.document.tokens import count_tokens

PART_TOKENS = 1200

_HIDING = re.compile(r"^[ \t>*+\d.)-]*+(?:```|~~~|<)", re.MULTILINE)
_HTML_TABLE = re.compile(r"<table\b.*?(?:</table>|\Z)", re.IGNORECASE | re.DOTALL)
_ITEM = re.compile(r"\s*(?:[-+*•▪◦●–]|\(?\w{1,3}[.)])\s")
_SENTENCE_END = re.compile(r"[.!?:;][\"”’')\]]*\s*$")


@dataclass(frozen=True, slots=True)
class _Block:
    first: int
    last: int
    tokens: int


def divide(lines: Lines, first: int, last: int) -> tuple[tuple[int, int, int], ...]:
    """(first line, last line, tokens) of each part of lines first..last; empty when they are short or one block."""
    text = lines.span(first, last)
    if len(text) * 4 <= PART_TOKENS or count_tokens(text) <= PART_TOKENS:  # a character has 4 tokens at most
        return ()
    whole = _spans(text, first)
    pieces = [
        piece
        for block in _glued(lines, _blocks(lines, first, last, whole))
        for piece in ([block] if block.tokens <= PART_TOKENS else _prose(lines, block, whole))
    ]
    parts = list(_packed(pieces))
    if len(parts) < 2:
        return ()
    return tuple((start, end, count_tokens(lines.span(start, end))) for start, end in parts)


def _spans(text: str, first: int) -> list[tuple[int, int]]:
    """Lines of fences, HTML blocks and HTML tables, which stay whole."""
    if not _HIDING.search(text):
        return []
    spans: list[tuple[int, int]] = []
    for block in blocks(text, {}):
        for token in block.tokens:
            if token.type in ("fence", "html_block") and token.map:
                spans.append((first + token.map[0], first + token.map[1] - 1))
    counted, line = 0, first
    for table in _HTML_TABLE.finditer(text):
        line, counted = line + text.count("\n", counted, table.start()), table.start()
        spans.append((line, line + table.group().count("\n")))
    return sorted(spans)


def _blocks(lines: Lines, first: int, last: int, whole: list[tuple[int, int]]) -> Iterator[_Block]:
    """What blank lines part, each block with the blank lines after it."""
    kept = _inner_lines(whole)
    start, is_after_blank = first, False
    for number in range(first, last + 1):
        is_blank = not lines.line(number).strip()
        if is_after_blank and not is_blank and number not in kept:
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
    text = lines.span(block.first, block.last).rstrip()
    return block.tokens * 4 <= PART_TOKENS and (text.endswith(":") or (text.startswith("#") and "\n" not in text))


def _prose(lines: Lines, block: _Block, whole: list[tuple[int, int]]) -> list[_Block]:
    """A long block at its sentences' and items' ends; what is still long, at any line outside a table."""
    if any(first <= block.last and last >= block.first for first, last in whole):
        return [block]
    is_row = {number: _is_row(lines.line(number)) for number in range(block.first, block.last + 1)}
    free = [number for number in range(block.first, block.last) if not is_row[number] and not is_row[number + 1]]
    natural = [n for n in free if _SENTENCE_END.search(lines.line(n)) or _ITEM.match(lines.line(n + 1))]
    return [
        piece
        for sentence in _cut_after(lines, block, natural)
        for piece in (
            [sentence]
            if sentence.tokens <= PART_TOKENS
            else _cut_after(lines, sentence, [n for n in free if sentence.first <= n < sentence.last])
        )
    ]


def _cut_after(lines: Lines, block: _Block, numbers: list[int]) -> list[_Block]:
    edges = [block.first - 1, *numbers, block.last]
    return [_block(lines, before + 1, after) for before, after in pairwise(edges)]


def _is_row(line: str) -> bool:
    return "|" in line or "\t" in line.strip() or is_numeric_row(line)


def _packed(pieces: list[_Block]) -> Iterator[tuple[int, int]]:
    """Neighbouring pieces together, as even as they allow, none above the limit that is not a single piece."""
    left = sum(piece.tokens for piece in pieces)
    start, size, even = pieces[0].first, 0, _even(left)
    for piece in pieces:
        if size and (size + piece.tokens > PART_TOKENS or size + piece.tokens / 2 > even):
            yield start, piece.first - 1
            start, size, even = piece.first, 0, _even(left)
        size += piece.tokens
        left -= piece.tokens
    yield start, pieces[-1].last


def _even(tokens: int) -> float:
    """The size of each part when as few as possible share the tokens."""
    return tokens / max(1, -(-tokens // PART_TOKENS))


def _inner_lines(spans: Iterable[tuple[int, int]]) -> frozenset[int]:
    """The lines before which a span must not be cut."""
    return frozenset(number for first, last in spans for number in range(first + 1, last + 1))


def _block(lines: Lines, first: int, last: int) -> _Block:
    return _Block(first, last, count_tokens(lines.span(first, last) + "\n"))
