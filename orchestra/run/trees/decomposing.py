"""Level 1: the steps of a composite skill, by code where its manifest fixes them, else by one call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from orchestra.errors import CallCycleDetected, PlanInvalid, SkillInvalid
from orchestra.models.protocol import ModelReply
from orchestra.planning.routing import SubSkillCard, again, decomposition_request, read_reply
from orchestra.run.asking import ask
from orchestra.run.state import Run
from orchestra.run.trees.calls import SkillCall
from orchestra.skills.conditions import Condition
from orchestra.skills.manifest import Branch, Manifest
from orchestra.skills.schemas import declared_schema
from orchestra.skills.skill import fold_name
from orchestra.skills.trees.flow import Binding, bindings
from orchestra.skills.trees.parameters import Parameters
from orchestra.skills.trees.replies import Decomposition, Step
from orchestra.skills.trees.steps import checked, fixed_plan, numbered, startable, with_dependencies
from orchestra.skills.trees.triggers import triggered

SubSkills = Mapping[str, Manifest]


@dataclass(frozen=True, slots=True)
class Steps:
    """What a composite does. Each of `branches` is tried once all of `steps` have ended; the first that holds runs.

    `numbers` are those that the manifest means by `step_1`: of all sub-skills, whichever of them are needed.
    `left_out` names sub-skills that this query does not need. `is_in_turn`: one step at a time, in order. `odd` are
    lines of the data flow that nothing can be made of.
    """

    steps: tuple[Step, ...]
    flow: tuple[Binding, ...] = ()
    branches: tuple[Branch, ...] = ()
    numbers: Mapping[str, int] | None = None
    left_out: tuple[str, ...] = ()
    is_in_turn: bool = False
    odd: tuple[str, ...] = ()


async def decompose(run: Run, call: SkillCall, subs: SubSkills, body: str) -> Steps:
    """The steps of `call`. Raises `PlanInvalid`, `SkillInvalid`, `CallCycleDetected`."""
    steps = fixed_steps(call.manifest, subs, call.query) or await _asked_for(run, call, subs, body)
    for line in steps.odd:
        run.warn("DATA_FLOW_IGNORED", f"{call.manifest.name}: nothing can be made of {line!r}", call.node.id)
    return steps


def fixed_steps(manifest: Manifest, subs: SubSkills, query: str) -> Steps | None:
    """The steps, if code can tell them: all of a fixed strategy, those that triggers name, or the only one there is.

    A step's number is that of its sub-skill among all of them. Raises `SkillInvalid`, `CallCycleDetected`.
    """
    if not subs:
        raise SkillInvalid(
            f"the composite skill {manifest.name!r} has no sub-skills", cause="it declares and holds none"
        )
    needs = dependencies_of(manifest, subs)
    branches = manifest.routing.conditions
    branched = _branched(manifest, subs)
    strategy = "conditional" if branches and manifest.routing.strategy == "dynamic" else manifest.routing.strategy
    numbers = numbered(tuple(subs), needs)
    names = tuple(name for name in subs if name not in branched)
    triggers = {name: sub.triggers for name, sub in subs.items() if sub.triggers}
    matching = triggered(query, triggers)
    if strategy == "dynamic" and len(subs) > 1 and len(matching) != 1:
        return None
    if matching and not branched:
        unconditional = tuple(name for name in names if name not in triggers)
        names = with_dependencies((*matching, *(unconditional if strategy != "dynamic" else ())), names, needs)
    steps = fixed_plan(names, needs, numbers)
    flow, odd = bindings(manifest.data_flow, numbers)
    last = len(numbers)
    beyond = [str(each) for each in flow if not (1 <= each.source <= last and each.target <= last)]
    flow = tuple(each for each in flow if str(each) not in beyond)
    startable(waiting_for_flow(fixed_plan(tuple(subs), needs, numbers), flow))  # those of all branches too
    return Steps(
        startable(waiting_for_flow(steps, flow)),
        flow,
        branches=branches,
        numbers=numbers,
        left_out=tuple(name for name in subs if name not in names and name not in branched),
        is_in_turn=strategy in ("sequential", "conditional") or not manifest.execution.allow_parallel,
        odd=(*odd, *beyond),
    )


def dependencies_of(manifest: Manifest, subs: SubSkills) -> dict[str, tuple[str, ...]]:
    """What each sub-skill waits for, by its folded name: as the skill's entry has it, else as its own manifest."""
    own = {name: tuple(map(fold_name, sub.dependencies)) for name, sub in subs.items()}
    declared = {entry.name: tuple(map(fold_name, entry.dependencies)) for entry in manifest.sub_skills}
    return {**own, **{name: needed for name, needed in declared.items() if needed}}


def waiting_for_flow(steps: Sequence[Step], flow: Sequence[Binding]) -> tuple[Step, ...]:
    """Each step waits for those whose output it takes."""
    numbers = {step.step for step in steps}
    return tuple(
        step.model_copy(
            update={
                "depends_on": tuple(
                    sorted(
                        {*step.depends_on}
                        | {each.source for each in flow if each.target == step.step and each.source in numbers}
                    )
                )
            }
        )
        for step in steps
    )


def card_of(manifest: Manifest, dependencies: Sequence[str] = ()) -> SubSkillCard:
    """What a decomposer may know of a sub-skill. Its schemas are read, not its body. Raises `SkillInvalid`."""
    parameters, _ = declared_schema(manifest, "parameters")
    output, _ = declared_schema(manifest, "output")
    properties = output.get("properties") if output else None
    return SubSkillCard(
        manifest.name,
        manifest.description,
        Parameters.of(parameters or {}),
        outputs=tuple(properties or ()),
        dependencies=tuple(dependencies),
        is_composite=manifest.is_composite,
    )


async def _asked_for(run: Run, call: SkillCall, subs: SubSkills, body: str) -> Steps:
    node = run.child(call.node, "steps", "decompose", skill=call.manifest.name, title="which steps")
    needs = dependencies_of(call.manifest, subs)
    cards = [card_of(manifest, needs.get(name, ())) for name, manifest in subs.items()]
    request = decomposition_request(call.query, call.manifest.name, body, cards, temperature=run.settings.temperature)

    async def work() -> Steps:
        reply = await ask(run, node, run.planner, request, run.settings.phase_limit_s)
        try:
            return _read(reply, call.manifest, subs)
        except PlanInvalid as error:
            run.warn("PLAN_ASKED_AGAIN", f"{node.id}: {error.what}: {error.cause}", node.id)
            reply = await ask(run, node, run.planner, again(request, reply, error.cause), run.settings.phase_limit_s)
            return _read(reply, call.manifest, subs)

    job = run.scheduler.spawn(work(), node)
    await run.scheduler.join([job])
    return job.value


def _read(reply: ModelReply, manifest: Manifest, subs: SubSkills) -> Steps:
    """The steps of a reply, which the manifest's own data flow and dependencies hold for too. Raises `PlanInvalid`."""
    plan = read_reply(reply, Decomposition)
    needs = dependencies_of(manifest, subs)
    try:
        steps = checked(plan, list(subs), needs).execution_plan
        declared, unread = bindings(manifest.data_flow, numbered(tuple(subs), needs))
        own, odd = bindings(plan.data_flow, {step.sub_skill: step.step for step in reversed(steps)})
        numbers = {step.step for step in steps}
        known = tuple(each for each in own if each.source in numbers and each.target in {0, *numbers})
        flow = (*_renumbered(declared, numbered(tuple(subs), needs), steps), *known)
        ordered = startable(waiting_for_flow(steps, flow))
    except (SkillInvalid, CallCycleDetected) as error:
        raise PlanInvalid(error.what, cause=f"{error.what}: {error.cause}", raw=reply.text) from None
    chosen = {step.sub_skill for step in steps}
    return Steps(
        ordered,
        flow,
        left_out=tuple(name for name in subs if name not in chosen),
        is_in_turn=not manifest.execution.allow_parallel,
        odd=(*unread, *odd, *(str(each) for each in own if each not in known)),
    )


def _renumbered(flow: Sequence[Binding], numbers: Mapping[str, int], steps: Sequence[Step]) -> tuple[Binding, ...]:
    """A manifest's data flow in a plan's numbers: into every step of the sub-skill, from the first of the other."""
    names = {number: name for name, number in numbers.items()}
    of_skill = {name: [step.step for step in steps if step.sub_skill == name] for name in numbers}
    return tuple(
        replace(each, source=of_skill[names[each.source]][0], target=target)
        for each in flow
        if of_skill.get(names.get(each.source, ""))
        for target in (of_skill.get(names.get(each.target, ""), ()) if each.target else (0,))
    )


def _branched(manifest: Manifest, subs: SubSkills) -> frozenset[str]:
    """Sub-skills that run only by a condition. Raises `SkillInvalid` for what no branch can be decided or done by."""
    for branch in manifest.routing.conditions:
        if branch.when:
            Condition(branch.when)
        unknown = [name for name in branch.then if fold_name(name) not in subs]
        if unknown:
            cause = f"its sub-skills are {', '.join(subs) or 'none'}"
            raise SkillInvalid(f"a condition of {manifest.name!r} leads to {unknown[0]!r}", cause=cause)
    return frozenset(fold_name(name) for branch in manifest.routing.conditions for name in branch.then)
