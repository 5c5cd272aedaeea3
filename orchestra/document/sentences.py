"""Sentences, and the blocks of text that bound them."""

from __future__ import annotations

import re
from collections.abc import Iterator

Span = tuple[int, int]

_END = re.compile(r"(?<![.!?])[.!?]+[\"'”’)\]*_]*(?=\s+)")
_GOES_ON = re.compile(r"\s+(?:[a-z]|$)")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(\"“])(?:(?:[A-Za-z]\.)*[A-Za-z]|Mr|Mrs|Ms|Dr|Prof|St|Jr|Sr|Inc|Corp|Co|Ltd|No|Nos|vs|cf|approx|ca|est|Fig"
    r"|Sec|Art|Vol|pp|ed|al|etc|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec|U\.S|e\.g|i\.e)\.$"
)
_ABBREVIATION_LENGTH = 12
_OWN_BLOCK = re.compile(r"[ \t]*(?:\||#{1,6}[ \t])")
_OPENS_BLOCK = re.compile(r"[ \t]*(?:[-*+•][ \t]|\(?\d{1,3}[.)][ \t]|\(?[a-z]\)[ \t])")


def sentences(text: str, start: int = 0, end: int | None = None) -> Iterator[Span]:
    """The sentences of a stretch of text, as offsets; together they cover all that is not space between them.

    A point ends one unless an abbreviation, an initial or a small letter says that it goes on.
    """
    end = len(text) if end is None else end
    first = start
    for match in _END.finditer(text, start, end):
        if _GOES_ON.match(text, match.end(), end):
            continue
        is_point = match[0].startswith(".")
        if is_point and _ABBREVIATION.search(text, max(first, match.start() - _ABBREVIATION_LENGTH), match.start() + 1):
            continue
        yield from _trimmed(text, first, match.end())
        first = match.end()
    yield from _trimmed(text, first, end)


def blocks(text: str) -> Iterator[Span]:
    """Paragraphs, list items, table rows and headings, as offsets, without blank lines."""
    first, position = 0, 0
    for line in text.splitlines(keepends=True):
        stands_alone = _OWN_BLOCK.match(line) is not None
        if stands_alone or not line.strip() or _OPENS_BLOCK.match(line):
            yield from _trimmed(text, first, position)
            first = position
        position += len(line)
        if stands_alone:
            yield from _trimmed(text, first, position)
            first = position
    yield from _trimmed(text, first, position)


def _trimmed(text: str, start: int, end: int) -> Iterator[Span]:
    piece = text[start:end]
    stripped = piece.strip()
    if stripped:
        start += len(piece) - len(piece.lstrip())
        yield start, start + len(stripped)
