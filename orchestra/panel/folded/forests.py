"""The call graphs of runs: read once, kept up with what is new, and held for all who look."""

from __future__ import annotations

import threading
from dataclasses import dataclass

from orchestra.errors import RunNotFound
from orchestra.panel.live.feed import Feeds
from orchestra.panel.view.forest import Forest, planted
from orchestra.panel.view.pricing import node_prices
from orchestra.panel.view.replayed import nodes_at
from orchestra.store import NodeRecord, RunRecord, Store

MOST_RUNS = 4


@dataclass(slots=True)
class _Held:
    """A run's forest as of the event `sequence`, and what it was made of."""

    sequence: int
    run: RunRecord
    nodes: dict[str, NodeRecord]
    forest: Forest


class Forests:
    """Of the latest runs that were looked at. Thread-safe: who look at a run at once wait for one reading."""

    def __init__(self, store: Store, feeds: Feeds) -> None:
        self._store = store
        self._feeds = feeds
        self._held: dict[str, _Held] = {}
        self._lock = threading.Lock()

    def forest(self, run_id: str, at: int | None = None) -> tuple[RunRecord, Forest]:
        """As it is now, or as of the event with sequence `at`. Raises `RunNotFound`."""
        with self._lock:
            held = self._up_to_date(run_id)
            self._held[run_id] = held
            while len(self._held) > MOST_RUNS:
                del self._held[next(iter(self._held))]
        if at is None or at >= held.sequence:
            return held.run, held.forest
        return held.run, planted(self._feeds.nodes(run_id, at), node_prices(held.run))

    def _up_to_date(self, run_id: str) -> _Held:
        status, sequence = self._store.run_status(run_id), self._store.last_sequence(run_id)
        held = self._held.pop(run_id, None)
        if held is not None and (held.run.status, held.sequence) == (status, sequence):
            return held
        run = held.run if held is not None and held.run.status == status else self._store.run(run_id)
        if run is None:
            raise RunNotFound("there is no such run")
        if held is None:
            nodes = {node.node_id: node for node in self._store.nodes(run_id)}
        else:
            nodes = held.nodes
            nodes.update((node.node_id, node) for node in nodes_at(self._store.events(run_id, held.sequence)))
        return _Held(sequence, run, nodes, planted(list(nodes.values()), node_prices(run)))
