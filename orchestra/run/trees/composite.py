"""A composite skill at work: each of its steps as soon as those that it waits for have ended."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field, replace
from typing import Any

from orchestra.errors import DependencyFailed, OrchestraError, RunWaiting
from orchestra.run.state import Run
from orchestra.run.trees.calls import SkillCall, SkillResult, StepOutcome
from orchestra.run.trees.decomposing import Steps, SubSkills, decompose
from orchestra.run.trees.resolving import resolve
from orchestra.runtime.node import Node
from orchestra.runtime.scheduler import Job
from orchestra.skills.conditions import Condition
from orchestra.skills.manifest import Manifest
from orchestra.skills.skill import fold_name
from orchestra.skills.trees.flow import value_at
from orchestra.skills.trees.parameters import Parameters
from orchestra.skills.trees.replies import Step
from orchestra.skills.trees.steps import undone

Executor = Callable[[Run, SkillCall], Coroutine[Any, Any, SkillResult]]


async def run_composite(run: Run, call: SkillCall, subs: SubSkills, body: str, execute: Executor) -> SkillResult:
    """All steps of `call`, and its output: what its data flow names, else that of its last step, else all by name.

    A step that fails leaves the others; the composite fails only if none completed. Raises `RunWaiting` once all else
    has ended, if a step waits for a person.
    """
    steps = await decompose(run, call, subs, body)
    work = _Work(run, call, subs, steps, execute)
    await work.run_all()
    outcomes = work.ordered()
    waiting = next((each.error for each in outcomes if isinstance(each.error, RunWaiting)), None)
    if waiting is not None:
        raise waiting
    failed = [each.error for each in outcomes if each.error is not None]
    if failed and not any(each.status == "completed" for each in outcomes):
        raise _with_steps(failed[0], outcomes)
    missed = undone([each.skill for each in outcomes if each.is_required], work.completed)
    if missed:
        run.warn("STEPS_NOT_DONE", f"{call.manifest.name}: not done: {', '.join(missed)}", call.node.id)
    return SkillResult(work.output(), outcomes)


@dataclass(slots=True)
class _Work:
    """The steps under way. `outputs` are of completed steps, by number."""

    run: Run
    call: SkillCall
    subs: SubSkills
    plan: Steps
    execute: Executor
    outputs: dict[int, Any] = field(default_factory=dict[int, Any])
    outcomes: dict[int, StepOutcome] = field(default_factory=dict[int, StepOutcome])
    jobs: dict[int, Job[None]] = field(default_factory=dict[int, "Job[None]"])

    async def run_all(self) -> None:
        await self._run_steps(self.plan.steps)
        if self.plan.branches:
            await self._run_branch()
        for name in self.plan.left_out:
            self._leave_out(name, "this query does not need it")

    async def _run_steps(self, steps: tuple[Step, ...]) -> None:
        before: int | None = None
        for step in self._startable(steps):
            manifest = self.subs[step.sub_skill]
            node = self.run.child(
                self.call.node, f"step-{step.step}", "skill", skill=manifest.name, title=step.trigger_reason
            )
            waits = {*step.depends_on, *({before} if self.plan.is_in_turn and before is not None else ())}
            job = self.run.scheduler.spawn(self._do(step, manifest, node, waits), node)
            self.jobs[step.step] = job
            before = step.step
        await self.run.scheduler.join(list(self.jobs.values()))
        for step in steps:
            self._conclude(step)

    def _startable(self, steps: tuple[Step, ...]) -> list[Step]:
        """Steps so ordered that each one's dependencies have their jobs before it."""
        left, ordered = list(steps), list[Step]()
        while left:
            ready = next(step for step in left if not {other.step for other in left} & set(step.depends_on))
            left.remove(ready)
            ordered.append(ready)
        return ordered

    async def _do(self, step: Step, manifest: Manifest, node: Node, waits: set[int]) -> None:
        await self.run.scheduler.join([self.jobs[number] for number in sorted(waits) if number in self.jobs])
        for number in step.depends_on:
            ended = self.jobs.get(number)
            if ended is not None and ended.error is not None:
                raise _not_done(self.subs[step.sub_skill].name, number, ended.error)
        call = self._call(step, manifest, node)
        bound = await resolve(
            self.run,
            call,
            Parameters.of(manifest.parameters),
            number=step.step,
            flow=self.plan.flow,
            outputs=dict(self.outputs),
            names={each.step: each.sub_skill for each in self.plan.steps},
            needed=step.parameters_needed,
        )
        result = await self.execute(self.run, replace(call, parameters=bound.values))
        self.outputs[step.step] = result.output
        self.outcomes[step.step] = self._outcome(step, output=result.output, steps=result.steps)

    def _call(self, step: Step, manifest: Manifest, node: Node) -> SkillCall:
        return replace(
            self.call,
            manifest=manifest,
            node=node,
            path=(*self.call.path, self.call.manifest.name),
            context={**self.call.context, **self.call.parameters},
            parameters={},
            outputs={self._name_of(number): output for number, output in self.outputs.items()},
            timeout_s=self.call.manifest.execution.timeout_per_skill or self.call.timeout_s,
            retries=_first(self.call.manifest.execution.retry_on_failure, self.call.retries),
        )

    def _conclude(self, step: Step) -> None:
        error = self.jobs[step.step].error
        if error is None:
            return
        if isinstance(error, DependencyFailed):
            self.outcomes[step.step] = self._outcome(step, "skipped", error=error, reason=error.what)
            return
        status = "waiting" if isinstance(error, RunWaiting) else "failed"
        self.outcomes[step.step] = self._outcome(step, status, error=error, steps=_steps_of(error))

    async def _run_branch(self) -> None:
        """The sub-skills of the first branch whose condition holds, after all else."""
        values = self._values()
        chosen: tuple[str, ...] | None = None
        for branch in self.plan.branches:
            verdict = Condition(branch.when).verdict(values) if branch.when else None
            if verdict is not None and verdict.doubt:
                self.run.warn("CONDITION_UNDECIDED", f"{self.call.manifest.name}: {verdict.doubt}", self.call.node.id)
            if chosen is None and (verdict is None or verdict.holds):
                chosen = tuple(map(fold_name, branch.then))
                continue
            for name in map(fold_name, branch.then):
                if name not in (chosen or ()):
                    self._leave_out(name, f"its condition does not hold: {branch.when or 'else'}")
        first = max((step.step for step in self.plan.steps), default=0) + 1
        steps = tuple(Step(step=number, sub_skill=name) for number, name in enumerate(chosen or (), first))
        self.plan = replace(self.plan, steps=(*self.plan.steps, *steps))
        await self._run_steps(steps)

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

    def _leave_out(self, name: str, reason: str) -> None:
        number = max((*self.outcomes, *(step.step for step in self.plan.steps)), default=0) + 1
        self.outcomes[number] = StepOutcome("not chosen", name, "", "skipped", reason=reason, is_required=False)

    def _outcome(self, step: Step, status: Any = "completed", **fields: Any) -> StepOutcome:
        return StepOutcome(
            f"step_{step.step}", step.sub_skill, f"{self.call.node.id}/step-{step.step}", status, **fields
        )

    def _name_of(self, number: int) -> str:
        return next(step.sub_skill for step in self.plan.steps if step.step == number)

    @property
    def completed(self) -> list[str]:
        return [self._name_of(number) for number in self.outputs]

    def ordered(self) -> tuple[StepOutcome, ...]:
        return tuple(outcome for _, outcome in sorted(self.outcomes.items()))

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
        read = {number for step in self.plan.steps for number in step.depends_on}
        last = [number for number in sorted(self.outputs) if number not in read]
        if len(last) == 1:
            return self.outputs[last[0]]
        return {self._name_of(number): self.outputs[number] for number in last}


def _first(one: int | None, other: int | None) -> int | None:
    return other if one is None else one


def _not_done(skill: str, number: int, error: OrchestraError) -> OrchestraError:
    if isinstance(error, RunWaiting):
        return error
    return DependencyFailed(f"{skill} was not started: step {number} failed", cause=f"{error.code}: {error.what}")


def _with_steps(error: OrchestraError, steps: tuple[StepOutcome, ...]) -> OrchestraError:
    error.details["steps"] = steps
    return error


def _steps_of(error: OrchestraError) -> tuple[StepOutcome, ...]:
    return error.details.pop("steps", ())
