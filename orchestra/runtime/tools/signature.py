"""From a callable to the JSON schema of its arguments: pydantic reads the type hints, the docstring describes them."""

from __future__ import annotations

import functools
import inspect
import json
import re
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from orchestra.errors import InputInvalid

if TYPE_CHECKING:
    from pydantic import BaseModel

LONGEST_DESCRIPTION = 1_024  # characters: it is paid for in every call
_SECTION = re.compile(
    r"(?:Args|Arguments|Parameters|Params|Returns?|Yields?|Raises|Examples?|Notes?|See Also|Attributes):?[ \t]*$"
)
_ARGUMENTS = re.compile(r"(?:Args|Arguments|Parameters|Params):?[ \t]*$")
_ITEM = re.compile(r"(?P<name>\*{0,2}\w+)[ \t]*(?:\([^)]*\))?[ \t]*:[ \t]*(?P<text>.*)$")
_FIELD = re.compile(r":(?:param|parameter|arg|argument)[ \t]+(?:[^:]*[ \t])?(?P<name>\w+):[ \t]*(?P<text>.*)$")
_UNDERLINE = re.compile(r"[-=~]{3,}[ \t]*$")


@dataclass(frozen=True, slots=True)
class Described:
    """What a docstring says: of the whole, and of each parameter."""

    text: str
    parameters: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Arguments:
    """The arguments of a callable, as a pydantic model whose fields `p0`, `p1`, ... stand for `names`."""

    model: type[BaseModel]
    names: tuple[str, ...]

    def read(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Values by the callable's own names, defaults left to it. Raises pydantic's `ValidationError`."""
        written = json.dumps(dict(arguments), ensure_ascii=False).encode("utf-8", "replace")
        read = self.model.model_validate_json(written)
        return {
            name: getattr(read, f"p{at}") for at, name in enumerate(self.names) if f"p{at}" in read.model_fields_set
        }


def arguments_of(function: Callable[..., Any], name: str) -> tuple[Arguments, dict[str, Any]]:
    """The arguments that a callable takes, and their JSON schema. Raises `InputInvalid`."""
    from pydantic import ConfigDict, Field, PydanticUserError, create_model
    from pydantic.errors import PydanticUndefinedAnnotation

    parameters = _parameters(function, name)
    hints = _hints(function, name)
    texts = described(function).parameters
    fields: dict[str, Any] = {}
    for at, parameter in enumerate(parameters):
        if parameter.name not in hints:
            raise InputInvalid(
                f"the tool {name!r} has a parameter without type hint: {parameter.name}",
                cause="the hint says to the model, and to the check of its arguments, what is wanted",
            )
        hint = hints[parameter.name]
        default = ... if parameter.default is parameter.empty else parameter.default
        text = texts.get(parameter.name) or _annotated_text(hint)
        fields[f"p{at}"] = (hint, Field(default, alias=parameter.name, description=text or None))
    try:
        model = create_model("arguments", __config__=ConfigDict(extra="forbid"), **fields)
        schema = model.model_json_schema(schema_generator=_quiet_generator())
    except (PydanticUserError, PydanticUndefinedAnnotation, TypeError, ValueError) as error:
        cause = str(error).split("\n", 1)[0]
        raise InputInvalid(f"the parameters of the tool {name!r} cannot be told to a model", cause=cause) from None
    names = tuple(parameter.name for parameter in parameters)
    return Arguments(model, names), _plain(schema)


def described(function: Callable[..., Any]) -> Described:
    """A docstring taken apart: Google's, NumPy's and Sphinx's ways of naming parameters are read."""
    inner = _inner(function)
    written = inspect.getdoc(inner) if _has_own_doc(inner) else None
    lines = (written or "").splitlines()
    first = next((at for at in range(len(lines)) if _begins_section(lines, at)), len(lines))
    text = " ".join(" ".join(lines[:first]).split())
    if len(text) > LONGEST_DESCRIPTION:
        text = f"{text[: LONGEST_DESCRIPTION - 1].rsplit(' ', 1)[0]}…"
    return Described(text, {name: " ".join(words.split()) for name, words in _items(lines[first:]).items()})


def _has_own_doc(inner: object) -> bool:
    """An object's class describes it; a plain value's class (partial, object) describes something else."""
    return inspect.isroutine(inner) or inspect.isclass(inner) or type(inner).__module__ != "builtins"


def _begins_section(lines: list[str], at: int) -> bool:
    line = lines[at]
    is_underlined = at + 1 < len(lines) and bool(_UNDERLINE.match(lines[at + 1]))
    return bool(_FIELD.match(line)) or bool(_SECTION.match(line) and (line.rstrip().endswith(":") or is_underlined))


def _items(lines: list[str]) -> dict[str, str]:
    """What is said of each parameter; a line that is indented deeper goes on with the one before."""
    found: dict[str, str] = {}
    name, is_open, margin = "", False, -1
    for at, line in enumerate(lines):
        field, indent = _FIELD.match(line.strip()), len(line) - len(line.lstrip())
        if field:
            name, margin = field["name"], indent
            found[name] = field["text"]
            continue
        if _begins_section(lines, at):
            name, is_open, margin = "", bool(_ARGUMENTS.match(line)), -1
            continue
        if not line.strip() or _UNDERLINE.match(line):
            continue
        if name and indent > margin >= 0:
            found[name] += f" {line.strip()}"
            continue
        item = _ITEM.match(line.strip()) if is_open else None
        if item is None:
            name = ""
            continue
        name, margin = item["name"].lstrip("*"), indent
        is_numpy = indent == 0  # there the colon is followed by the type, and the text stands below
        found[name] = "" if is_numpy else item["text"]
    return found


def _parameters(function: Callable[..., Any], name: str) -> list[inspect.Parameter]:
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError) as error:
        raise InputInvalid(f"the tool {name!r} does not say which arguments it takes", cause=str(error)) from None
    for parameter in parameters:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
            raise InputInvalid(
                f"the tool {name!r} has the parameter {str(parameter).split(':')[0].strip()!r}",
                cause="a model gives each argument by its name",
            )
    return parameters


def _hints(function: Callable[..., Any], name: str) -> dict[str, Any]:
    inner = _inner(function)
    try:
        if inspect.isclass(inner):
            return typing.get_type_hints(inner.__init__, include_extras=True)
        if not inspect.isroutine(inner):
            inner = type(inner).__call__
        return typing.get_type_hints(cast("Callable[..., Any]", inner), include_extras=True)
    except (NameError, TypeError, AttributeError) as error:
        raise InputInvalid(f"the type hints of the tool {name!r} cannot be read", cause=str(error)) from None


def _inner(function: object) -> object:
    while isinstance(function, functools.partial):
        function = cast("functools.partial[Any]", function).func
    return inspect.unwrap(cast("Callable[..., Any]", function))


def _annotated_text(hint: Any) -> str:
    """The text in `Annotated[str, "what it is"]`."""
    return next((extra for extra in getattr(hint, "__metadata__", ()) if isinstance(extra, str)), "")


def _quiet_generator() -> Any:
    """A default that is no JSON is left out of the schema, which is what pydantic warns of."""
    from pydantic.json_schema import GenerateJsonSchema

    class Quiet(GenerateJsonSchema):
        ignored_warning_kinds = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012 - as pydantic has it

    return Quiet


def _plain(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema without the titles that repeat names, and without what goes without saying."""
    schema = _untitled(schema)
    schema.pop("additionalProperties", None)
    schema.pop("description", None)
    schema.setdefault("properties", {})
    return schema


def _untitled(schema: Any, *, is_by_name: bool = False) -> Any:
    if isinstance(schema, list):
        return [_untitled(each) for each in cast("list[Any]", schema)]
    if not isinstance(schema, dict):
        return schema
    return {
        key: value if key in ("default", "enum", "const", "examples") and not is_by_name
        else _untitled(value, is_by_name=not is_by_name and key in ("properties", "$defs"))
        for key, value in cast("dict[str, Any]", schema).items()
        if is_by_name or key != "title" or not isinstance(value, str)
    }  # fmt: skip
