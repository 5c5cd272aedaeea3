"""What a task would cost before it is sent: computed here, with no call of a model."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from orchestra import compare_strategies
from orchestra.document import DocumentSet
from orchestra.result import StrategyReport
from orchestra.settings import ModelChoice, Skills
from orchestra.store import Store

MOST_SETS = 4  # sets of documents that are held in memory
MOST_REPORTS = 64

K = TypeVar("K")
V = TypeVar("V")
_Stamp = tuple[str, int, int]


class Estimates:
    """The expected bills of tasks, each computed once for the same documents, words and choices. Thread-safe."""

    def __init__(
        self, store: Store, *, model: ModelChoice = None, config: Path | None = None, skills: Skills | None = None
    ) -> None:
        self._store = store
        self._model = model
        self._config = config
        self._skills = skills
        self._lock = threading.Lock()
        self._documents: OrderedDict[tuple[_Stamp, ...], DocumentSet] = OrderedDict()
        self._reports: OrderedDict[tuple[Any, ...], StrategyReport] = OrderedDict()

    def report(
        self,
        session_id: str,
        paths: Sequence[Path],
        task: str,
        *,
        model: str = "",
        options: Mapping[str, Any] | None = None,
    ) -> StrategyReport:
        """What each strategy would cost for a task in a session; what was asked there before goes along.

        Raises what a run raises that cannot begin.
        """
        chosen = dict(options or {})
        history = tuple(self._store.turns(session_id))
        stamps = tuple(_stamp(path) for path in paths)
        key = (stamps, task, model, tuple(sorted(chosen.items())), history)
        with self._lock:
            known = self._reports.get(key)
            if known is None:
                known = compare_strategies(
                    self._read(stamps, paths),
                    task,
                    self._skills,
                    model or self._model,
                    history=history,
                    config=self._config,
                    **chosen,
                )
            _keep(self._reports, key, known, MOST_REPORTS)
            return known

    def _read(self, stamps: tuple[_Stamp, ...], paths: Sequence[Path]) -> DocumentSet:
        documents = self._documents.get(stamps)
        if documents is None:
            documents = DocumentSet.of(list(paths))
        _keep(self._documents, stamps, documents, MOST_SETS)
        return documents


def _stamp(path: Path) -> _Stamp:
    """What changes when a file does; one that is not there is told of when it is read."""
    try:
        status = path.stat()
    except OSError:
        return str(path), 0, 0
    return str(path), status.st_mtime_ns, status.st_size


def _keep(held: OrderedDict[K, V], key: K, value: V, most: int) -> None:
    held[key] = value
    held.move_to_end(key)
    while len(held) > most:
        held.popitem(last=False)
