"""Which skills a query names by their triggers, without asking anyone."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from orchestra.document.search import phrases_in

_BETWEEN = re.compile(r"\s*(?:[;\n]|[.!?](?=\s)|,?\s+\band\b|,)\s*", re.IGNORECASE)
_LEANS = re.compile(
    r"\b(?:it|its|them|they|their|theirs|this|that|these|those|then|thereof|afterwards|after|before|first|next|finally"
    r"|result|results|accordingly|based|if|unless|same|each|former|latter|using|with|from)\b",
    re.IGNORECASE,
)
"""Words by which one part of a query may mean another."""


def parts_of(query: str) -> tuple[str, ...]:
    """The parts of a query that each ask for something of their own; all of it where one may lean on another."""
    parts = tuple(part for part in (each.strip() for each in _BETWEEN.split(query)) if part)
    return (query,) if any(_LEANS.search(part) for part in parts) else parts


def triggered(query: str, triggers: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Names of which a trigger, a word or a phrase, occurs in the query, in the order of the mapping.

    Words are compared by their stems: "replies" is named by "reply".
    """
    phrases = {phrase for each in triggers.values() for phrase in each}
    found = phrases_in(query, sorted(phrases))
    return tuple(name for name, each in triggers.items() if not found.isdisjoint(each))
