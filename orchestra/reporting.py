"""From a finished run to its `Result`: citations judged, tokens summed, other ways costed."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from typing import Literal

from orchestra.document import Citation, cite, count_tokens
from orchestra.errors import RunCancelled
from orchestra.models.blocks import Finding
from orchestra.models.protocol import Model, Usage
from orchestra.planning.assemble import Assignment, fingerprint
from orchestra.planning.costs import alternatives
from orchestra.planning.plan import Plan, Subtask
from orchestra.planning.synthesis import Draft
from orchestra.result import (
    ErrorReport,
    LayerMetrics,
    LayerSkillReport,
    OtherWay,
    Result,
    RouteReport,
    RunStatus,
    RunUsage,
    Savings,
    SliceReport,
    StepReport,
    SubtaskResult,
    ToolCallReport,
    UsageReport,
    WaitingFor,
    sum_known,
)
from orchestra.run import Run
from orchestra.run.layers.chain import LayerOutcome, Layers
from orchestra.run.trees.calls import StepOutcome, partial_failures, success_rate
from orchestra.run.trees.wording import as_found
from orchestra.runtime.calls import model_host, model_name
from orchestra.runtime.events import RouteCompleted, RouteFailed
from orchestra.runtime.node import Node, Status
from orchestra.runtime.tools.given import CalledTool

log = logging.getLogger("orchestra")

PLANNING = frozenset({"plan", "route", "decompose", "resolve"})
WORK = frozenset({"subtask", "skill"})
JOINING = frozenset({"synthesis"})
"""Kinds of nodes by the phase on whose bill they are."""
AROUND = ("run/gate-", "run/enhance-", "run/work-")
"""How ids of nodes begin that stand around the task."""
UNUSED = UsageReport()


def report(
    run: Run,
    plan: Plan | None,
    assignments: Sequence[Assignment],
    findings: Sequence[Finding],
    draft: Draft,
    layers: Layers,
) -> Result:
    """The result of a run, and the event that ends it. `plan` is None where it waits before there is one."""
    answer, citations = _cited(run, draft.text)
    planned = () if plan is None else plan.subtasks
    subtasks = [_subtask_result(run, subtask, assignments, findings) for subtask in planned]
    self_answered = sum(subtask.is_self_answered for subtask in planned)
    usage = RunUsage(
        plan=_usage(run, PLANNING, run.planner),
        subtasks=_usage(run, WORK, run.worker),
        synthesis=_usage(run, JOINING, run.synthesizer),
        layers=_around_usage(run, *AROUND),
    )
    around = tuple(_layer_report(run, outcome) for outcome in layers.in_order())
    status = _status(run, findings)
    duration_ms = end(run, status)
    return Result(
        task=run.task,
        answer=answer,
        status=status,
        plan=plan,
        strategy=run.strategy,
        data=draft.data,
        citations=citations,
        subtasks=tuple(subtasks),
        usage=usage,
        savings=_savings(run, findings, draft, usage),
        self_answered=self_answered,
        delegated=len(planned) - self_answered,
        warnings=tuple(run.notices),
        errors=tuple(ErrorReport.of(error) for error in run.errors),
        waiting=_waiting(run),
        route=_route(run),
        layers=around,
        layer_metrics=_layer_metrics(around, usage, duration_ms - layers.held_up_ms),
        documents=run.documents.names,
        models=run.model_names,
        fingerprint=fingerprint(assignments, max_tokens=run.settings.max_tokens, temperature=run.settings.temperature),
        run_id=run.stream.run_id,
        duration_ms=duration_ms,
    )


def _cited(run: Run, text: str) -> tuple[str, tuple[Citation, ...]]:
    """The text with its citations judged. A defect in the judging must not cost the answer."""
    try:
        return cite(text, run.documents)
    except Exception as error:
        log.warning("the citations could not be judged", exc_info=True)
        run.warn("CITATIONS_UNJUDGED", f"the citations could not be judged: {type(error).__name__}")
        return text, ()


def _status(run: Run, findings: Sequence[Finding]) -> RunStatus:
    if run.people.waiting:
        return "waiting"
    if all(finding.is_missing for finding in findings):
        return "failed"
    return "partial" if run.errors or run.insufficient else "completed"


def end(run: Run, status: RunStatus) -> float:
    """Say that the run is over; its duration in milliseconds."""
    if status == "waiting":
        run.end_waiting()
    elif status == "failed":
        run.root.end(Status.FAILED, run.errors[0] if run.errors else None)
        run.stream.emit(RouteFailed, **run.root.snapshot())
    else:
        run.root.end(Status.COMPLETED, run.errors[0] if run.errors else None)
        run.stream.emit(RouteCompleted, result_status=status, **run.root.snapshot())
    return round((time.monotonic() - run.clock) * 1000, 3)


def _usage(run: Run, kinds: frozenset[str], model: Model) -> UsageReport:
    nodes = [node for node in run.nodes.values() if node.kind in kinds and not _is_around(node)]
    return _usage_of(run, nodes, model)


def _is_around(node: Node) -> bool:
    """Whether a node is one of a skill that stands around the task, or stands below one."""
    return node.id.startswith(AROUND)


def _layer_report(run: Run, outcome: LayerOutcome) -> LayerSkillReport:
    node = outcome.node
    return LayerSkillReport(
        skill=outcome.skill,
        layer=outcome.layer,
        status=outcome.status,
        output=outcome.output,
        reason=outcome.reason,
        usage=UNUSED if node is None else _around_usage(run, node.id),
        duration_ms=None if node is None else node.duration_ms,
        error=ErrorReport.of(outcome.error) if outcome.error else None,
    )


def _around_usage(run: Run, *beginnings: str) -> UsageReport:
    """What the nodes used whose ids begin so, those of skills around the task; mostly these call no model."""
    nodes = [node for node in run.nodes.values() if node.usage is not None and node.id.startswith(beginnings)]
    return _usage_of(run, nodes, run.worker) if nodes else UNUSED


def _layer_metrics(reports: Sequence[LayerSkillReport], usage: RunUsage, duration_ms: float) -> dict[str, LayerMetrics]:
    """What each layer took; the task's own work counts as execution: all that comes after the gates.

    `duration_ms` is that of the run until only enhancements were under way, which run beside it.
    """
    metrics: dict[str, LayerMetrics] = {}
    for layer in ("guarantee", "enhancement", "execution"):
        ours = [report for report in reports if report.layer == layer]
        parts = [report.usage for report in ours if report.usage.calls]
        spent_ms = sum(report.duration_ms or 0.0 for report in ours)
        if layer == "execution":
            parts += usage.task_phases
            spent_ms = duration_ms - metrics["guarantee"].duration_ms
        metrics[layer] = LayerMetrics(
            calls=sum(part.calls for part in parts),
            input_tokens=sum(part.total_input_tokens for part in parts),
            output_tokens=sum(part.output_tokens for part in parts),
            cost_usd=sum_known(part.cost_usd for part in parts),
            duration_ms=round(max(0.0, spent_ms), 3),
        )
    return metrics


def _usage_of(run: Run, nodes: Sequence[Node], model: Model) -> UsageReport:
    """What nodes used, at the prices of the models that answered."""
    usages = [node.usage for node in nodes if node.usage is not None]
    calls = sum(run.calls.get(node.id, 0) for node in nodes)
    whole = UsageReport.of(model_name(model), *usages, calls=calls, host=model_host(model))
    if not run.stand_ins:
        return whole
    others: dict[tuple[str, str], list[Usage]] = {}
    for node in nodes:
        for other, usage in run.stand_ins.get(node.id, ()):
            others.setdefault((model_name(other), model_host(other)), []).append(usage)
    parts = [UsageReport.of(name, *theirs, host=host) for (name, host), theirs in others.items()]
    return UsageReport.joined([_less(whole, parts), *parts])


def _less(whole: UsageReport, parts: Sequence[UsageReport]) -> UsageReport:
    counted = ("calls", "input_tokens", "cached_input_tokens", "cache_write_tokens", "output_tokens")
    rest = {name: getattr(whole, name) - sum(getattr(part, name) for part in parts) for name in counted}
    return whole.model_copy(update=rest)


def _subtask_result(
    run: Run, subtask: Subtask, assignments: Sequence[Assignment], findings: Sequence[Finding]
) -> SubtaskResult:
    task = run.edited_tasks.get(subtask.id, subtask.task)
    common = {"id": subtask.id, "task": task, "depends_on": tuple(subtask.depends_on)}
    if subtask.is_self_answered:
        return SubtaskResult(**common, skill=subtask.skill, status="self-answered", reply=subtask.answer or "")
    node = run.nodes[f"run/subtask-{subtask.id}"]
    assignment = next(each for each in assignments if each.subtask.id == subtask.id)
    finding = next(each for each in findings if each.id == subtask.id)
    shown = (assignment.slice, *run.followups.get(subtask.id, ()))
    return SubtaskResult(
        **common,
        skill=assignment.skill.name,
        status=_finished_status(node),
        slice=SliceReport(
            line_ranges=tuple(str(lines) for slice_ in shown for lines in slice_.line_ranges),
            tokens=sum(slice_.tokens for slice_ in shown),
            fallback=assignment.fallback,
        ),
        followups=len(shown) - 1,
        reply="" if finding.is_missing else finding.text,
        usage=_node_usage(run, node),
        duration_ms=node.duration_ms,
        attempts=node.attempt,
        merged_with=run.merged.get(subtask.id, ()),
        tool_calls=tuple(map(_tool_call_report, run.tool_calls.get(node.id, ()))),
        steps=_step_reports(run, run.trees[subtask.id]) if subtask.id in run.trees else (),
        error=ErrorReport.of(node.error) if node.error else None,
    )


def _node_usage(run: Run, node: Node) -> UsageReport:
    below = [each for each in run.nodes.values() if each.id.startswith(f"{node.id}/")]
    return _usage_of(run, [node, *below], run.worker)


def _waiting(run: Run) -> tuple[WaitingFor, ...]:
    """What the run waits for, in the order of its nodes, whoever asked first."""
    places = {node_id: place for place, node_id in enumerate(run.nodes)}
    return tuple(sorted(run.people.waiting, key=lambda each: places.get(each.node_id, len(places))))


def _step_reports(run: Run, of: StepOutcome) -> tuple[StepReport, ...]:
    """The steps of a composite, or what a code skill called while it ran."""
    called = (_step_report(run, each, is_call=True) for each in run.called.get(of.node_id, ()))
    return (*(_step_report(run, each, is_call=False) for each in of.steps), *called)


def _step_report(run: Run, step: StepOutcome, *, is_call: bool) -> StepReport:
    return StepReport(
        name=step.name,
        skill=step.skill,
        node_id=step.node_id,
        status=step.status,
        output=step.output,
        reason=step.reason,
        error=ErrorReport.of(step.error) if step.error else None,
        steps=_step_reports(run, step),
        is_call=is_call,
    )


def _route(run: Run) -> RouteReport | None:
    """What trees of skills did; None where the run had none. The numbers are counted from the steps."""
    if not run.trees:
        return None
    outcomes = tuple(run.trees.values())
    wording = run.wording or as_found(outcomes)
    return RouteReport(
        **wording.model_dump(), success_rate=success_rate(outcomes), partial_failures=partial_failures(outcomes)
    )


def _tool_call_report(called: CalledTool) -> ToolCallReport:
    node = called.node
    return ToolCallReport(
        name=called.name,
        arguments=called.arguments,
        status=_finished_status(node),
        duration_ms=node.duration_ms,
        error=ErrorReport.of(node.error) if node.error else None,
    )


def _finished_status(node: Node) -> Literal["completed", "failed", "cancelled", "waiting"]:
    if node.error is None:
        return "completed" if node.status is Status.COMPLETED else "waiting"
    return "cancelled" if isinstance(node.error, RunCancelled) else "failed"


def _savings(run: Run, findings: Sequence[Finding], draft: Draft, usage: RunUsage) -> Savings:
    replies: list[int] = []
    for finding in findings:
        reply = run.replies.get(f"run/subtask-{finding.id}")
        replies.append(reply.usage.output_tokens if reply else count_tokens(finding.text))
    written = run.replies.get("run/synthesis")
    answer_tokens = written.usage.output_tokens if written else sum(replies)
    name, host = model_name(run.worker), model_host(run.worker)
    others = alternatives(run.documents, replies, answer_tokens, scale=run.scale)
    ways = [OtherWay.of(each, name, host) for each in others]
    ours = sum(phase.total_input_tokens for phase in usage.task_phases)
    return Savings(input_tokens=ours, fanout=ways[0], fanout_cached=ways[1], one_call=ways[2])
