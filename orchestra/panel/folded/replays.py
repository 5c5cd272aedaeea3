"""Runs as of an earlier moment: the latest that were looked at are held, so that a step back or forth costs little."""

from __future__ import annotations

import threading

from orchestra.panel.view.replayed import Timeline
from orchestra.store import NodeRecord, Store

MOST_STATES = 50_000  # of nodes, of all runs together


class Replays:
    """Thread-safe."""

    def __init__(self, store: Store, *, most_states: int = MOST_STATES) -> None:
        self._store = store
        self._most = most_states
        self._timelines: dict[str, Timeline] = {}
        self._lock = threading.Lock()

    def nodes(self, run_id: str, at: int) -> list[NodeRecord]:
        """As of the event with sequence `at`."""
        with self._lock:
            return self._timeline(run_id, at).nodes(at)

    def _timeline(self, run_id: str, at: int) -> Timeline:
        """Only the events that nobody asked for yet are read."""
        timeline = self._timelines.pop(run_id, None) or Timeline()
        if timeline.last < at:
            for event in self._store.events(run_id, after=timeline.last):
                timeline.add(event)
        self._keep(run_id, timeline)
        return timeline

    @property
    def size(self) -> int:
        """How many states of nodes are held."""
        return sum(each.size for each in self._timelines.values())

    def _keep(self, run_id: str, latest: Timeline) -> None:
        self._timelines[run_id] = latest
        while self.size > self._most:
            del self._timelines[next(iter(self._timelines))]
