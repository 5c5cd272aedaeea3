"""How far runs are that go on: folded from their events, each of which is read once for all who ask."""

from __future__ import annotations

import threading
from collections import OrderedDict

from orchestra.panel.view.progress import Progress, RunningRun
from orchestra.store import Store

MOST_RUNS = 16  # whose events are remembered


class ProgressOfRuns:
    """Of the runs of one store. Thread-safe."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._runs: OrderedDict[str, _Followed] = OrderedDict()

    def of(self, run_id: str) -> Progress:
        """Reads what is new of the run; blocks."""
        with self._lock:
            followed = self._runs.setdefault(run_id, _Followed())
            self._runs.move_to_end(run_id)
            while len(self._runs) > MOST_RUNS:
                self._runs.popitem(last=False)
        with followed.lock:
            for event in self._store.events(run_id, after=followed.run.last):
                followed.run.add(event)
            return followed.run.progress()


class _Followed:
    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.run = RunningRun()
