"""Retrieval: the places and lines of documents that serve a task best, by classic lexical methods."""

from __future__ import annotations

from orchestra.document.retrieval.find import find
from orchestra.document.retrieval.hits import Hits, LineHit, Place, PlaceHit, neighbours, places_of
from orchestra.document.retrieval.question import parts_of

__all__ = ["Hits", "LineHit", "Place", "PlaceHit", "find", "neighbours", "parts_of", "places_of"]
