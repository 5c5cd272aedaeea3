"""What a model says when a tree of skills asks it, read strictly in what counts and leniently in what does not."""

from __future__ import annotations

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


Names = Annotated[tuple[str, ...], BeforeValidator(_as_names)]
Number = Annotated[int, BeforeValidator(_as_number)]
Numbers = Annotated[tuple[int, ...], BeforeValidator(_as_numbers)]


class Reply(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Intent(Reply):
    """Which top-level skills a query needs, and whether they may run at once. Complexity is 1 to 10."""

    primary_skills: Names = Field(min_length=1)
    execution_order: Literal["parallel", "sequential"] = "sequential"
    reasoning: str = ""
    estimated_complexity: int = Field(default=5, ge=1, le=10)


class Step(Reply):
    """One call of a sub-skill. `step` counts from 1."""

    step: Number = Field(ge=1)
    sub_skill: str
    trigger_reason: str = ""
    depends_on: Numbers = ()
    parameters_needed: Names = ()
    can_parallelize: bool = False


class Decomposition(Reply):
    """The steps of a composite skill. `data_flow` as the design writes it; see `orchestra.skills.trees.flow`."""

    execution_plan: tuple[Step, ...] = Field(min_length=1)
    data_flow: Mapping[str, Any] = {}


class Resolution(Reply):
    """Values for the parameters that code could not bind. `confidence` is 0 to 1."""

    parameters: Mapping[str, Any] = {}
    resolution_method: Mapping[str, str] = {}
    confidence: float = Field(default=1.0, ge=0.0, le=1.0)
    missing_required: Names = ()
    clarifying_question: str = ""


class Wording(Reply):
    """The words of a synthesis: the numbers beside them are counted, not asked for."""

    summary: str
    detailed_results: Mapping[str, str] = {}
    user_message: str
    next_actions: Names = ()
