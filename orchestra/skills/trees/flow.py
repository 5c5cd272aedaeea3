"""Data flow between the steps of a composite skill: which output fills which parameter.

Three ways of writing it are read, all from the design: `{"step_1_output": "urgent_emails → step_2.email_list"}`,
`{"step_1.output.urgent": "step_2.email_list"}`, and a line of its own, `step_1.output.urgent → step_2.email_list`.
`->` is as good as `→`. `output.drafts` as a target is a field of the composite's own output.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

_ARROW = re.compile(r"\s*(?:→|->|=>)\s*")
_SOURCE = re.compile(r"step_?(\d+)(?:[._]outputs?)?(?:\.(.+))?", re.IGNORECASE)
_TARGET = re.compile(r"(?:feeds into\s+)?(?:step_?(\d+)|output)\.(?:parameters\.|input\.)?([\w-]+)", re.IGNORECASE)
_MISSING = object()


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


def bindings(data_flow: Mapping[str, Any] | Iterable[str]) -> tuple[tuple[Binding, ...], tuple[str, ...]]:
    """The bindings of a data flow in its order, and the entries that say nothing that can be followed."""
    lines: list[str] = []
    for entry in data_flow.items() if isinstance(data_flow, Mapping) else ((line, None) for line in data_flow):
        lines.extend(_lines(*entry))
    found = [(line, _binding(line)) for line in lines]
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
    if isinstance(value, list | tuple):
        return [line for each in value for line in _lines(key, each)]
    text = str(value).strip()
    named, arrow, target = text.partition("→" if "→" in text else "->")
    if not arrow:
        return [f"{key} → {text}"]
    source = _SOURCE.fullmatch(named.strip())
    return [f"{named} → {target}"] if source else [f"{key}.{named.strip()} → {target}"]


def _binding(line: str) -> Binding | None:
    sides = _ARROW.split(line.strip())
    if len(sides) != 2:
        return None
    source, target = _SOURCE.fullmatch(sides[0].strip()), _TARGET.fullmatch(sides[1].strip())
    if source is None or target is None:
        return None
    path = tuple(part for part in (source[2] or "").split(".") if part)
    return Binding(int(source[1]), path, int(target[1] or 0), target[2])
