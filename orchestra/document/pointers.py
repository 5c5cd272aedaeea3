"""Pointers: what a plan says to show, resolved to lines by a fixed ladder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from orchestra.document.document import DocumentSet

FUZZY_THRESHOLD = 90

Rung = Literal["id", "lines", "title", "folded", "path", "fuzzy", "lexical", "unresolved"]


@dataclass(frozen=True, slots=True)
class LineRange:
    """Lines of one document, 1-indexed, inclusive."""

    key: str
    first: int
    last: int

    def __str__(self) -> str:
        """As a citation writes it: `L120-L134`, `L120`, `d2:L120-L134`."""
        key = f"{self.key}:" if self.key else ""
        return f"{key}L{self.first}-L{self.last}" if self.last > self.first else f"{key}L{self.first}"


@dataclass(frozen=True, slots=True)
class Resolution:
    """What a pointer came to. No ranges: unresolved, and `notes` say why."""

    pointer: str
    ranges: tuple[LineRange, ...]
    rung: Rung
    sections: tuple[str, ...]
    notes: tuple[str, ...]


def resolve_section(reference: str, documents: DocumentSet) -> Resolution:
    """Find the lines a section reference means. Never raises."""
    return Resolution(reference, (), "unresolved", (), ())


def resolve_lines(first: object, last: object, documents: DocumentSet, key: str | None = None) -> Resolution:
    """Clip or correct a line range. Never raises."""
    return Resolution("", (), "unresolved", (), ())
