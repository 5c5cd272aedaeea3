"""Code skills at work: called once, and while they run asking people and other skills."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Coroutine, Generator, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, cast

from orchestra.errors import ApprovalRejected, OrchestraError, OutputInvalid, RunCancelled, RunWaiting, SkillNotFound
from orchestra.models.registry import BUILTIN
from orchestra.run.approvals import Question, ask_person
from orchestra.run.skills_in_use import load, sub_skills
from orchestra.run.state import Run
from orchestra.run.trees.calls import SkillCall, SkillResult, StepOutcome, called
from orchestra.run.trees.resolving import resolve
from orchestra.runtime.events import EffectReplayed
from orchestra.skills import Skill
from orchestra.skills.code import Asking, AskUser, CallSkill, CodeContext, RequestApproval, Wish, as_json, call_code
from orchestra.skills.skill import fold_name
from orchestra.skills.trees.nesting import check_nesting
from orchestra.skills.trees.parameters import Parameters

Executor = Callable[[Run, SkillCall], Coroutine[Any, Any, SkillResult]]


async def run_code(run: Run, call: SkillCall, skill: Skill, execute: Executor) -> Any:
    """The output of a code skill, from the journal or by running it. `execute` calls sub-skills that it asks for."""
    function = skill.function
    if function is None:
        raise SkillNotFound(f"{skill.name} has no code")
    timeout_s = run.settings.subtask_limit_s(replace(skill, timeout_s=skill.timeout_s or call.timeout_s))

    async def on_worker(work: Callable[[], Any]) -> Any:
        return await run.scheduler.call(lambda deadline, attempt: work(), node=call.node, timeout_s=timeout_s)

    if call.manifest.layer == "guarantee":  # idempotent: nothing of it needs to be kept
        return await on_worker(lambda: _finished(call_code(function, call.parameters, _context(run, call)), skill))
    journal = run.journal
    key = journal.key(call.node.id, "code", _fingerprint(call, skill))
    record = journal.find(key)
    if record is not None and record.payload is not None:
        run.scheduler.begin(call.node)
        run.stream.emit(EffectReplayed, node_id=call.node.id, kind="code", source="journal")
        return record.payload["output"]

    def begin() -> Any:
        journal.begin(key)
        output = call_code(function, call.parameters, _context(run, call))
        if isinstance(output, Generator):  # it starts anew: what it asks for is on record, and counts what it cost
            journal.abandon(key)
        else:
            journal.finish(key, {"output": output})
        return output

    try:
        output = await on_worker(begin)
    except BaseException:
        journal.abandon(key)
        raise
    if not isinstance(output, Generator):
        return output
    return await _converse(run, call, skill, cast("Asking", output), on_worker, execute)


def _finished(output: Any, skill: Skill) -> Any:
    """What a gate gave. One that asks is no gate."""
    if isinstance(output, Generator):
        output.close()
        raise OutputInvalid(f"the guarantee {skill.name} asks while it runs", cause="guarantees only look")
    return output


async def _converse(
    run: Run,
    call: SkillCall,
    skill: Skill,
    asking: Asking,
    on_worker: Callable[[Callable[[], Any]], Coroutine[Any, Any, Any]],
    execute: Executor,
) -> Any:
    """Run a generator to its end, and give it what it asks for."""
    answer: Any = None
    refusal: OrchestraError | None = None
    count = 0
    try:
        while True:
            wish, output = await on_worker(partial(_next, asking, answer, refusal))
            if wish is None:
                return as_json(output, skill.name)
            count += 1
            answer, refusal = None, None
            try:
                answer = await _granted(run, call, wish, count, execute)
            except (RunWaiting, RunCancelled):
                raise
            except OrchestraError as error:
                refusal = error
    finally:
        with suppress(ValueError):  # it runs on, past its time, on a thread that was left behind
            asking.close()


def _next(asking: Asking, answer: Any, refusal: OrchestraError | None) -> tuple[Wish | None, Any]:
    """What the generator asks for next, or None and what it returned. It may catch what it asked for in vain."""
    try:
        return (asking.send(answer) if refusal is None else asking.throw(refusal)), None
    except StopIteration as stop:
        return None, stop.value


async def _granted(run: Run, call: SkillCall, wish: Wish, count: int, execute: Executor) -> Any:
    if isinstance(wish, AskUser):
        question = Question("ask_user", call.node.id, wish.question, {"skill": call.manifest.name}, wish.options)
        return (await ask_person(run, call.node, question)).text
    if isinstance(wish, RequestApproval):
        decision = await ask_person(run, call.node, Question("approval", call.node.id, wish.title, wish.shown))
        if not decision.is_approved:
            raise ApprovalRejected(f"{call.node.id}: {wish.title}", cause=decision.reason)
        return dict(wish.shown) if decision.edited is None else decision.edited
    if isinstance(wish, CallSkill):
        return await _call_sub_skill(run, call, wish, count, execute)
    kind = type(wish).__name__
    raise OutputInvalid(
        f"{call.manifest.name} yielded {kind}", cause="it asks with AskUser, RequestApproval or CallSkill"
    )


async def _call_sub_skill(run: Run, call: SkillCall, wish: CallSkill, count: int, execute: Executor) -> Any:
    subs = sub_skills(run, call.manifest, call.node)
    manifest = subs.get(fold_name(wish.name))
    if manifest is None:
        known = f"its sub-skills are {', '.join(subs) or 'none'}"
        raise SkillNotFound(f"{call.manifest.name} calls {wish.name!r}", cause=known)
    above = (*call.above, call.manifest)
    check_nesting(manifest, lambda each: sub_skills(run, each, call.node), run.settings.max_depth, above)
    node = run.child(call.node, f"call-{count}", "skill", skill=manifest.name)
    given = cast("dict[str, Any]", as_json(dict(wish.parameters), call.manifest.name))

    async def work() -> SkillResult:
        made = replace(called(call, manifest, node), parameters=given)
        wanted = Parameters.of((await load(run, manifest, node)).parameters or {})
        bound = await resolve(run, made, wanted, number=1, flow=(), outputs={}, names={})
        return await execute(run, replace(made, parameters={**bound.values, **given}))

    job = run.scheduler.spawn(work(), node)
    await run.scheduler.join([job])
    outcome = StepOutcome(f"call_{count}", manifest.name, node.id, "completed")
    if job.error is None:
        outcome = replace(outcome, output=job.value.output, steps=job.value.steps)
    else:
        status = "waiting" if isinstance(job.error, RunWaiting) else "failed"
        outcome = replace(outcome, status=status, error=job.error, steps=run.steps.get(node.id, ()))
    run.called.setdefault(call.node.id, []).append(outcome)
    return job.value.output


def _context(run: Run, call: SkillCall) -> CodeContext:
    return CodeContext(
        query=call.query,
        documents=call.documents,
        mode=call.mode,
        outputs=call.outputs,
        earlier=call.earlier,
        answer=call.answer,
        limits=run.limits,
        lessons=call.lessons,
        model=_model_name(run),
    )


def _model_name(run: Run) -> str:
    name = run.model_names["subtasks"]
    return "" if name == BUILTIN else name


def _fingerprint(call: SkillCall, skill: Skill) -> str:
    """What a code skill is given, as a hash: the same in every process."""
    texts = [document.text for document in call.documents or ()]
    given: Mapping[str, Any] = {
        "skill": [skill.name, getattr(skill.function, "__qualname__", "")],
        "query": call.query,
        "parameters": call.parameters,
        "outputs": call.outputs,
        "earlier": call.earlier,
        "answer": call.answer,
        "mode": call.mode,
        "documents": [hashlib.sha256(text.encode("utf-8", "replace")).hexdigest() for text in texts],
    }
    return hashlib.sha256(json.dumps(given, sort_keys=True, default=str).encode()).hexdigest()
