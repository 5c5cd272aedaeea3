"""Choosing among ranked statements: the best ones, nothing said twice, and the lists that they introduce."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from orchestra.models.extractive.ranking import Ranked
from orchestra.models.extractive.statements import Statement

MAX_ITEMS, ITEM_REACH_LINES = 6, 3


def best(ranked: Iterable[Ranked], most: int, share: float) -> list[Ranked]:
    """The best ones down to a share of the first, nothing said twice."""
    chosen: list[Ranked] = []
    seen: set[str] = set()
    for each in sorted(ranked, key=lambda each: -each.score):
        text = each.statement.text
        if len(chosen) == most or (chosen and each.score < share * chosen[0].score):
            break
        if text not in seen:
            seen.add(text)
            chosen.append(each)
    return chosen


def with_items(chosen: Sequence[Ranked], statements: Sequence[Statement]) -> list[Ranked]:
    """After a sentence that ends with a colon, the first items of the list that it introduces."""
    at = {id(statement): position for position, statement in enumerate(statements)}
    known = {id(each.statement) for each in chosen}
    found = list(chosen)
    for each in chosen:
        start = at.get(id(each.statement), -1) + 1
        if not each.statement.text.endswith(":") or not start:
            continue
        line = each.statement.last_line
        for following in statements[start : start + MAX_ITEMS]:
            is_listed = following.is_item or following.is_code or following.is_row
            if not is_listed or following.first_line - line > ITEM_REACH_LINES:
                break
            line = following.last_line
            if id(following) not in known:
                found.append(Ranked(following, 0.0, 0.0))
    return found
