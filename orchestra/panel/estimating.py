"""What a task would cost before it is sent: computed here, with no call of a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from orchestra import compare_strategies
from orchestra.document import DocumentSet
from orchestra.panel.memo import Memo
from orchestra.panel.stamps import Stamp, stamp
from orchestra.result import StrategyReport
from orchestra.settings import ModelChoice, Skills
from orchestra.store import Store

MOST_SETS = 4  # sets of documents that are held in memory
MOST_REPORTS = 64


class Estimates:
    """The expected bills of tasks, each computed once for the same documents, words and choices. Thread-safe."""

    def __init__(
        self, store: Store, *, model: ModelChoice = None, config: Path | None = None, skills: Skills | None = None
    ) -> None:
        self._store = store
        self._model = model
        self._config = config
        self._skills = skills
        self._documents: Memo[tuple[Stamp, ...], DocumentSet] = Memo(MOST_SETS)
        self._reports: Memo[tuple[Any, ...], StrategyReport] = Memo(MOST_REPORTS)

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
        stamps = tuple(map(stamp, paths))

        def compare() -> StrategyReport:
            documents = self._documents.value(stamps, lambda: DocumentSet.of(list(paths)))
            named = model or self._model
            return compare_strategies(
                documents, task, self._skills, named, history=history, config=self._config, **chosen
            )

        return self._reports.value((stamps, task, model, tuple(sorted(chosen.items())), history), compare)
