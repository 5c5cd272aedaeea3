"""Level 1: the steps of a composite skill, by code where its manifest fixes them, else by one call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from orchestra.errors import CallCycleDetected, PlanInvalid, SkillInvalid
from orchestra.models.protocol import ModelReply
from orchestra.planning.routing import SubSkillCard, again, decomposition_request, read_reply
from orchestra.run.asking import ask
from orchestra.run.state import Run
from orchestra.run.trees.calls import SkillCall
from orchestra.skills.manifest import Branch, Manifest
from orchestra.skills.skill import fold_name
from orchestra.skills.trees.flow import Binding, bindings
from orchestra.skills.trees.parameters import Parameters
from orchestra.skills.trees.replies import Decomposition, Step
from orchestra.skills.trees.steps import checked, fixed_plan, with_dependencies
from orchestra.skills.trees.triggers import triggered

SubSkills = Mapping[str, Manifest]


@dataclass(frozen=True, slots=True)
class Steps:
    """What a composite does. Each of `branches` is tried once all of `steps` have ended; the first that holds runs.

    `left_out` names sub-skills that this query does not need. `is_in_turn`: one step at a time, in order.
    """

    steps: tuple[Step, ...]
    flow: tuple[Binding, ...] = ()
    branches: tuple[Branch, ...] = ()
    left_out: tuple[str, ...] = ()
    is_in_turn: bool = False
    is_fixed: bool = True


async def decompose(run: Run, call: SkillCall, subs: SubSkills, body: str) -> Steps:
    """The steps of `call`. Raises `PlanInvalid`, `CallCycleDetected`."""
    fixed = fixed_steps(call.manifest, subs, call.query)
    if fixed is not None:
        return fixed
    node = run.child(call.node, "steps", "decompose", skill=call.manifest.name, title="which steps")
    cards = [card_of(manifest, dependencies_of(call.manifest).get(name, ())) for name, manifest in subs.items()]
    request = decomposition_request(call.query, call.manifest.name, body, cards, temperature=run.settings.temperature)

    async def work() -> Decomposition:
        reply = await ask(run, node, run.planner, request, run.settings.phase_limit_s)
        try:
            return _read(reply, call.manifest, subs)
        except PlanInvalid as error:
            run.warn("PLAN_ASKED_AGAIN", f"{node.id}: {error.what}: {error.cause}", node.id)
            reply = await ask(run, node, run.planner, again(request, reply, error.cause), run.settings.phase_limit_s)
            return _read(reply, call.manifest, subs)

    job = run.scheduler.spawn(work(), node)
    await run.scheduler.join([job])
    plan = job.value
    declared, _ = bindings(_named(call.manifest.data_flow, plan.execution_plan))
    flow, odd = bindings(plan.data_flow)
    for line in odd:
        run.warn("DATA_FLOW_IGNORED", f"{call.manifest.name}: nothing can be made of {line!r}", node.id)
    chosen = {step.sub_skill for step in plan.execution_plan}
    return Steps(
        _waiting_for_flow(plan.execution_plan, (*declared, *flow)),
        (*declared, *flow),
        left_out=tuple(name for name in subs if name not in chosen),
        is_in_turn=not call.manifest.execution.allow_parallel,
        is_fixed=False,
    )


def fixed_steps(manifest: Manifest, subs: SubSkills, query: str) -> Steps | None:
    """The steps, if code can tell them: all of a fixed strategy, those that triggers name, or the only one there is."""
    needs = dependencies_of(manifest)
    strategy = manifest.routing.strategy
    branched = {fold_name(name) for branch in manifest.routing.conditions for name in branch.then}
    names = tuple(name for name in subs if name not in branched)
    matching = triggered(query, {entry.name: entry.triggers for entry in manifest.sub_skills if entry.triggers})
    if strategy == "dynamic" and len(subs) > 1 and len(matching) != 1:
        return None
    if matching and not branched:
        unconditional = [entry.name for entry in manifest.sub_skills if not entry.triggers]
        kept = (*matching, *(unconditional if strategy != "dynamic" else ()))
        names = with_dependencies(kept, names, needs)
    steps = fixed_plan(names, needs)
    flow, _ = bindings(_named(manifest.data_flow, steps))
    return Steps(
        _waiting_for_flow(steps, flow),
        flow,
        branches=manifest.routing.conditions,
        left_out=tuple(name for name in subs if name not in names and name not in branched),
        is_in_turn=strategy in ("sequential", "conditional") or not manifest.execution.allow_parallel,
    )


def dependencies_of(manifest: Manifest) -> dict[str, tuple[str, ...]]:
    """What each sub-skill waits for, by its folded name."""
    return {fold_name(entry.name): tuple(map(fold_name, entry.dependencies)) for entry in manifest.sub_skills}


def card_of(manifest: Manifest, dependencies: Sequence[str] = ()) -> SubSkillCard:
    properties = manifest.output.get("properties") if manifest.output else None
    return SubSkillCard(
        manifest.name,
        manifest.description,
        Parameters.of(manifest.parameters),
        outputs=tuple(properties or ()),
        dependencies=tuple(dependencies),
        is_composite=manifest.is_composite,
    )


def _read(reply: ModelReply, manifest: Manifest, subs: SubSkills) -> Decomposition:
    plan = read_reply(reply, Decomposition)
    try:
        return checked(plan, list(subs), dependencies_of(manifest))
    except (SkillInvalid, CallCycleDetected) as error:
        raise PlanInvalid(error.what, cause=error.cause or error.what, raw=reply.text) from None


def _named(lines: Sequence[str], steps: Sequence[Step]) -> list[str]:
    """Lines of a data flow with sub-skills in place of numbers, as a manifest may write them, by their numbers."""
    numbers = {step.sub_skill: step.step for step in steps}
    found: list[str] = []
    for line in lines:
        for name, number in numbers.items():
            for written in (name, name.replace("-", "_")):
                line = line.replace(f"{written}.output", f"step_{number}.output").replace(
                    f"→ {written}.", f"→ step_{number}."
                )
        found.append(line)
    return found


def _waiting_for_flow(steps: Sequence[Step], flow: Sequence[Binding]) -> tuple[Step, ...]:
    """Each step waits for those whose output it takes."""
    numbers = {step.step for step in steps}
    sources = {
        step.step: {each.source for each in flow if each.target == step.step and each.source in numbers}
        for step in steps
    }
    return tuple(
        step.model_copy(update={"depends_on": tuple(sorted({*step.depends_on, *sources[step.step]}))}) for step in steps
    )
