"""The parts of a result: subtasks with their slices, tools and steps, and the skills around the task."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import SerializeAsAny

from orchestra.result.reports import ErrorReport, Frozen
from orchestra.result.usage import UsageReport

SubtaskStatus = Literal["completed", "self-answered", "failed", "cancelled", "waiting"]


class SliceReport(Frozen):
    """What a subtask saw: line ranges as `L120-L134` (`d2:L120-L134` among several documents).

    Those of a follow-up stand after those of the plan; `tokens` counts both.
    """

    line_ranges: tuple[str, ...] = ()
    tokens: int = 0
    fallback: str = ""


class ToolCallReport(Frozen):
    """A tool that a model called while it worked on a subtask: what became of the call, and how long it took."""

    name: str
    arguments: Mapping[str, Any] = {}
    status: Literal["completed", "failed", "cancelled", "waiting"]
    duration_ms: float | None = None
    error: ErrorReport | None = None


class LayerSkillReport(Frozen):
    """One skill that stood around the task. A gate that does not hold and does not block is "degraded", an enhancement
    that was not done when the grace period ended is "late". One that is "waiting" asks a person.
    """

    skill: str
    layer: Literal["guarantee", "enhancement", "execution"]
    status: Literal["completed", "failed", "degraded", "skipped", "late", "waiting"]
    output: SerializeAsAny[Any] = None
    reason: str = ""
    usage: UsageReport = UsageReport()
    duration_ms: float | None = None
    error: ErrorReport | None = None


class LayerMetrics(Frozen):
    """What one layer took: model calls, tokens, US dollars (None when not known), and its nodes' time together."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = 0.0
    duration_ms: float = 0.0


class StepReport(Frozen):
    """One step of a composite skill. `reason` says why it was skipped; `steps` are those of a composite.

    One that `is_call` is what a code skill called while it ran: it stands among that skill's `steps`, and the skill,
    which makes of it what it likes, counts as one step.
    """

    name: str
    skill: str
    node_id: str = ""
    status: Literal["completed", "failed", "skipped", "waiting"]
    output: SerializeAsAny[Any] = None
    reason: str = ""
    error: ErrorReport | None = None
    steps: tuple[StepReport, ...] = ()
    is_call: bool = False


class RouteReport(Frozen):
    """What trees of skills did. `success_rate` and `partial_failures` are counted by code, the rest is in words."""

    summary: str
    detailed_results: Mapping[str, str] = {}
    user_message: str
    next_actions: tuple[str, ...] = ()
    success_rate: float
    partial_failures: tuple[str, ...] = ()


class SubtaskResult(Frozen):
    """One subtask after the run. `reply` keeps its citations as line marks.

    `followups` says how often it was asked again, over further lines, because its slice did not hold the answer.
    `merged_with` are the subtasks that went out in the same call, which is on the bill of the first of them.
    One that is "waiting" asks a person, or builds on one that does. `task` is what was sent, a person's edit included.
    """

    id: str
    task: str
    skill: str
    status: SubtaskStatus
    slice: SliceReport = SliceReport()
    reply: str = ""
    usage: UsageReport = UsageReport()
    duration_ms: float | None = None
    attempts: int = 0
    followups: int = 0
    depends_on: tuple[str, ...] = ()
    merged_with: tuple[str, ...] = ()
    tool_calls: tuple[ToolCallReport, ...] = ()
    steps: tuple[StepReport, ...] = ()
    error: ErrorReport | None = None
