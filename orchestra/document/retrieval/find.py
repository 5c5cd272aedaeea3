"""The search itself."""

from __future__ import annotations

from orchestra.document.document import DocumentSet
from orchestra.document.retrieval.hits import Hits, LineHit, PlaceHit, rows_of
from orchestra.document.search import LexicalIndex

MOST_PLACES = 60
MOST_LINES = 60


def find(task: str, documents: DocumentSet, *, most_places: int = MOST_PLACES, most_lines: int = MOST_LINES) -> Hits:
    """The places and lines that serve `task` best. Deterministic; empty where none of its words occurs."""
    places = rows_of(documents)
    index = LexicalIndex(("", documents.find(place.key).lines(place.first_line, place.last_line)) for place in places)
    found = [PlaceHit(places[hit.row], hit.score) for hit in index.search(task, most_places)]
    lines = [LineHit(hit.place.first_line, hit.place, hit.score) for hit in found[:most_lines]]
    return Hits(tuple(found), tuple(lines))
