"""The enhancement layer: skills beside the work, which never fail it and hold up its end by a grace period at most."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence

from orchestra.errors import OrchestraError
from orchestra.planning.synthesis import Draft
from orchestra.run.layers.chain import LayerOutcome, Layers
from orchestra.runtime.events import NodeUpdated
from orchestra.runtime.node import FINAL, Node, Status
from orchestra.runtime.scheduler import Job, Milestone
from orchestra.skills.composition import ANSWER, ChainStep

GRACE_S = 5.0


class Enhancing:
    """The enhancements of one run. `start` them with the work, and give them an `end` with it."""

    def __init__(self, layers: Layers) -> None:
        self._layers = layers
        self._jobs: dict[str, Job[None]] = {}
        self._nodes: dict[str, Node] = {}
        self._answered = Milestone()
        self._ended = {step.skill: Milestone() for step in layers.steps("enhancement")}
        self._is_held_back = layers.run.budget.is_limited
        self._needed = _needed_before_answer(layers)

    def start(self) -> None:
        """Spawn them all. Where a budget is set, those that need no answer wait for it too: the work comes first.

        Not those that the work itself waits for.
        """
        for step in self._layers.steps("enhancement"):
            node = self._nodes[step.skill] = self._layers.node_of(step)
            self._jobs[step.skill] = self._layers.run.scheduler.spawn(self._perform(step, node), node)

    async def wait_for(self, names: Iterable[str]) -> None:
        """For a skill that declares a dependency on them, whatever became of them."""
        await self._layers.run.scheduler.join([self._ended[name] for name in names if name in self._ended])

    async def wait_for_after_answer(self, names: Sequence[str]) -> None:
        """`wait_for`, for a skill that works on the draft: those that need the answer take that draft for it."""
        if any(name in self._ended for name in names):
            self._release(self._layers.answer)
        await self.wait_for(names)

    async def end(self, draft: Draft) -> None:
        """Wait for them once the answer is there, `GRACE_S` at most; what is not done by then is left.

        Where the run waits for people, there is no answer yet: those that need it are not done.
        """
        if self._layers.run.people.waiting:
            return await self._layers.run.scheduler.join(self._without_answer(), at_most_s=GRACE_S)
        self._layers.answer = draft.text
        self._release(draft.text)
        began = time.monotonic()
        await self._layers.run.scheduler.join(list(self._jobs.values()), at_most_s=GRACE_S)
        self._layers.held_up_ms = (time.monotonic() - began) * 1000
        for name, job in self._jobs.items():
            if not job.is_done:
                self._leave(name)
        return None

    def _release(self, answer: str) -> None:
        """Let those go on that wait for the answer. All of them see the same one."""
        if not self._answered.is_done:
            self._layers.answer_beside = answer
            self._answered.reach()

    def _without_answer(self) -> list[Job[None]]:
        """Those that need no answer, not even through another one."""
        steps = self._layers.steps("enhancement")
        if self._is_held_back:
            return []
        needing = {ANSWER}
        for _ in steps:
            needing.update(step.skill for step in steps if needing.intersection(step.waits_for))
        return [self._jobs[step.skill] for step in steps if step.skill in self._jobs and step.skill not in needing]

    async def _perform(self, step: ChainStep, node: Node) -> None:
        layers = self._layers
        try:
            await self.wait_for(step.waits_for)
            if ANSWER in step.waits_for or (self._is_held_back and step.skill not in self._needed):
                await layers.run.scheduler.join([self._answered])
            output = await layers.perform(step, node)
            layers.outcomes[step.skill] = LayerOutcome(step.skill, "enhancement", "completed", node, output)
        except OrchestraError as error:
            layers.outcomes[step.skill] = LayerOutcome(
                step.skill, "enhancement", "failed", node, reason=error.what, error=error
            )
            layers.run.warn("ENHANCEMENT_FAILED", f"{step.skill} was left out: {error.what}", node.id)
            raise
        finally:
            self._ended[step.skill].reach()

    def _leave(self, name: str) -> None:
        layers, node = self._layers, self._nodes[name]
        reason = f"it had not ended {GRACE_S:g} s after the answer"
        layers.outcomes[name] = LayerOutcome(name, "enhancement", "late", node, reason=reason)
        layers.run.warn("ENHANCEMENT_LATE", f"{name} was left out: {reason}", node.id)
        if node.status not in FINAL:
            node.end(Status.CANCELLED)
            layers.run.stream.emit(NodeUpdated, **node.snapshot())


def _needed_before_answer(layers: Layers) -> set[str]:
    """The enhancements that an execution skill before the answer waits for, also through other ones."""
    before, _ = layers.around_answer()
    steps = {step.skill: step for step in layers.steps("enhancement")}
    needed: set[str] = set()
    wanted = [name for step in before for name in step.waits_for]
    while wanted:
        name = wanted.pop()
        if name in steps and name not in needed:
            needed.add(name)
            wanted += steps[name].waits_for
    return needed
