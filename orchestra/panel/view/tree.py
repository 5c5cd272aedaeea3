"""The call graph as rows of a tree grid: what stands open, in which order, and how much of it is sent.

Pure code over a `Forest`. A row's key is what a browser keeps of it: the node's number, or `g` and the number of the
first node alike for a group.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from orchestra.panel.view.amounts import NOTHING, Amount
from orchestra.panel.view.forest import LIVE, Forest, duration_of, started_at_of
from orchestra.store import NodeRecord

PAGE = 100  # siblings sent at a time
ALIKE = 6  # siblings of the same kind and skill that stand by themselves; more become a group
OUTSIDE = 10  # failed or waiting ones that stand before their group
MOST_ROWS = 500
OPEN_UNASKED = 200  # rows beyond which nothing opens by itself

SortKey = Literal["started", "duration", "tokens", "price", "status"]
Base = Literal["default", "all", "none"]

_SEVERITY = ("failed", "waiting_user", "confirm_required", "executing", "routing", "cancelled", "completed")


@dataclass(frozen=True, slots=True)
class Choices:
    """What a viewer chose. `opened` and `shut` hold keys of rows and go before `base`, which is for all the others.

    `more`: how many further pages of a branch or group, by its key, are asked for; "" is the top. `selected` is a
    node's number; it is always shown where what it stands in is open, and `reveals` opens that.
    """

    opened: frozenset[str] = frozenset()
    shut: frozenset[str] = frozenset()
    base: Base = "default"
    sort: SortKey = "started"
    is_descending: bool = False
    more: Mapping[str, int] = field(default_factory=dict[str, int])
    selected: int | None = None
    reveals: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """One row. `place` counts from 1 among `siblings`; `is_open` is None for what has nothing below it.

    Of a group, `count` is how many it holds, `statuses` how many of which status, `below` what they took together. Of a
    branch, `count` and `below` are of all below it. A `more` row stands for `count` siblings that were not sent.
    """

    key: str
    kind: Literal["node", "group", "more"]
    level: int
    place: int = 1
    siblings: int = 1
    is_open: bool | None = None
    number: int = -1
    node: NodeRecord | None = None
    label: str = ""
    own: Amount = NOTHING
    below: Amount = NOTHING
    count: int = 0
    statuses: tuple[tuple[str, int], ...] = ()
    duration_ms: float | None = None
    running_since: float | None = None
    is_failing: bool = False


@dataclass(frozen=True, slots=True)
class Tree:
    """The rows, depth first. `is_cut`: there are more than are ever sent, and the last ones are left out.

    `is_refused`: everything was to be opened, and `rows_in_all`, counted for that alone, are too many. `revealed` are
    the keys that were opened to show the selected node; `is_reset`: what else was open had to be shut for it.
    """

    rows: tuple[Row, ...]
    rows_in_all: int
    is_cut: bool = False
    is_refused: bool = False
    revealed: tuple[str, ...] = ()
    is_reset: bool = False


@dataclass(frozen=True, slots=True)
class _Unit:
    """What takes one row among its siblings: a node, or a group of nodes alike, whose `first` is never another's."""

    first: int
    members: tuple[int, ...]
    is_group: bool = False

    @property
    def key(self) -> str:
        return f"g{self.first}" if self.is_group else str(self.first)


def tree_of(forest: Forest, choices: Choices) -> Tree:
    """The rows that a viewer sees. Never more than `MOST_ROWS`, whatever the nodes and the choices are."""
    in_all = len(forest.nodes) + _groups_in(forest) if choices.base == "all" else 0
    is_refused = in_all > MOST_ROWS
    if is_refused:
        choices = replace(choices, base="default")
    walk = _Walk(forest, choices)
    is_hidden = choices.reveals and choices.selected is not None and walk.is_cut and not walk.has_selected
    if is_hidden:
        alone = Choices(base="none", sort=choices.sort, is_descending=choices.is_descending)
        walk = _Walk(forest, replace(alone, selected=choices.selected, reveals=True))
    return Tree(tuple(walk.rows), in_all, walk.is_cut, is_refused, tuple(walk.revealed), is_hidden)


class _Walk:
    """One way through a forest, depth first, with a stack of rows that are still to come."""

    def __init__(self, forest: Forest, choices: Choices) -> None:
        self._forest = forest
        self._choices = choices
        self._path = _path_to(forest, choices.selected)
        self._ahead: list[tuple[Row, _Unit | None]] = []
        self.rows: list[Row] = []
        self.revealed: list[str] = []
        self._put_ahead("", _units(forest, forest.tops), level=1)
        while self._ahead and len(self.rows) < MOST_ROWS:
            row, unit = self._ahead.pop()
            if unit is not None and _can_open(forest, unit):
                row = replace(row, is_open=self._is_open(unit))
            self.rows.append(row)
            if unit is not None and row.is_open:
                self._put_ahead(row.key, self._inside(unit), row.level + 1)
        self.is_cut = bool(self._ahead)

    @property
    def has_selected(self) -> bool:
        return any(row.kind == "node" and row.number == self._choices.selected for row in self.rows)

    def _put_ahead(self, key: str, units: Sequence[_Unit], level: int) -> None:
        units = _in_order(self._forest, units, self._choices)
        shown = list(enumerate(units, start=1))
        if self._choices.base != "all":
            most = PAGE * (1 + max(0, self._choices.more.get(key, 0)))
            shown = shown[:most] + [each for each in shown[most:] if self._is_on_path(each[1])]
        left = len(units) - len(shown)
        if left:
            self._ahead.append((Row(f"m{key}", "more", level, len(units), len(units), count=left), None))
        self._ahead.extend((_row(self._forest, unit, level, at, len(units)), unit) for at, unit in reversed(shown))

    def _inside(self, unit: _Unit) -> list[_Unit]:
        if unit.is_group:
            return [_Unit(number, (number,)) for number in _worst_first(self._forest, unit.members)]
        return _units(self._forest, self._forest.children[unit.first])

    def _is_open(self, unit: _Unit) -> bool:
        is_open = self._is_chosen_open(unit)
        if not is_open and self._choices.reveals and self._is_on_path(unit) and unit.key != str(self._choices.selected):
            self.revealed.append(unit.key)
            return True
        return is_open

    def _is_chosen_open(self, unit: _Unit) -> bool:
        if unit.key in self._choices.shut:
            return False
        if unit.key in self._choices.opened or self._choices.base == "all":
            return True
        if unit.is_group:
            return False
        if unit.first == self._forest.tops[0]:
            return True
        is_of_interest = self._forest.failing[unit.first] or self._forest.live[unit.first]
        has_room = len(self.rows) + len(self._ahead) < OPEN_UNASKED
        return self._choices.base == "default" and is_of_interest and has_room

    def _is_on_path(self, unit: _Unit) -> bool:
        return bool(self._path) and not self._path.isdisjoint(unit.members)


def _path_to(forest: Forest, number: int | None) -> frozenset[int]:
    """A node and all that it stands below; nothing for a number that is none."""
    if number is None or not 0 <= number < len(forest.nodes):
        return frozenset()
    return frozenset((number, *forest.ancestors(number)))


def _units(forest: Forest, siblings: Sequence[int]) -> list[_Unit]:
    """Siblings in the order in which they began, with groups of what is alike; the failed of a group go before it."""
    alike: dict[tuple[str, str], list[int]] = {}
    for number in siblings:
        node = forest.nodes[number]
        alike.setdefault((node.kind, node.skill_name), []).append(number)
    placed: list[tuple[int, int, _Unit]] = []
    for members in alike.values():
        first, outside, grouped = _split(forest, members)
        own_place = [(first if grouped else number, number - len(forest.nodes), number) for number in outside]
        placed += [(at, then, _Unit(number, (number,))) for at, then, number in own_place]
        if grouped:
            placed.append((first, 0, _Unit(first, tuple(grouped), is_group=True)))
    return [unit for _, _, unit in sorted(placed, key=lambda each: each[:2])]


def _split(forest: Forest, members: list[int]) -> tuple[int, list[int], list[int]]:
    """The first of what is alike, those that stand by themselves, and those of the group."""
    if len(members) <= ALIKE:
        return members[0], members, []
    outside = [number for number in _worst_first(forest, members) if _stands_out(forest, number)][:OUTSIDE]
    grouped = [number for number in members if number not in outside]
    return (members[0], outside, grouped) if len(grouped) > 1 else (members[0], members, [])


def _stands_out(forest: Forest, number: int) -> bool:
    return forest.failing[number] or forest.waiting[number]


def _worst_first(forest: Forest, numbers: Sequence[int]) -> list[int]:
    def rank(number: int) -> int:
        flags = (forest.failed[number], forest.waiting[number], forest.failing[number])
        return next((at for at, flag in enumerate(flags) if flag), len(flags))

    return sorted(numbers, key=rank)


def _groups_in(forest: Forest) -> int:
    families = (forest.tops, *(children for children in forest.children if len(children) > ALIKE))
    return sum(unit.is_group for family in families for unit in _units(forest, family))


def _in_order(forest: Forest, units: Sequence[_Unit], choices: Choices) -> list[_Unit]:
    """As chosen; more than a page of them in their own order has the failed ones first, so that none is missed."""
    if choices.sort == "started":
        ordered = list(reversed(units)) if choices.is_descending else list(units)
        if len(ordered) <= PAGE:
            return ordered
        return sorted(ordered, key=lambda unit: not any(_stands_out(forest, number) for number in unit.members))

    def value(unit: _Unit) -> float:
        return _value(forest, unit, choices.sort)

    return sorted(units, key=value, reverse=choices.is_descending)


def _value(forest: Forest, unit: _Unit, sort: SortKey) -> float:
    if sort == "status":
        return min(_severity(forest.nodes[number].status) for number in unit.members)
    if sort == "duration":
        return sum(_time_taken(forest.nodes[number]) for number in unit.members)
    wholes = [forest.whole(number) for number in unit.members]
    return sum(whole.tokens if sort == "tokens" else whole.cost_usd for whole in wholes)


def _severity(status: str) -> int:
    return _SEVERITY.index(status) if status in _SEVERITY else len(_SEVERITY)


def _time_taken(node: NodeRecord) -> float:
    """For sorting: what is under way takes longest."""
    took = duration_of(node)
    return took if took is not None else math.inf if node.status in LIVE else 0.0


def _can_open(forest: Forest, unit: _Unit) -> bool:
    return unit.is_group or bool(forest.children[unit.first])


def _row(forest: Forest, unit: _Unit, level: int, place: int, siblings: int) -> Row:
    node = forest.nodes[unit.first]
    label = node.skill_name or node.kind or node.node_id.rpartition("/")[2]
    if unit.is_group:
        members = [forest.nodes[number] for number in unit.members]
        counts = Counter(each.status for each in members)
        return Row(
            unit.key,
            "group",
            level,
            place,
            siblings,
            label=label,
            below=sum((forest.whole(number) for number in unit.members), NOTHING),
            count=len(members),
            statuses=tuple(sorted(counts.items(), key=lambda each: (_severity(each[0]), each[0]))),
            duration_ms=sum(duration_of(each) or 0.0 for each in members),
            is_failing=any(forest.failing[number] for number in unit.members),
        )
    return Row(
        unit.key,
        "node",
        level,
        place,
        siblings,
        number=unit.first,
        node=node,
        label=label,
        own=forest.own[unit.first],
        below=forest.belows[unit.first],
        count=forest.counts[unit.first],
        duration_ms=duration_of(node),
        running_since=started_at_of(node) if node.status in LIVE and duration_of(node) is None else None,
        is_failing=forest.failing[unit.first],
    )
