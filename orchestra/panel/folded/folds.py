"""What is folded from the events of runs: each event is read once, whoever asks."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, Generic, Protocol, TypeVar

from orchestra.store import Store


class Fold(Protocol):
    """`last` is the sequence of the newest event that was added."""

    @property
    def last(self) -> int: ...

    def add(self, event: Mapping[str, Any]) -> None: ...


F = TypeVar("F", bound=Fold)
T = TypeVar("T")


class Folds(Generic[F]):
    """One fold for each of the runs that were looked at last. Thread-safe: who look at a run at once take turns."""

    def __init__(self, store: Store, begin: Callable[[], F], *, most_runs: int = 16) -> None:
        self._store = store
        self._begin = begin
        self._most = most_runs
        self._lock = threading.Lock()
        self._runs: OrderedDict[str, tuple[threading.Lock, F]] = OrderedDict()

    def look(self, run_id: str, reading: Callable[[F], T]) -> T:
        """What `reading` makes of the run as it is now. Reads what is new of it; blocks."""
        with self._lock:
            lock, fold = self._runs.setdefault(run_id, (threading.Lock(), self._begin()))
            self._runs.move_to_end(run_id)
            while len(self._runs) > self._most:
                self._runs.popitem(last=False)
        with lock:
            for event in self._store.events(run_id, after=fold.last):
                fold.add(event)
            return reading(fold)
