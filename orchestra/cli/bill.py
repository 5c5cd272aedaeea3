"""The bill of a plan before it is run: what its requests hold is counted, what replies will hold is assumed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from orchestra.models.blocks import Finding
from orchestra.models.protocol import ModelRequest, Usage

if TYPE_CHECKING:
    from orchestra.document import DocumentSet
    from orchestra.planning.assemble import Assignment
    from orchestra.planning.plan import Plan
    from orchestra.result import EstimateReport, StrategyReport, UsageReport

_ROW_HEADS = ("", "calls", "tokens in", "of it cached", "tokens out", "price")


@dataclass(frozen=True, slots=True)
class BillLine:
    """One phase of the run, the whole run, or another way to the same answer. `cost_usd` is None when not known."""

    name: str
    calls: int
    input_tokens: int
    cached_input_tokens: int
    output_tokens: int
    cost_usd: float | None


@dataclass(frozen=True, slots=True)
class Bill:
    phases: tuple[BillLine, ...]
    total: BillLine
    other_ways: tuple[BillLine, ...]

    @property
    def lines(self) -> tuple[BillLine, ...]:
        return (*self.phases, self.total, *self.other_ways)


def estimate(
    plan: Plan,
    assignments: Sequence[Assignment],
    documents: DocumentSet,
    *,
    task: str,
    model: str,
    planned: UsageReport,
) -> Bill:
    """What the run of `plan` will take: `planned` for making it, then what its requests hold.

    `model` is the name that prices are looked up by.
    """
    from orchestra.planning.costs import EXPECTED_REPLY_TOKENS, alternatives
    from orchestra.planning.synthesis import is_synthesis_needed, synthesis_request

    sent = [assignment.request() for assignment in assignments if assignment.error is None]
    reply = " word" * EXPECTED_REPLY_TOKENS
    findings = [Finding(subtask.id, subtask.task, subtask.answer or reply) for subtask in plan.subtasks]
    needs_synthesis = is_synthesis_needed(findings, len(plan.self_answered), None)
    phases = (
        _planned(planned),
        _line("subtasks", sent, model),
        _line("synthesis", [synthesis_request(task, findings)] if needs_synthesis else [], model),
    )
    others = alternatives(documents, [EXPECTED_REPLY_TOKENS] * len(plan.subtasks), EXPECTED_REPLY_TOKENS)
    names = {"fanout": "naive fan-out", "fanout-cached": "naive fan-out, cached", "one-call": "one call, everything"}
    return Bill(
        phases,
        _total(phases),
        tuple(_priced(names[other.way], other.calls, other.usage, model) for other in others),
    )


def strategies_text(report: StrategyReport) -> str:
    """What each strategy was expected to take, the one that is taken marked, and why."""
    rows = [_ROW_HEADS, *(_strategy_row(each, report.chosen) for each in report.estimates)]
    notes = [f"{each.strategy}: {each.note}" for each in report.estimates if each.note]
    return "\n".join((_table(rows), *notes, f"{report.chosen}: {report.reason}"))


def _strategy_row(estimate: EstimateReport, chosen: str) -> tuple[str, ...]:
    from orchestra.result.words import estimate_words

    name = f"{'*' if estimate.strategy == chosen else ' '} {estimate.strategy}"
    numbers = (estimate.calls, estimate.input_tokens, estimate.cached_input_tokens, estimate.output_tokens)
    return (name, *(f"{number:,}" for number in numbers), estimate_words(estimate.cost_usd))


def _planned(usage: UsageReport) -> BillLine:
    cached = usage.cached_input_tokens
    return BillLine("plan", usage.calls, usage.total_input_tokens, cached, usage.output_tokens, usage.cost_usd)


def _line(name: str, requests: Sequence[ModelRequest], model: str) -> BillLine:
    from orchestra.planning.costs import EXPECTED_REPLY_TOKENS, request_tokens

    input_tokens = sum(request_tokens(request) for request in requests)
    usage = Usage(input_tokens=input_tokens, output_tokens=len(requests) * EXPECTED_REPLY_TOKENS)
    return _priced(name, len(requests), usage, model)


def _priced(name: str, calls: int, usage: Usage, model: str) -> BillLine:
    from orchestra.models.prices import price

    cost = price(model, usage) if calls else 0.0
    return BillLine(name, calls, usage.total_input_tokens, usage.cached_input_tokens, usage.output_tokens, cost)


def _total(lines: Iterable[BillLine]) -> BillLine:
    lines = tuple(lines)
    costs = [line.cost_usd for line in lines]
    return BillLine(
        "this plan",
        sum(line.calls for line in lines),
        sum(line.input_tokens for line in lines),
        sum(line.cached_input_tokens for line in lines),
        sum(line.output_tokens for line in lines),
        None if None in costs else sum(cost for cost in costs if cost is not None),
    )


def bill_text(bill: Bill) -> str:
    """The bill as a table of plain text."""
    return _table([_ROW_HEADS, *(_row(line) for line in bill.lines)])


def _table(rows: Sequence[tuple[str, ...]]) -> str:
    return "\n".join(
        f"{name:<22}{calls:>6}{into:>12}{cached:>14}{out:>12}{cost:>10}"
        for name, calls, into, cached, out, cost in rows
    )


def _row(line: BillLine) -> tuple[str, ...]:
    from orchestra.result.words import estimate_words

    numbers = (line.calls, line.input_tokens, line.cached_input_tokens, line.output_tokens)
    return (line.name, *(f"{number:,}" for number in numbers), estimate_words(line.cost_usd))
