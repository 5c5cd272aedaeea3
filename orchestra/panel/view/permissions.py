"""What each node may do, what was taken from it on the way down, by whom and why."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Literal

from orchestra.errors import InputInvalid, PermissionDenied
from orchestra.panel.view.forest import Forest
from orchestra.panel.view.visible import one_line
from orchestra.skills.permissions import KINDS
from orchestra.skills.permissions.words import TAKEN_ALSO, cost_in_words, entries_in_words, is_within
from orchestra.store import NodeRecord

Snapshot = Mapping[str, Any]
Standing = Literal["inherited", "narrowed", "denied"]
Check = Literal["within", "wider", "unknown"]

MOST_ENTRIES = 40  # things of one change that are listed; further ones are counted
MOST_NAMES = 30  # nodes of those that inherit everything
_LONGEST = 300  # characters of an entry or a reason
_COST = "cost_usd"
_TAKEN_BY = {
    "skill": "the skill's declaration",
    "policy": "the workspace's policy",
    "trust": "trust: the skill is not trusted",
    "run": "the run: nobody gave it",
}


@dataclass(frozen=True, slots=True)
class Change:
    """Less than the parent: of `kind` "tools", `things`. `taken_by` and `reason` are "" if not on record."""

    kind: str
    things: tuple[str, ...]
    taken_by: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Refusal:
    """What a node asked for and was denied, and how often."""

    permission: str
    taken_by: str
    reason: str
    times: int = 1


@dataclass(frozen=True, slots=True)
class NodePermissions:
    """One node beside its parent. `left`: what it may do still, in words, by each kind that changed.

    `check` is "wider" where the record shows more than the parent's, which must never be.
    """

    node: NodeRecord
    standing: Standing
    changes: tuple[Change, ...] = ()
    left: tuple[tuple[str, str], ...] = ()
    refusals: tuple[Refusal, ...] = ()
    check: Check = "within"


@dataclass(frozen=True, slots=True)
class Inheriting:
    """Nodes that follow one another in the tree and may do all that their parents may; `nodes` are the first."""

    count: int
    nodes: tuple[NodeRecord, ...]


@dataclass(frozen=True, slots=True)
class Permissions:
    """All nodes of a run in the order of the tree. `run`: what the run as a whole may do, in words by kind."""

    run: tuple[tuple[str, str], ...]
    rows: tuple[NodePermissions | Inheriting, ...]
    counts: Mapping[Standing, int]
    wider: tuple[NodePermissions, ...]
    unknown: int


def permissions_of(forest: Forest, events: Iterable[Mapping[str, Any]]) -> Permissions:
    """`events` are those of permissions that were narrowed and refused."""
    sets, told = _sets(forest), _Told(events)
    nodes = [_of_node(forest, number, sets, told) for number in forest.order]
    counts: dict[Standing, int] = {"inherited": 0, "narrowed": 0, "denied": 0}
    for each in nodes:
        counts[each.standing] += 1
    root = next((found for number in forest.tops if (found := sets[number]) is not None), None)
    return Permissions(
        () if root is None else tuple(_in_words(root)),
        tuple(_folded(nodes)),
        counts,
        tuple(each for each in nodes if each.check == "wider"),
        sum(each.check == "unknown" for each in nodes),
    )


def check(child: Snapshot, parent: Snapshot) -> Check:
    """Whether what is on record for a node is within what is on record for its parent."""
    try:
        return "within" if is_within(child, parent) else "wider"
    except InputInvalid:
        return "unknown"


class _Told:
    """By node what was taken, entry by entry, and what was refused; and the checks that were made."""

    def __init__(self, events: Iterable[Mapping[str, Any]]) -> None:
        self.narrowings: dict[str, dict[str, Mapping[str, Any]]] = {}
        self.refusals: dict[str, list[Mapping[str, Any]]] = {}
        self._checks: dict[tuple[int, int], Check] = {}
        for event in events:
            node_id = str(event.get("node_id", ""))
            if event.get("type") == "permission-refused":
                self.refusals.setdefault(node_id, []).append(event)
            else:
                found = self.narrowings.setdefault(node_id, {})
                found.update((str(each.get("permission")), each) for each in event.get("narrowings") or ())

    def check(self, child: Snapshot, parent: Snapshot) -> Check:
        key = (id(child), id(parent))
        if key not in self._checks:
            self._checks[key] = check(child, parent)
        return self._checks[key]


def _sets(forest: Forest) -> list[Snapshot | None]:
    """Of each node its own snapshot, else that of the next node above it that has one; equal ones are one object."""
    known: dict[str, Snapshot] = {}
    found: list[Snapshot | None] = [None] * len(forest.nodes)
    for number in forest.order:
        parent, own = forest.parents[number], forest.nodes[number].permission_snapshot
        if own is not None and (parent < 0 or own != found[parent]):
            found[number] = known.setdefault(json.dumps(own, sort_keys=True), own)
        elif parent >= 0:
            found[number] = found[parent]
    return found


def _of_node(forest: Forest, number: int, sets: Sequence[Snapshot | None], told: _Told) -> NodePermissions:
    node, own, above = forest.nodes[number], sets[number], forest.parents[number]
    parent = sets[above] if above >= 0 else None
    refusals = _refusals(node, told.refusals.get(node.node_id, ()))
    narrowings = told.narrowings.get(node.node_id, {})
    if own is None or parent is None or own is parent:
        gone, left, found = list(narrowings), (), "within"
    else:
        gone, left, found = _difference(own, parent), tuple(_left(own, parent)), told.check(own, parent)
        gone += [entry for entry in narrowings if entry not in gone and _kind(entry) not in dict(left)]
    changes = tuple(_listed_changes(gone, narrowings))
    standing: Standing = "denied" if refusals else "narrowed" if changes or found == "wider" else "inherited"
    return NodePermissions(node, standing, changes, left, refusals, found)


def _difference(own: Snapshot, parent: Snapshot) -> list[str]:
    """Each thing of the parent that a node lacks, or must ask for, as narrowings name it: `tools: Bash`."""
    gone: list[str] = []
    for kind in KINDS:
        gone += [f"{kind}: {each}" for each in _missing(_entries(parent, kind), _entries(own, kind))]
        for word, _ in TAKEN_ALSO:
            before, after = (_entries(each.get(word) or {}, kind) for each in (parent, own))
            gone += [f"{kind}: {each}" for each in _missing(after, before)]
    if own.get(_COST) != parent.get(_COST):
        before = parent.get(_COST)
        gone.append(f"{_COST}: {'everything' if before is None else format(before, 'g')}")
    return list(dict.fromkeys(gone))


def _left(own: Snapshot, parent: Snapshot) -> Iterator[tuple[str, str]]:
    for (kind, before), (_, after) in zip(_in_words(parent), _in_words(own), strict=True):
        if before != after:
            yield kind, after


def _in_words(snapshot: Snapshot) -> Iterator[tuple[str, str]]:
    for kind in KINDS:
        words = entries_in_words(_entries(snapshot, kind))
        for word, said in TAKEN_ALSO:
            also = _entries(snapshot.get(word) or {}, kind)
            words += f"; {said}: {', '.join(also)}" if also else ""
        yield kind, one_line(words, _LONGEST)
    cost = snapshot.get(_COST)
    yield "cost", cost_in_words(cost) if isinstance(cost, int | float | None) else one_line(str(cost), _LONGEST)


def _entries(snapshot: Snapshot, kind: str) -> list[str]:
    listed = snapshot.get(kind, [])
    return [str(each) for each in listed] if isinstance(listed, list | tuple) else [str(listed)]


def _missing(before: Sequence[str], after: Sequence[str]) -> list[str]:
    still = set(after)
    return [each for each in before if each not in still]


def _listed_changes(gone: Sequence[str], narrowings: Mapping[str, Mapping[str, Any]]) -> Iterator[Change]:
    """What was taken by the same for the same reason is one change."""
    together: dict[tuple[str, str, str], list[str]] = {}
    for entry in gone:
        told, (kind, _, what) = narrowings.get(entry, {}), entry.partition(": ")
        key = (kind, _taken_by(told), one_line(str(told.get("reason", "")), _LONGEST))
        together.setdefault(key, []).append(what)
    for (kind, taken_by, reason), things in together.items():
        shown = [one_line(each, _LONGEST) for each in things[:MOST_ENTRIES]]
        if len(things) > MOST_ENTRIES:
            shown.append(f"and {len(things) - MOST_ENTRIES:,} more")
        yield Change("cost, US dollars" if kind == _COST else one_line(kind, _LONGEST), tuple(shown), taken_by, reason)


def _kind(entry: str) -> str:
    return entry.partition(": ")[0]


def _taken_by(told: Mapping[str, Any]) -> str:
    named = str(told.get("taken_by", ""))
    return _TAKEN_BY.get(named) or one_line(named, _LONGEST)


def _refusals(node: NodeRecord, events: Sequence[Mapping[str, Any]]) -> tuple[Refusal, ...]:
    """What its events say, or where there are none, its error."""
    found: dict[tuple[str, str, str], int] = {}
    for event in events:
        permission, reason = (one_line(str(event.get(name, "")), _LONGEST) for name in ("permission", "reason"))
        key = (permission, _taken_by(event), reason)
        found[key] = found.get(key, 0) + 1
    error = node.error or {}
    if not found and error.get("code") == PermissionDenied.code:
        what, cause = (one_line(str(error.get(name, "")), _LONGEST) for name in ("message", "cause"))
        return (Refusal(what, "", cause),)
    return tuple(Refusal(*key, times) for key, times in list(found.items())[:MOST_ENTRIES])


def _folded(nodes: Iterable[NodePermissions]) -> Iterator[NodePermissions | Inheriting]:
    for is_plain, group in groupby(nodes, lambda each: each.standing == "inherited"):
        if is_plain:
            listed = [each.node for each in group]
            yield Inheriting(len(listed), tuple(listed[:MOST_NAMES]))
        else:
            yield from group
