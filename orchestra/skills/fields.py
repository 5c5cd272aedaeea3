"""Fields that skills of every kind have, as people write them: in front matter, in skill.yaml, in a dict."""

from __future__ import annotations

import math
import re
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from orchestra.skills.skill import fold_name

MAX_RETRIES = 2
_BETWEEN_TOOLS = re.compile(r"[\s,]+(?![^()]*\))")  # not within the brackets of `Bash(git add:*)`
_NEEDS_NO_APPROVAL = frozenset({"", "none", "no", "never", "false", "off", "not-required", "not required", "0"})
_NAME = re.compile(r"[^\W_]+([\s_-]+[^\W_]+)*")
_DURATION = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(ms|s|sec|seconds?|m|min|minutes?)?\s*")


def as_line(value: object) -> object:
    """Scalars as one line of text: real files have numbers, dates and folded paragraphs."""
    if value is None or isinstance(value, list | tuple | dict):
        return value
    return " ".join(str(value).split())


def as_lines(value: object) -> object:
    """A list of texts; a text alone is split at its commas."""
    if isinstance(value, str):
        value = value.split(",")
    if not isinstance(value, list | tuple):
        return value
    lines = [as_line(entry) for entry in value if entry is not None]
    if not all(isinstance(line, str) for line in lines):
        return value
    return tuple(dict.fromkeys(line for line in lines if line != ""))


def names(value: object) -> object:
    """A list of names, folded; a text alone is split at its commas."""
    lines = as_lines(value)
    if not isinstance(lines, tuple):
        return lines
    for line in lines:
        if not isinstance(line, str) or not _NAME.fullmatch(line):
            raise ValueError(f"{line!r} is no name")
    return tuple(dict.fromkeys(fold_name(line) for line in lines))


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
    found = _DURATION.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        return value
    unit = found[2] or "s"
    factor = 0.001 if unit == "ms" else 60.0 if unit.startswith("m") else 1.0
    return float(found[1]) * factor


def fold_type(value: object) -> object:
    """A choice among words, however it is spelt. The design's `atomic` is a prompt skill."""
    if not isinstance(value, str):
        return value
    folded = fold_name(value)
    return "prompt" if folded == "atomic" else folded


def _finite(value: Any) -> Any:
    if isinstance(value, bool) or (isinstance(value, float) and not math.isfinite(value)):
        raise ValueError("input should be a number of seconds")
    return value


Text = Annotated[str, BeforeValidator(as_line)]
Texts = Annotated[tuple[str, ...], BeforeValidator(as_lines)]
Names = Annotated[tuple[str, ...], BeforeValidator(names)]
Tools = Annotated[tuple[str, ...] | None, BeforeValidator(tool_patterns)]
AllowedTools = Annotated[
    tuple[str, ...] | None, BeforeValidator(lambda value: value if value is None else tool_patterns(value))
]
Seconds = Annotated[float, BeforeValidator(_finite), BeforeValidator(seconds), Field(gt=0)]
Retries = Annotated[int, Field(ge=0, le=MAX_RETRIES)]
Line = Text
