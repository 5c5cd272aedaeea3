"""What a planner is told of the tools that skills have: their names, behind all that stays the same between tasks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from orchestra.models.blocks import Instructions
from orchestra.models.protocol import ModelRequest
from orchestra.planning.prompt_files import prompt


def tools_note(skills: Iterable[str], tools: Mapping[str, Sequence[str]]) -> str:
    """`tools` names those of each skill that has any; of `skills` all are meant where they have the same. "" for none.

    Skills with the same tools share a line.
    """
    names = [name for name in skills if tools.get(name)]
    if not names:
        return ""
    by_tools: dict[tuple[str, ...], list[str]] = {}
    for name in names:
        by_tools.setdefault(tuple(tools[name]), []).append(name)
    is_of_all = len(by_tools) == 1 and len(names) == len(tuple(skills))
    lines = [f"- {'every skill' if is_of_all else ', '.join(of)}: {', '.join(has)}" for has, of in by_tools.items()]
    return "\n".join((prompt("tools_planner"), *lines))


def with_tools_note(request: ModelRequest, note: str) -> ModelRequest:
    """The planner's request with the note right before the task; the same request where there is none."""
    if not note:
        return request
    *blocks, task = request.blocks
    return replace(request, blocks=(*blocks, Instructions(note), task))
