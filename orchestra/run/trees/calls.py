"""One call of a skill within a tree, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from orchestra.document import DocumentSet, Slice
from orchestra.errors import OrchestraError
from orchestra.runtime.node import Node
from orchestra.runtime.tools.results import MOST_RESULT_TOKENS, bounded, result_text
from orchestra.skills.manifest import Manifest, ModelTier

StepStatus = Literal["completed", "failed", "skipped", "waiting"]


@dataclass(frozen=True, slots=True)
class SkillCall:
    """A skill called at `node`. `query` is what is asked of it, `above` the skills that led to it, from the root.

    `context` holds values of the caller by name, `parameters` those that are bound already, `outputs` what finished
    steps beside it gave, by skill, and `earlier` what the chain's earlier skills gave. `slice` is what it may see of
    `documents`; code skills get these whole. `timeout_s` and `retries` None: the skill's own, else the run's;
    `fixed_retries` stands over these, for this call and none below it.
    """

    manifest: Manifest
    node: Node
    query: str
    above: tuple[Manifest, ...] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict[str, Any])
    context: Mapping[str, Any] = field(default_factory=dict[str, Any])
    outputs: Mapping[str, Any] = field(default_factory=dict[str, Any])
    earlier: Mapping[str, Any] = field(default_factory=dict[str, Any])
    documents: DocumentSet | None = None
    slice: Slice | None = None
    answer: str = ""
    mode: str = "standard"
    timeout_s: float | None = None
    retries: int | None = None
    fixed_retries: int | None = None
    model_tier: ModelTier = ""
    lessons: Sequence[Mapping[str, Any]] = ()


def called(call: SkillCall, manifest: Manifest, node: Node) -> SkillCall:
    """The call of a skill below `call`, at `node`: its time and retries are those that the caller's manifest says."""
    caller = call.manifest
    own = (caller.execution.retry_on_failure, caller.retries)
    return replace(
        call,
        manifest=manifest,
        node=node,
        above=(*call.above, caller),
        context={**call.context, **call.parameters},
        parameters={},
        outputs={},
        fixed_retries=None,
        earlier={**call.earlier, **call.outputs},
        timeout_s=caller.execution.timeout_per_skill or call.timeout_s,
        retries=next((each for each in own if each is not None), call.retries),
    )


@dataclass(frozen=True, slots=True)
class StepOutcome:
    """What became of one step. `name` is `step_<number>`, or `call_<number>` of what a code skill called while it ran;
    `reason` says why it was skipped.

    `steps` are those of a composite; `is_required` says that its skill declares the step as one that must be done.
    """

    name: str
    skill: str
    node_id: str
    status: StepStatus
    output: Any = None
    error: OrchestraError | None = None
    reason: str = ""
    is_required: bool = True
    steps: tuple[StepOutcome, ...] = ()

    @property
    def leaves(self) -> tuple[StepOutcome, ...]:
        """The steps that did the work themselves; a composite that failed by itself, all its steps done, is one too."""
        below = tuple(leaf for step in self.steps for leaf in step.leaves)
        has_own_fault = self.error is not None and all(leaf.error is None for leaf in below)
        return (*below, replace(self, steps=())) if has_own_fault else below or (self,)


@dataclass(frozen=True, slots=True)
class SkillResult:
    """What a call gave, as JSON (a text for a prompt skill without a schema), and the steps of a composite."""

    output: Any
    steps: tuple[StepOutcome, ...] = ()


def shown(output: Any, most_tokens: int = MOST_RESULT_TOKENS) -> Any:
    """An output as a model is shown it: the beginning of one that is too long to be shown, with a note."""
    text = result_text(output)
    cut = bounded(text, most_tokens)
    return output if cut is text else cut


def success_rate(steps: Sequence[StepOutcome]) -> float:
    """Completed leaves over those that were to be done; a step that a condition left out was not. 1.0 of none."""
    tried = [leaf for step in steps for leaf in step.leaves if _was_wanted(leaf)]
    return round(sum(leaf.status == "completed" for leaf in tried) / len(tried), 4) if tried else 1.0


def partial_failures(steps: Sequence[StepOutcome], prefix: str = "") -> tuple[str, ...]:
    """A line for each leaf that failed or was not done though it should have been."""
    lines: list[str] = []
    for step in steps:
        name = f"{prefix}{step.name}"
        below = partial_failures(step.steps, f"{name}.")
        if below:
            lines.extend(below)
        elif step.status != "completed" and _was_wanted(step):
            lines.append(_line(name, step))
    return tuple(lines)


def _was_wanted(step: StepOutcome) -> bool:
    return step.is_required or step.status != "skipped"


def _line(name: str, step: StepOutcome) -> str:
    if step.error is not None:
        return f"{name} {step.skill}: {step.error.code}: {step.error.what}"
    return f"{name} {step.skill}: {step.reason or step.status}"
