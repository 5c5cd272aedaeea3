"""What the events of runs say beside their nodes: read once, kept up with what is new, held for the latest runs."""

from __future__ import annotations

import threading

from starlette.requests import Request

from orchestra.panel.desk import desk_of
from orchestra.panel.view.remarks import Remarks, RunRemarks
from orchestra.store import Store

MOST_RUNS = 8


class RemarkedRuns:
    """Thread-safe: who look at a run at once wait for one reading."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._held: dict[str, RunRemarks] = {}
        self._lock = threading.Lock()

    def remarks(self, run_id: str, at: int | None = None) -> Remarks:
        """As they are now, or as of the event with sequence `at`."""
        with self._lock:
            held = self._held.pop(run_id, None) or RunRemarks()
            for event in self._store.events(run_id, after=held.last):
                held.add(event)
            self._held[run_id] = held
            while len(self._held) > MOST_RUNS:
                del self._held[next(iter(self._held))]
            return held.remarks(at, None if at is None else self._moment(run_id, at))

    def _moment(self, run_id: str, at: int) -> float | None:
        """When an event was heard, in unix seconds."""
        event = next(self._store.events(run_id, after=max(0, at - 1), limit=1), {})
        moment = event.get("at")
        return float(moment) if isinstance(moment, int | float) else None


def remarks_of(request: Request, run_id: str, at: int | None = None) -> Remarks:
    """The remarks of a run, through what the application holds."""
    state = request.app.state
    if not hasattr(state, "remarked"):
        state.remarked = RemarkedRuns(desk_of(request).store)
    return state.remarked.remarks(run_id, at)
