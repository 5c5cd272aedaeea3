"""The search itself."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from orchestra.document.document import DocumentSet
from orchestra.document.ranges import LineRange
from orchestra.document.retrieval.hits import Hits, LineHit, Place, PlaceHit, rows_of
from orchestra.document.search import LexicalIndex

MOST_PLACES = 60
MOST_LINES = 60


def find(
    task: str,
    documents: DocumentSet,
    *,
    most_places: int = MOST_PLACES,
    most_lines: int = MOST_LINES,
    exclude: Collection[LineRange] = (),
    vocabulary: str | Path | None = None,
) -> Hits:
    """The places and lines that serve `task` best. Deterministic; empty where none of its words occurs.

    A place that lies wholly in `exclude` is left out, so that the best unread ones can be asked for. `vocabulary` is a
    file of further report terms, see `report_terms.toml`; None reads the one that ORCHESTRA_VOCABULARY names, if any.
    """
    places = rows_of(documents)
    index = LexicalIndex(("", documents.find(place.key).lines(place.first_line, place.last_line)) for place in places)
    unread = [place.row for place in places if not _is_within(place, exclude)]
    found = [PlaceHit(places[hit.row], hit.score) for hit in index.search(task, len(places)) if hit.row in unread]
    lines = [LineHit(hit.place.first_line, hit.place, hit.score) for hit in found[:most_lines]]
    return Hits(tuple(found[:most_places]), tuple(lines))


def _is_within(place: Place, ranges: Collection[LineRange]) -> bool:
    return any(
        lines.key == place.key and lines.first <= place.first_line and place.last_line <= lines.last for lines in ranges
    )
