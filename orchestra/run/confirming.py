"""What a skill that needs approval is about to send, shown to a person first. What he approves is what is sent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from orchestra.document import Slice
from orchestra.errors import ApprovalRejected
from orchestra.models.blocks import Finding, SliceBlock
from orchestra.models.protocol import Model, ModelRequest
from orchestra.planning.assemble import Assignment
from orchestra.planning.costs import request_tokens
from orchestra.planning.merging import Bundle
from orchestra.run.approvals import Decision, Question, ask_person
from orchestra.run.permitting import permitted_models
from orchestra.run.state import Run
from orchestra.run.tool_loop import with_tools
from orchestra.run.toolbox import toolbox_of
from orchestra.runtime.calls import model_host, model_name
from orchestra.runtime.node import Node


async def approve_subtask(
    run: Run, node: Node, assignment: Assignment, slices: Sequence[SliceBlock], findings: Sequence[Finding]
) -> Assignment:
    """The assignment as a person approved it: with his words for the task, if he edited them.

    Raises `ApprovalRejected` with his reason, or `RunWaiting`.
    """
    request = Bundle((assignment,)).request(
        max_tokens=run.settings.max_tokens, temperature=run.settings.temperature, findings=findings, slices=slices
    )
    subtask = assignment.subtask
    decision = await _approve(
        run, node, assignment, (assignment.slice,), request, title=f"send subtask {subtask.id}", editable=("task",)
    )
    if decision.edited is None or decision.edited["task"] == subtask.task:
        return assignment
    task = str(decision.edited["task"]).encode("utf-8", "replace").decode()
    run.edited_tasks[subtask.id] = task
    run.warn("TASK_EDITED", f"a person changed the task of subtask {subtask.id}", node.id)
    return replace(assignment, subtask=subtask.model_copy(update={"task": task}))


async def approve_followup(run: Run, node: Node, assignment: Assignment, further: Slice, request: ModelRequest) -> None:
    """Lines that the subtask's approval did not show need one of their own. Raises as `approve_subtask` does."""
    title = f"send further lines for subtask {assignment.subtask.id}"
    await _approve(run, node, assignment, (further,), request, title=title)


async def approve_joining(run: Run, node: Node, skill: str, request: ModelRequest) -> None:
    """The joining call that speaks with a skill's prompt. Raises as `approve_subtask` does."""
    shown = {"skill": skill, "task": run.task, **_sent(run, node, request, run.synthesizer)}
    await _approved(run, node, Question("approval", node.id, "join the findings", shown, editable=()))


async def _approve(
    run: Run,
    node: Node,
    assignment: Assignment,
    slices: Sequence[Slice],
    request: ModelRequest,
    *,
    title: str,
    editable: tuple[str, ...] = (),
) -> Decision:
    box = toolbox_of(run, node, assignment.skill)
    tools = {} if box is None else {"tools": list(box.tools)}
    shown = {
        "skill": assignment.skill.name,
        "task": assignment.subtask.task,
        "documents": list(run.documents.names),
        "lines": [str(lines) for slice_ in slices for lines in slice_.line_ranges],
        **tools,
        **_sent(run, node, request if box is None else with_tools(request, box), run.worker),
    }
    return await _approved(run, node, Question("approval", node.id, title, shown, editable=editable))


def _sent(run: Run, node: Node, request: ModelRequest, model: Model) -> dict[str, object]:
    """Who is sent how much, and the hash of it."""
    first, *others = (_who(each) for each in permitted_models(run, node, model))
    return {
        "model": first,
        **({"or": others} if others else {}),
        "prompt_tokens": request_tokens(request),
        "prompt_sha256": request.fingerprint,
    }


def _who(model: Model) -> str:
    host = model_host(model)
    return f"{model_name(model)} at {host}" if host else model_name(model)


async def _approved(run: Run, node: Node, question: Question) -> Decision:
    decision = await ask_person(run, node, question)
    if not decision.is_approved:
        cause = decision.reason or "no reason was given"
        raise ApprovalRejected(f"a person rejected: {question.title}", cause=cause)
    return decision
