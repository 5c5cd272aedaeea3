"""Fields that skills of every kind have, as people write them: in front matter, in skill.yaml, in a dict."""

from __future__ import annotations

import math
import re
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

MAX_RETRIES = 2
_BETWEEN_TOOLS = re.compile(r"[\s,]+(?![^()]*\))")  # not within the brackets of `Bash(git add:*)`
_NEEDS_NO_APPROVAL = frozenset({"", "none", "no", "never", "false", "off", "not-required", "not required", "0"})


def as_line(value: object) -> object:
    """Scalars as one line of text: real files have numbers, dates and folded paragraphs."""
    if value is None or isinstance(value, list | tuple | dict):
        return value
    return " ".join(str(value).split())


def tool_patterns(value: object) -> object:
    """`"Bash(git:*), Read"`, `"Bash(git:*) Read"` or a list of such, as a tuple of patterns, each once.

    Nothing between the colon and the end of the line names no tool.
    """
    entries = value if isinstance(value, list | tuple) else [value]
    if not all(entry is None or isinstance(entry, str | int | float) for entry in entries):
        return value  # for pydantic to refuse
    texts = ["" if entry is None else str(entry) for entry in entries]
    return tuple(dict.fromkeys(pattern for text in texts for pattern in _BETWEEN_TOOLS.split(text) if pattern))


def needs_approval(value: object) -> bool:
    """Whether `approval: ...` asks for a person. An unknown word does: it was written to hold something back."""
    return str(as_line(value) or "").lower() not in _NEEDS_NO_APPROVAL


def seconds(value: object) -> object:
    """`30`, `"30"`, `"30s"`, `"2m"` and `"500ms"` as seconds."""
    if not isinstance(value, str):
        return value
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(ms|s|m|min|sec|seconds?|minutes?)?\s*", value)
    if found is None:
        return value
    unit = found[2] or "s"
    factor = 0.001 if unit == "ms" else 60.0 if unit.startswith("m") else 1.0
    return float(found[1]) * factor


def _finite(value: Any) -> Any:
    if isinstance(value, bool) or (isinstance(value, float) and not math.isfinite(value)):
        raise ValueError("Input should be a number of seconds")
    return value


Line = Annotated[str, BeforeValidator(as_line)]
Tools = Annotated[tuple[str, ...] | None, BeforeValidator(tool_patterns)]
AllowedTools = Annotated[
    tuple[str, ...] | None, BeforeValidator(lambda value: value if value is None else tool_patterns(value))
]
Seconds = Annotated[float, BeforeValidator(_finite), BeforeValidator(seconds), Field(gt=0)]
Retries = Annotated[int, Field(ge=0, le=MAX_RETRIES)]
