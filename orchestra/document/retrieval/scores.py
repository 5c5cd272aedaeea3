"""Scores of places by their numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from heapq import nsmallest

from orchestra.document.retrieval.words import words_of

Scores = dict[int, float]


def normalised(scores: Mapping[int, float]) -> Scores:
    """The scores as shares of the highest."""
    highest = max(scores.values(), default=0.0)
    return {row: score / highest for row, score in scores.items()} if highest > 0 else {}


def best(scores: Mapping[int, float], count: int) -> list[int]:
    """The places with the highest scores, equal ones in order."""
    return nsmallest(count, scores, key=lambda row: (-scores[row], row))


def plain(phrases: Iterable[str]) -> list[str]:
    """Phrases as an index looks for them: their words, parted by spaces."""
    return [" ".join(words_of(phrase)) for phrase in phrases]
