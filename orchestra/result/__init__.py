"""What a run gives back. Everything here goes to JSON and comes back."""

from __future__ import annotations

from orchestra.result.parts import (
    LayerMetrics,
    LayerSkillReport,
    RouteReport,
    SliceReport,
    StepReport,
    SubtaskResult,
    SubtaskStatus,
    ToolCallReport,
)
from orchestra.result.reports import ErrorReport, Frozen, Notice, WaitingFor
from orchestra.result.result import Answer, Result, RunStatus
from orchestra.result.strategy import EstimateReport, StrategyReport
from orchestra.result.usage import OtherWay, RunUsage, Savings, UsageReport, sum_known

__all__ = [
    "Answer",
    "ErrorReport",
    "EstimateReport",
    "Frozen",
    "LayerMetrics",
    "LayerSkillReport",
    "Notice",
    "OtherWay",
    "Result",
    "RouteReport",
    "RunStatus",
    "RunUsage",
    "Savings",
    "SliceReport",
    "StepReport",
    "StrategyReport",
    "SubtaskResult",
    "SubtaskStatus",
    "ToolCallReport",
    "UsageReport",
    "WaitingFor",
    "sum_known",
]
