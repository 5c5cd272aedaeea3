"""Level 2: the parameters of a step. Code binds what it can; a model is asked once for what remains, then a person."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from orchestra.errors import ApprovalRejected, MissingParameters, PlanInvalid
from orchestra.planning.routing import again, read_reply, resolution_request
from orchestra.run.approvals import Question, ask_person
from orchestra.run.asking import ask
from orchestra.run.state import Run
from orchestra.run.trees.calls import SkillCall
from orchestra.skills.trees.flow import Binding
from orchestra.skills.trees.parameters import LEAST_CONFIDENCE, Bound, Parameters, bind, given_in
from orchestra.skills.trees.replies import Resolution

_YES = frozenset({"y", "yes", "ok", "right", "correct"})  # to what was found, and is not sure


async def resolve(
    run: Run,
    call: SkillCall,
    parameters: Parameters,
    *,
    number: int,
    flow: Sequence[Binding],
    outputs: Mapping[int, Any],
    names: Mapping[int, str],
    needed: Sequence[str] = (),
) -> Bound:
    """Values for the parameters of `call`, step `number` of its parent. `names` are the skills of earlier steps.

    `needed` are optional parameters that the decomposer wants bound too. Raises `MissingParameters`, `RunWaiting`.
    """
    bound = bind(
        parameters,
        query=call.query,
        step=number,
        flow=flow,
        outputs=outputs,
        context={**call.context, **call.parameters},
    )
    wanted = (*bound.missing, *(name for name in bound.open if name in needed))
    if not wanted:
        return bound
    resolution = await _ask_model(run, call, parameters, bound, wanted, outputs, names)
    bound = _with(bound, parameters, resolution)
    is_doubtful = resolution.confidence < LEAST_CONFIDENCE
    if not bound.missing and not is_doubtful:
        return bound
    return await _ask_user(run, call, parameters, bound, resolution)


async def _ask_model(
    run: Run,
    call: SkillCall,
    parameters: Parameters,
    bound: Bound,
    wanted: Sequence[str],
    outputs: Mapping[int, Any],
    names: Mapping[int, str],
) -> Resolution:
    node = run.child(call.node, "parameters", "resolve", skill=call.manifest.name, title="which values")
    request = resolution_request(
        call.query,
        call.manifest.name,
        parameters,
        bound,
        asked_for=wanted,
        outputs={f"step_{number} {names.get(number, '')}".strip(): output for number, output in outputs.items()},
        context=call.context,
        temperature=run.settings.temperature,
    )

    async def work() -> Resolution:
        reply = await ask(run, node, run.planner, request, run.settings.phase_limit_s)
        try:
            return read_reply(reply, Resolution)
        except PlanInvalid as error:
            run.warn("PLAN_ASKED_AGAIN", f"{node.id}: {error.what}: {error.cause}", node.id)
            reply = await ask(run, node, run.planner, again(request, reply, error.cause), run.settings.phase_limit_s)
            return read_reply(reply, Resolution)

    job = run.scheduler.spawn(work(), node)
    await run.scheduler.join([job])
    return job.value


def _with(bound: Bound, parameters: Parameters, resolution: Resolution) -> Bound:
    """What the model found, as far as it fits the schemas, over what code had bound."""
    values, methods, refused = dict(bound.values), dict(bound.methods), dict(bound.refused)
    for name, value in resolution.parameters.items():
        if name in values or name not in parameters.properties or name in resolution.missing_required:
            continue
        problem = parameters.problem_of(name, value)
        if problem:
            refused[name] = f"resolver: {problem}"
            continue
        values[name], methods[name] = value, resolution.resolution_method.get(name, "from_context")
    return replace(
        bound,
        values=values,
        methods=methods,
        missing=tuple(name for name in bound.missing if name not in values),
        open=tuple(name for name in bound.open if name not in values),
        refused=refused,
    )


async def _ask_user(run: Run, call: SkillCall, parameters: Parameters, bound: Bound, resolution: Resolution) -> Bound:
    """Ask a person for what is missing or doubtful. His words are read as JSON if they are, else as the one value."""
    missing = bound.missing or tuple(name for name in bound.values if name in resolution.parameters)
    text = resolution.clarifying_question or f"What is {', '.join(missing)} for {call.manifest.name}?"
    found = {name: bound.values[name] for name in missing if name in bound.values}
    shown = {"skill": call.manifest.name, "missing": list(bound.missing), "found": found}
    try:
        decision = await ask_person(run, call.node, Question("ask_user", call.node.id, text, shown))
    except ApprovalRejected as error:
        raise _missing(call, bound, missing) from error
    if not bound.missing and decision.text.strip().lower() in _YES:
        return bound
    answered = _answer(decision.text, missing, parameters)
    values = {**bound.values, **answered}
    left = tuple(name for name in bound.missing if name not in values)
    bound = replace(
        bound, values=values, methods={**bound.methods, **dict.fromkeys(answered, "from_user_answer")}, missing=left
    )
    if left:
        raise _missing(call, bound, left)
    return bound


def _answer(text: str, names: Sequence[str], parameters: Parameters) -> dict[str, Any]:
    given = given_in(text)
    found = {name: given[name] for name in names if name in given and not parameters.problem_of(name, given[name])}
    if found or len(names) != 1:
        return found
    return {names[0]: text.strip()} if not parameters.problem_of(names[0], text.strip()) else {}


def _missing(call: SkillCall, bound: Bound, names: Sequence[str]) -> MissingParameters:
    refused = "; ".join(f"{name}: {why}" for name, why in bound.refused.items() if name in names)
    what = "lacks" if bound.missing else "is not sure of"
    return MissingParameters(
        f"{call.manifest.name} {what} {', '.join(names)}",
        cause=refused or "nothing said so far settles it",
        missing=list(names),
    )
