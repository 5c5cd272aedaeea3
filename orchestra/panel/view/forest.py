"""The nodes of a run as a forest: who stands below whom, what it all took, and where it failed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from orchestra.panel.view.addresses import well_formed
from orchestra.panel.view.amounts import NOTHING, Amount, amount_of
from orchestra.store import NodeRecord

FAILED, CANCELLED = "failed", "cancelled"
WAITING = frozenset({"waiting_user", "confirm_required"})
LIVE = frozenset({"routing", "executing"}) | WAITING

PriceOf = Callable[[NodeRecord], float | None]


@dataclass(frozen=True, slots=True)
class Forest:
    """Nodes by their place in the order in which they began: that place is a node's number in all that follows.

    `parents` has -1 for what stands at the top; `order` is depth first; `belows` are what the nodes below one took
    together, and `counts` how many they are. `failed`, `failing` (failed or cancelled), `live` and `waiting`: a node is
    so, or one below it. `failures` are where failing paths end, in `order`.
    """

    nodes: tuple[NodeRecord, ...]
    parents: tuple[int, ...]
    children: tuple[tuple[int, ...], ...]
    tops: tuple[int, ...]
    order: tuple[int, ...]
    own: tuple[Amount, ...]
    belows: tuple[Amount, ...]
    counts: tuple[int, ...]
    failed: tuple[bool, ...]
    failing: tuple[bool, ...]
    live: tuple[bool, ...]
    waiting: tuple[bool, ...]
    failures: tuple[int, ...]

    def whole(self, number: int) -> Amount:
        """What a node took with all below it."""
        return self.own[number] + self.belows[number]

    def ancestors(self, number: int) -> list[int]:
        """From the parent up to the top."""
        found: list[int] = []
        while (number := self.parents[number]) >= 0:
            found.append(number)
        return found

    def number_of(self, node_id: str) -> int | None:
        """Of a node's id as an address carried it."""
        return next((at for at, node in enumerate(self.nodes) if well_formed(node.node_id) == node_id), None)

    def failure_after(self, number: int | None) -> int | None:
        """Where the next failing path ends, after a node in depth-first order; the first one after the last."""
        if not self.failures:
            return None
        if number is None or not 0 <= number < len(self.nodes):
            return self.failures[0]
        place = {each: at for at, each in enumerate(self.order)}
        return next((each for each in self.failures if place[each] > place[number]), self.failures[0])


def _no_price(_: NodeRecord) -> float | None:
    return None


def planted(nodes: Sequence[NodeRecord], price_of: PriceOf = _no_price) -> Forest:
    """The forest of any nodes: one whose parent is not among them stands at the top, and circles are cut open.

    Every node is in it once. `price_of` gives US dollars, None where they are not known.
    """
    parents = _parents(nodes)
    children, order = _depth_first(parents)
    own = tuple(amount_of(node.usage, price_of(node)) if node.usage else NOTHING for node in nodes)
    belows, counts = [NOTHING] * len(nodes), [0] * len(nodes)
    failed = [node.status == FAILED for node in nodes]
    failing = [node.status in (FAILED, CANCELLED) for node in nodes]
    live = [node.status in LIVE for node in nodes]
    waiting = [node.status in WAITING for node in nodes]
    is_end = list(failed)
    for number in reversed(order):
        parent = parents[number]
        if parent < 0:
            continue
        belows[parent] += own[number] + belows[number]
        counts[parent] += 1 + counts[number]
        for flags in (failed, failing, live, waiting):
            flags[parent] |= flags[number]
        is_end[parent] &= not failed[number]
    failures = [number for number in order if is_end[number]]
    cancelled = [number for number in order if nodes[number].status == CANCELLED]
    return Forest(
        tuple(nodes),
        tuple(parents),
        tuple(map(tuple, children)),
        tuple(number for number, parent in enumerate(parents) if parent < 0),
        tuple(order),
        own,
        tuple(belows),
        tuple(counts),
        tuple(failed),
        tuple(failing),
        tuple(live),
        tuple(waiting),
        tuple(failures or cancelled),
    )


def duration_of(node: NodeRecord) -> float | None:
    """Milliseconds; None as long as it is under way, and where it is not known."""
    return _number(node, "duration_ms")


def started_at_of(node: NodeRecord) -> float | None:
    """Unix seconds."""
    return _number(node, "started_at")


def _number(node: NodeRecord, name: str) -> float | None:
    value = (node.timing or {}).get(name)
    if not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return max(0.0, float(value))


def _parents(nodes: Sequence[NodeRecord]) -> list[int]:
    first: dict[str, int] = {}
    for number, node in enumerate(nodes):
        first.setdefault(node.node_id, number)
    parents = [first.get(node.parent_node_id, -1) if node.parent_node_id is not None else -1 for node in nodes]
    _cut_circles(parents)
    return parents


def _cut_circles(parents: list[int]) -> None:
    """Put the first node of each circle at the top."""
    is_sound = [False] * len(parents)
    for start in range(len(parents)):
        path: list[int] = []
        on_path: set[int] = set()
        at = start
        while at >= 0 and not is_sound[at]:
            if at in on_path:
                parents[min(path[path.index(at) :])] = -1
                break
            path.append(at)
            on_path.add(at)
            at = parents[at]
        for number in path:
            is_sound[number] = True


def _depth_first(parents: Sequence[int]) -> tuple[list[list[int]], list[int]]:
    children: list[list[int]] = [[] for _ in parents]
    tops: list[int] = []
    for number, parent in enumerate(parents):
        (tops if parent < 0 else children[parent]).append(number)
    return children, list(_walk(tops, children))


def _walk(tops: Sequence[int], children: Sequence[Sequence[int]]) -> Iterator[int]:
    ahead = list(reversed(tops))
    while ahead:
        number = ahead.pop()
        yield number
        ahead.extend(reversed(children[number]))
