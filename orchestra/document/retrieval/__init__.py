"""Retrieval: the places and lines of documents that serve a task best, by classic lexical methods."""

from __future__ import annotations

from orchestra.document.retrieval.find import find
from orchestra.document.retrieval.hits import Hits, LineHit, Place, PlaceHit, neighbours, places_of

__all__ = ["Hits", "LineHit", "Place", "PlaceHit", "find", "neighbours", "places_of"]
