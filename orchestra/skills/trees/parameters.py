"""Parameters of a step, as far as code can bind them: no model is asked for what is on the table.

In this order: the query where it is JSON, the data flow from earlier steps, the context that the caller gave, the
defaults of the skill. What is left is what a resolver may be asked for.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from orchestra.errors import SkillInvalid
from orchestra.models.json_text import well_formed
from orchestra.skills.trees.flow import Binding, value_at

LEAST_CONFIDENCE = 0.7  # below it, a person is asked


@dataclass(frozen=True)
class Parameters:
    """What a skill takes. `properties` are JSON schemas by name; a default may stand there or in `defaults`.

    `definitions` is what the schemas refer to: `{"$defs": ...}`, or nothing.
    """

    properties: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    defaults: Mapping[str, Any] = field(default_factory=dict)
    definitions: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, declared: Mapping[str, Any]) -> Parameters:
        """From a JSON schema, or from the short form `{"required": [...], "optional": [...], "defaults": {...}}`.

        Raises `SkillInvalid`.
        """
        written = {str(name): schema for name, schema in _mapping(declared, "properties").items()}
        odd = next((name for name, schema in written.items() if not isinstance(schema, Mapping | bool | None)), None)
        if odd is not None:
            raise SkillInvalid(f"the parameter {odd!r} has no schema", cause=f"it is {written[odd]!r}")
        properties = {name: schema if isinstance(schema, Mapping) else {} for name, schema in written.items()}
        required = _names(declared, "required")
        optional = declared.get("optional") or ()
        defaults = {name: schema["default"] for name, schema in properties.items() if "default" in schema}
        if isinstance(optional, Mapping):
            defaults.update({str(name): value for name, value in optional.items() if value is not None})
            optional = tuple(map(str, optional))
        else:
            optional = _names(declared, "optional")
        defaults.update({str(name): value for name, value in _mapping(declared, "defaults").items()})
        for name in (*required, *optional, *defaults):
            properties.setdefault(name, {})
        definitions = {key: declared[key] for key in ("$defs", "definitions") if declared.get(key)}
        return cls(properties, required, defaults, definitions)

    @cached_property
    def schema(self) -> dict[str, Any]:
        """As the JSON schema of an object."""
        return {
            "type": "object",
            "properties": {name: dict(schema) for name, schema in self.properties.items()},
            "required": list(self.required),
            **self.definitions,
        }

    def problem_of(self, name: str, value: Any) -> str:
        """What is wrong with a value, in a phrase; empty when nothing is."""
        import jsonschema
        from referencing.exceptions import Unresolvable

        schema = {**(self.properties.get(name) or {}), **self.definitions}
        try:
            jsonschema.validate(value, schema, cls=jsonschema.Draft202012Validator)
        except jsonschema.ValidationError as error:
            return str(error.message)
        except jsonschema.SchemaError as error:
            return f"its schema is not valid: {error.message}"
        except (Unresolvable, RecursionError) as error:
            return f"its schema cannot be followed: {error}"
        return ""


@dataclass(frozen=True, slots=True)
class Bound:
    """`values` and, for each, how it was found. `missing` are required, `open` optional, and neither is bound.

    `refused` says of values that were found and do not fit what is wrong with them.
    """

    values: Mapping[str, Any]
    methods: Mapping[str, str]
    missing: tuple[str, ...] = ()
    open: tuple[str, ...] = ()
    refused: Mapping[str, str] = field(default_factory=dict)


def bind(
    parameters: Parameters,
    *,
    query: str,
    step: int,
    flow: Sequence[Binding] = (),
    outputs: Mapping[int, Any] | None = None,
    context: Mapping[str, Any] | None = None,
) -> Bound:
    """Bind what can be bound. `outputs` are those of finished steps, by number."""
    values: dict[str, Any] = {}
    methods: dict[str, str] = {}
    refused: dict[str, str] = {}
    for name in parameters.properties:
        for value, method in _candidates(parameters, name, query, step, flow, outputs or {}, context or {}):
            problem = parameters.problem_of(name, value)
            if problem:
                refused[name] = f"{method}: {problem}"
                continue
            values[name], methods[name] = value, method
            refused.pop(name, None)
            break
    left = [name for name in parameters.properties if name not in values]
    return Bound(
        values,
        methods,
        missing=tuple(name for name in left if name in parameters.required),
        open=tuple(name for name in left if name not in parameters.required),
        refused=refused,
    )


def _candidates(
    parameters: Parameters,
    name: str,
    query: str,
    step: int,
    flow: Sequence[Binding],
    outputs: Mapping[int, Any],
    context: Mapping[str, Any],
) -> list[tuple[Any, str]]:
    found: list[tuple[Any, str]] = []
    given = given_in(query)
    if name in given:
        found.append((given[name], "from_user_query"))
    for binding in flow:
        if binding.target != step or binding.parameter != name or binding.source not in outputs:
            continue
        try:
            value = value_at(outputs[binding.source], binding.path)
        except LookupError:
            continue
        found.append((value, ".".join((f"from_previous_step_{binding.source}", *binding.path))))
    if name in context:
        found.append((context[name], "from_context"))
    if name in parameters.defaults:
        found.append((parameters.defaults[name], "default_value"))
    return found


def _mapping(declared: Mapping[str, Any], field_name: str) -> Mapping[Any, Any]:
    value = declared.get(field_name) or {}
    if not isinstance(value, Mapping):
        raise SkillInvalid(f"`{field_name}` of a skill's parameters is no mapping", cause=f"it is {value!r}"[:200])
    return value


def _names(declared: Mapping[str, Any], field_name: str) -> tuple[str, ...]:
    value = declared.get(field_name) or ()
    if isinstance(value, str):
        return (value,)
    if not isinstance(value, list | tuple):
        raise SkillInvalid(f"`{field_name}` of a skill's parameters is no list", cause=f"it is {value!r}"[:200])
    return tuple(map(str, value))


def given_in(query: str) -> Mapping[str, Any]:
    """The JSON object in a query: all of it, or from its first `{` to its last `}`; empty when there is none."""
    start, end = query.find("{"), query.rfind("}")
    if start < 0 or end < start:
        return {}
    try:
        given = well_formed(json.loads(query[start : end + 1]))
    except (ValueError, RecursionError):
        return {}
    return given if isinstance(given, dict) else {}
