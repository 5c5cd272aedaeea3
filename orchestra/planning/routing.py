"""What the levels of a skill tree ask where code cannot decide: which skills, steps, values and words."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from pydantic import BaseModel, ValidationError

from orchestra.document import Slice
from orchestra.errors import PlanInvalid
from orchestra.models.blocks import Block, Catalogue, Facts, Instructions, SliceBlock, SubSkills, Task
from orchestra.models.json_text import repaired, well_formed
from orchestra.models.protocol import Message, ModelReply, ModelRequest, Purpose
from orchestra.planning.prompt_files import prompt
from orchestra.skills import Skill
from orchestra.skills.trees.parameters import Bound, Parameters
from orchestra.skills.trees.replies import Decomposition, Intent, Wording

ROUTING_TOKENS = 1024  # room for the reply of each level but the last
R = TypeVar("R", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class SubSkillCard:
    """What a decomposer may know of a sub-skill: no body is read for it."""

    name: str
    description: str
    parameters: Parameters
    outputs: tuple[str, ...] = ()
    dependencies: tuple[str, ...] = ()
    is_composite: bool = False

    @property
    def line(self) -> str:
        takes = [name if name in self.parameters.required else f"{name}?" for name in self.parameters.properties]
        parts = [
            f"{self.name}{' (composite)' if self.is_composite else ''}: {self.description.rstrip('.')}",
            f"takes {', '.join(takes)}" if takes else "",
            f"gives {', '.join(self.outputs)}" if self.outputs else "",
            f"after {', '.join(self.dependencies)}" if self.dependencies else "",
        ]
        return "; ".join(part for part in parts if part)


def intent_request(query: str, skills: Sequence[tuple[str, str]], *, temperature: float | None = None) -> ModelRequest:
    """Which of `skills`, (name, description), a query needs."""
    blocks: tuple[Block, ...] = (
        Instructions(prompt("intent_router"), cacheable=True),
        Catalogue(tuple(skills)),
        Task(query),
    )
    return _request(blocks, _bare(Intent.model_json_schema()), "intent", temperature)


def decomposition_request(
    query: str, skill: str, body: str, cards: Sequence[SubSkillCard], *, temperature: float | None = None
) -> ModelRequest:
    """Which steps a composite skill takes. `body` is its own text: how it wants its parts used."""
    listed = tuple((card.name, card.line.removeprefix(card.name)) for card in cards)
    needs = {card.name: card.dependencies for card in cards if card.dependencies}
    blocks: tuple[Block, ...] = (
        Instructions(prompt("skill_decomposer"), cacheable=True),
        Instructions(f"Skill {skill}:\n{body}"),
        SubSkills(listed, needs),
        Task(query),
    )
    return _request(blocks, _bare(Decomposition.model_json_schema()), "decomposition", temperature)


def resolution_request(
    query: str,
    step: str,
    parameters: Parameters,
    bound: Bound,
    *,
    asked_for: Sequence[str],
    outputs: Mapping[str, Any],
    context: Mapping[str, Any],
    temperature: float | None = None,
) -> ModelRequest:
    """Values for `asked_for`, the parameters of a step that code could not bind. `outputs` by name of the step."""
    schemas = {name: dict(parameters.properties.get(name) or {}) for name in asked_for}
    required = [name for name in asked_for if name in parameters.required]
    known = {"Parameters asked for": schemas, "Required": required, "Already bound": bound.values}
    wanted = "\n".join((f"Step: {step}", *(f"{label}: {_json(value)}" for label, value in known.items())))
    blocks: tuple[Block, ...] = (
        Instructions(prompt("parameter_resolver"), cacheable=True),
        *(() if not outputs else (Facts("outputs", dict(outputs)),)),
        *(() if not context else (Facts("context", dict(context)),)),
        Instructions(wanted),
        Task(query),
    )
    schema = {**_resolution_schema(schemas), **parameters.definitions}
    return _request(blocks, schema, "resolution", temperature)


def wording_request(
    query: str, results: Mapping[str, Any], *, max_tokens: int = 4096, temperature: float | None = None
) -> ModelRequest:
    """The words for what came of a query. `results`: by step, its output or its error."""
    blocks: tuple[Block, ...] = (
        Instructions(prompt("result_synthesizer")),
        Facts("results", dict(results)),
        Task(query),
    )
    return _request(blocks, _bare(Wording.model_json_schema()), "wording", temperature, max_tokens, "synthesis")


def skill_request(
    skill: Skill,
    query: str,
    parameters: Mapping[str, Any],
    *,
    slice_: Slice | None = None,
    results: Mapping[str, Any] | None = None,
    output: Mapping[str, Any] | None = None,
    max_tokens: int = 2048,
    temperature: float | None = None,
) -> ModelRequest:
    """One step, done by a prompt skill. `output` is the JSON schema that its reply is to fit; a text without one."""
    blocks: list[Block] = [Instructions(prompt("subtask" if slice_ else "skill_step"))]
    if slice_:
        blocks.append(SliceBlock(slice_))
    hint = f"\nReply form: {skill.output_hint}" if skill.output_hint else ""
    blocks.append(Instructions(skill.system_prompt + hint))
    if output is None and not slice_:
        blocks.append(Instructions(prompt("skill_text")))
    if output is not None:
        blocks.append(Instructions(prompt("skill_output").replace("{schema}", _json(output))))
    if results:
        blocks.append(Facts("results", dict(results)))
    if parameters:
        blocks.append(Facts("parameters", dict(parameters)))
    blocks.append(Task(query))
    return ModelRequest(
        tuple(blocks),
        purpose="subtask",
        schema=output,
        schema_name="output",
        max_tokens=min(max_tokens, skill.max_tokens or max_tokens),
        temperature=temperature,
    )


def again(request: ModelRequest, reply: ModelReply, reason: str) -> ModelRequest:
    """The same request once more, with what was wrong with the reply."""
    return request.with_messages(
        Message("assistant", reply.text or "(empty)"),
        Message("user", prompt("answer_repair").replace("{reason}", reason)),
    )


def read_reply(reply: ModelReply, kind: type[R]) -> R:
    """The reply as `kind`. Raises `PlanInvalid`, with the reply in `details["raw"]`."""
    try:
        value = well_formed(reply.data if reply.data is not None else repaired(reply.text))
        return kind.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        cause = f"{'.'.join(map(str, first['loc'])) or 'it'}: {first['msg'].lower()}"
    except (ValueError, RecursionError) as error:
        cause = str(error)
    raise PlanInvalid(f"the reply is no {kind.__name__.lower()}", cause=cause, raw=reply.text)


def _bare(schema: Any) -> Any:
    """A schema without titles and descriptions, which are for readers of this code."""
    if isinstance(schema, list):
        return [_bare(each) for each in cast("list[Any]", schema)]
    if not isinstance(schema, dict):
        return schema
    fields = cast("dict[str, Any]", schema)
    return {key: _bare(value) for key, value in fields.items() if key not in ("title", "description")}


def _resolution_schema(schemas: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    texts = {"type": "object", "additionalProperties": {"type": "string"}}
    return {
        "type": "object",
        "properties": {
            "parameters": {"type": "object", "properties": {name: dict(schema) for name, schema in schemas.items()}},
            "resolution_method": texts,
            "confidence": {"type": "number"},
            "missing_required": {"type": "array", "items": {"type": "string"}},
            "clarifying_question": {"type": "string"},
        },
        "required": ["parameters", "confidence", "missing_required"],
    }


def _request(
    blocks: tuple[Block, ...],
    schema: Mapping[str, Any],
    schema_name: str,
    temperature: float | None,
    max_tokens: int = ROUTING_TOKENS,
    purpose: Purpose = "route",
) -> ModelRequest:
    return ModelRequest(
        blocks=blocks,
        purpose=purpose,
        schema=schema,
        schema_name=schema_name,
        max_tokens=max_tokens,
        temperature=temperature,
    )


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
