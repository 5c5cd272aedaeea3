"""A caller's own skills: dicts, plain prompts or `Skill` objects, checked and brought to one form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, PositiveInt, StringConstraints, ValidationError

from orchestra.errors import SkillInvalid
from orchestra.models.json_text import without_lone_surrogates
from orchestra.skills.fields import AllowedTools, Retries, Seconds
from orchestra.skills.skill import RESERVED_NAMES, Skill, first_sentence, fold_name

Filled = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class CustomSkill(BaseModel):
    """One entry of the `skills` argument, as a dict."""

    model_config = ConfigDict(extra="forbid")

    description: Filled
    system_prompt: Filled
    output_hint: str = ""
    max_tokens: PositiveInt | None = None
    layer: Literal["guarantee", "enhancement", "execution"] = "execution"
    allowed_tools: AllowedTools = None
    needs_approval: bool = False
    max_turns: PositiveInt | None = None
    timeout_s: Seconds | None = None
    retries: Retries | None = None


def custom_skill(name: str, definition: str | Mapping[str, Any] | Skill) -> Skill:
    """The skill that `definition` means, under `name` folded. Raises `SkillInvalid`, naming what is wrong."""
    folded = fold_name(name) if isinstance(name, str) else ""
    if not folded:
        raise SkillInvalid(
            f"a skill has no name: {name!r}", suggestion="Give it a name of letters, digits and hyphens."
        )
    if folded in RESERVED_NAMES:
        raise SkillInvalid(
            f"a skill cannot be called {folded!r}",
            cause="in a plan that name says that the planner answered",
            suggestion="Give it another name.",
        )
    if isinstance(definition, Skill):
        return _checked(replace(definition, name=folded, source=definition.source or "custom"))
    if isinstance(definition, str):
        prompt = definition.strip()
        return _checked(Skill(folded, first_sentence(prompt), prompt, source="custom"))
    if isinstance(definition, Mapping):
        return _from_mapping(folded, definition)
    raise SkillInvalid(
        f"skill {folded!r} is a {type(definition).__name__}", cause="expected a dict, a string or a Skill"
    )


def _from_mapping(name: str, definition: Mapping[str, Any]) -> Skill:
    try:
        fields = CustomSkill.model_validate({str(key): value for key, value in definition.items()})
    except ValidationError as error:
        raise SkillInvalid(f"skill {name!r} is not valid", cause=_problems(error)) from error
    return _checked(
        Skill(
            name=name,
            description=" ".join(fields.description.split()),
            system_prompt=fields.system_prompt,
            output_hint=" ".join(fields.output_hint.split()),
            layer=fields.layer,
            max_tokens=fields.max_tokens,
            source="custom",
            allowed_tools=fields.allowed_tools,
            needs_approval=fields.needs_approval,
            max_turns=fields.max_turns,
            timeout_s=fields.timeout_s,
            retries=fields.retries,
        )
    )


def _problems(error: ValidationError) -> str:
    problems = error.errors(include_url=False, include_input=False)
    unknown = [f"{problem['loc'][0]!r}" for problem in problems if problem["type"] == "extra_forbidden"]
    wrong = [
        f"{problem['loc'][0]!r}: {problem['msg'].lower()}"
        for problem in problems
        if problem["type"] != "extra_forbidden"
    ]
    known = ", ".join(CustomSkill.model_fields)
    return "; ".join([*wrong, *([f"unknown {', '.join(unknown)}, known are {known}"] if unknown else [])])


def _checked(skill: Skill) -> Skill:
    if not skill.system_prompt.strip():
        raise SkillInvalid(f"skill {skill.name!r} has an empty prompt")
    if not skill.description.strip():
        raise SkillInvalid(f"skill {skill.name!r} has no description")
    for text in (skill.system_prompt, skill.description, skill.output_hint):
        if without_lone_surrogates(text) is not text:
            raise SkillInvalid(f"skill {skill.name!r} is no text", cause="it holds a lone surrogate")
    return skill
