"""Level 3: one call of a skill, whatever its kind, and its output held to its schema."""

from __future__ import annotations

import inspect
from dataclasses import replace
from typing import Any, cast

from orchestra.errors import ApprovalRejected, OutputInvalid
from orchestra.models.json_text import repaired, well_formed
from orchestra.models.protocol import Model, ModelReply, ModelRequest
from orchestra.planning.routing import again, skill_request
from orchestra.run.approvals import Question, ask_person
from orchestra.run.permitting import permit
from orchestra.run.retrying import with_retries
from orchestra.run.skills_in_use import load, sub_skills
from orchestra.run.state import Run
from orchestra.run.tiers import model_for
from orchestra.run.tool_loop import answer
from orchestra.run.toolbox import toolbox_of
from orchestra.run.trees.calls import SkillCall, SkillResult, shown
from orchestra.run.trees.coding import run_code
from orchestra.run.trees.composite import run_composite
from orchestra.runtime.calls import model_name
from orchestra.runtime.scheduler import Milestone
from orchestra.skills import Skill

MOST_SHOWN_TOKENS = 16_000
"""Of each result that a step reads beside its parameters, which are never cut."""


async def execute_skill(run: Run, call: SkillCall) -> SkillResult:
    """Do what `call` asks.

    Raises `PermissionDenied`, `ApprovalRejected`, `OutputInvalid`, `RunWaiting`, `ModelError`s.
    """
    skill = await load(run, call.manifest, call.node)
    if run.permits.skills.get(call.node.id) is not skill:
        permit(run, call.node, skill)
    call = await _approved(run, call, skill)
    declared = replace(skill, retries=_first(skill.retries, call.retries))
    retries = run.settings.retries_of(declared) if call.fixed_retries is None else call.fixed_retries
    if call.manifest.is_composite:
        result = await run_composite(
            run, call, sub_skills(run, call.manifest, call.node), skill.system_prompt, execute_skill
        )
    elif skill.function is None:
        return SkillResult(await with_retries(run, call.node, retries, lambda number: _prompt(run, call, skill)))
    elif inspect.isgeneratorfunction(skill.function):  # nobody is asked the same thing twice
        result = SkillResult(await run_code(run, call, skill, execute_skill))
    else:
        result = SkillResult(
            await with_retries(
                run, call.node, retries, lambda number: run_code(run, call, skill, execute_skill), is_code=True
            )
        )
    problem = _problem_of(result.output, skill)
    if problem:
        raise OutputInvalid(f"the output of {skill.name} does not fit its schema", cause=problem)
    return result


def _first(*values: int | None) -> int | None:
    return next((value for value in values if value is not None), None)


async def _approved(run: Run, call: SkillCall, skill: Skill) -> SkillCall:
    """The call as a person approved it, where the skill asks for that. Raises `ApprovalRejected`, `RunWaiting`."""
    if not skill.needs_approval:
        return call
    shown = {"skill": skill.name, "query": call.query, "parameters": dict(call.parameters)}
    title = f"Run the skill {skill.name}?"
    question = Question("approval", call.node.id, title, shown, editable=("query", "parameters"))
    decision = await ask_person(run, call.node, question)
    if not decision.is_approved:
        raise ApprovalRejected(f"{call.node.id} was not approved", cause=decision.reason)
    edited = decision.edited or shown
    return replace(call, query=edited["query"], parameters=edited["parameters"])


async def _prompt(run: Run, call: SkillCall, skill: Skill) -> Any:
    """The reply of a prompt skill: JSON if it declares an output, else text. Equal calls of a run are made once."""
    request = skill_request(
        skill,
        call.query,
        call.parameters,
        slice_=call.slice,
        results={name: shown(output, MOST_SHOWN_TOKENS) for name, output in {**call.earlier, **call.outputs}.items()},
        output=skill.output,
        max_tokens=run.settings.max_tokens,
        temperature=run.settings.temperature,
    )
    model = model_for(run, call.manifest.layer, call.model_tier or call.manifest.model_tier)
    if toolbox_of(run, call.node, skill) is not None:  # what tools do is not had by reading what they gave before
        return await _asked(run, call, skill, request, model)
    key = f"{model_name(model)} {request.fingerprint}"
    while isinstance(under_way := run.step_outputs.get(key), Milestone):
        await run.scheduler.join([under_way])
    if key in run.step_outputs:
        run.scheduler.begin(call.node)
        return run.step_outputs[key]
    ended = run.step_outputs[key] = Milestone()
    try:
        output = await _asked(run, call, skill, request, model)
    except BaseException:
        del run.step_outputs[key]
        raise
    else:
        run.step_outputs[key] = output
    finally:
        ended.reach()
    return output


async def _asked(run: Run, call: SkillCall, skill: Skill, request: ModelRequest, model: Model) -> Any:
    timeout_s = run.settings.subtask_limit_s(replace(skill, timeout_s=skill.timeout_s or call.timeout_s))
    reply = await answer(run, call.node, skill, request, timeout_s, model=model)
    output, problem = _read(reply, skill)
    if problem:
        run.warn("OUTPUT_ASKED_AGAIN", f"{call.node.id}: {problem}", call.node.id)
        reply = await answer(run, call.node, skill, again(request, reply, problem), timeout_s, model=model)
        output, problem = _read(reply, skill)
    if problem:
        raise OutputInvalid(f"the reply of {skill.name} does not fit its schema", cause=problem, raw=reply.text)
    return output


def _read(reply: ModelReply, skill: Skill) -> tuple[Any, str]:
    """The output in a reply, and what is wrong with it."""
    if skill.output is None:
        text = reply.text.strip()
        return text, "" if text else "it is empty"
    try:
        output = well_formed(reply.data if reply.data is not None else repaired(reply.text))
    except (ValueError, RecursionError) as error:
        return None, str(error) or "it is no JSON"
    return output, _problem_of(output, skill)


def _problem_of(output: Any, skill: Skill) -> str:
    """How an output departs from the skill's schema, in a phrase."""
    if skill.output_model is not None:
        from pydantic import ValidationError

        try:
            skill.output_model.model_validate(output)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    if not skill.output:
        return ""
    import jsonschema
    from referencing.exceptions import Unresolvable

    validator = cast("Any", jsonschema.Draft202012Validator(dict(skill.output)))
    try:
        error = next(validator.iter_errors(output), None)
    except (Unresolvable, RecursionError) as broken:
        return f"its schema cannot be followed: {broken}"
    return f"{'/'.join(map(str, error.absolute_path)) or 'it'}: {error.message}" if error else ""
