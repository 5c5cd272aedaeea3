"""From findings to an answer: what the last call is sent, and when it is not needed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from pydantic import BaseModel, ValidationError

from orchestra.errors import AnswerInvalid, InputInvalid, OrchestraError
from orchestra.models.blocks import Block, Finding, Findings, Instructions, Task
from orchestra.models.json_text import repaired, without_lone_surrogates
from orchestra.models.protocol import Message, ModelReply, ModelRequest
from orchestra.planning.insufficient import for_readers
from orchestra.planning.prompt_files import prompt

AnswerSchema = type[BaseModel] | Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Draft:
    """An answer before its citations are judged."""

    text: str
    data: Any = None
    error: OrchestraError | None = None


def is_synthesis_needed(findings: Sequence[Finding], self_answered: int, schema: AnswerSchema | None) -> bool:
    """False when code can join what there is: one finding, or nothing but the planner's own answers."""
    if schema is not None:
        return True
    return len(findings) > 1 and len(findings) > self_answered


def joined(findings: Sequence[Finding]) -> str:
    """The findings as they stand: one alone, several under their questions, what is missing in words for a reader."""
    if len(findings) == 1:
        return for_readers(findings[0].text)
    return "\n\n".join(f"**{finding.task}**\n{for_readers(finding.text)}" for finding in findings)


def synthesis_request(
    task: str,
    findings: Sequence[Finding],
    *,
    max_tokens: int = 4096,
    temperature: float | None = None,
    schema: AnswerSchema | None = None,
    skill_prompt: str = "",
) -> ModelRequest:
    """The last call. With a schema, one reply carries text and data; `skill_prompt` gives the answer its form."""
    skill = (Instructions(skill_prompt),) if skill_prompt else ()
    request = ModelRequest(
        blocks=(Instructions(prompt("synthesis")), Findings(tuple(findings)), *skill, Task(task)),
        purpose="synthesis",
        max_tokens=max_tokens,
        temperature=temperature,
    )
    return request if schema is None else with_schema(request, schema)


def with_schema(request: ModelRequest, schema: AnswerSchema) -> ModelRequest:
    """The same request, asking for text and data in one reply; how that looks stands after the rules."""
    rules, *rest = request.blocks
    blocks: tuple[Block, ...] = (rules, Instructions(prompt("answer_schema")), *rest)
    return replace(request, blocks=blocks, schema=answer_envelope(schema), schema_name="answer")


def json_schema(schema: AnswerSchema) -> dict[str, Any]:
    """The JSON schema of `answer_schema`. Raises `InputInvalid` for what is none."""
    import jsonschema

    given = cast("object", schema)
    if isinstance(given, type) and issubclass(given, BaseModel):
        return given.model_json_schema()
    if not isinstance(given, Mapping):
        raise InputInvalid(f"answer_schema is {schema!r}", cause="it is a pydantic model or a JSON schema, as a dict")
    schema = cast("Mapping[str, Any]", given)
    try:
        jsonschema.Draft202012Validator.check_schema(schema)
    except jsonschema.SchemaError as error:
        raise InputInvalid("answer_schema is no JSON schema", cause=error.message) from None
    for reference in _references(schema):
        if not _is_among_definitions(reference, schema):
            raise InputInvalid(
                f"answer_schema refers to {reference!r}", cause="references lead to its own $defs or definitions only"
            )
    return dict(schema)


def _references(part: Any) -> Iterator[str]:
    """Every `$ref` below a part of a schema."""
    if isinstance(part, Mapping):
        fields = cast("Mapping[str, Any]", part)
        if isinstance(fields.get("$ref"), str):
            yield fields["$ref"]
        part = list(fields.values())
    if isinstance(part, list):
        for inner in cast("list[Any]", part):
            yield from _references(inner)


def _is_among_definitions(reference: str, schema: Mapping[str, Any]) -> bool:
    root, home, name = (*reference.split("/"), "", "")[:3]
    definitions = schema.get(home) if home in ("$defs", "definitions") else None
    return root == "#" and isinstance(definitions, Mapping) and name in definitions


def answer_envelope(schema: AnswerSchema) -> dict[str, Any]:
    """`{"answer": text, "data": ...}`; definitions move to the top, where references look for them."""
    inner = json_schema(schema)
    definitions = {name: inner.pop(name) for name in ("$defs", "definitions") if name in inner}
    envelope: dict[str, Any] = {
        "type": "object",
        "properties": {"answer": {"type": "string"}, "data": inner},
        "required": ["answer", "data"],
        "additionalProperties": False,
    }
    return {**envelope, **definitions}


def read_answer(reply: ModelReply, schema: AnswerSchema) -> tuple[str, Any]:
    """The text and the validated data of a reply. Raises `AnswerInvalid`, with the reply in `details["raw"]`."""
    value = _well_formed(reply.data if reply.data is not None else _parsed(reply.text))
    if not isinstance(value, dict) or "data" not in value:
        raise AnswerInvalid("the answer is no object with `answer` and `data`", cause="no such JSON", raw=reply.text)
    fields = cast("dict[str, Any]", value)
    return _as_text(fields.get("answer")), _validated(fields["data"], schema, reply.text)


def _well_formed(value: Any) -> Any:
    """JSON without lone surrogates; None for what is no JSON."""
    try:
        written = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return None
    mended = without_lone_surrogates(written)
    return value if mended is written else json.loads(mended)


def _as_text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def answer_repair(request: ModelRequest, reply: ModelReply, error: AnswerInvalid) -> ModelRequest:
    return request.with_messages(
        Message("assistant", reply.text or "(empty)"),
        Message("user", prompt("answer_repair").replace("{reason}", error.cause)),
    )


def _parsed(text: str) -> Any:
    if "{" not in text:
        return None
    try:
        return repaired(text)
    except (ValueError, RecursionError):
        return None


def _validated(value: Any, schema: AnswerSchema, raw: str) -> Any:
    if isinstance(schema, type):
        try:
            return schema.model_validate(value)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            place = ".".join(str(step) for step in first["loc"])
            raise AnswerInvalid(
                "the answer does not fit the schema", cause=f"{place}: {first['msg']}", raw=raw
            ) from None
    import jsonschema

    validator = cast("Any", jsonschema.Draft202012Validator(dict(schema)))
    error = next(validator.iter_errors(value), None)
    if error is not None:
        place = "/".join(str(step) for step in error.absolute_path)
        raise AnswerInvalid("the answer does not fit the schema", cause=f"{place}: {error.message}", raw=raw)
    return value
