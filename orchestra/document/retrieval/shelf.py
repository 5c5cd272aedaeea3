"""All places of a set of documents, searched as one."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Mapping

from orchestra.document.document import Document, DocumentSet
from orchestra.document.retrieval.hits import Place, place_at
from orchestra.document.retrieval.index import TEXT


class Shelf:
    """The places of all documents under one numbering from 0, and what the indexes of the documents say of them."""

    def __init__(self, documents: DocumentSet) -> None:
        self._keys = documents.keys
        self._documents: tuple[Document, ...] = tuple(documents)
        self._offsets = [0]
        for document in self._documents:
            self._offsets.append(self._offsets[-1] + len(document.place_index))

    def __len__(self) -> int:
        return self._offsets[-1]

    def at(self, row: int) -> tuple[Document, Place]:
        """The place with a number, and its document."""
        position = bisect_right(self._offsets, row) - 1
        document = self._documents[position]
        return document, place_at(self._keys[position], document, row - self._offsets[position])

    def frequencies(self, phrases: Iterable[str], fields: Mapping[str, float] = TEXT) -> dict[int, float]:
        """For each place that holds one of some phrases, how strongly it holds the best of them: 0 to 2.2."""
        found: dict[int, float] = {}
        for phrase in phrases:
            for offset, document in zip(self._offsets, self._documents, strict=False):
                for row, strength in document.place_index.frequencies(phrase, fields).items():
                    found[offset + row] = max(found.get(offset + row, 0.0), strength)
        return found

    def rarity(self, holders: int) -> float:
        """The weight of what so many places hold: BM25's, never below 0."""
        return math.log1p((len(self) - holders + 0.5) / (holders + 0.5))
