"""The outcome of a run, and that of a synthesis alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import SerializeAsAny

from orchestra.document import Citation
from orchestra.planning.plan import Plan
from orchestra.result.parts import LayerMetrics, LayerSkillReport, RouteReport, SubtaskResult
from orchestra.result.reports import ErrorReport, Frozen, Notice, WaitingFor
from orchestra.result.strategy import StrategyReport
from orchestra.result.usage import RunUsage, Savings, UsageReport

RunStatus = Literal["completed", "partial", "failed", "waiting"]


class Answer(Frozen):
    """A joined answer: text with `[n]` marks, its citations, and the data if a schema was asked for."""

    text: str
    citations: tuple[Citation, ...] = ()
    data: SerializeAsAny[Any] = None
    usage: UsageReport = UsageReport()
    error: ErrorReport | None = None


class Result(Frozen):
    """The outcome of a run.

    `status` is "completed" when everything asked for is there, "partial" when something is missing (see `errors`,
    each subtask's `error`, and the warnings SUBTASK_INSUFFICIENT), "failed" when there is no answer at all, and
    "waiting" when people have been asked what stands in `waiting` and have not answered yet: what could go on without
    them is in `subtasks`, and there is no answer before the run is resumed. Where it waits before anything is planned,
    as for a gate, `plan` is None.
    """

    task: str
    answer: str
    status: RunStatus
    plan: Plan | None
    strategy: StrategyReport | None = None
    data: SerializeAsAny[Any] = None
    citations: tuple[Citation, ...] = ()
    subtasks: tuple[SubtaskResult, ...] = ()
    usage: RunUsage = RunUsage()
    savings: Savings
    self_answered: int = 0
    delegated: int = 0
    warnings: tuple[Notice, ...] = ()
    errors: tuple[ErrorReport, ...] = ()
    waiting: tuple[WaitingFor, ...] = ()
    route: RouteReport | None = None
    layers: tuple[LayerSkillReport, ...] = ()
    layer_metrics: Mapping[str, LayerMetrics] = {}
    documents: tuple[str, ...] = ()
    models: Mapping[str, str] = {}
    fingerprint: str = ""
    run_id: str = ""
    duration_ms: float = 0.0
