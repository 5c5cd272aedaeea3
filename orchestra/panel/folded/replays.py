"""Runs as of an earlier moment: the latest that were looked at are held, so that a step back or forth costs little."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

from orchestra.panel.view.remarks import Remarks, RunRemarks
from orchestra.panel.view.replayed import Timeline
from orchestra.store import NodeRecord, Store

MOST_STATES = 50_000  # of nodes, of all runs together


@dataclass(frozen=True, slots=True)
class _Story:
    """What the events of one run have told, as far as they were read."""

    timeline: Timeline = field(default_factory=Timeline)
    remarks: RunRemarks = field(default_factory=RunRemarks)


class Replays:
    """Each event is read once, and only up to the latest moment that was asked for. Thread-safe."""

    def __init__(self, store: Store, *, most_states: int = MOST_STATES) -> None:
        self._store = store
        self._most = most_states
        self._stories: dict[str, _Story] = {}
        self._lock = threading.Lock()

    def nodes(self, run_id: str, at: int) -> list[NodeRecord]:
        """As of the event with sequence `at`."""
        with self._lock:
            return self._story(run_id, at).timeline.nodes(at)

    def remarks(self, run_id: str, at: int, moment: float | None) -> Remarks:
        """As of the event with sequence `at`, which was heard at `moment`."""
        with self._lock:
            return self._story(run_id, at).remarks.remarks(at, moment)

    def _story(self, run_id: str, at: int) -> _Story:
        story = self._stories.pop(run_id, None) or _Story()
        last = story.timeline.last
        if last < at:
            for event in self._store.events(run_id, after=last, limit=at - last):  # there may be fewer up to `at`
                story.timeline.add(event)
                story.remarks.add(event)
        self._keep(run_id, story)
        return story

    @property
    def size(self) -> int:
        """How many states of nodes are held."""
        return sum(each.timeline.size for each in self._stories.values())

    def _keep(self, run_id: str, latest: _Story) -> None:
        self._stories[run_id] = latest
        while self.size > self._most:
            del self._stories[next(iter(self._stories))]
