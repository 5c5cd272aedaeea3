"""A pointer to more than a model can read: what of it is sent."""

from __future__ import annotations

from collections.abc import Sequence

from orchestra.document import DocumentSet, LineRange, Slice, cut
from orchestra.document.retrieval import find, places_of

_MOST_PLACES = 200
_PLACE_TOKENS = 60  # about what a place's breadcrumb and line numbers cost at least


def fits(ranges: Sequence[LineRange], documents: DocumentSet, tokens: int) -> bool:
    """Whether the slice of these ranges has at most `tokens`; what is far too long is not cut to find out."""
    return _about(ranges, documents) <= 2 * tokens and cut(ranges, documents).tokens <= tokens


def narrowed(query: str, ranges: Sequence[LineRange], documents: DocumentSet, budget_tokens: int) -> Slice:
    """Of these ranges the places that serve a query best, else the first ones, as far as `budget_tokens` go."""
    found = (hit.place.lines for hit in find(query, documents, most_places=_MOST_PLACES, most_lines=0).places)
    order = [lines for lines in found if _is_within(lines, ranges)] or [
        place.lines
        for key, _, document in documents.items()
        for place in places_of(key, document)
        if _is_within(place.lines, ranges)
    ]
    chosen: list[LineRange] = []
    for lines in order:
        if _about(chosen, documents) + _PLACE_TOKENS > budget_tokens:
            break
        if fits([*chosen, lines], documents, budget_tokens):
            chosen.append(lines)
    return cut(chosen or _front(order[:1], documents, budget_tokens), documents)


def _front(ranges: Sequence[LineRange], documents: DocumentSet, budget_tokens: int) -> list[LineRange]:
    """As much of the front of one long place as fits, found by halving."""
    for lines in ranges:
        last = lines.last
        while last > lines.first and not fits([LineRange(lines.key, lines.first, last)], documents, budget_tokens):
            last = (lines.first + last) // 2
        return [LineRange(lines.key, lines.first, last)]
    return []


def _about(ranges: Sequence[LineRange], documents: DocumentSet) -> int:
    """About the tokens of some lines, by the documents' tokens per character."""
    return round(sum(_share(lines, documents) for lines in ranges))


def _share(lines: LineRange, documents: DocumentSet) -> float:
    document = documents.find(lines.key)
    return document.size.tokens * document.characters(lines.first, lines.last) / max(len(document.text), 1)


def _is_within(lines: LineRange, ranges: Sequence[LineRange]) -> bool:
    return any(wide.key == lines.key and wide.first <= lines.first and lines.last <= wide.last for wide in ranges)
