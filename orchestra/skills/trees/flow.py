"""Data flow between the steps of a composite skill: which output fills which parameter.

Three ways of writing it are read, all from the design: `{"step_1_output": "urgent_emails → step_2.email_list"}`,
`{"step_1.output.urgent": "step_2.email_list"}`, and a line of its own, `step_1.output.urgent → step_2.email_list`.
`->` is as good as `→`, and a sub-skill's name as good as `step_1`. `output.drafts` as a target is a field of the
composite's own output.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from orchestra.skills.skill import fold_name

Numbers = Mapping[str, int]
"""Of steps, by the folded names of their sub-skills."""

_ARROW = re.compile(r"\s*(?:→|->|=>)\s*")
_STEP = re.compile(r"step[_ ]?(\d{1,6})", re.IGNORECASE)
_OUTPUT = re.compile(r"_outputs?$", re.IGNORECASE)
_PARAMETER = re.compile(r"[\w-]+")
_FEEDS = re.compile(r"feeds\s+into\s+", re.IGNORECASE)
_MISSING = object()
_NO_NAMES: Numbers = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Binding:
    """The value at `path` of the output of `source` (a step's number) is the parameter `parameter` of `target`.

    An empty path is the whole output; target 0 is the output of the composite itself.
    """

    source: int
    path: tuple[str, ...]
    target: int
    parameter: str

    def __str__(self) -> str:
        target = f"step_{self.target}" if self.target else "output"
        return f"{'.'.join((f'step_{self.source}.output', *self.path))} → {target}.{self.parameter}"


def bindings(
    data_flow: Mapping[str, Any] | Iterable[str], numbers: Numbers = _NO_NAMES
) -> tuple[tuple[Binding, ...], tuple[str, ...]]:
    """The bindings of a data flow in its order, and the entries that say nothing that can be followed.

    `numbers` are those of the steps that may be named by their sub-skills.
    """
    lines: list[str] = []
    for entry in data_flow.items() if isinstance(data_flow, Mapping) else ((line, None) for line in data_flow):
        lines.extend(_lines(*entry))
    found = [(line, _binding(line, numbers)) for line in lines]
    return tuple(binding for _, binding in found if binding), tuple(line for line, binding in found if not binding)


def value_at(output: Any, path: Iterable[str]) -> Any:
    """What stands at `path` in JSON. Raises `LookupError` where there is nothing."""
    for name in path:
        if isinstance(output, Mapping):
            output = output.get(name, _MISSING)
        elif isinstance(output, list) and name.isdigit() and int(name) < len(output):
            output = output[int(name)]
        else:
            output = _MISSING
        if output is _MISSING:
            raise LookupError(name)
    return output


def _lines(key: str, value: Any) -> list[str]:
    if value is None:
        return [key]
    return [_line(key, str(each).strip()) for each in (value if isinstance(value, list | tuple) else (value,))]


def _line(key: str, text: str) -> str:
    """An entry on one line: of `"step_1_output": "urgent → step_2.mails"` the key is where the field stands."""
    sides = _ARROW.split(text, maxsplit=1)
    if len(sides) == 1:
        return f"{key} → {text}"
    named = sides[0].strip()
    is_whole = _STEP.match(named) is not None or named == key
    return f"{named if is_whole else f'{key}.{named}'} → {sides[1]}"


def _binding(line: str, numbers: Numbers) -> Binding | None:
    sides = _ARROW.split(line.strip())
    if len(sides) != 2:
        return None
    source, target = _source(sides[0], numbers), _target(_FEEDS.sub("", sides[1], count=1), numbers)
    return Binding(*source, *target) if source and target else None


def _source(text: str, numbers: Numbers) -> tuple[int, tuple[str, ...]] | None:
    head, *path = _parts(text.replace(":", "."))
    plain = _OUTPUT.sub("", head)
    number = _number(head, numbers) or _number(plain, numbers)
    if not number:
        return None
    if path and path[0].lower() in ("output", "outputs") and plain == head:
        path = path[1:]
    return number, tuple(path)


def _target(text: str, numbers: Numbers) -> tuple[int, str] | None:
    head, *path = _parts(text)
    number = _number(head, numbers)
    if number and len(path) > 1 and path[0].lower() in ("parameters", "input", "inputs"):
        path = path[1:]
    is_output = not number and head.lower() == "output"
    if len(path) != 1 or not (number or is_output) or not _PARAMETER.fullmatch(path[0]):
        return None
    return number, path[0]


def _parts(text: str) -> list[str]:
    head, *rest = (part.strip() for part in text.strip().split("."))
    return [head, *(part for part in rest if part)]


def _number(head: str, numbers: Numbers) -> int:
    """The step that is meant; 0 for none. A sub-skill may have the name of a step."""
    named = numbers.get(fold_name(head))
    if named is not None:
        return named
    step = _STEP.fullmatch(head)
    return int(step[1]) if step else 0
