"""What a run gives back. Everything here goes to JSON and comes back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    ModelWrapValidatorHandler,
    PrivateAttr,
    SerializeAsAny,
    computed_field,
    model_validator,
)

from orchestra.document import Citation
from orchestra.errors import OrchestraError
from orchestra.models.protocol import Usage
from orchestra.planning.assemble import OnUnresolved
from orchestra.planning.costs import Alternative, Way
from orchestra.planning.plan import Plan
from orchestra.planning.strategy import Choice, Estimate, Strategy, StrategyChoice

RunStatus = Literal["completed", "partial", "failed", "waiting"]
SubtaskStatus = Literal["completed", "self-answered", "failed", "cancelled", "waiting"]

_UNASKED = -1.0


class Frozen(BaseModel):
    model_config = ConfigDict(frozen=True)


class ErrorReport(Frozen):
    """An error of the tree in `orchestra.errors`, as data."""

    code: str
    message: str
    cause: str = ""
    suggestion: str = ""

    @classmethod
    def of(cls, error: OrchestraError) -> ErrorReport:
        return cls(**error.to_dict())


class Notice(Frozen):
    """Something that was mended, dropped or doubted. `code` is stable."""

    code: str
    message: str
    node_id: str = ""


class WaitingFor(Frozen):
    """A question that nobody has answered yet. An answer is bound to `digest`, the SHA-256 of all that is shown."""

    node_id: str
    kind: Literal["approval", "ask_user", "permission"]
    title: str
    shown: Mapping[str, Any] = {}
    digest: str


class UsageReport(Frozen):
    """Tokens and their list price. The whole input is plain, cached and cache-write tokens together.

    `is_estimated`: some tokens were counted here, because the provider reported none. `by_model` has a part for each
    model where several have answered; `model` and `host` are then the first's, and the price is that of all parts.
    """

    model: str = ""
    host: str = ""
    calls: int = 0
    input_tokens: int = 0
    cached_input_tokens: int = 0
    cache_write_tokens: int = 0
    output_tokens: int = 0
    is_estimated: bool = False
    by_model: tuple[UsageReport, ...] = ()
    _cost_usd: float | None = PrivateAttr(default=_UNASKED)

    @classmethod
    def of(cls, model: str, *usages: Usage, calls: int | None = None, host: str = "") -> UsageReport:
        return cls.model_construct(  # our own figures: nothing to validate
            model=model,
            host=host,
            calls=len(usages) if calls is None else calls,
            input_tokens=sum(usage.input_tokens for usage in usages),
            cached_input_tokens=sum(usage.cached_input_tokens for usage in usages),
            cache_write_tokens=sum(usage.cache_write_tokens for usage in usages),
            output_tokens=sum(usage.output_tokens for usage in usages),
            is_estimated=any(usage.is_estimated for usage in usages),
        )

    @classmethod
    def joined(cls, parts: Sequence[UsageReport]) -> UsageReport:
        """The parts as one, those with calls; the only one as it is."""
        used = [part for part in parts if part.calls] or list(parts[:1])
        if len(used) == 1:
            return used[0]
        usages = [
            Usage(
                part.input_tokens,
                part.cached_input_tokens,
                part.cache_write_tokens,
                part.output_tokens,
                part.is_estimated,
            )
            for part in used
        ]
        whole = cls.of(used[0].model, *usages, calls=sum(part.calls for part in used), host=used[0].host)
        return whole.model_copy(update={"by_model": tuple(used)})

    @property
    def total_input_tokens(self) -> int:
        return self.input_tokens + self.cached_input_tokens + self.cache_write_tokens

    @computed_field
    @property
    def cost_usd(self) -> float | None:
        """US dollars at list prices, looked up when first asked for; None where no price is known."""
        if self._cost_usd == _UNASKED:
            self._cost_usd = self._price()
        return self._cost_usd

    def _price(self) -> float | None:
        from orchestra.models.prices import price

        if self.by_model:
            return sum_known(part.cost_usd for part in self.by_model)
        usage = Usage(self.input_tokens, self.cached_input_tokens, self.cache_write_tokens, self.output_tokens)
        base_url = f"https://{self.host}/" if self.host else ""
        return price(self.model, usage, base_url=base_url) if self.calls else 0.0

    @model_validator(mode="wrap")
    @classmethod
    def _keep_the_price_of_its_day(cls, value: Any, handler: ModelWrapValidatorHandler[UsageReport]) -> UsageReport:
        report = handler(value)
        if isinstance(value, Mapping) and "cost_usd" in value:
            report._cost_usd = value["cost_usd"]
        return report


class RunUsage(Frozen):
    """Usage per phase, the skills around the task last; the properties are totals."""

    plan: UsageReport = UsageReport()
    subtasks: UsageReport = UsageReport()
    synthesis: UsageReport = UsageReport()
    layers: UsageReport = UsageReport()

    @property
    def phases(self) -> tuple[UsageReport, ...]:
        return (self.plan, self.subtasks, self.synthesis, self.layers)

    @property
    def calls(self) -> int:
        return sum(phase.calls for phase in self.phases)

    @property
    def input_tokens(self) -> int:
        return sum(phase.input_tokens for phase in self.phases)

    @property
    def cached_input_tokens(self) -> int:
        return sum(phase.cached_input_tokens for phase in self.phases)

    @property
    def cache_write_tokens(self) -> int:
        return sum(phase.cache_write_tokens for phase in self.phases)

    @property
    def output_tokens(self) -> int:
        return sum(phase.output_tokens for phase in self.phases)

    @property
    def total_input_tokens(self) -> int:
        return sum(phase.total_input_tokens for phase in self.phases)

    @property
    def is_estimated(self) -> bool:
        return any(phase.is_estimated for phase in self.phases)

    @property
    def cost_usd(self) -> float | None:
        """US dollars; None when the price of a phase that made calls is not known."""
        return sum_known(phase.cost_usd for phase in self.phases)


def sum_known(costs: Iterable[float | None]) -> float | None:
    """The sum; None when one of them is not known."""
    total = 0.0
    for cost in costs:
        if cost is None:
            return None
        total += cost
    return total


class OtherWay(Frozen):
    """What the same task would have cost another way, with the same replies."""

    way: Way
    usage: UsageReport

    @classmethod
    def of(cls, alternative: Alternative, model: str, host: str = "") -> OtherWay:
        usage = UsageReport.of(model, alternative.usage, calls=alternative.calls, host=host)
        return cls(way=alternative.way, usage=usage)


class Savings(Frozen):
    """This run beside three other ways. A negative saving says that the other way was cheaper."""

    input_tokens: int
    fanout: OtherWay
    fanout_cached: OtherWay
    one_call: OtherWay

    def input_saved(self, way: Way = "fanout") -> float:
        """Share of the other way's input tokens that this run did not send; negative when it sent more."""
        other = {"fanout": self.fanout, "fanout-cached": self.fanout_cached, "one-call": self.one_call}[way]
        return 1 - self.input_tokens / max(1, other.usage.total_input_tokens)


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
    that was not done when the grace period ended is "late".
    """

    skill: str
    layer: Literal["guarantee", "enhancement", "execution"]
    status: Literal["completed", "failed", "degraded", "skipped", "late"]
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
    """One step of a composite skill. `reason` says why it was skipped; `steps` are those of a composite."""

    name: str
    skill: str
    node_id: str = ""
    status: Literal["completed", "failed", "skipped", "waiting"]
    output: SerializeAsAny[Any] = None
    reason: str = ""
    error: ErrorReport | None = None
    steps: tuple[StepReport, ...] = ()


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
    them is in `subtasks`, and there is no answer before the run is resumed.
    """

    task: str
    answer: str
    status: RunStatus
    plan: Plan
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
