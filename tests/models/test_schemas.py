"""Schemas in the narrower forms that providers accept."""

from __future__ import annotations

from typing import Literal

import jsonschema
import pytest
from pydantic import BaseModel, Field

from orchestra.models.schemas import closed_schema, schema_instruction, without_padding_nulls


class Pointers(BaseModel):
    sections: list[str] = []
    line_ranges: list[list[int]] = Field(default=[], max_length=9)


class Subtask(BaseModel):
    id: int = Field(ge=1)
    task: str = Field(min_length=1, description="What to do.")
    kind: Literal["self", "delegate"] = "delegate"
    answer: str | None = None
    context_pointers: Pointers = Pointers()


class PlanShape(BaseModel):
    subtasks: list[Subtask] = Field(min_length=1, max_length=6)
    reasoning: str = ""


def objects(schema: object) -> list[dict]:
    """Every object schema inside."""
    if isinstance(schema, list):
        return [found for item in schema for found in objects(item)]
    if not isinstance(schema, dict):
        return []
    inside = [found for item in schema.values() for found in objects(item)]
    return [schema, *inside] if schema.get("type") == "object" else inside


@pytest.mark.parametrize("is_all_required", [False, True])
def test_every_object_is_closed_and_no_bound_is_left(is_all_required):
    closed = closed_schema(PlanShape.model_json_schema(), is_all_required=is_all_required)

    assert len(objects(closed)) == 3
    assert all(part["additionalProperties"] is False for part in objects(closed))
    assert not {"minLength", "maxLength", "minimum", "maxItems", "default", "title"} & set(str(closed).split("'"))
    jsonschema.Draft202012Validator.check_schema(closed)


def test_a_dropped_bound_is_said_in_the_description():
    closed = closed_schema(PlanShape.model_json_schema())

    assert closed["$defs"]["Subtask"]["properties"]["task"]["description"] == "What to do. (minLength: 1)"
    assert closed["properties"]["subtasks"]["description"] == "(maxItems: 6)"
    assert closed["properties"]["subtasks"]["minItems"] == 1


def test_strict_mode_requires_all_and_lets_optional_ones_be_null():
    subtask = closed_schema(PlanShape.model_json_schema(), is_all_required=True)["$defs"]["Subtask"]

    assert subtask["required"] == ["id", "task", "kind", "answer", "context_pointers"]
    assert subtask["properties"]["kind"]["anyOf"][1] == {"type": "null"}
    assert subtask["properties"]["answer"]["anyOf"] == [{"type": "string"}, {"type": "null"}]
    assert subtask["properties"]["id"]["type"] == "integer"


def test_a_strict_reply_loses_the_nulls_that_stand_for_absence():
    strict = closed_schema(PlanShape.model_json_schema(), is_all_required=True)
    pointers = {"sections": None, "line_ranges": None}
    subtask = {"id": 1, "task": "sum", "kind": None, "answer": None, "context_pointers": pointers}
    reply = {"subtasks": [subtask], "reasoning": None}
    jsonschema.validate(reply, strict)

    cleaned = without_padding_nulls(reply, PlanShape.model_json_schema())

    assert cleaned == {"subtasks": [{"id": 1, "task": "sum", "answer": None, "context_pointers": {}}]}
    PlanShape.model_validate(cleaned)


def test_the_schema_itself_is_not_changed():
    schema = PlanShape.model_json_schema()

    closed_schema(schema, is_all_required=True)

    assert schema == PlanShape.model_json_schema()


@pytest.mark.parametrize(
    "part",
    [
        {"type": "object", "additionalProperties": {"type": "integer"}},
        {"type": "object"},
        {"type": "object", "properties": {"a": {"type": "string"}}, "patternProperties": {"^x": {"type": "string"}}},
        {"allOf": [{"type": "object", "properties": {}}, {"type": "object", "properties": {}}]},
        {},
        True,
        {"type": "array"},
    ],
)
def test_what_cannot_be_said_gives_no_schema(part):
    assert closed_schema({"type": "object", "properties": {"part": part}}) is None


@pytest.mark.parametrize(
    "root", [{"type": "array", "items": {"type": "string"}}, {"type": "string"}, {"anyOf": []}, {}]
)
def test_a_root_that_is_no_object_gives_no_schema(root):
    assert closed_schema(root) is None


@pytest.mark.parametrize(
    ("part", "closed"),
    [
        ({"type": ["string", "null"]}, {"anyOf": [{"type": "string"}, {"type": "null"}]}),
        (
            {"type": ["null", "string"], "enum": ["a", None]},
            {"anyOf": [{"type": "null"}, {"enum": ["a"], "type": "string"}]},
        ),
        ({"type": "integer", "minimum": 3}, {"type": "integer", "description": "(minimum: 3)"}),
        ({"oneOf": [{"type": "string"}, {"type": "null"}]}, {"anyOf": [{"type": "string"}, {"type": "null"}]}),
        ({"enum": ["a", "b"], "type": "string"}, {"enum": ["a", "b"], "type": "string"}),
        ({"const": 3}, {"const": 3}),
        ({"type": "string", "format": "date"}, {"type": "string", "format": "date"}),
        ({"type": "string", "format": "odd"}, {"type": "string", "description": '(format: "odd")'}),
        ({"allOf": [{"type": "string"}], "description": "x"}, {"type": "string", "description": "x"}),
        ({"$ref": "#/definitions/A", "description": "x"}, {"$ref": "#/$defs/A"}),
        ({"type": "boolean", "default": True}, {"type": "boolean"}),
    ],
)
def test_each_construct_has_its_closed_form(part, closed):
    schema = {"type": "object", "properties": {"part": part}, "definitions": {"A": {"type": "null"}}}

    assert closed_schema(schema)["properties"]["part"] == closed


def test_a_null_stays_where_the_schema_allows_it_or_requires_the_key():
    schema = {
        "type": "object",
        "properties": {"a": {"type": ["string", "null"]}, "b": {"type": "string"}, "c": {"type": "string"}},
        "required": ["b"],
    }

    assert without_padding_nulls({"a": None, "b": None, "c": None, "d": None}, schema) == {
        "a": None,
        "b": None,
        "d": None,
    }


def test_a_recursive_schema_is_followed_as_deep_as_the_reply_goes():
    schema = {
        "$ref": "#/$defs/Node",
        "$defs": {
            "Node": {
                "type": "object",
                "properties": {
                    "name": {"type": "string"},
                    "children": {"type": "array", "items": {"$ref": "#/$defs/Node"}},
                },
                "required": ["name"],
            }
        },
    }

    cleaned = without_padding_nulls({"name": "a", "children": [{"name": "b", "children": None}]}, schema)

    assert cleaned == {"name": "a", "children": [{"name": "b"}]}
    assert closed_schema(schema, is_all_required=True)["$ref"] == "#/$defs/Node"


def test_the_instruction_holds_the_schema_as_json():
    assert schema_instruction({"type": "object"}).endswith('{"type":"object"}')
