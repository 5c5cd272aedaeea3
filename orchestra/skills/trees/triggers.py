"""Which skills a query names by their triggers, without asking anyone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from orchestra.document.search import phrases_in


def triggered(query: str, triggers: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Names of which a trigger, a word or a phrase, occurs in the query, in the order of the mapping.

    Words are compared by their stems: "replies" is named by "reply".
    """
    phrases = {phrase for each in triggers.values() for phrase in each}
    found = phrases_in(query, sorted(phrases))
    return tuple(name for name, each in triggers.items() if not found.isdisjoint(each))
