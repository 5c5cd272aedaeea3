"""The nodes of a run as of an earlier moment, folded from its events as the store folds them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from typing import Any

from orchestra.store import NodeRecord
from orchestra.store.records import read

_NODE_EVENTS = "skill-route-"
_MOST_COMPARED = 15
_FIELDS = tuple(field.name for field in fields(NodeRecord))


def nodes_at(events: Iterable[Mapping[str, Any]]) -> list[NodeRecord]:
    """What these events, from a run's first one on, say of its nodes: in the order in which they began.

    With all of a run's events that is `Store.nodes`. `StoreDamaged` for an event that cannot be read.
    """
    timeline = Timeline()
    for event in events:
        timeline.add(event)
    return timeline.nodes()


class Timeline:
    """The nodes of one run at every moment. `last` is the sequence of the latest event; `size` counts what is held.

    Events are added in order, each once; what they say is checked when it is asked for.
    """

    def __init__(self) -> None:
        self.last = 0
        self.size = 0
        self._states: dict[str, tuple[list[int], list[NodeRecord | dict[str, Any]]]] = {}
        self._snapshots: list[Mapping[str, Any]] = []

    def add(self, event: Mapping[str, Any]) -> None:
        self.last = event["sequence"]
        node_id = event.get("node_id")
        if not node_id or "status" not in event or not str(event.get("type", "")).startswith(_NODE_EVENTS):
            return
        told = {name: event[name] for name in _FIELDS if name in event}
        told["permission_snapshot"] = self._held_once(told.get("permission_snapshot"))
        sequences, states = self._states.setdefault(node_id, ([], []))
        sequences.append(self.last)
        states.append(told)
        self.size += 1

    def nodes(self, at: int | None = None) -> list[NodeRecord]:
        """In the order in which they began: as of the event with sequence `at`, by default now. `StoreDamaged`."""
        found: list[NodeRecord] = []
        for sequences, states in self._states.values():
            known = len(states) if at is None else bisect_right(sequences, at)
            if known:
                found.append(self._read(sequences, states, known - 1))
        return found

    def _read(self, sequences: list[int], states: list[NodeRecord | dict[str, Any]], place: int) -> NodeRecord:
        told = states[place]
        if isinstance(told, NodeRecord):
            return told
        record = read(NodeRecord, told, where=f"event {sequences[place]}")
        states[place] = record = replace(record, permission_snapshot=told["permission_snapshot"])
        return record

    def _held_once(self, snapshot: Any) -> Any:
        """The same object for what is equal to one of the latest."""
        for known in self._snapshots:
            if known == snapshot:
                return known
        if snapshot is not None:
            self._snapshots = [snapshot, *self._snapshots[:_MOST_COMPARED]]
        return snapshot
