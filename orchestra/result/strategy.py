"""How a task was answered, and what each way was expected to cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from orchestra.models.protocol import Usage
from orchestra.planning.assemble import OnUnresolved
from orchestra.planning.strategy import Choice, Estimate, Strategy, StrategyChoice
from orchestra.result.reports import Frozen
from orchestra.result.usage import UsageReport, sum_known


class EstimateReport(Frozen):
    """What one strategy was expected to take, before anything was sent. `note` says why it is not possible."""

    strategy: Strategy
    calls: int
    plan: UsageReport
    subtasks: UsageReport
    synthesis: UsageReport
    is_possible: bool = True
    note: str = ""

    @property
    def input_tokens(self) -> int:
        """Cached tokens included."""
        return sum(phase.total_input_tokens for phase in (self.plan, self.subtasks, self.synthesis))

    @property
    def cached_input_tokens(self) -> int:
        return sum(phase.cached_input_tokens for phase in (self.plan, self.subtasks, self.synthesis))

    @property
    def output_tokens(self) -> int:
        return sum(phase.output_tokens for phase in (self.plan, self.subtasks, self.synthesis))

    @property
    def cost_usd(self) -> float | None:
        """US dollars; None when a price is not known."""
        return sum_known(phase.cost_usd for phase in (self.plan, self.subtasks, self.synthesis))

    @classmethod
    def of(cls, estimate: Estimate, models: Sequence[tuple[str, str]]) -> EstimateReport:
        """`models`: name and host of who plans, who works and who joins."""
        plan, subtasks, synthesis = (
            UsageReport.of(name, usage, host=host) if usage != Usage() else UsageReport(model=name)
            for (name, host), usage in zip(models, estimate.phases, strict=True)
        )
        return cls(
            strategy=estimate.strategy,
            calls=estimate.calls,
            plan=plan,
            subtasks=subtasks,
            synthesis=synthesis,
            is_possible=estimate.is_possible,
            note=estimate.note,
        )


class StrategyReport(Frozen):
    """How the task was answered, what was asked for, why, and the estimated bills of all ways.

    `chosen` is "given" when the caller brought the plan. `whole` says how a task about the document as a whole was
    answered: "direct" or "map-reduce"; empty otherwise.
    """

    chosen: Strategy | Literal["given", "route"]
    asked: StrategyChoice
    reason: str
    whole: Literal["", "direct", "map-reduce"] = ""
    estimates: tuple[EstimateReport, ...] = ()

    @property
    def on_unresolved(self) -> OnUnresolved:
        """What a subtask sees, unless the caller says, when none of its pointers is in the document."""
        return "search" if self.chosen == "outline" else "full"

    @classmethod
    def of(cls, choice: Choice, asked: StrategyChoice, models: Sequence[tuple[str, str]]) -> StrategyReport:
        estimates = tuple(EstimateReport.of(each, models) for each in choice.estimates)
        return cls(chosen=choice.strategy, asked=asked, reason=choice.reason, estimates=estimates)
