"""A composite skill at work: each of its steps as soon as those that it waits for have ended."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Coroutine, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from orchestra.errors import DependencyFailed, OrchestraError, RunCancelled, RunWaiting
from orchestra.run.skills_in_use import load
from orchestra.run.state import Run
from orchestra.run.trees.calls import SkillCall, SkillResult, StepOutcome, called
from orchestra.run.trees.decomposing import Steps, SubSkills, decompose, dependencies_of, waiting_for_flow
from orchestra.run.trees.resolving import resolve
from orchestra.runtime.node import Node
from orchestra.runtime.scheduler import Job
from orchestra.skills.conditions import Condition
from orchestra.skills.manifest import Branch, Manifest
from orchestra.skills.skill import fold_name
from orchestra.skills.trees.flow import value_at
from orchestra.skills.trees.parameters import Parameters
from orchestra.skills.trees.replies import Step
from orchestra.skills.trees.steps import fixed_plan, startable

Executor = Callable[[Run, SkillCall], Coroutine[Any, Any, SkillResult]]


async def run_composite(run: Run, call: SkillCall, subs: SubSkills, body: str, execute: Executor) -> SkillResult:
    """All steps of `call`, and its output: what its data flow names, else that of its last step, else all by name.

    A step that fails leaves the others; the composite fails only if none completed. Raises `RunWaiting` once all else
    has ended, if a step waits for a person. `run.steps` keeps what became of each step, whatever is raised.
    """
    steps = await decompose(run, call, subs, body)
    work = _Work(run, call, subs, steps, execute)
    await work.run_all()
    outcomes = run.steps[call.node.id] = work.ordered()
    waiting = next((each.error for each in outcomes if isinstance(each.error, RunWaiting)), None)
    if waiting is not None:
        raise waiting
    missed = [each for each in outcomes if each.is_required and each.status != "completed"]
    if missed:
        names = ", ".join(f"{each.name} {each.skill}" for each in missed)
        run.warn("STEPS_NOT_DONE", f"{call.manifest.name}: not done: {names}", call.node.id)
    failed = [each.error for each in outcomes if each.error is not None]
    if failed and not work.outputs:
        raise failed[0]
    return SkillResult(work.output(), outcomes)


@dataclass(slots=True)
class _Work:
    """The steps under way. `outputs` are of completed steps, by number.

    `seen` says of which steps each one knows the output: those that it waits for, however indirectly, and in a sequence
    all before it. What else happens to have ended must not change what is sent.
    """

    run: Run
    call: SkillCall
    subs: SubSkills
    plan: Steps
    execute: Executor
    outputs: dict[int, Any] = field(default_factory=dict[int, Any])
    outcomes: dict[int, StepOutcome] = field(default_factory=dict[int, StepOutcome])
    left_out: list[StepOutcome] = field(default_factory=list[StepOutcome])
    jobs: dict[int, Job[None]] = field(default_factory=dict[int, "Job[None]"])
    seen: dict[int, set[int]] = field(default_factory=dict[int, "set[int]"])

    async def run_all(self) -> None:
        await self._run_steps(self.plan.steps, self.plan.is_in_turn)
        if self.plan.branches:
            await self._run_branch()
        for name in self.plan.left_out:
            self._leave_out(name, "this query does not need it")

    async def _run_steps(self, steps: Collection[Step], is_in_turn: bool) -> None:
        earlier = set(self.jobs)
        before: set[int] = set()
        for step in steps:
            manifest = self.subs[step.sub_skill]
            title = step.trigger_reason
            node = self.run.child(self.call.node, f"step-{step.step}", "skill", skill=manifest.name, title=title)
            indirect = (self.seen[number] for number in step.depends_on)
            self.seen[step.step] = earlier.union(step.depends_on, *indirect, before if is_in_turn else ())
            waits = {*step.depends_on, *(before if is_in_turn else ())}
            self.jobs[step.step] = self.run.scheduler.spawn(self._do(step, manifest, node, waits), node)
            before.add(step.step)
        await self.run.scheduler.join([self.jobs[step.step] for step in steps])
        for step in steps:
            self._conclude(step)

    async def _do(self, step: Step, manifest: Manifest, node: Node, waits: Collection[int]) -> None:
        await self.run.scheduler.join([self.jobs[number] for number in sorted(waits)])
        for number in step.depends_on:
            error = self.jobs[number].error
            if error is not None:
                raise _not_done(manifest.name, number, error)
        known = self._known_to(step)
        call = replace(called(self.call, manifest, node), outputs=self._by_name(known))
        skill = await load(self.run, manifest, node)
        bound = await resolve(
            self.run,
            call,
            Parameters.of(skill.parameters or {}),
            number=step.step,
            flow=self.plan.flow,
            outputs=known,
            names={each.step: each.sub_skill for each in self.plan.steps},
            needed=step.parameters_needed,
        )
        result = await self.execute(self.run, replace(call, parameters=bound.values))
        self.outputs[step.step] = result.output
        self.outcomes[step.step] = self._outcome(step, output=result.output, steps=result.steps)

    def _known_to(self, step: Step) -> dict[int, Any]:
        return {number: self.outputs[number] for number in sorted(self.seen[step.step]) if number in self.outputs}

    def _conclude(self, step: Step) -> None:
        error = self.jobs[step.step].error
        if error is None:
            return
        if isinstance(error, DependencyFailed):
            self.outcomes[step.step] = self._outcome(step, "skipped", error=error, reason=error.what)
            return
        status = "waiting" if isinstance(error, RunWaiting) else "failed"
        node_id = f"{self.call.node.id}/step-{step.step}"
        self.outcomes[step.step] = self._outcome(step, status, error=error, steps=self.run.steps.get(node_id, ()))

    async def _run_branch(self) -> None:
        """The sub-skills of the first branch whose condition holds, after all else.

        A condition on a step that failed is not decided, and then nothing runs by it or by the branches after it.
        """
        chosen, blocked = self._chosen_branch()
        then = dict.fromkeys(map(fold_name, chosen.then)) if chosen else {}
        others = dict.fromkeys(fold_name(name) for branch in self.plan.branches for name in branch.then)
        if blocked is not None:
            for name in others:
                self._block(name, blocked)
            return
        for name in others:
            if name not in then:
                self._leave_out(name, "its condition does not hold")
        if not then:
            return
        needs = dependencies_of(self.call.manifest, self.subs)
        known = (*(step.sub_skill for step in self.plan.steps), *then)
        fixed = fixed_plan(known, needs, self.plan.numbers)
        all_steps = startable(waiting_for_flow(fixed, self.plan.flow))
        steps = tuple(step for step in all_steps if step.sub_skill in then)
        self.plan = replace(self.plan, steps=(*self.plan.steps, *steps))
        await self._run_steps(steps, is_in_turn=not self.call.manifest.execution.allow_parallel)

    def _chosen_branch(self) -> tuple[Branch | None, Step | None]:
        """The branch that holds, if any, or the step without whose output none can be chosen."""
        values = self._values()
        for branch in self.plan.branches:
            if not branch.when:
                return branch, None
            ended_badly = next((step for step in self.plan.steps if self._is_named(branch.when, step)), None)
            if ended_badly is not None:
                return None, ended_badly
            verdict = Condition(branch.when).verdict(values)
            if verdict.doubt:
                self.run.warn("CONDITION_UNDECIDED", f"{self.call.manifest.name}: {verdict.doubt}", self.call.node.id)
            if verdict.holds:
                return branch, None
        return None, None

    def _is_named(self, when: str, step: Step) -> bool:
        """Whether a condition speaks of the output of a step that gave none."""
        names = (f"step_{step.step}", step.sub_skill.replace("-", "_"))
        is_read = any(re.search(rf"\b{re.escape(name)}\s*\.\s*output\b", when) for name in names)
        return is_read and step.step not in self.outputs

    def _values(self) -> dict[str, Any]:
        """What a condition may speak of: `step_1.output`, the same by the sub-skill's name, `query` and `mode`."""
        values: dict[str, Any] = {
            "query": self.call.query,
            "mode": self.call.mode,
            "parameters": dict(self.call.parameters),
        }
        for step in self.plan.steps:
            known = {"status": self.outcomes[step.step].status, "output": self.outputs.get(step.step)}
            values[f"step_{step.step}"] = known
            values[step.sub_skill.replace("-", "_")] = known
        return values

    def _block(self, name: str, step: Step) -> None:
        """A sub-skill that may have been needed: nobody can tell."""
        number = (self.plan.numbers or {})[name]
        error = self.jobs[step.step].error
        assert error is not None
        not_done = _not_done(name, step.step, error)
        status = "waiting" if isinstance(not_done, RunWaiting) else "skipped"
        self.outcomes[number] = StepOutcome(
            f"step_{number}", name, "", status, error=not_done, reason="its condition cannot be decided"
        )

    def _leave_out(self, name: str, reason: str) -> None:
        self.left_out.append(StepOutcome("not chosen", name, "", "skipped", reason=reason, is_required=False))

    def _outcome(self, step: Step, status: Any = "completed", **fields: Any) -> StepOutcome:
        return StepOutcome(
            f"step_{step.step}", step.sub_skill, f"{self.call.node.id}/step-{step.step}", status, **fields
        )

    def _by_name(self, outputs: Mapping[int, Any]) -> dict[str, Any]:
        """Outputs by the names of their sub-skills; a second one of the same name goes with its step."""
        names = {step.step: step.sub_skill for step in self.plan.steps}
        found: dict[str, Any] = {}
        for number, output in sorted(outputs.items()):
            name = names[number]
            found[f"{name} step_{number}" if name in found else name] = output
        return found

    def ordered(self) -> tuple[StepOutcome, ...]:
        return (*(outcome for _, outcome in sorted(self.outcomes.items())), *self.left_out)

    def output(self) -> Any:
        """The output of the composite as a whole."""
        named: dict[str, Any] = {}
        for binding in self.plan.flow:
            if binding.target or binding.source not in self.outputs:
                continue
            try:
                named[binding.parameter] = value_at(self.outputs[binding.source], binding.path)
            except LookupError:
                self.run.warn(
                    "DATA_FLOW_IGNORED", f"{self.call.manifest.name}: {binding}: nothing there", self.call.node.id
                )
        if named:
            return named
        read = {number for step in self.plan.steps if step.step in self.outputs for number in step.depends_on}
        last = {number: output for number, output in self.outputs.items() if number not in read}
        return next(iter(last.values())) if len(last) == 1 else self._by_name(last)


def _not_done(skill: str, number: int, error: OrchestraError) -> OrchestraError:
    if isinstance(error, RunWaiting | RunCancelled):
        return error
    return DependencyFailed(f"{skill} was not started: step {number} failed", cause=f"{error.code}: {error.what}")
