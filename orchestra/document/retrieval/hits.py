"""What retrieval ranks, and what it gives back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

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
    if document.page_starts:
        ends = pairwise((*document.page_starts, document.line_count + 1))
        for row, (first, following) in enumerate(ends):
            yield Place(key, f"p{row + 1}", row, first, following - 1)
        return
    for row, unit in enumerate(document.units):
        yield Place(key, unit.id, row, unit.first_line, unit.last_line)


def rows_of(documents: DocumentSet) -> list[Place]:
    """The places of all documents, in order."""
    return [place for key, _, document in documents.items() for place in places_of(key, document)]


def neighbours(place: Place, documents: DocumentSet) -> tuple[Place, ...]:
    """The places before and after in the same document, in order; KeyError for a document that the set does not have."""
    beside = (place.row - 1, place.row + 1)
    return tuple(one for one in places_of(place.key, documents.find(place.key)) if one.row in beside)
