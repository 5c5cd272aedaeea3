"""Lists: the whole table that a question asks for by its first column, the members under a heading that it names."""

from __future__ import annotations

import re
from collections.abc import Sequence

from orchestra.models.extractive.query import Query
from orchestra.models.extractive.ranking import Ranked
from orchestra.models.extractive.statements import Statement
from orchestra.models.extractive.vocabulary import stem, stems

MAX_MEMBERS, LEAST_MEMBERS = 12, 3
_BY = re.compile(r"\b(?:by|per|for each|of each|in each)\s+([a-z]{3,})", re.IGNORECASE)


def table_by(query: Query, ranked: Sequence[Ranked]) -> list[Ranked]:
    """For "revenue by region": the rows of the best table whose first column is headed Region; else none."""
    asked = _BY.search(query.text)
    if asked is None:
        return []
    corner = stem(asked[1].lower())
    rows = [each for each in ranked if each.statement.header and corner in each.statement.header_stems[0]]
    if not rows:
        return []
    first = rows[0].statement
    return [each for each in rows if (each.statement.key, each.statement.header_line) == (first.key, first.header_line)]


def members_of(query: Query, statements: Sequence[Statement]) -> list[Ranked]:
    """For "list the directors": what begins each item or bold entry under the heading Directors; else none."""
    asked = frozenset(query.weights)
    path = next((found for each in statements if (found := _path_to(asked, each.titles))), ())
    below = [each for each in statements if path and each.titles[: len(path)] == path and not each.is_row]
    entries: dict[object, Statement] = {}
    for each in below:
        if each.is_item or len(each.titles) > len(path):
            entries.setdefault(each.titles if len(each.titles) > len(path) else each.place, each)
    found = list(entries.values())[:MAX_MEMBERS]
    return [Ranked(each, 0.0, 0.0) for each in found] if len(found) >= LEAST_MEMBERS else []


def _path_to(asked: frozenset[str], titles: tuple[str, ...]) -> tuple[str, ...]:
    """The titles down to the innermost one that says just what is asked."""
    for depth in range(len(titles), 1, -1):
        if frozenset(stems(titles[depth - 1])) == asked:
            return titles[:depth]
    return ()
