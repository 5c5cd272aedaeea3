"""What runs cost: tokens and list prices, by phase, and beside other ways to the same answer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

from pydantic import ModelWrapValidatorHandler, computed_field, model_validator

from orchestra.models.protocol import Usage
from orchestra.planning.costs import Alternative, Way
from orchestra.result.reports import Frozen


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

    @classmethod
    def of(cls, model: str, *usages: Usage, calls: int | None = None, host: str = "") -> UsageReport:
        whole = _summed(usages)
        return cls(
            model=model,
            host=host,
            calls=len(usages) if calls is None else calls,
            input_tokens=whole.input_tokens,
            cached_input_tokens=whole.cached_input_tokens,
            cache_write_tokens=whole.cache_write_tokens,
            output_tokens=whole.output_tokens,
            is_estimated=whole.is_estimated,
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
    @cached_property
    def cost_usd(self) -> float | None:
        """US dollars at list prices, looked up when first asked for; None where no price is known."""
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
        if isinstance(value, dict) and "cost_usd" in value:
            vars(report)["cost_usd"] = value["cost_usd"]
        return report


def _summed(usages: Sequence[Usage]) -> Usage:
    if len(usages) == 1:
        return usages[0]
    return Usage(
        sum(usage.input_tokens for usage in usages),
        sum(usage.cached_input_tokens for usage in usages),
        sum(usage.cache_write_tokens for usage in usages),
        sum(usage.output_tokens for usage in usages),
        any(usage.is_estimated for usage in usages),
    )


class RunUsage(Frozen):
    """Usage per phase, the skills around the task last; the properties are totals."""

    plan: UsageReport = UsageReport()
    subtasks: UsageReport = UsageReport()
    synthesis: UsageReport = UsageReport()
    layers: UsageReport = UsageReport()

    @property
    def phases(self) -> tuple[UsageReport, ...]:
        return (*self.task_phases, self.layers)

    @property
    def task_phases(self) -> tuple[UsageReport, ...]:
        """The phases of the task's own work."""
        return (self.plan, self.subtasks, self.synthesis)

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
    """This run beside three other ways. A negative saving says that the other way was cheaper.

    `input_tokens` are those of the task's own work. What the skills around it used would come on top of every way, and
    is on no side: it stands in `RunUsage.layers`.
    """

    input_tokens: int
    fanout: OtherWay
    fanout_cached: OtherWay
    one_call: OtherWay

    def input_saved(self, way: Way = "fanout") -> float:
        """Share of the other way's input tokens that this run did not send; negative when it sent more."""
        other = {"fanout": self.fanout, "fanout-cached": self.fanout_cached, "one-call": self.one_call}[way]
        return 1 - self.input_tokens / max(1, other.usage.total_input_tokens)
