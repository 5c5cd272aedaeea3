"""What a skill takes and gives: JSON schemas in skill.yaml or `schemas/`, pydantic models of trusted skills."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Literal

from orchestra.errors import SkillInvalid
from orchestra.skills.files import read_inside
from orchestra.skills.manifest import Manifest
from orchestra.skills.python_files import is_left_unrun, python_module

Part = Literal["parameters", "output"]

PARTS: tuple[Part, ...] = ("parameters", "output")
SHORT_FORM = frozenset({"required", "optional", "defaults"})
MOST_DEPTH = 64

_FILES: Mapping[Part, tuple[str, ...]] = {
    "parameters": ("parameters", "parameters_schema", "input", "input_schema"),
    "output": ("output", "output_schema", "tool_schema"),
}
_MODELS: Mapping[Part, tuple[str, ...]] = {
    "parameters": ("Parameters", "Input"),
    "output": ("Output", "ToolSchema", "Result"),
}


def declared_schema(manifest: Manifest, part: Part) -> tuple[Mapping[str, Any] | None, type[Any] | None]:
    """The schema of what a skill takes or gives, and the pydantic model that it is of, if any; None: nothing is said.

    Raises `SkillInvalid` for one that is no JSON schema, or that refers to something outside of itself.
    """
    file = schema_file(manifest, part)
    if file is None:
        written = getattr(manifest, part)
        return (_checked(manifest, part, dict(written)) if written else None), None
    if file.endswith(".py") or ".py:" in file:
        if is_left_unrun(manifest, file.partition(":")[0]):
            return None, None
        return _of_python(manifest, part, file)
    try:
        schema = json.loads(read_inside(manifest.folder, file)) if manifest.folder else None
    except (ValueError, RecursionError) as error:
        raise _invalid(manifest, part, f"{file} is not JSON", str(error)) from error
    return _checked(manifest, part, schema), None


def schema_file(manifest: Manifest, part: Part) -> str | None:
    """The file that holds the schema: the one that is named, else the one that is called as it should be."""
    written = getattr(manifest, part)
    if set(written) == {"file"}:
        return str(written["file"])
    return None if written else _conventional(manifest, part)


def _conventional(manifest: Manifest, part: Part) -> str | None:
    """The file of `schemas/` whose name says what it is. A model is looked for only where it may be run."""
    if manifest.folder is None:
        return None
    endings = (".json", ".py") if manifest.is_trusted else (".json",)
    names = [f"schemas/{stem}{ending}" for stem in _FILES[part] for ending in endings]
    return next((name for name in names if (manifest.folder / name).is_file()), None)


def _of_python(manifest: Manifest, part: Part, reference: str) -> tuple[Mapping[str, Any], type[Any]]:
    from pydantic import BaseModel

    path, _, name = reference.partition(":")
    module = python_module(manifest, path)
    models = {
        key: value
        for key, value in vars(module).items()
        if isinstance(value, type) and issubclass(value, BaseModel) and value.__module__ == module.__name__
    }
    wanted = [name] if name else [candidate for candidate in _MODELS[part] if candidate in models]
    model = models.get(wanted[0]) if wanted else next(iter(models.values()), None) if len(models) == 1 else None
    if model is None:
        cause = f"it has {', '.join(models) or 'none'}; name one as {path}:Model"
        raise _invalid(manifest, part, f"{path} has no pydantic model to take", cause)
    try:
        return model.model_json_schema(), model
    except Exception as error:  # a model's own code
        raise _invalid(manifest, part, f"{model.__name__} has no JSON schema", str(error)) from error


def _checked(manifest: Manifest, part: Part, schema: Any) -> Mapping[str, Any]:
    from jsonschema import Draft202012Validator, SchemaError

    if not isinstance(schema, dict):
        raise _invalid(manifest, part, "is not a JSON object")
    if part == "parameters" and set(schema) <= SHORT_FORM | {"properties"} and "optional" in schema:
        return schema
    for depth, value in _walk(schema):
        if depth > MOST_DEPTH:
            raise _invalid(manifest, part, "is nested too deeply", f"over {MOST_DEPTH} levels")
        reference = value.get("$ref", value.get("$dynamicRef", "#"))
        if not isinstance(reference, str) or not reference.startswith("#"):
            raise _invalid(manifest, part, "refers to something outside of itself", str(reference))
    try:
        Draft202012Validator.check_schema({key: value for key, value in schema.items() if key != "defaults"})
    except SchemaError as error:
        raise _invalid(manifest, part, "is no JSON schema", error.message) from error
    return schema


def _walk(schema: Any) -> Iterator[tuple[int, dict[str, Any]]]:
    waiting: list[tuple[int, Any]] = [(0, schema)]
    while waiting:
        depth, value = waiting.pop()
        if isinstance(value, dict):
            yield depth, value
        children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        waiting.extend((depth + 1, child) for child in children)


def _invalid(manifest: Manifest, part: Part, what: str, cause: str = "") -> SkillInvalid:
    return SkillInvalid(f"the {part} schema of {manifest.source}: {what}", cause=cause, path=manifest.source, line=0)
