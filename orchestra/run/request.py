"""What a run was asked, as its store keeps it: all that is needed to start it again, and no key."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ValidationError

from orchestra.errors import InputInvalid, StoreDamaged
from orchestra.models.keys import display_url
from orchestra.models.protocol import Model
from orchestra.models.registry import default_spec
from orchestra.planning.history import Turn
from orchestra.planning.plan import Plan
from orchestra.planning.synthesis import AnswerSchema, json_schema
from orchestra.run.kept_skills import KeptSkills
from orchestra.run.state import Run
from orchestra.runtime.calls import cache_minimum, context_window, model_base_url, model_name, model_notice
from orchestra.runtime.tools.given import GivenTools, ToolChoice
from orchestra.settings import ModelChoice, PlanChoice, Settings, Skills
from orchestra.skills.policy import Policy

if TYPE_CHECKING:
    from orchestra.runtime.tools.tool import Tool

PHASES = ("plan", "subtasks", "synthesis")


class ModelFacts(BaseModel):
    """What requests to a model depend on."""

    name: str
    base_url: str = ""
    context_window: int | None = None
    cache_minimum_tokens: int | None = None
    notice: str = ""

    @classmethod
    def of(cls, model: Model) -> ModelFacts:
        return cls(
            name=model_name(model),
            base_url=display_url(model_base_url(model)),
            context_window=context_window(model),
            cache_minimum_tokens=cache_minimum(model),
            notice=model_notice(model),
        )


class ModelRecord(BaseModel):
    """A model by its name; `is_object` for one that the caller made, and must give again."""

    name: str
    is_object: bool = False
    facts: ModelFacts | None = None


class ToolRecord(BaseModel):
    """A tool that the run had. `is_own` for a callable of the caller's, which must be given again; what models are told
    of it is kept.
    """

    name: str
    is_own: bool = False
    description: str = ""
    parameters: dict[str, Any] = {}


class RunRequest(BaseModel):
    """One run's arguments. `settings` are those that held when it began, wherever they came from."""

    task: str
    models: dict[str, ModelRecord]
    settings: dict[str, Any]
    skills: KeptSkills = KeptSkills()
    plan: dict[str, Any] | None = None
    answer_schema: dict[str, Any] | None = None
    history: tuple[tuple[str, str], ...] = ()
    cache: bool | float = False
    fallbacks: tuple[ModelRecord, ...] = ()
    tools: tuple[ToolRecord, ...] = ()
    policy: dict[str, Any] | None = None
    files: tuple[str, ...] = ()
    modes: dict[str, tuple[str, ...]] = {}
    tiers: dict[str, str] = {}

    @classmethod
    def read(cls, stored: Mapping[str, Any], run_id: str) -> RunRequest:
        """From the store. Raises `StoreDamaged`."""
        try:
            return cls.model_validate(stored)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            place = ".".join(str(part) for part in first["loc"])
            raise StoreDamaged(
                f"what run {run_id} was asked cannot be read", cause=f"{place}: {first['msg']}"
            ) from None

    def as_settings(self) -> Settings:
        """The settings, those that this version does not know left out."""
        known = {field.name for field in fields(Settings)}
        return Settings(**{name: value for name, value in self.settings.items() if name in known})

    def as_turns(self) -> tuple[Turn, ...]:
        return tuple(Turn(task, answer) for task, answer in self.history)

    def as_models(
        self, given: tuple[ModelChoice, ModelChoice, ModelChoice]
    ) -> tuple[ModelChoice, ModelChoice, ModelChoice]:
        """Who plans, works and joins: those that are given, else those of the run.

        Raises `InputInvalid` where the run had a model object, and none is given.
        """
        planner, worker, synthesizer = (
            _model(self.models.get(phase, ModelRecord(name=""))) if choice is None else choice
            for phase, choice in zip(PHASES, given, strict=True)
        )
        return planner, worker, synthesizer

    def as_fallbacks(self, given: tuple[ModelChoice, ...]) -> tuple[ModelChoice, ...]:
        """Who may stand in for them, as `as_models`."""
        return given or tuple(_model(record) for record in self.fallbacks)

    def as_policy(self, configured: Policy) -> Policy:
        """What the run may do now: what it might do when it began, as far as it is allowed here."""
        return configured if self.policy is None else configured.within(Policy.from_dict(self.policy))

    def as_tools(self, given: Sequence[ToolChoice]) -> tuple[ToolChoice, ...]:
        """The tools that the run had, the caller's own ones as they are given now: others would change what is sent.

        Raises `InputInvalid` where one of them is not given.
        """
        own = GivenTools.of(given).own
        missing = next((record.name for record in self.tools if record.is_own and record.name not in own), None)
        if missing is not None:
            raise InputInvalid(
                f"the tool {missing!r} of the run is a callable, which a store cannot keep",
                suggestion="Pass it again, as tools=.",
            )
        return tuple(own[record.name] if record.is_own else record.name for record in self.tools)

    def as_skills(self, given: Skills | None) -> Skills:
        """The caller's skills as they were, those that are given now over them. Raises `SkillInvalid`."""
        return self.skills.library(given)


def run_request(
    run: Run,
    models: tuple[ModelChoice, ModelChoice, ModelChoice],
    fallbacks: tuple[ModelChoice, ...] = (),
    *,
    plan: PlanChoice | None = None,
    answer_schema: AnswerSchema | None = None,
    cache: bool | float = False,
    tiers: Mapping[str, str] | None = None,
) -> RunRequest:
    """The request of a run that begins. A model that is not named is the one that would be taken now."""
    return RunRequest(
        task=run.task,
        models={
            phase: _model_record(choice, model)
            for phase, choice, model in zip(PHASES, models, run.phase_models, strict=True)
        },
        settings={field.name: getattr(run.settings, field.name) for field in fields(run.settings)},
        skills=KeptSkills.of(run.library),
        plan=_plan(plan),
        answer_schema=None if answer_schema is None else json_schema(answer_schema),
        history=tuple((turn.task, turn.answer) for turn in run.history),
        cache=cache,
        fallbacks=tuple(map(_model_record, fallbacks, run.fallbacks)),
        tools=tuple(_tool_record(name, run.tools.own.get(name)) for name in run.tools.names),
        policy=None if run.permits.policy.is_default else run.permits.policy.to_dict(),
        files=tuple(map(str, run.permits.files)),
        modes={name: tuple(skills) for name, skills in run.modes.items()},
        tiers=dict(tiers or {}),
    )


def _model(record: ModelRecord) -> ModelChoice:
    if record.is_object:
        raise InputInvalid(
            f"the model {record.name} was given to the run as an object, which a store cannot keep",
            suggestion="Pass it again, as model=, models=, planner_model= or synthesis_model=.",
        )
    return record.name or None


def _model_record(choice: ModelChoice, model: Model) -> ModelRecord:
    facts = ModelFacts.of(model)
    if choice is None or isinstance(choice, str):
        return ModelRecord(name=(choice or default_spec(os.environ)).strip(), facts=facts)
    return ModelRecord(name=facts.name, is_object=True, facts=facts)


def _tool_record(name: str, own: Tool | None) -> ToolRecord:
    if own is None:
        return ToolRecord(name=name)
    return ToolRecord(name=name, is_own=True, description=own.description, parameters=dict(own.parameters))


def _plan(given: PlanChoice | None) -> dict[str, Any] | None:
    """A plan that the caller brought; a file is read now. One that is none is refused when the run takes it."""
    if given is None:
        return None
    if isinstance(given, Plan):
        return given.model_dump(mode="json")
    if isinstance(given, Mapping):
        return dict(given)
    try:
        read = json.loads(Path(given).read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return None
    return read if isinstance(read, dict) else None
