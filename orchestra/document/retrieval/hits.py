"""What retrieval ranks, and what it gives back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from orchestra.document.document import Document, DocumentSet
from orchestra.document.ranges import LineRange


@dataclass(frozen=True, slots=True)
class Place:
    """What a plan can point at: a page ("p61") of a document with pages, else a unit ("s12", "s12.3") of its outline.

    The places of a document cover each of its lines once. `row` counts them from 0.
    """

    key: str
    id: str
    row: int
    first_line: int
    last_line: int

    @property
    def lines(self) -> LineRange:
        return LineRange(self.key, self.first_line, self.last_line)


@dataclass(frozen=True, slots=True)
class PlaceHit:
    """A place and how well it serves the task; higher is better, comparable within one search only."""

    place: Place
    score: float


@dataclass(frozen=True, slots=True)
class LineHit:
    """A line that holds words of the task, and its place."""

    line: int
    place: Place
    score: float


@dataclass(frozen=True, slots=True)
class Hits:
    """Best first; equal scores stand in document order."""

    places: tuple[PlaceHit, ...]
    lines: tuple[LineHit, ...]


def places_of(key: str, document: Document) -> Iterator[Place]:
    """The places of one document, in order."""
    return (place_at(key, document, row) for row in range(place_count(document)))


def place_count(document: Document) -> int:
    return len(document.page_starts) or len(document.units)


def place_at(key: str, document: Document, row: int) -> Place:
    """The place that stands at `row` of a document; IndexError when there is none."""
    starts = document.page_starts
    if starts:
        following = starts[row + 1] if row + 1 < len(starts) else document.line_count + 1
        return Place(key, f"p{row + 1}", row, starts[row], following - 1)
    unit = document.units[row]
    return Place(key, unit.id, row, unit.first_line, unit.last_line)


def neighbours(place: Place, documents: DocumentSet) -> tuple[Place, ...]:
    """The places before and after in the same document, in order; KeyError without such a document."""
    document = documents.find(place.key)
    beside = (place.row - 1, place.row + 1)
    return tuple(place_at(place.key, document, row) for row in beside if 0 <= row < place_count(document))
