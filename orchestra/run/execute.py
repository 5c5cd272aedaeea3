"""The execution phase: subtasks go out as soon as what they depend on is there, those with one slice together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from orchestra.errors import (
    BudgetExceeded,
    ContextTooLong,
    ModelBadRequest,
    ModelRefused,
    ModelReplyInvalid,
    ModelTimeout,
    NodeTimeout,
    OrchestraError,
    OutputTruncated,
    RunWaiting,
)
from orchestra.models.blocks import Finding, SliceBlock
from orchestra.models.protocol import Model, ModelReply
from orchestra.planning.assemble import Assignment, is_direct_skill
from orchestra.planning.history import with_history
from orchestra.planning.merging import Bundle, merge, split_reply
from orchestra.planning.plan import Plan
from orchestra.planning.sharing import CachePrices, share
from orchestra.run.asking import ask, keep_reply
from orchestra.run.confirming import approve_subtask
from orchestra.run.followup import follow_up
from orchestra.run.permitting import permit
from orchestra.run.retrying import with_retries
from orchestra.run.state import Run
from orchestra.run.tool_loop import answer
from orchestra.run.toolbox import tool_names
from orchestra.run.trees.routing import is_called, tree_reply
from orchestra.runtime.calls import cache_minimum, model_base_url, model_name
from orchestra.runtime.node import Node
from orchestra.runtime.scheduler import Job, Milestone

_ABOUT_THE_CALL = (
    BudgetExceeded,
    ContextTooLong,
    ModelBadRequest,
    ModelRefused,
    ModelReplyInvalid,
    ModelTimeout,
    NodeTimeout,
    OutputTruncated,
)
"""Why a merged call can fail where a subtask alone may not."""


@dataclass(slots=True)
class _Shared:
    """One call for a bundle, and what it gave: a part for each subtask (None: ask for it alone), or an error."""

    bundle: Bundle
    slices: tuple[SliceBlock, ...]
    parts: tuple[str | None, ...] = ()
    error: OrchestraError | None = None
    answered: Milestone = field(default_factory=Milestone)

    def part(self, assignment: Assignment) -> str | None:
        """The reply to one subtask. Raises the error of the call."""
        if self.error is not None:
            raise self.error
        return self.parts[self.bundle.assignments.index(assignment)] if self.parts else None


async def execute(run: Run, plan: Plan, assignments: Sequence[Assignment], *, streams: bool) -> list[Finding]:
    """Send what is delegated; findings in plan order. With `streams`, a lone subtask's reply streams as the answer."""
    calls = _calls(run, assignments)
    streams_answer = streams and len(plan.subtasks) == 1
    findings: dict[str, Finding] = {
        subtask.id: Finding(subtask.id, subtask.task, subtask.answer or "") for subtask in plan.self_answered
    }
    jobs: dict[str, Job[None]] = {}
    for subtask in plan.in_dependency_order():
        if subtask.is_self_answered:
            continue
        assignment, call = calls[subtask.id]
        node = run.node(f"subtask-{subtask.id}", "subtask", skill=assignment.skill.name, title=subtask.task)
        work = _execute_one(run, node, assignment, call, findings, streams_answer=streams_answer)
        jobs[subtask.id] = run.scheduler.spawn(work, node, [jobs[name] for name in subtask.depends_on if name in jobs])
    await run.scheduler.join(list(jobs.values()))
    for subtask in plan.delegated:
        error = jobs[subtask.id].error
        if error is not None:
            if not isinstance(error, RunWaiting):
                run.errors.append(error)
            findings[subtask.id] = Finding(subtask.id, subtask.task, f"no reply ({error.code})", is_missing=True)
    return [findings[subtask.id] for subtask in plan.subtasks]


def _calls(run: Run, assignments: Sequence[Assignment]) -> dict[str, tuple[Assignment, _Shared]]:
    """Each subtask's assignment and call; subtasks that are merged have the call in common."""
    bundles = merge(
        assignments,
        max_tokens=run.settings.max_tokens,
        is_alone=lambda assignment: is_called(run, assignment.skill) or bool(tool_names(run, assignment.skill)),
    )
    minimum = cache_minimum(run.worker)
    slices = share(bundles, run.documents, partial(_cache_prices, run.worker, minimum) if minimum else None)
    calls: dict[str, tuple[Assignment, _Shared]] = {}
    for bundle, blocks in zip(bundles, slices, strict=True):
        call = _Shared(bundle, blocks)
        for assignment in bundle.assignments:
            calls[assignment.subtask.id] = (assignment, call)
            run.merged[assignment.subtask.id] = bundle.others(assignment)
    return calls


def _cache_prices(model: Model, minimum_tokens: int) -> CachePrices:
    from orchestra.models.prices import cache_ratios

    ratios = cache_ratios(model_name(model), base_url=model_base_url(model))
    return CachePrices(minimum_tokens, *ratios) if ratios else CachePrices(minimum_tokens)


async def _execute_one(
    run: Run,
    node: Node,
    assignment: Assignment,
    call: _Shared,
    findings: dict[str, Finding],
    *,
    streams_answer: bool,
) -> None:
    try:
        permit(run, node, assignment.skill)
        if assignment.error is not None:
            raise assignment.error
        known = [findings[name] for name in assignment.subtask.depends_on]
        if assignment.skill.needs_approval and not is_called(
            run, assignment.skill
        ):  # which asks once it has its values
            assignment = await approve_subtask(run, node, assignment, call.slices, known)
        subtask = assignment.subtask
        one = partial(_try, run, node, assignment, call, known, streams_answer=streams_answer)
        retries = (
            0 if is_called(run, assignment.skill) else run.settings.retries_of(assignment.skill)
        )  # its steps have theirs
        text = await with_retries(run, node, retries, one)
        findings[subtask.id] = Finding(subtask.id, subtask.task, text)
    finally:
        if node.id == f"run/subtask-{call.bundle.first.subtask.id}":  # whatever became of it, the others go on
            call.answered.reach()


async def _try(
    run: Run,
    node: Node,
    assignment: Assignment,
    call: _Shared,
    known: Sequence[Finding],
    number: int,
    *,
    streams_answer: bool,
) -> str:
    """What a subtask found; `number` counts the tries from 0. Only the first one shares a call with other subtasks."""
    if is_called(run, assignment.skill):
        return await tree_reply(run, node, assignment, known)
    shared = call if number == 0 else _Shared(Bundle((assignment,)), call.slices)
    run.followups.pop(assignment.subtask.id, None)
    text = await _reply_of(run, node, assignment, shared, known, streams_answer=streams_answer)
    return await follow_up(run, node, assignment, text.strip(), known, streams_answer=streams_answer)


async def _reply_of(
    run: Run, node: Node, assignment: Assignment, call: _Shared, known: Sequence[Finding], *, streams_answer: bool
) -> str:
    """The reply to a subtask: its part of the call that it shares, or that of a call of its own."""
    if call.bundle.is_merged:
        if assignment is call.bundle.first:
            await _ask_together(run, node, call, known)
        else:
            await run.scheduler.join([call.answered])
        part = call.part(assignment)
        if part is not None:
            return part
    alone = Bundle((assignment,))
    reply = await _ask_for(run, node, alone, call.slices, known, streams_answer=streams_answer)
    keep_reply(run, node, reply)
    return reply.text


async def _ask_together(run: Run, node: Node, call: _Shared, known: Sequence[Finding]) -> None:
    """One call for all subtasks of a bundle. Where it fails for what it asks, each is asked for alone."""
    try:
        reply = await _ask_for(run, node, call.bundle, call.slices, known)
        is_cut = reply.stop_reason == "max_tokens"
        call.parts = split_reply(reply.text, len(call.bundle.assignments), is_cut=is_cut)
    except _ABOUT_THE_CALL as error:
        run.warn("ASKED_ALONE", f"the subtasks of one call are asked for one by one: {error.what}", node.id)
    except OrchestraError as error:
        call.error = error
    finally:
        call.answered.reach()


async def _ask_for(
    run: Run,
    node: Node,
    bundle: Bundle,
    slices: Sequence[SliceBlock],
    known: Sequence[Finding],
    *,
    streams_answer: bool = False,
) -> ModelReply:
    request = bundle.request(
        max_tokens=run.settings.max_tokens, temperature=run.settings.temperature, findings=known, slices=slices
    )
    if is_direct_skill(bundle.first.skill):  # the words of other subtasks are the planner's, and can be read alone
        request = with_history(request, run.history)
    timeout_s = run.settings.subtask_limit_s(*(each.skill for each in bundle.assignments))
    if bundle.is_merged:
        return await ask(run, node, run.worker, request, timeout_s, streams_answer=streams_answer)
    return await answer(run, node, bundle.first.skill, request, timeout_s, streams_answer=streams_answer)
