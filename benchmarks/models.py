"""The models of a run: the real one, with or without a store, or a stand-in that sends nothing."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.store import ModelFacts, ReplyStore, StoredModel, facts_of
from orchestra.models import context_window, price, resolve_model
from orchestra.models.protocol import Model, ModelReply, ModelRequest, Usage
from orchestra.models.registry import BUILTIN

PRICED_AS = "anthropic:claude-sonnet-5-5"  # what the built-in engine's tokens are priced as, unless told otherwise


def model_of(spec: str, store: ReplyStore | None) -> Model:
    """The model that `spec` names. The built-in engine needs no store: it answers anew as fast as a store would."""
    return resolve_model(spec) if store is None or is_builtin(spec) else StoredModel(spec, store)


def is_builtin(spec: str) -> bool:
    return spec == BUILTIN


class StandIn:
    """The built-in engine under another model's name: requests are made as they would be, nothing is sent."""

    def __init__(self, spec: str) -> None:
        self._engine = resolve_model(BUILTIN)
        self.name = spec
        self.context_window = context_window(spec)
        self.notice = facts_of(self._engine).notice

    def complete(self, request: ModelRequest) -> ModelReply:
        return replace(self._engine.complete(request), model=self.name)


class Prices:
    """What tokens cost at one model's list prices."""

    def __init__(self, facts: ModelFacts, priced_as: str) -> None:
        self._name = priced_as or facts.name
        self._base_url = "" if priced_as else facts.base_url

    def of(self, usages: list[Usage]) -> float | None:
        """US dollars; None where the price of a call is not known."""
        prices = [price(self._name, usage, base_url=self._base_url) for usage in usages]
        known = [each for each in prices if each is not None]
        return sum(known) if len(known) == len(prices) else None
