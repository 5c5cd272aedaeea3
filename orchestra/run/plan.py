"""The planning phase: who decides what is asked of whom."""

from __future__ import annotations

import json
from pathlib import Path

from orchestra.errors import ContextTooLong, InputInvalid, PlanInvalid
from orchestra.planning.direct import direct_plan
from orchestra.planning.history import with_history
from orchestra.planning.parse import parse_plan
from orchestra.planning.plan import Plan
from orchestra.planning.planner import plan_request, read_plan, repair_request
from orchestra.planning.self_answers import check_self_answers as checked_self_answers
from orchestra.planning.tools_note import with_tools_note
from orchestra.result import StrategyReport
from orchestra.run.asking import ask
from orchestra.run.outline import plan_from_outline
from orchestra.run.state import Run
from orchestra.run.strategy import choose_strategy
from orchestra.run.toolbox import planner_note
from orchestra.run.trees.routing import plan_by_skills
from orchestra.runtime.events import PlanReady
from orchestra.runtime.node import Node
from orchestra.settings import PlanChoice


async def decide(run: Run) -> Plan:
    """The plan of a run: made by code for `direct`, by the planner otherwise. Raises what a planner's call raises."""
    if run.settings.strategy == "route":
        return await plan_by_skills(run)
    choice = choose_strategy(run)
    if choice.strategy == "outline":
        return await plan_from_outline(run)
    estimate = choice.estimate
    if not estimate.is_possible:
        raise ContextTooLong(
            f"strategy {choice.strategy!r} cannot be followed",
            cause=estimate.note,
            suggestion="Use strategy='outline', or a model with a longer context window.",
        )
    return direct_plan(run.task) if choice.strategy == "direct" else await _ask_planner(run)


async def _ask_planner(run: Run) -> Plan:
    """One call; one more if its reply cannot be mended. Raises `PlanInvalid` and what the model raises."""
    node = run.node("plan", "plan", title="plan")
    job = run.scheduler.spawn(_ask_for_plan(run, node), node)
    await run.scheduler.join([job])
    return job.value


async def _ask_for_plan(run: Run, node: Node) -> Plan:
    planning = plan_request(
        run.documents,
        run.task,
        run.library,
        temperature=run.settings.temperature,
        catalogue_tokens=run.settings.most_catalogue_tokens,
    )
    request = with_history(with_tools_note(planning, planner_note(run)), run.history)
    reply = await ask(run, node, run.planner, request, run.settings.phase_limit_s)
    try:
        plan, notes = read_plan(reply)
    except PlanInvalid as error:
        run.warn("PLAN_ASKED_AGAIN", f"the planner's reply is no valid plan: {error.cause}", node.id)
        reply = await ask(run, node, run.planner, repair_request(request, reply, error), run.settings.phase_limit_s)
        plan, notes = read_plan(reply)
    for note in notes:
        run.warn("PLAN_MENDED", note, node.id)
    return plan


def take_plan(run: Run, given: PlanChoice) -> Plan:
    """A plan that the caller brought: a `Plan`, a dict, or the path of a JSON file."""
    run.strategy = StrategyReport(chosen="given", asked=run.settings.strategy, reason="the plan was given")
    if isinstance(given, str | Path):
        try:
            given = json.loads(Path(given).read_text(encoding="utf-8-sig"))
        except (OSError, ValueError, RecursionError) as error:
            raise InputInvalid(f"the plan {given} could not be read", cause=str(error)) from None
    plan, notes = parse_plan(given)
    for note in notes:
        run.warn("PLAN_MENDED", note)
    return plan


def check_self_answers(run: Run, plan: Plan) -> Plan:
    """Delegate the self-answers that the document does not bear out, and say which plan goes ahead."""
    is_outlined = run.strategy is not None and run.strategy.chosen == "outline"
    plan, demotions = checked_self_answers(plan, run.documents, needs_lines=is_outlined)
    for demotion in demotions:
        message = f"the planner's own answer to subtask {demotion.subtask.id} was not taken: {demotion.reason}"
        run.warn("SELF_ANSWER_UNSUPPORTED", message, f"run/subtask-{demotion.subtask.id}")
    run.stream.emit(
        PlanReady,
        plan=plan.model_dump(),
        self_answered=[subtask.id for subtask in plan.self_answered],
        delegated=[subtask.id for subtask in plan.delegated],
    )
    return plan
