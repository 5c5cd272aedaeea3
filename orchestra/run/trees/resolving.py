"""Level 2: the parameters of a step. Code binds what it can; a model is asked once for what remains, then a person."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from orchestra.errors import ApprovalRejected, MissingParameters, PlanInvalid
from orchestra.models.json_text import well_formed
from orchestra.planning.routing import again, read_reply, resolution_request
from orchestra.run.approvals import Question, ask_person
from orchestra.run.asking import ask
from orchestra.run.state import Run
from orchestra.run.trees.calls import SkillCall, shown
from orchestra.skills.trees.flow import Binding
from orchestra.skills.trees.parameters import LEAST_CONFIDENCE, Bound, Parameters, bind, given_in
from orchestra.skills.trees.replies import Resolution

_LINE = re.compile(r"^\s*[-*]?\s*([\w-]+)\s*[:=]\s*(\S.*?)\s*$", re.MULTILINE)
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
    found = _with(bound, parameters, resolution, wanted)
    doubtful = tuple(name for name in found.values if name not in bound.values)
    if resolution.confidence >= LEAST_CONFIDENCE:
        doubtful = ()
    if not found.missing and not doubtful:
        return found
    try:
        return await _ask_user(run, call, parameters, found, doubtful, resolution.clarifying_question)
    except ApprovalRejected as error:
        unsure = tuple(name for name in doubtful if name in parameters.required)
        if found.missing or unsure:
            raise _missing(call, found, found.missing or unsure) from error
    run.warn("PARAMETERS_UNSURE", f"{call.manifest.name}: not used: {', '.join(doubtful)}", call.node.id)
    return bound


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
        outputs={f"step_{number} {names.get(number, '')}".strip(): shown(output) for number, output in outputs.items()},
        context={name: shown(value) for name, value in call.context.items()},
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


def _with(bound: Bound, parameters: Parameters, resolution: Resolution, wanted: Sequence[str]) -> Bound:
    """What the model found of what was asked for, as far as it fits the schemas, beside what code had bound."""
    values, methods, refused = dict(bound.values), dict(bound.methods), dict(bound.refused)
    for name, value in resolution.parameters.items():
        if name not in wanted or name in resolution.missing_required or value is None:
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


async def _ask_user(
    run: Run, call: SkillCall, parameters: Parameters, bound: Bound, doubtful: Sequence[str], question: str
) -> Bound:
    """Ask a person for what is missing, else for what is doubtful. Raises `MissingParameters`, `ApprovalRejected`.

    Yes takes what was found. Else his words are JSON, or lines such as `tone: formal`, or the value if one is missing.
    """
    wanted = bound.missing or tuple(doubtful)
    text = question or f"What is {', '.join(wanted)} for {call.manifest.name}?"
    found = {name: bound.values[name] for name in doubtful}
    shown = {"skill": call.manifest.name, "missing": list(bound.missing), "found": found}
    decision = await ask_person(run, call.node, Question("ask_user", call.node.id, text, shown))
    if not bound.missing and decision.text.strip().rstrip(".!").lower() in _YES:
        return bound
    answered = _answer(decision.text, (*bound.missing, *doubtful), wanted, parameters)
    left = tuple(name for name in wanted if name not in answered)
    methods = {**bound.methods, **dict.fromkeys(answered, "from_user_answer")}
    if left:
        raise _missing(call, bound, left)
    return replace(bound, values={**bound.values, **answered}, methods=methods, missing=())


def _answer(text: str, names: Sequence[str], wanted: Sequence[str], parameters: Parameters) -> dict[str, Any]:
    """The values in a person's words. All of them are the value where one is wanted, and nothing else is named."""
    said: dict[str, Any] = {line[1]: line[2] for line in _LINE.finditer(text)}
    said.update(given_in(text))
    found: dict[str, Any] = {}
    for name in names:
        values = _readings(said[name], parameters.properties.get(name) or {}) if name in said else ()
        fitting = [value for value in values if not parameters.problem_of(name, value)]
        found.update({name: fitting[0]} if fitting else {})
    if found or len(wanted) != 1 or not text.strip():
        return found
    values = _readings(text, parameters.properties.get(wanted[0]) or {})
    fitting = [value for value in values if not parameters.problem_of(wanted[0], value)]
    return {wanted[0]: fitting[0]} if fitting else {}


def _readings(value: Any, schema: Mapping[str, Any]) -> tuple[Any, ...]:
    """What a person may have meant by some words: the words, what they are as JSON, and a list of them."""
    if not isinstance(value, str):
        return (value,)
    words = value.strip()
    try:
        meant = well_formed(json.loads(words))
    except (ValueError, RecursionError):
        listed = [part.strip() for part in words.split(",") if part.strip()]
        return (words, listed) if schema.get("type") == "array" else (words,)
    return (meant, words) if isinstance(meant, list | dict) else (words, meant)


def _missing(call: SkillCall, bound: Bound, names: Sequence[str]) -> MissingParameters:
    refused = "; ".join(f"{name}: {why}" for name, why in bound.refused.items() if name in names)
    what = "lacks" if bound.missing else "is not sure of"
    return MissingParameters(
        f"{call.manifest.name} {what} {', '.join(names)}",
        cause=refused or "nothing said so far settles it",
        missing=list(names),
    )
