"""Choosing among ranked statements: the best ones, nothing said twice, and the lists that they introduce."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from orchestra.models.extractive.ranking import Ranked
from orchestra.models.extractive.statements import Statement

MAX_ITEMS, MAX_ROWS, ITEM_REACH_LINES = 6, 12, 3


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
        found += [Ranked(item, 0.0, 0.0) for item in _introduced(each.statement, statements[start:], known)]
    return found


def _introduced(colon: Statement, following: Sequence[Statement], known: set[int]) -> Iterator[Statement]:
    """The first items, or rows, after a statement; before rows a line may stand that heads their columns."""
    line, count, is_headed = colon.last_line, 0, False
    for each in following[: MAX_ROWS + 1]:
        is_listed = each.is_item or each.is_code or each.is_row
        if each.first_line - line > ITEM_REACH_LINES or (not is_listed and (is_headed or count)):
            return
        line, is_headed = each.last_line, is_headed or not is_listed
        if is_listed and is_headed and not each.is_row:
            return
        count += is_listed
        if count > (MAX_ROWS if each.is_row else MAX_ITEMS):
            return
        if id(each) not in known:
            known.add(id(each))
            yield each
