"""Layers: which skills stand around a task, in which order, by their manifests alone.

Guarantees run first and may end the run. Enhancements run beside the work. Execution skills run one at a time; the
answer itself (a plan and all of its subtasks) is one of them, under the name `answer`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from orchestra.errors import InputInvalid, SkillInvalid, SkillNotFound
from orchestra.skills.conditions import Condition
from orchestra.skills.manifest import Layer, Manifest, ModelTier
from orchestra.skills.skill import fold_name
from orchestra.skills.trees.steps import in_dependency_order

ANSWER = "answer"
STANDARD, ECO, DEEP_WORK = "standard", "eco", "deep-work"
MODES = (STANDARD, ECO, DEEP_WORK)
LAYERS: tuple[Layer, ...] = ("guarantee", "enhancement", "execution")


@dataclass(frozen=True, slots=True)
class ChainStep:
    """One skill of a chain. `waits_for` names steps that end before it starts, whatever became of an enhancement."""

    skill: str
    layer: Layer
    waits_for: tuple[str, ...] = ()
    is_blocking: bool = True
    model_tier: ModelTier = ""
    reason: str = ""

    @property
    def runs_beside(self) -> bool:
        return self.layer == "enhancement"


@dataclass(frozen=True, slots=True)
class Skipped:
    """A skill that stands in a layer and is not part of the chain."""

    skill: str
    layer: Layer
    reason: str


@dataclass(frozen=True, slots=True)
class SkillChain:
    """The composition of one task in one mode: guarantees, then enhancements, then execution, dependencies first."""

    mode: str
    steps: tuple[ChainStep, ...]
    skipped: tuple[Skipped, ...] = ()
    warnings: tuple[str, ...] = ()

    def of_layer(self, layer: Layer) -> tuple[ChainStep, ...]:
        return tuple(step for step in self.steps if step.layer == layer)

    def __contains__(self, skill: object) -> bool:
        return any(step.skill == skill for step in self.steps)


def compose(
    task: str,
    mode: str,
    manifests: Iterable[Manifest],
    *,
    documents: Sequence[Mapping[str, Any]] = (),
    own_modes: Mapping[str, Sequence[str]] | None = None,
) -> SkillChain:
    """The chain of a task. Every guarantee and enhancement belongs to it that applies; an execution skill does if it
    has a condition, and the condition holds: one without is for plans to name. One that is not trusted has to be named.

    `documents` are `{"name", "lines", "tokens"}` each. A mode of `own_modes` is its skills, in its order.

    Raises `InputInvalid` for a mode that does not exist, `SkillNotFound` for a dependency that does not, `SkillInvalid`
    for one that leads to a later layer, `CallCycleDetected`.
    """
    own = {fold_name(name): tuple(map(fold_name, skills)) for name, skills in (own_modes or {}).items()}
    mode = fold_name(mode)
    if mode not in (*MODES, *own):
        raise InputInvalid(f"there is no mode {mode!r}", cause=f"the modes are {', '.join((*MODES, *own))}")
    known = {manifest.name: manifest for manifest in manifests}
    known[ANSWER] = Manifest(ANSWER, "Plans, sends out the subtasks and joins their replies.")
    choice = _Choice(known, {"task": task, "mode": mode, "documents": [dict(each) for each in documents]})
    if mode in own:
        for name in own[mode]:
            choice.take(name, f"named by the mode {mode}")
    else:
        for manifest in known.values():
            choice.consider(manifest)
    choice.take(ANSWER, "the task itself")
    return choice.chain(mode, own.get(mode, ()))


class _Choice:
    """Skills taken and skipped so far."""

    def __init__(self, known: Mapping[str, Manifest], values: Mapping[str, Any]) -> None:
        self._known = known
        self._values = values
        self._taken: dict[str, str] = {}
        self._skipped: dict[str, str] = {}
        self._warnings: list[str] = []

    def consider(self, manifest: Manifest) -> None:
        """Take a skill whose manifest says that it belongs here."""
        name, layer = manifest.name, manifest.layer
        if name == ANSWER or (layer == "execution" and not manifest.applies):
            return
        if self._values["mode"] == ECO and manifest.eco_mode_skip:
            self._skipped[name] = "the mode eco skips it"
        elif not manifest.is_trusted:  # it would hold up, or rewrite, what nobody asked it about
            self._skipped[name] = "it is not trusted: `orchestra skills trust` says how it can be"
        elif not manifest.applies:
            self.take(name, f"every task has its {layer}s")
        else:
            verdict = Condition(manifest.applies).verdict(self._values)
            if verdict.doubt:
                self._warnings.append(f"{name} does not apply: {verdict.doubt}")
            if verdict.holds:
                self.take(name, f"applies: {manifest.applies}")
            else:
                self._skipped[name] = f"does not apply: {manifest.applies}"

    def take(self, name: str, reason: str) -> None:
        """Take a skill and what it depends on, as far as that is not skipped."""
        pending = [(name, reason)]
        while pending:
            name, reason = pending.pop()
            if name in self._taken:
                continue
            manifest = self._manifest(name)
            self._taken[name] = reason
            self._skipped.pop(name, None)
            for dependency in map(fold_name, manifest.dependencies):
                self._check_layers(manifest, self._manifest(dependency, of=name))
                if dependency not in self._taken and not self._is_left_out(dependency):
                    pending.append((dependency, f"{name} depends on it"))

    def chain(self, mode: str, order: Sequence[str]) -> SkillChain:
        position = {name: number for number, name in enumerate((*order, *self._known))}
        names = sorted(self._taken, key=lambda name: (LAYERS.index(self._known[name].layer), position[name]))
        needs = {name: self._needs(name, order) for name in names}
        ordered = in_dependency_order(_answer_last(names, needs, order), needs)
        steps = [
            self._step(name, needs[name]) for layer in LAYERS for name in ordered if self._known[name].layer == layer
        ]
        skipped = tuple(Skipped(name, self._known[name].layer, reason) for name, reason in self._skipped.items())
        return SkillChain(mode, tuple(steps), skipped, tuple(self._warnings))

    def _needs(self, name: str, order: Sequence[str]) -> tuple[str, ...]:
        declared = tuple(each for each in map(fold_name, self._known[name].dependencies) if each in self._taken)
        if name not in order or self._known[name].layer != "execution":
            return declared
        before = [each for each in order[: order.index(name)] if self._known[each].layer == "execution"]
        return tuple(dict.fromkeys((*declared, *before[-1:])))

    def _step(self, name: str, needs: tuple[str, ...]) -> ChainStep:
        manifest = self._known[name]
        return ChainStep(
            name,
            manifest.layer,
            waits_for=needs,
            is_blocking=manifest.blocks_on_failure and manifest.layer != "enhancement",
            model_tier=manifest.model_tier,
            reason=self._taken[name],
        )

    def _is_left_out(self, name: str) -> bool:
        """Whether a dependency counts as satisfied because its own manifest leaves it out here."""
        manifest = self._known[name]
        if name in self._skipped:
            return True
        if self._values["mode"] == ECO and manifest.eco_mode_skip:
            return True
        return bool(manifest.applies) and not Condition(manifest.applies).verdict(self._values).holds

    def _manifest(self, name: str, of: str = "") -> Manifest:
        if name not in self._known:
            cause = f"{of} depends on it" if of else "a mode names it"
            raise SkillNotFound(f"there is no skill {name!r}", cause=cause)
        return self._known[name]

    @staticmethod
    def _check_layers(manifest: Manifest, dependency: Manifest) -> None:
        if manifest.layer == "guarantee" and dependency.layer != "guarantee":
            raise SkillInvalid(
                f"the guarantee {manifest.name!r} depends on {dependency.name!r} of the layer {dependency.layer}",
                cause="guarantees run before everything else",
                suggestion="Let guarantees depend on guarantees only.",
            )


def _answer_last(names: Sequence[str], needs: Mapping[str, Sequence[str]], order: Sequence[str]) -> list[str]:
    """The answer after the execution skills that do not wait for it: they prepare it. A mode's own order stands."""
    if ANSWER in order:
        return list(names)
    waiting = {ANSWER}
    while more := {name for name in names if name not in waiting and not waiting.isdisjoint(needs[name])}:
        waiting |= more
    return [
        *(name for name in names if name not in waiting),
        ANSWER,
        *(name for name in names if name in waiting - {ANSWER}),
    ]
