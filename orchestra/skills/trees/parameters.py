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

from orchestra.skills.trees.flow import Binding, value_at

LEAST_CONFIDENCE = 0.7  # below it, a person is asked


@dataclass(frozen=True)
class Parameters:
    """What a skill takes. `properties` are JSON schemas by name; a default may stand there or in `defaults`."""

    properties: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    defaults: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, declared: Mapping[str, Any]) -> Parameters:
        """From a JSON schema, or from the short form `{"required": [...], "optional": [...], "defaults": {...}}`."""
        properties = dict(declared.get("properties") or {})
        required = tuple(str(name) for name in declared.get("required") or ())
        optional = declared.get("optional") or ()
        defaults = {name: schema["default"] for name, schema in properties.items() if "default" in (schema or {})}
        if isinstance(optional, Mapping):
            defaults.update({name: value for name, value in optional.items() if value is not None})
        defaults.update(declared.get("defaults") or {})
        for name in (*required, *optional, *defaults):
            properties.setdefault(str(name), {})
        return cls({name: schema or {} for name, schema in properties.items()}, required, defaults)

    @cached_property
    def schema(self) -> dict[str, Any]:
        """As the JSON schema of an object."""
        return {
            "type": "object",
            "properties": {name: dict(schema) for name, schema in self.properties.items()},
            "required": list(self.required),
        }

    def problem_of(self, name: str, value: Any) -> str:
        """What is wrong with a value, in a phrase; empty when nothing is."""
        import jsonschema

        schema = self.properties.get(name) or {}
        try:
            jsonschema.validate(value, dict(schema), cls=jsonschema.Draft202012Validator)
        except jsonschema.ValidationError as error:
            return str(error.message)
        except jsonschema.SchemaError as error:
            return f"its schema is not valid: {error.message}"
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


def given_in(query: str) -> Mapping[str, Any]:
    """The JSON object in a query: all of it, or from its first `{` to its last `}`; empty when there is none."""
    start, end = query.find("{"), query.rfind("}")
    if start < 0 or end < start:
        return {}
    try:
        given = json.loads(query[start : end + 1])
    except (ValueError, RecursionError):
        return {}
    return given if isinstance(given, dict) else {}
