"""A JSON schema in the narrower forms that providers accept.

Providers that hold a model to a schema know a part of the language: every object closed, no bounds on strings
and numbers, no maps with free keys. What they do not know is dropped from their copy and said in the
description instead; the reply is validated against the whole schema afterwards, by whoever asked for it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

Schema = dict[str, Any]

_FORMATS = frozenset(
    {"date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"},
)
_SILENT = frozenset({"title", "default", "examples", "$schema", "$id", "$comment", "additionalProperties"})


class Inexpressible(Exception):
    """The schema has a part that the provider's language cannot say."""


def closed_schema(schema: Mapping[str, Any], *, is_all_required: bool = False) -> Schema | None:
    """A copy with every object closed and only keywords that Anthropic and OpenAI's strict mode share.

    With `is_all_required` every property is required and an optional one becomes a union with null, as
    OpenAI's strict mode asks. None when that cannot be done: maps with free keys, several `allOf` parts,
    values of any type, or a root that is no object.
    """
    return _closed_schema(json.dumps(schema), is_all_required)


@lru_cache(maxsize=64)  # a process asks for a few schemas, many times
def _closed_schema(written: str, is_all_required: bool) -> Schema | None:
    try:
        closed = _closed(json.loads(written), is_all_required)
    except Inexpressible:
        return None
    return closed if "properties" in closed or "$ref" in closed else None


def without_padding_nulls(value: Any, schema: Mapping[str, Any], root: Mapping[str, Any] | None = None) -> Any:
    """`value` without the nulls that stand for absent optional properties in OpenAI's strict mode.

    A null stays where the schema itself allows one.
    """
    root = root if root is not None else schema
    schema = _resolved(schema, root)
    if isinstance(value, list):
        return [without_padding_nulls(item, schema.get("items") or {}, root) for item in value]
    if not isinstance(value, dict):
        return value
    branch = _object_branch(schema, root)
    properties: Mapping[str, Any] = branch.get("properties") or {}
    required = branch.get("required") or ()
    return {
        key: without_padding_nulls(item, properties.get(key) or {}, root)
        for key, item in value.items()
        if item is not None or key in required or key not in properties or _allows_null(properties[key], root)
    }


def schema_instruction(schema: Mapping[str, Any]) -> str:
    """What a model is told where the server cannot hold it to a schema."""
    written = json.dumps(schema, ensure_ascii=False, separators=(",", ":"))
    return f"Reply with one JSON value that fits this JSON schema, and with nothing else:\n{written}"


def _closed(schema: Any, is_all_required: bool) -> Schema:
    if not isinstance(schema, Mapping):
        raise Inexpressible
    definitions = {
        name: _closed(part, is_all_required)
        for name, part in (schema.get("$defs") or schema.get("definitions") or {}).items()
    }
    closed: Schema = {"$defs": definitions} if definitions else {}
    if "$ref" in schema:
        return {**closed, "$ref": str(schema["$ref"]).replace("#/definitions/", "#/$defs/")}
    kind = schema.get("type")
    variants = schema.get("anyOf") or schema.get("oneOf")
    parts = schema.get("allOf")
    used = {"$defs", "definitions", "type", "anyOf", "oneOf", "allOf", "description", "enum", "const"}
    if variants:
        closed["anyOf"] = [_closed(variant, is_all_required) for variant in variants]
    elif parts:
        if len(parts) != 1:
            raise Inexpressible
        closed |= _closed(parts[0], is_all_required)
    elif isinstance(kind, list):
        rest = {key: value for key, value in schema.items() if key not in ("type", "description", "$defs")}
        closed["anyOf"] = [_closed(_only_for(rest, name), is_all_required) for name in kind]
        used |= rest.keys()
    elif "enum" in schema:
        closed["enum"] = list(schema["enum"])
        used.add("type")
        if kind:
            closed["type"] = kind
    elif "const" in schema:
        closed["const"] = schema["const"]
    elif kind == "object":
        used |= {"properties", "required"}
        closed |= _closed_object(schema, is_all_required)
    elif kind == "array":
        used |= {"items"}
        closed |= {"type": "array", "items": _closed(schema.get("items"), is_all_required)}
        if schema.get("minItems") in (0, 1):
            used.add("minItems")
            closed["minItems"] = schema["minItems"]
    elif isinstance(kind, str):
        closed["type"] = kind
        if schema.get("format") in _FORMATS:
            used.add("format")
            closed["format"] = schema["format"]
    else:
        raise Inexpressible
    hints = [f"{key}: {json.dumps(value)}" for key, value in schema.items() if key not in used | _SILENT]
    description = " ".join([*filter(None, [schema.get("description")]), *([f"({', '.join(hints)})"] if hints else [])])
    return {**closed, "description": description} if description else closed


def _closed_object(schema: Mapping[str, Any], is_all_required: bool) -> Schema:
    properties: Mapping[str, Any] = schema.get("properties") or {}
    if not properties and schema.get("additionalProperties") is not False:
        raise Inexpressible
    if isinstance(schema.get("additionalProperties"), Mapping) or schema.get("patternProperties"):
        raise Inexpressible
    required = [name for name in schema.get("required") or () if name in properties]
    closed = {name: _closed(part, is_all_required) for name, part in properties.items()}
    if is_all_required:
        closed = {
            name: part if name in required or _has_null(part) else {"anyOf": [part, {"type": "null"}]}
            for name, part in closed.items()
        }
        required = list(properties)
    return {"type": "object", "properties": closed, "required": required, "additionalProperties": False}


def _only_for(schema: Mapping[str, Any], kind: str) -> Schema:
    """One member of a list of types, with the keywords that speak of it."""
    if kind == "null":
        return {"type": "null"}
    narrowed = {key: value for key, value in schema.items() if key != "enum"}
    if "enum" in schema:
        narrowed["enum"] = [value for value in schema["enum"] if value is not None]
    return {"type": kind, **narrowed}


def _has_null(closed: Mapping[str, Any]) -> bool:
    if closed.get("type") == "null" or None in closed.get("enum", ()):
        return True
    return any(_has_null(variant) for variant in closed.get("anyOf", ()))


def _allows_null(schema: Mapping[str, Any], root: Mapping[str, Any]) -> bool:
    schema = _resolved(schema, root)
    kind = schema.get("type")
    if kind == "null" or (isinstance(kind, list) and "null" in kind) or None in (schema.get("enum") or ()):
        return True
    variants = schema.get("anyOf") or schema.get("oneOf")
    if variants:
        return any(_allows_null(variant, root) for variant in variants)
    return kind is None and "enum" not in schema and "const" not in schema and "allOf" not in schema


def _object_branch(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Mapping[str, Any]:
    """The part of a union that describes an object."""
    if "properties" in schema:
        return schema
    variants = schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf") or ()
    branches = (_object_branch(_resolved(variant, root), root) for variant in variants)
    return next((branch for branch in branches if "properties" in branch), {})


def _resolved(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Mapping[str, Any]:
    reference = schema.get("$ref")
    if not isinstance(reference, str):
        return schema
    target: Any = root
    for step in reference.removeprefix("#").strip("/").split("/"):
        if step:
            target = target.get(step) if isinstance(target, Mapping) else None
    return target if isinstance(target, Mapping) and target is not schema else {}
