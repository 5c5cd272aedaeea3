"""What stands for models and tools in a run that is carried out again from its record. None of it does anything."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from orchestra.errors import OrchestraError, ToolFailed
from orchestra.models.protocol import Model, ModelReply, ModelRequest
from orchestra.models.registry import resolve_model
from orchestra.run.request import ModelFacts, ModelRecord, ToolRecord
from orchestra.runtime.tools.given import ToolChoice

_NO_KEY = dict.fromkeys(("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OLLAMA_API_KEY"), "none")


@dataclass(frozen=True, slots=True)
class StandIn:
    """A model by what requests depend on. It answers nothing."""

    name: str
    base_url: str = ""
    context_window: int | None = None
    cache_minimum_tokens: int | None = None
    notice: str = ""

    def complete(self, request: ModelRequest) -> ModelReply:
        raise OrchestraError(f"{self.name} is not asked here")


def model_of(record: ModelRecord) -> Model:
    """By what the run has on record of it; where that is its name alone, by what is known of that name here."""
    facts = record.facts or _facts_here(record)
    return StandIn(**facts.model_dump())


def tier_models(tiers: Mapping[str, str]) -> dict[str, Model]:
    return {tier: model_of(ModelRecord(name=name)) for tier, name in tiers.items()}


def _facts_here(record: ModelRecord) -> ModelFacts:
    if record.is_object:
        return ModelFacts(name=record.name)
    try:
        return ModelFacts.of(resolve_model(record.name, environ={**_NO_KEY, **os.environ}))
    except OrchestraError:  # a provider that is not known any more
        return ModelFacts(name=record.name)


def tools_of(records: Sequence[ToolRecord]) -> tuple[ToolChoice, ...]:
    """The tools that models were told of. None of the caller's own is called."""
    from orchestra.runtime.tools.tool import Tool

    return tuple(
        Tool(record.name, record.description, record.parameters, _never_called) if record.is_own else record.name
        for record in records
    )


def _never_called(**_: Any) -> NoReturn:
    raise ToolFailed("a tool is not called here")
