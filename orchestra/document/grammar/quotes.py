"""Quoted strings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from orchestra.document.grammar.text import fold

_QUOTED = re.compile(r"“([^“”\n]+)”|«([^«»\n]+)»|„([^„“”\n]+)[“”]|(?<![\w\"])\"(?!\s)([^\"\n]+?)(?<!\s)\"(?!\w)")
_LEFT_OUT = re.compile(r"\.\.\.|\[[^\]]*\]")
_EDGES = " .,;:!?-'\""


@dataclass(frozen=True, slots=True)
class Quote:
    """A quoted string; `pieces` are its folded wordings around what the quote leaves out."""

    text: str
    start: int
    end: int
    pieces: tuple[str, ...]


def find_quotes(text: str) -> Iterator[Quote]:
    """Strings in straight or curly quotes or guillemets, on one line."""
    for match in _QUOTED.finditer(text):
        inside = match[match.lastindex or 0]
        pieces = tuple(piece.strip(_EDGES) for piece in _LEFT_OUT.split(fold(inside)))
        if any(character.isalnum() for character in inside):
            yield Quote(match[0], match.start(), match.end(), tuple(filter(None, pieces)))


def is_quoted_from(quote: Quote, folded_source: str) -> bool:
    """Whether the pieces occur in the source, in their order."""
    position = 0
    for piece in quote.pieces:
        position = folded_source.find(piece, position)
        if position < 0:
            return False
        position += len(piece)
    return True
