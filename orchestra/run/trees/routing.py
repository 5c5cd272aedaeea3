"""A run by skills: code or an intent router plans it, and trees of skills do its subtasks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from orchestra.errors import DependencyFailed, InputInvalid, OrchestraError, RunWaiting
from orchestra.models.blocks import Finding
from orchestra.planning.assemble import Assignment
from orchestra.planning.plan import Plan, Subtask
from orchestra.run.skills_in_use import sub_skills
from orchestra.run.state import Run
from orchestra.run.strategy import BY_SKILLS
from orchestra.run.trees.calls import SkillCall, StepOutcome
from orchestra.run.trees.executing import execute_skill
from orchestra.run.trees.intent import route_intent
from orchestra.run.trees.resolving import resolve
from orchestra.run.trees.wording import text_of, word
from orchestra.runtime.events import StrategyChosen
from orchestra.runtime.node import Node
from orchestra.skills import Skill
from orchestra.skills.manifest import Manifest
from orchestra.skills.skill import SHIPPED
from orchestra.skills.trees.nesting import check_nesting
from orchestra.skills.trees.parameters import Parameters


async def plan_by_skills(run: Run) -> Plan:
    """One subtask for each top-level skill that the query needs. Raises `InputInvalid` where there is none."""
    skills = routable(run)
    if not skills:
        raise InputInvalid("there is no skill to route to", suggestion="Pass a library with at least one listed skill.")
    run.strategy = BY_SKILLS
    run.stream.emit(StrategyChosen, strategy=BY_SKILLS.chosen, reason=BY_SKILLS.reason)
    intent = await route_intent(run, run.task, skills)
    names = [str(number) for number in range(1, len(intent.primary_skills) + 1)]
    in_turn = intent.execution_order == "sequential"
    before = [[], *([name] if in_turn else [] for name in names)]
    subtasks = [
        Subtask(id=name, task=_part_of(run, skill, len(names)), skill=skill, depends_on=needed)
        for name, skill, needed in zip(names, intent.primary_skills, before, strict=False)
    ]
    return Plan(subtasks=subtasks, reasoning=intent.reasoning)


def _part_of(run: Run, skill: str, skills: int) -> str:
    """The query, and for one prompt among several skills, which part of it is meant: it would miss the others' part."""
    manifest = run.library.manifests[skill]
    if skills == 1 or manifest.type != "prompt" or manifest.parameters:
        return run.task
    return f"{run.task}\n\nDo only the part of this that the following is about: {manifest.description}"


def routable(run: Run) -> list[Manifest]:
    """The listed execution skills of the caller's own; where he brought none, the shipped ones.

    Of these, trees stand here and not in the catalogue of plans: they are for whoever asks for skills.
    """
    execution = [each for each in run.library.manifests.values() if each.layer == "execution" and not each.applies]
    own = [each for each in execution if each.is_listed and each.source != SHIPPED]
    return own or [each for each in execution if each.is_listed or (each.sub_skills and each.source == SHIPPED)]


def is_tree(skill: Skill) -> bool:
    """Whether a skill's work is more than one prompt."""
    manifest = skill.manifest
    return skill.function is not None or (manifest is not None and (manifest.is_composite or bool(manifest.parameters)))


def is_called(run: Run, skill: Skill) -> bool:
    """Whether a subtask of the skill is a call with parameters, and not a prompt over a slice."""
    return is_tree(skill) or (run.settings.strategy == "route" and not len(run.documents))


async def tree_reply(run: Run, node: Node, assignment: Assignment, known: Sequence[Finding]) -> str:
    """What a subtask found whose skill is a tree, as text; `run.trees` keeps its steps.

    Raises `CallDepthExceeded` and `CallCycleDetected` before any call is made.
    """
    skill = assignment.skill
    manifest = skill.manifest or Manifest.of(skill)
    call = SkillCall(
        manifest,
        node,
        assignment.subtask.task,
        earlier={f"subtask {finding.id}": finding.text for finding in known if not finding.is_missing},
        documents=run.documents if len(run.documents) else None,
        slice=assignment.slice if assignment.slice.passages else None,
        mode=run.settings.mode,
    )
    subtask_id = assignment.subtask.id
    outcome = StepOutcome(f"step_{subtask_id}", manifest.name, node.id, "completed")
    try:
        check_nesting(manifest, lambda each: sub_skills(run, each, node), run.settings.max_depth)
        wanted = Parameters.of(skill.parameters or {})
        bound = await resolve(run, call, wanted, number=1, flow=(), outputs={}, names={})
        result = await execute_skill(run, replace(call, parameters=bound.values))
    except OrchestraError as error:
        status = "waiting" if isinstance(error, RunWaiting) else "failed"
        outcome = replace(outcome, status=status, error=error, steps=run.steps.get(node.id, ()))
        run.trees[subtask_id] = outcome
        run.errors.extend(each for each in _errors_below(outcome) if each is not error)
        raise
    done = run.trees[subtask_id] = replace(outcome, output=result.output, steps=result.steps)
    run.errors.extend(_errors_below(done))
    return text_of(result.output)


def _of_prompt(run: Run, subtask: Subtask, finding: Finding) -> StepOutcome:
    """What became of a subtask that is one prompt."""
    node = run.nodes[f"run/subtask-{subtask.id}"]
    name = f"step_{subtask.id}"
    if not finding.is_missing:
        return StepOutcome(name, node.skill, node.id, "completed", output=finding.text)
    is_skipped = isinstance(node.error, DependencyFailed)
    reason = node.error.what if is_skipped and node.error is not None else ""
    return StepOutcome(
        name, node.skill, node.id, "skipped" if is_skipped else "failed", error=node.error, reason=reason
    )


def _errors_below(outcome: StepOutcome) -> list[OrchestraError]:
    errors = (leaf.error for leaf in outcome.leaves if leaf.error is not None)
    return [error for error in dict.fromkeys(errors) if not isinstance(error, RunWaiting)]


async def joined_message(run: Run, plan: Plan, findings: Sequence[Finding]) -> str:
    """What the user is told in the end; `run.wording` keeps the rest of it, `run.trees` what became of each subtask."""
    run.trees = {
        subtask.id: run.trees.get(subtask.id) or _of_prompt(run, subtask, finding)
        for subtask, finding in zip(plan.subtasks, findings, strict=True)
    }
    run.wording = await word(run, run.task, tuple(run.trees.values()))
    return run.wording.user_message
