"""What may be known of a skill before it is loaded: the front matter of its SKILL.md, and skill.yaml beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from orchestra.skills.skill import Skill

SkillType = Literal["prompt", "code", "composite"]
Layer = Literal["guarantee", "enhancement", "execution"]
Strategy = Literal["parallel", "sequential", "conditional", "dynamic"]
ModelTier = Literal["", "fast", "balanced", "strong"]

NOTHING: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class SubSkill:
    """One entry of `sub_skills`, as written. Without a `path`: the folder or file of that name, else the library's."""

    name: str
    path: str = ""
    triggers: tuple[str, ...] = ()
    dependencies: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Branch:
    """`then` runs if the CEL expression `when` holds; an empty one is the `else`."""

    when: str
    then: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Routing:
    """How a composite goes through its sub-skills. "dynamic", where nothing is written: a model picks them."""

    strategy: Strategy = "dynamic"
    max_depth: int | None = None
    conditions: tuple[Branch, ...] = ()


@dataclass(frozen=True, slots=True)
class Execution:
    """How sub-skills are executed. None: as the run does it."""

    allow_parallel: bool = True
    timeout_per_skill: float | None = None
    retry_on_failure: int | None = None


@dataclass(frozen=True, slots=True)
class Manifest:
    """A skill without its body. `name` is folded; `source` as in `Skill`.

    `parameters` and `output` are as written: JSON schemas, the short form `{"required": [...], "optional": [...],
    "defaults": {...}}`, or `{"file": "schemas/x.json"}`; `data_flow` holds lines such as `step_1.output.urgent →
    step_2.email_list`. `function` names the callable of a code skill as "file.py:name". `applies` is a CEL condition.
    `file` is the SKILL.md (or the skill.yaml that stands alone) that it was read from. A skill that was made in memory
    is `given`, and its sub-skills are `children`. `digest` binds a trusted skill of a project to what its folder held.
    """

    name: str
    description: str
    type: SkillType = "prompt"
    version: str = ""
    triggers: tuple[str, ...] = ()
    sub_skills: tuple[SubSkill, ...] = ()
    routing: Routing = field(default_factory=Routing)
    execution: Execution = field(default_factory=Execution)
    parameters: Mapping[str, Any] = field(default_factory=lambda: NOTHING)
    output: Mapping[str, Any] = field(default_factory=lambda: NOTHING)
    data_flow: tuple[str, ...] = ()
    function: str = ""
    layer: Layer = "execution"
    dependencies: tuple[str, ...] = ()
    blocks_on_failure: bool = True
    eco_mode_skip: bool = False
    applies: str = ""
    model_tier: ModelTier = ""
    output_hint: str = ""
    max_tokens: int | None = None
    allowed_tools: tuple[str, ...] | None = None
    needs_approval: bool = False
    max_turns: int | None = None
    timeout_s: float | None = None
    retries: int | None = None
    is_listed: bool = True
    is_trusted: bool = True
    source: str = ""
    file: str = ""
    digest: str = ""
    given: Skill | None = None
    children: tuple[Manifest, ...] = ()

    @property
    def folder(self) -> Path | None:
        """What its paths cannot leave."""
        return Path(self.file).parent if self.file else None

    @property
    def body(self) -> Path | None:
        """The file that holds its body; None where skill.yaml stands alone."""
        return Path(self.file) if self.file and not self.file.endswith(".yaml") else None

    @property
    def is_composite(self) -> bool:
        return self.type == "composite"

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready; sub-skills that were made in memory stand under `children`."""
        values = {each.name: getattr(self, each.name) for each in fields(self) if each.name not in ("given", "digest")}
        values |= {"sub_skills": [asdict(entry) for entry in self.sub_skills]}
        values |= {"routing": asdict(self.routing), "execution": asdict(self.execution)}
        values |= {"parameters": dict(self.parameters), "output": dict(self.output)}
        return values | {"children": [child.to_dict() for child in self.children]}

    @classmethod
    def of(cls, skill: Skill) -> Manifest:
        """That of a skill which is in memory whole."""
        if skill.manifest is not None:
            return replace(skill.manifest, name=skill.name, description=skill.description, given=skill)
        return cls(
            name=skill.name,
            description=skill.description,
            type="code" if skill.function is not None else "prompt",
            layer=skill.layer,  # pyright: ignore[reportArgumentType] - checked where the skill was made
            blocks_on_failure=skill.layer != "enhancement",
            eco_mode_skip=skill.layer == "enhancement",
            output_hint=skill.output_hint,
            max_tokens=skill.max_tokens,
            allowed_tools=skill.allowed_tools,
            needs_approval=skill.needs_approval,
            max_turns=skill.max_turns,
            timeout_s=skill.timeout_s,
            retries=skill.retries,
            is_listed=skill.is_listed,
            is_trusted=skill.is_trusted,
            source=skill.source,
            given=skill,
        )
