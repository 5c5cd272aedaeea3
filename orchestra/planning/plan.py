"""The plan: what the planner decides, as data. Text from a model becomes one in `orchestra.planning.parse`."""

from __future__ import annotations

from collections.abc import Mapping
from graphlib import CycleError, TopologicalSorter
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

SELF = "self"

Text = Annotated[str, Field(min_length=1)]


class ContextPointers(BaseModel):
    """What a subtask is to see: section references first, 1-indexed inclusive line ranges where there are none.

    A range is kept as written, whatever it holds; resolving it corrects or drops it.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    sections: list[str] = []
    line_ranges: list[list[Any]] = []

    def __bool__(self) -> bool:
        return bool(self.sections or self.line_ranges)


class Subtask(BaseModel):
    """One entry of a plan. `skill` is "self" when the planner answered in `answer`."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: Text
    task: Text
    skill: Text
    context_pointers: ContextPointers = ContextPointers()
    answer: str | None = None
    depends_on: list[str] = []

    @property
    def is_self_answered(self) -> bool:
        return self.skill == SELF


class Plan(BaseModel):
    """Subtasks in the order in which their findings are read. Ids are unique, dependencies exist and have no cycle."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    subtasks: list[Subtask] = Field(min_length=1)
    reasoning: str = ""

    @model_validator(mode="after")
    def _dependencies_make_sense(self) -> Plan:
        graph = {subtask.id: subtask.depends_on for subtask in self.subtasks}
        if len(graph) < len(self.subtasks):
            raise ValueError("two subtasks have the same id")
        for subtask in self.subtasks:
            unknown = [name for name in subtask.depends_on if name not in graph]
            if unknown:
                raise ValueError(f"subtask {subtask.id!r} depends on {unknown[0]!r}, which does not exist")
        try:
            TopologicalSorter(graph).prepare()
        except CycleError as cycle:
            raise ValueError(f"dependency cycle: {' -> '.join(reversed(cycle.args[1]))}") from None
        return self

    @property
    def self_answered(self) -> list[Subtask]:
        return [subtask for subtask in self.subtasks if subtask.is_self_answered]

    @property
    def delegated(self) -> list[Subtask]:
        return [subtask for subtask in self.subtasks if not subtask.is_self_answered]

    def in_dependency_order(self) -> list[Subtask]:
        """Every subtask after those it depends on, otherwise in plan order."""
        by_id = {subtask.id: subtask for subtask in self.subtasks}
        ordered: dict[str, Subtask] = {}
        waiting = list(reversed(self.subtasks))
        while waiting:
            missing = [name for name in waiting[-1].depends_on if name not in ordered]
            if missing:
                waiting += [by_id[name] for name in reversed(missing)]
            else:
                subtask = waiting.pop()
                ordered.setdefault(subtask.id, subtask)
        return list(ordered.values())


PLAN_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "subtasks": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "id": {"type": "string"},
                    "task": {"type": "string"},
                    "skill": {"type": "string"},
                    "context_pointers": {
                        "type": "object",
                        "properties": {
                            "sections": {"type": "array", "items": {"type": "string"}},
                            "line_ranges": {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}},
                        },
                        "required": ["sections", "line_ranges"],
                        "additionalProperties": False,
                    },
                    "answer": {"type": ["string", "null"]},
                    "depends_on": {"type": "array", "items": {"type": "string"}},
                },
                "required": ["id", "task", "skill", "context_pointers", "answer", "depends_on"],
                "additionalProperties": False,
            },
        },
        "reasoning": {"type": "string"},
    },
    "required": ["subtasks", "reasoning"],
    "additionalProperties": False,
}
"""What a provider is handed: `Plan` with every property required, as strict modes ask."""
