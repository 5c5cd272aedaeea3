"""What a skill's files declare, checked field by field: a field that makes no sense never hides the rest.

The same fields may stand in front matter, in its `metadata`, and in skill.yaml. `_` and `-` in their names are one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PositiveInt, ValidationError, field_validator

from orchestra.skills.fields import Names, Retries, Seconds, Text, Texts, Tools, fold_type, needs_approval
from orchestra.skills.manifest import Layer, ModelTier, SkillType, Strategy
from orchestra.skills.skill import Diagnostic, fold_name
from orchestra.skills.yaml_text import YamlMap

MOST_SUB_SKILLS = 64

_AS_WRITTEN = frozenset({"name", "description", "version", "license", "compatibility", "output_hint", "applies"})
NARROW = frozenset({"allowed_tools"})
"""Where it makes no sense, it stands for nothing rather than for everything."""

LOAD_BEARING = frozenset(
    {"type", "sub_skills", "routing", "execution", "parameters", "output", "data_flow", "function", "layer", "applies"}
)
"""A skill.yaml in which one of these is wrong would run as something else than was meant."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore")


class SubSkillEntry(_Part):
    name: Annotated[Text, Field(min_length=1)]
    path: Text = ""
    triggers: Texts = ()
    dependencies: Names = ()

    @field_validator("name")
    @classmethod
    def _fold(cls, name: str) -> str:
        folded = fold_name(name)
        if not folded:
            raise ValueError("a sub-skill has no name")
        return folded


class ConditionEntry(BaseModel):
    """`{"if": CEL, "then": [names]}` or `{"else": [names]}`."""

    model_config = ConfigDict(extra="forbid")

    if_: Text = Field(default="", alias="if")
    then: Names = ()
    else_: Names = Field(default=(), alias="else")


class RoutingEntry(_Part):
    strategy: Annotated[Strategy, BeforeValidator(fold_type)] = "dynamic"
    max_depth: PositiveInt | None = None
    conditions: Annotated[tuple[ConditionEntry, ...], Field(max_length=MOST_SUB_SKILLS)] = ()


class ExecutionEntry(_Part):
    allow_parallel: bool = True
    timeout_per_skill: Seconds | None = None
    retry_on_failure: Retries | None = None


def _entries(value: object) -> object:
    """A list of entries, of names, or a mapping of entries by name."""
    if isinstance(value, Mapping):
        value = [{"name": name, **(entry if isinstance(entry, Mapping) else {})} for name, entry in value.items()]
    if isinstance(value, list | tuple):
        return [{"name": entry} if isinstance(entry, str) else entry for entry in value]
    return value


def _schema(value: object) -> object:
    """A JSON schema, the short form, or the name of a file that holds one."""
    if isinstance(value, str):
        return {"file": value}
    return value


def _flow(value: object) -> object:
    if isinstance(value, Mapping):
        return [
            f"{source} → {target}" if "→" not in str(target) else f"{source}: {target}"
            for source, target in value.items()
        ]
    return [value] if isinstance(value, str) else value


class Declared(_Part):
    """Every field that means something. None or empty: not written."""

    name: Text = ""
    description: Text = ""
    license: Text = ""
    compatibility: Text = ""
    version: Text = ""
    type: Annotated[SkillType, BeforeValidator(fold_type)] = "prompt"
    triggers: Texts = ()
    sub_skills: Annotated[tuple[SubSkillEntry, ...], BeforeValidator(_entries), Field(max_length=MOST_SUB_SKILLS)] = ()
    routing: RoutingEntry | None = None
    execution: ExecutionEntry | None = None
    parameters: Annotated[dict[str, Any], BeforeValidator(_schema)] = Field(default_factory=dict)
    output: Annotated[dict[str, Any], BeforeValidator(_schema)] = Field(default_factory=dict)
    data_flow: Annotated[tuple[Text, ...], BeforeValidator(_flow)] = ()
    function: Text = ""
    layer: Annotated[Layer, BeforeValidator(fold_type)] = "execution"
    dependencies: Names = ()
    blocks_on_failure: bool | None = None
    eco_mode_skip: bool | None = None
    applies: Text = ""
    model_tier: Annotated[ModelTier, BeforeValidator(fold_type)] = ""
    output_hint: Text = ""
    max_tokens: PositiveInt | None = None
    allowed_tools: Tools = None
    approval: Annotated[bool | None, BeforeValidator(needs_approval)] = None
    max_turns: PositiveInt | None = None
    timeout: Seconds | None = None
    retries: Retries | None = None
    disable_model_invocation: bool = False

    def over(self, other: Declared) -> Declared:
        """This one's fields where they are written, the other's where they are not; narrower where both speak."""
        written = {name: getattr(self, name) for name in self.model_fields_set}
        if self.allowed_tools is not None and other.allowed_tools is not None:
            written["allowed_tools"] = tuple(tool for tool in other.allowed_tools if tool in self.allowed_tools)
        if other.approval:
            written["approval"] = True
        if other.disable_model_invocation:
            written["disable_model_invocation"] = True
        return other.model_copy(update=written)


FIELDS = frozenset(Declared.model_fields)
METADATA_FIELDS = FIELDS - {"name", "description", "license", "compatibility", "disable_model_invocation"}


def declared(
    fields: YamlMap,
    found: list[Diagnostic],
    *,
    within: str = "",
    known: frozenset[str] = FIELDS,
    refused: frozenset[str] = frozenset(),
) -> Declared:
    """The known fields of a mapping, or of the one that it holds under `within`.

    One of the wrong shape is left out with a warning in `found`. Raises `SkillInvalid` if it is one of `refused`.
    """
    path = (within,) if within else ()
    inside = fields.values.get(within) if within else fields.values
    values: dict[str, Any] = {}
    keys: dict[str, str] = {}
    for key, value in inside.items() if isinstance(inside, Mapping) else ():
        field = field_of(key)
        if field not in known or (value is None and field not in NARROW):
            continue
        text = fields.text_of(*path, key) if field in _AS_WRITTEN and not isinstance(value, str) else None
        values[field], keys[field] = (value if text is None else text), key
    try:
        return Declared.model_validate(values)
    except ValidationError as error:
        for problem in error.errors(include_url=False, include_input=False):
            field, *deeper = problem["loc"]
            line = fields.line_of(*path, keys[str(field)], *deeper)
            where = f" ({'.'.join(map(str, deeper))})" if deeper else ""
            reason = problem["msg"].removeprefix("Value error, ").lower()
            if field in refused:
                raise fields.place.invalid(
                    line, f"has a `{keys[str(field)]}`{where} that makes no sense", reason
                ) from None
            if values.pop(str(field), None) is not None:
                found.append(fields.place.found(line, "warning", f"`{keys[str(field)]}`{where} is ignored: {reason}"))
        values.update((field, ()) for field in NARROW & keys.keys() - values.keys())
        return Declared.model_validate(values)


def field_of(key: str) -> str:
    return key.strip().replace("-", "_").lower()
