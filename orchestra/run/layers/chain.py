"""The chain of one run: which skills, what each gave, and how each is called."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from typing import Any, Literal

from orchestra.document import DocumentSet
from orchestra.errors import OrchestraError, SkillNotFound
from orchestra.run.layers.lessons import keep, recalled
from orchestra.run.skills_in_use import sub_skills
from orchestra.run.state import Run
from orchestra.run.trees.calls import SkillCall
from orchestra.run.trees.executing import execute_skill
from orchestra.run.trees.resolving import resolve
from orchestra.runtime.node import Node
from orchestra.skills import SkillLibrary
from orchestra.skills.composition import ANSWER, ChainStep, SkillChain, compose
from orchestra.skills.manifest import Layer, Manifest
from orchestra.skills.skill import SHIPPED
from orchestra.skills.trees.nesting import check_nesting
from orchestra.skills.trees.parameters import Parameters

LayerStatus = Literal["completed", "failed", "degraded", "skipped", "late", "waiting"]
_NODE_NAMES: Mapping[Layer, str] = {"guarantee": "gate", "enhancement": "enhance", "execution": "work"}


@dataclass(frozen=True, slots=True)
class LayerOutcome:
    """What became of one skill of the chain. `reason` says why it did not hold, or was not done."""

    skill: str
    layer: Layer
    status: LayerStatus
    node: Node | None = None
    output: Any = None
    reason: str = ""
    error: OrchestraError | None = None


@dataclass(slots=True)
class Layers:
    """The chain of a run and its outcomes so far, by skill.

    `answer` is the draft, once there is one; `answer_beside` the one that enhancements see.
    """

    run: Run
    chain: SkillChain
    outcomes: dict[str, LayerOutcome] = field(default_factory=dict[str, LayerOutcome])
    answer: str = ""
    answer_beside: str = ""
    held_up_ms: float = 0.0

    @classmethod
    def of(cls, run: Run) -> Layers:
        """The chain of the run's task and mode; its warnings are the run's. Raises what `compose` does."""
        chain = _chain(run)
        for warning in chain.warnings:
            run.warn("CONDITION_UNDECIDED", warning)
        layers = cls(run, chain)
        for each in chain.skipped:
            layers.outcomes[each.skill] = LayerOutcome(each.skill, each.layer, "skipped", reason=each.reason)
        return layers

    def steps(self, layer: Layer) -> tuple[ChainStep, ...]:
        """Those of a layer, the answer itself left out."""
        return tuple(step for step in self.chain.of_layer(layer) if step.skill != ANSWER)

    def around_answer(self) -> tuple[tuple[ChainStep, ...], tuple[ChainStep, ...]]:
        """The execution skills before the answer, and those after it."""
        names = [step.skill for step in self.chain.of_layer("execution")]
        at = names.index(ANSWER)
        steps = self.chain.of_layer("execution")
        return steps[:at], steps[at + 1 :]

    def node_of(self, step: ChainStep) -> Node:
        name = f"{_NODE_NAMES[step.layer]}-{step.skill}"
        return self.run.node(name, step.layer, skill=step.skill, title=self._manifest(step.skill).description)

    def shipped_code(self, step: ChainStep) -> Manifest | None:
        """The manifest of a step that is code of ours."""
        manifest = self._manifest(step.skill)
        return manifest if manifest.source == SHIPPED and manifest.type == "code" else None

    async def perform(self, step: ChainStep, node: Node, *, retries: int | None = None) -> Any:
        """The output of a skill of the chain, which sees what came before it. Raises what its work raises.

        `retries`: how often it is done again when it fails, or each of its steps that does not say; None: as often as
        the skill says, or the run.
        """
        run, manifest, before = self.run, self._manifest(step.skill), self._before(step)
        answer = self.answer if step.layer != "enhancement" else self.answer_beside if ANSWER in before else ""
        earlier = self._outputs_of(before)
        check_nesting(manifest, lambda each: sub_skills(run, each, node), run.settings.max_depth)
        call = SkillCall(
            manifest,
            node,
            run.task,
            earlier={**earlier, ANSWER: answer} if answer else earlier,
            documents=run.documents if len(run.documents) else None,
            answer=answer,
            mode=run.settings.mode,
            retries=retries,
            fixed_retries=None if manifest.is_composite else retries,
            model_tier=step.model_tier,
            lessons=await recalled(run, node, step.skill) if step.layer == "enhancement" else (),
        )
        if not manifest.is_composite and manifest.parameters:
            wanted = Parameters.of(manifest.parameters)
            bound = await resolve(run, call, wanted, number=1, flow=(), outputs={}, names={})
            call = replace(call, parameters=bound.values)
        output = (await execute_skill(run, call)).output
        if step.layer == "enhancement":
            await keep(run, step.skill, output)
        return output

    def in_order(self) -> list[LayerOutcome]:
        """The outcomes in the chain's order, whichever ended first; before them what was left out of it."""
        places = {step.skill: place for place, step in enumerate(self.chain.steps)}
        return sorted(self.outcomes.values(), key=lambda each: places.get(each.skill, -1))

    def _before(self, step: ChainStep) -> set[str]:
        """What is sure to have ended when `step` starts: what else happens to have ended must change nothing."""
        steps = {each.skill: each for each in self.chain.steps}
        at = list(steps).index(step.skill)
        in_turn = ("guarantee", "execution") if step.layer == "execution" else ("guarantee",)
        before = {each.skill for each in self.chain.steps[:at] if each.layer in in_turn}
        wanted = [*before, step.skill]
        while wanted:
            further = {name for name in steps[wanted.pop()].waits_for if name in steps} - before
            before |= further
            wanted += further
        return before

    def _outputs_of(self, names: Collection[str]) -> dict[str, Any]:
        """What finished skills gave, in the chain's order."""
        found = (each for each in self.in_order() if each.skill in names and each.status == "completed")
        return {each.skill: each.output for each in found if each.output}

    def _manifest(self, skill: str) -> Manifest:
        found = self.run.library.manifests.get(skill)
        if found is None:
            raise SkillNotFound(f"there is no skill {skill!r}")
        return found


def _chain(run: Run) -> SkillChain:
    """The composition of the run. That of the shipped skills hangs on the mode alone, and is made once for each."""
    manifests = run.library.manifests.values()
    layered = frozenset(each.file for each in manifests if each.layer != "execution" or each.applies)
    if not run.modes and layered == _shipped_files():
        return _of_shipped(run.settings.mode)
    return compose(run.task, run.settings.mode, manifests, documents=told_of(run.documents), own_modes=run.modes)


@cache
def _shipped_files() -> frozenset[str]:
    manifests = SkillLibrary.builtin().manifests.values()
    return frozenset(each.file for each in manifests if each.layer != "execution" or each.applies)


@lru_cache(maxsize=8)
def _of_shipped(mode: str) -> SkillChain:
    return compose("", mode, SkillLibrary.builtin().manifests.values())


def told_of(documents: DocumentSet) -> list[dict[str, Any]]:
    """What a skill's condition may know of the documents."""
    return [
        {"name": name, "lines": document.line_count, "tokens": document.size.tokens}
        for name, document in zip(documents.names, documents, strict=True)
    ]


def verdict_of(output: Any) -> tuple[bool, str]:
    """Whether a guarantee holds by its output, and its reason: `{"ok": true, "reason": ""}`, or a bare truth value.

    An output that says neither does not hold: a gate that cannot tell is no gate.
    """
    if isinstance(output, bool):
        return output, "" if output else "it does not hold"
    if isinstance(output, Mapping) and isinstance(output.get("ok"), bool):
        reason = str(output.get("reason") or "")
        return output["ok"], reason if output["ok"] else reason or "it does not hold"
    return False, f"it said neither yes nor no: {json.dumps(output, ensure_ascii=False, default=str)[:200]}"
