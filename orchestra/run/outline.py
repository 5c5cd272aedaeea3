"""Planning by the outline: one call over what code shows of the documents, and one more look if it is asked for."""

from __future__ import annotations

from collections.abc import Sequence

from orchestra.errors import PlanInvalid
from orchestra.models.protocol import ModelRequest
from orchestra.planning.costs import prompt_tokens, request_tokens
from orchestra.planning.history import history_tokens, with_history
from orchestra.planning.outline_planner import OutlineReply, look_request, read_outline_reply
from orchestra.planning.plan import ContextPointers, Plan, Subtask
from orchestra.planning.planner import repair_request
from orchestra.planning.tools_note import with_tools_note
from orchestra.run.asking import ask
from orchestra.run.state import Run
from orchestra.run.strategy import first_request
from orchestra.run.toolbox import planner_note
from orchestra.run.whole import plan_for_whole
from orchestra.runtime.events import LookTaken
from orchestra.runtime.node import Node
from orchestra.skills.library import GENERIC


async def plan_from_outline(run: Run) -> Plan:
    """The planner's plan; for a task about the document as a whole, the plan that code makes."""
    node = run.node("plan", "plan", title="plan")
    job = run.scheduler.spawn(_ask(run, node), node)
    await run.scheduler.join([job])
    reply = job.value
    return reply.plan if reply.plan is not None else plan_for_whole(run, reply.skill)


async def _ask(run: Run, node: Node) -> OutlineReply:
    settings = run.settings
    request = first_request(run)
    tokens = request_tokens(request) - history_tokens(run.history) - prompt_tokens(planner_note(run))
    if tokens > settings.outline_tokens:
        budget = f"{tokens:,} tokens are sent, not {settings.outline_tokens:,}"
        run.warn("OUTLINE_OVER_BUDGET", f"the task leaves the outline less than it needs: {budget}", node.id)
    reply = await _read(run, node, request)
    if reply.look and reply.plan is None and not reply.whole:
        run.stream.emit(LookTaken, node_id=node.id, ids=reply.look)
        second = look_request(
            request,
            reply,
            run.documents,
            run.task,
            run.library,
            outline_tokens=settings.outline_tokens,
            catalogue_tokens=settings.most_catalogue_tokens,
            words=run.task_alone,
        )
        second = with_history(with_tools_note(second, planner_note(run)), run.history)
        reply = await _after_look(run, node, second, reply.look)
    for note in reply.notes:
        run.warn("PLAN_MENDED", note, node.id)
    return reply


async def _after_look(run: Run, node: Node, request: ModelRequest, look: Sequence[str]) -> OutlineReply:
    """The decision after a look. Where there is none, what was looked at is sent with the task as it stands."""
    try:
        return await _read(run, node, request, may_look=False)
    except PlanInvalid as error:
        run.warn(
            "PLAN_MADE_OF_LOOK", f"what the planner looked at is sent, for it made no plan: {error.cause}", node.id
        )
        pointers = ContextPointers(sections=list(look))
        return OutlineReply(
            Plan(subtasks=[Subtask(id="1", task=run.task, skill=GENERIC.name, context_pointers=pointers)])
        )


async def _read(run: Run, node: Node, request: ModelRequest, *, may_look: bool = True) -> OutlineReply:
    """One call; one more if its reply cannot be mended."""
    reply = await ask(run, node, run.planner, request, run.settings.phase_limit_s)
    try:
        return read_outline_reply(reply, run.documents, may_look=may_look)
    except PlanInvalid as error:
        run.warn("PLAN_ASKED_AGAIN", f"the planner's reply is no valid plan: {error.cause}", node.id)
        reply = await ask(run, node, run.planner, repair_request(request, reply, error), run.settings.phase_limit_s)
        return read_outline_reply(reply, run.documents, may_look=may_look)
