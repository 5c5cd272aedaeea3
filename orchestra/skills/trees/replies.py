"""What a model says when a tree of skills asks it, read strictly in what counts and leniently in what does not."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field


def _as_names(value: object) -> object:
    return [value] if isinstance(value, str) else value if value is not None else []


def _as_number(value: object) -> object:
    """`3`, `"3"` and `"step_3"` are the same step."""
    if isinstance(value, str):
        return value.strip().lower().removeprefix("step").lstrip("_ ") or value
    return value


def _as_numbers(value: object) -> object:
    if value is None:
        return []
    return [_as_number(each) for each in value] if isinstance(value, list | tuple) else [_as_number(value)]


MOST_STEPS = 64
Names = Annotated[tuple[str, ...], BeforeValidator(_as_names)]
Number = Annotated[int, BeforeValidator(_as_number)]
Numbers = Annotated[tuple[int, ...], BeforeValidator(_as_numbers)]


def _as_order(value: object) -> object:
    return "parallel" if isinstance(value, str) and value.strip().lower().startswith("parallel") else "sequential"


def _as_complexity(value: object) -> object:
    """From 1 to 10; what is no number says nothing."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and value == value
    return round(min(10.0, max(1.0, float(value)))) if is_number else 5  # pyright: ignore[reportArgumentType]


def _as_text(value: object) -> object:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _as_texts(value: object) -> object:
    """Texts by name; a list gets numbers."""
    if isinstance(value, list | tuple):
        value = {f"step_{number}": each for number, each in enumerate(value, start=1)}
    return {str(name): _as_text(each) for name, each in value.items()} if isinstance(value, Mapping) else {}


def _as_mapping(value: object) -> object:
    return {} if value is None else value


def _as_lines(value: object) -> object:
    """Names or sentences; what a model says of nothing is none."""
    names = _as_names(value)
    return [_as_text(each) for each in names if each] if isinstance(names, list | tuple) else names


Text = Annotated[str, BeforeValidator(_as_text)]
Texts = Annotated[Mapping[str, str], BeforeValidator(_as_texts)]
Lines = Annotated[tuple[str, ...], BeforeValidator(_as_lines)]
Values = Annotated[Mapping[str, Any], BeforeValidator(_as_mapping)]


class Reply(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Intent(Reply):
    """Which top-level skills a query needs, and whether they may run at once. Complexity is 1 to 10."""

    primary_skills: Names = Field(min_length=1)
    execution_order: Annotated[Literal["parallel", "sequential"], BeforeValidator(_as_order)] = "sequential"
    reasoning: Text = ""
    estimated_complexity: Annotated[int, BeforeValidator(_as_complexity)] = Field(default=5, ge=1, le=10)


class Step(Reply):
    """One call of a sub-skill. `step` counts from 1."""

    step: Number = Field(ge=1)
    sub_skill: str
    trigger_reason: Text = ""
    depends_on: Numbers = ()
    parameters_needed: Lines = ()
    can_parallelize: bool | None = False


class Decomposition(Reply):
    """The steps of a composite skill. `data_flow` as the design writes it; see `orchestra.skills.trees.flow`."""

    execution_plan: tuple[Step, ...] = Field(min_length=1, max_length=MOST_STEPS)
    data_flow: Annotated[Mapping[str, Any] | tuple[str, ...], BeforeValidator(_as_mapping)] = {}


class Resolution(Reply):
    """Values for the parameters that code could not bind. `confidence` is 0 to 1."""

    parameters: Values = {}
    resolution_method: Texts = {}
    confidence: float = Field(default=1.0, ge=0.0, le=1.0)
    missing_required: Lines = ()
    clarifying_question: Text = ""


class Wording(Reply):
    """The words of a synthesis: the numbers beside them are counted, not asked for."""

    summary: Text
    detailed_results: Texts = {}
    user_message: str
    next_actions: Lines = ()
