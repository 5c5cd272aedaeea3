"""A run at a glance: how it went, what it took, by phase and by layer, and what there is to say of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from orchestra.notices import NOTICES
from orchestra.panel.view.amounts import NOTHING, Amount
from orchestra.panel.view.faults import fault_of
from orchestra.panel.view.forest import LIVE, WAITING, Forest, duration_of, started_at_of
from orchestra.panel.view.remarks import Remarks, Warned
from orchestra.panel.view.visible import one_line, visible
from orchestra.reporting import AROUND, JOINING, PLANNING, WORK
from orchestra.result import Result, UsageReport
from orchestra.store import NodeRecord, RunRecord

MOST_TROUBLES = 50  # of errors, and of warnings
PHASES = {"plan": "plan", "subtasks": "subtasks", "synthesis": "synthesis", "layers": "skills around the task"}
LAYERS = ("guarantee", "enhancement", "execution")
_LAYER_OF = dict(zip(AROUND, ("guarantee", "enhancement", "execution"), strict=True))
_LONGEST = 2_000  # characters of one text


@dataclass(frozen=True, slots=True)
class Row:
    """What a phase or layer took; `calls` and `duration_ms` are None where they are not known yet."""

    name: str
    amount: Amount
    calls: int | None = None
    duration_ms: float | None = None


@dataclass(frozen=True, slots=True)
class Counts:
    """Child skills that the run called, by what became of them: `skills` in all."""

    skills: int = 0
    completed: int = 0
    failed: int = 0
    cancelled: int = 0
    waiting: int = 0
    under_way: int = 0


@dataclass(frozen=True, slots=True)
class Trouble:
    """An error or a warning: code, what happened, why, what to do. `node_id` is empty for what is of no node."""

    code: str
    message: str
    cause: str
    suggestion: str
    node_id: str


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit that was set for the run. `share` of it is used, from 0 to 1; None where that is not known."""

    name: str
    used: str
    most: str
    share: float | None


@dataclass(frozen=True, slots=True)
class Overview:
    """`duration_ms` of a run under way is the time until something was heard of it at last.

    `slowest` is the node that took longest itself, what is only made of others left out. `is_final`: the numbers are
    those of the run's result; else they are counted from what its nodes have told.
    """

    counts: Counts
    duration_ms: float | None
    slowest: NodeRecord | None
    slowest_ms: float | None
    strategy: str
    asked_strategy: str
    reason: str
    phases: tuple[Row, ...]
    layers: tuple[Row, ...]
    total: Row
    errors: tuple[Trouble, ...]
    warnings: tuple[Trouble, ...]
    errors_left: int
    warnings_left: int
    limits: tuple[Limit, ...]
    is_final: bool


def result_of(record: RunRecord) -> Result | None:
    """What a run came to; None where it has not ended, goes on after it had, or another version wrote it."""
    try:
        is_over = record.result is not None and record.status != "running"
        return Result.model_validate(record.result) if is_over else None
    except ValidationError:
        return None


def overview_of(record: RunRecord, forest: Forest, result: Result | None, remarks: Remarks) -> Overview:
    """Of a run as it stands. `remarks` are needed where there is no result."""
    phases = _phases(forest) if result is None else _billed_phases(result)
    total = Row("all", sum((row.amount for row in phases), NOTHING), _sum(row.calls for row in phases))
    duration_ms = _duration_ms(record, forest, remarks) if result is None else result.duration_ms
    slowest = _slowest(forest, remarks.latest_at)
    errors, warnings = _errors(record, forest, result), _warnings(result, remarks)
    told = _told_strategy(result, remarks)
    return Overview(
        counts_of(forest),
        duration_ms,
        None if slowest is None else forest.nodes[slowest],
        None if slowest is None else _took_ms(forest.nodes[slowest], remarks.latest_at),
        *told,
        phases,
        _layers(forest) if result is None else _billed_layers(result),
        total,
        tuple(errors[:MOST_TROUBLES]),
        tuple(warnings[:MOST_TROUBLES]),
        max(0, len(errors) - MOST_TROUBLES),
        max(0, len(warnings) - MOST_TROUBLES) + remarks.left_out,
        _limits(record, total.amount),
        result is not None,
    )


def counts_of(forest: Forest) -> Counts:
    """Of the skills that were called: subtasks and steps, not those around the task."""
    called = [node.status for node in forest.nodes if node.kind in WORK and not node.node_id.startswith(AROUND)]
    by_status = Counter(called)
    return Counts(
        len(called),
        by_status["completed"],
        by_status["failed"],
        by_status["cancelled"],
        sum(by_status[status] for status in WAITING),
        sum(by_status[status] for status in LIVE - WAITING),
    )


def phase_of(node: NodeRecord) -> str:
    """The key of `PHASES` that a node's tokens belong to."""
    if node.node_id.startswith(AROUND):
        return "layers"
    return "plan" if node.kind in PLANNING else "synthesis" if node.kind in JOINING else "subtasks"


def layer_of(node: NodeRecord) -> str:
    """The layer that a node's tokens belong to; the task's own work is execution."""
    return next((layer for prefix, layer in _LAYER_OF.items() if node.node_id.startswith(prefix)), "execution")


def _phases(forest: Forest) -> tuple[Row, ...]:
    sums: dict[str, Amount] = dict.fromkeys(PHASES, NOTHING)
    for node, amount in zip(forest.nodes, forest.own, strict=True):
        if not amount.is_empty:
            sums[phase_of(node)] += amount
    return tuple(Row(name, sums[key]) for key, name in PHASES.items())


def _layers(forest: Forest) -> tuple[Row, ...]:
    sums: dict[str, Amount] = dict.fromkeys(LAYERS, NOTHING)
    for node, amount in zip(forest.nodes, forest.own, strict=True):
        if not amount.is_empty:
            sums[layer_of(node)] += amount
    return tuple(Row(layer, amount) for layer, amount in sums.items())


def _billed_phases(result: Result) -> tuple[Row, ...]:
    used = dict(zip(PHASES, result.usage.phases, strict=True))
    return tuple(Row(name, _amount(used[key]), used[key].calls) for key, name in PHASES.items())


def _amount(usage: UsageReport) -> Amount:
    cost = usage.cost_usd
    is_unpriced = cost is None and bool(usage.calls)
    return Amount(
        usage.total_input_tokens, usage.cached_input_tokens, usage.output_tokens, cost or 0.0, int(is_unpriced)
    )


def _billed_layers(result: Result) -> tuple[Row, ...]:
    rows: list[Row] = []
    for layer, metrics in result.layer_metrics.items():
        is_unpriced = metrics.cost_usd is None
        amount = Amount(metrics.input_tokens, 0, metrics.output_tokens, metrics.cost_usd or 0.0, int(is_unpriced))
        rows.append(Row(layer, amount, metrics.calls, metrics.duration_ms))
    return tuple(rows)


def _sum(counts: Iterable[int | None]) -> int | None:
    known = list(counts)
    return None if None in known else sum(count or 0 for count in known)


def _duration_ms(record: RunRecord, forest: Forest, remarks: Remarks) -> float | None:
    """From when it began, or went on at last, until it ended, or something was heard of it at last."""
    until = record.ended_at if remarks.latest_at is None else remarks.latest_at
    starts = [at for node in forest.nodes if (at := started_at_of(node)) is not None]
    began = min(starts, default=record.started_at or None)
    return None if until is None or began is None else max(0.0, (until - began) * 1000)


def _took_ms(node: NodeRecord, latest_at: float | None) -> float | None:
    took, start = duration_of(node), started_at_of(node)
    if took is not None or start is None or latest_at is None or node.status not in LIVE:
        return took
    return max(0.0, (latest_at - start) * 1000)


def _slowest(forest: Forest, latest_at: float | None) -> int | None:
    """Of the nodes that do something themselves: those above only tools, or nothing."""

    def took_ms(number: int) -> float:
        return _took_ms(forest.nodes[number], latest_at) or 0.0

    working = [
        number
        for number, parent in enumerate(forest.parents)
        if parent >= 0 and all(forest.nodes[child].kind == "tool" for child in forest.children[number])
    ]
    slowest = max(working, key=took_ms, default=None)
    return slowest if slowest is not None and took_ms(slowest) > 0 else None


def _told_strategy(result: Result | None, remarks: Remarks) -> tuple[str, str, str]:
    """The strategy, the one that was asked for, and why."""
    if result is None or result.strategy is None:
        return one_line(remarks.strategy, 60), "", one_line(remarks.reason, 400)
    told = result.strategy
    return told.chosen, told.asked, one_line(told.reason, 400)


def _errors(record: RunRecord, forest: Forest, result: Result | None) -> list[Trouble]:
    """Where failing paths end, with their errors; then those of no node, each once."""
    found: list[Trouble] = []
    for number in forest.failures:
        node = forest.nodes[number]
        trouble = _error(node.error, node.node_id)
        if trouble is not None:
            found.append(trouble)
    known = {(each.code, each.message) for each in found}
    of_run = None if record.status == "running" else record.error
    others = [of_run] if result is None else [each.model_dump() for each in result.errors]
    for other in others:
        trouble = _error(other, "")
        if trouble is not None and (trouble.code, trouble.message) not in known:
            known.add((trouble.code, trouble.message))
            found.append(trouble)
    return found


def _error(error: Mapping[str, Any] | None, node_id: str) -> Trouble | None:
    fault = fault_of(error)
    return None if fault is None else Trouble(fault.code, fault.message, fault.cause, fault.suggestion, node_id)


def _warnings(result: Result | None, remarks: Remarks) -> list[Trouble]:
    if result is None:
        told: Sequence[Warned] = remarks.warnings
    else:
        told = [Warned(each.code, each.message, each.node_id) for each in result.warnings]
    return [_warning(each) for each in told]


def _warning(told: Warned) -> Trouble:
    meaning = NOTICES.get(told.code)
    return Trouble(
        one_line(told.code, 60),
        visible(told.message[:_LONGEST]),
        meaning.what if meaning else "",
        meaning.suggestion if meaning else "",
        told.node_id,
    )


def _limits(record: RunRecord, total: Amount) -> tuple[Limit, ...]:
    settings = record.request.get("settings")
    given: Mapping[str, Any] = settings if isinstance(settings, Mapping) else {}
    limits: list[Limit] = []
    tokens, cost = _number(given.get("max_tokens_total")), _number(given.get("max_cost_usd"))
    if tokens:
        limits.append(Limit("tokens", f"{total.tokens:,}", f"{tokens:,.0f}", min(1.0, total.tokens / tokens)))
    if cost is not None:
        used = "unknown" if total.unpriced else f"${total.cost_usd:.4f}"
        share = None if total.unpriced or not cost else min(1.0, total.cost_usd / cost)
        limits.append(Limit("price", used, f"${cost:,.4f}", share))
    return tuple(limits)


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if value >= 0 else None
