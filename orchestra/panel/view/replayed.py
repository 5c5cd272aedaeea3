"""The nodes of a run as of an earlier moment, folded from its events as the store folds them."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from typing import Any

from orchestra.store import NodeRecord
from orchestra.store.records import read

_NODE_EVENTS = "skill-route-"
_PERMISSION_EVENTS = ("permissions-narrowed", "permission-refused")
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
    """The nodes of one run at every moment, and what was said of their permissions.

    `last` is the sequence of the latest event; `size` counts what is held. Events are added in order, each once.
    """

    def __init__(self) -> None:
        self.last = 0
        self.size = 0
        self._states: dict[str, tuple[list[int], list[NodeRecord]]] = {}
        self._snapshots: dict[str, Mapping[str, Any]] = {}
        self._of_permissions: list[Mapping[str, Any]] = []

    def add(self, event: Mapping[str, Any]) -> None:
        self.last = event["sequence"]
        if event.get("type") in _PERMISSION_EVENTS:
            self._of_permissions.append(event)
            self.size += 1
        node_id = event.get("node_id")
        if not node_id or "status" not in event or not str(event.get("type", "")).startswith(_NODE_EVENTS):
            return
        told = {name: event[name] for name in _FIELDS if name in event}
        record = read(NodeRecord, told, where=f"event {self.last}")
        if record.permission_snapshot is not None:
            record = replace(record, permission_snapshot=self._held_once(record.permission_snapshot))
        sequences, states = self._states.setdefault(node_id, ([], []))
        sequences.append(self.last)
        states.append(record)
        self.size += 1

    def nodes(self, at: int | None = None) -> list[NodeRecord]:
        """In the order in which they began: as of the event with sequence `at`, by default now."""
        if at is None or at >= self.last:
            return [states[-1] for _, states in self._states.values()]
        return [
            states[known - 1]
            for sequences, states in self._states.values()
            if (known := bisect_right(sequences, at)) > 0
        ]

    def permission_events(self, at: int | None = None) -> list[Mapping[str, Any]]:
        """What was narrowed and refused, in order: until the event with sequence `at`, by default all."""
        return [event for event in self._of_permissions if at is None or event["sequence"] <= at]

    def _held_once(self, snapshot: Mapping[str, Any]) -> Mapping[str, Any]:
        return self._snapshots.setdefault(json.dumps(snapshot, sort_keys=True, default=str), snapshot)
