"""The ways that are compared, each as a user would write it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.strategies.bm25 import DEFAULT_BUDGET, bm25
from benchmarks.strategies.mapreduce import mapreduce
from benchmarks.strategies.ours import ours
from benchmarks.strategies.reading_all import direct, fanout, fanout_cached
from benchmarks.strategies.strategy import Answered, Attempt, Strategy
from orchestra.errors import InputInvalid

__all__ = ["STRATEGIES", "Answered", "Attempt", "Entry", "entries"]

STRATEGIES: dict[str, Strategy] = {
    "direct": direct,
    "fanout": fanout,
    "fanout-cached": fanout_cached,
    "bm25": bm25,
    "mapreduce": mapreduce,
    "full": ours("full"),
    "outline": ours("outline"),
    "auto": ours("auto"),
}
BUDGETED = ("bm25",)


@dataclass(frozen=True, slots=True)
class Entry:
    """A strategy of a run. `label` names it in results: "bm25@4000" is `bm25` with a budget of its own.

    The budget is a number of tokens, or follows another strategy: the tokens that it sent for the same question.
    """

    label: str
    run: Strategy
    budget_tokens: int | None = None
    follows: str = ""


def entries(names: Sequence[str], budget: str = "") -> tuple[Entry, ...]:
    """The strategies of these names, those that follow another one last.

    `budget` holds for budgeted strategies that name none of their own. Raises `InputInvalid`.
    """
    if not names:
        raise InputInvalid("no strategy is named", cause=f"they are {', '.join(STRATEGIES)}")
    if len(set(names)) < len(names):
        raise InputInvalid(f"a strategy is named twice in {','.join(names)}")
    found = [_entry(name, budget, names) for name in names]
    return tuple(sorted(found, key=lambda entry: bool(entry.follows)))


def _entry(label: str, budget: str, names: Sequence[str]) -> Entry:
    name, at, own = label.partition("@")
    if name not in STRATEGIES:
        raise InputInvalid(f"there is no strategy {name!r}", cause=f"they are {', '.join(STRATEGIES)}")
    if name not in BUDGETED:
        if at:
            raise InputInvalid(f"{name} has no budget", suggestion=f"Write {name} without {at}{own}.")
        return Entry(label, STRATEGIES[name])
    wanted = own or budget or str(DEFAULT_BUDGET)
    if wanted.isdecimal() and int(wanted) > 0:
        return Entry(label, STRATEGIES[name], int(wanted))
    if wanted == "auto" and "auto" not in names and "outline" in names:
        wanted = "outline"
    if wanted not in names or wanted.partition("@")[0] in BUDGETED:
        raise InputInvalid(
            f"the budget of {label} is {wanted!r}",
            cause="it is a number of tokens, or a strategy of the same run whose tokens it gets",
        )
    return Entry(label, STRATEGIES[name], follows=wanted)
