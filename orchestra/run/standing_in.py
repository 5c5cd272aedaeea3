"""Fallback models: who answers a call when the model that was meant to is overloaded, out of reach or at a limit."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from orchestra.errors import ModelError
from orchestra.models.protocol import Model, ModelReply, Usage
from orchestra.run.state import Run
from orchestra.runtime.attempts import takes_over
from orchestra.runtime.calls import model_name
from orchestra.runtime.events import ModelFellBack
from orchestra.runtime.node import Node


@dataclass(frozen=True, slots=True)
class Try:
    """One model's turn at a call: how many attempts it may make, and how many were made before it."""

    model: Model
    attempts: int
    attempts_before: int = 0
    is_stand_in: bool = False


async def ask_in_turn(
    run: Run, node: Node, models: Sequence[Model], ask_one: Callable[[Try], Awaitable[ModelReply]]
) -> tuple[ModelReply, Model]:
    """The reply of the first of `models` that gives one, and who that was.

    An attempt is kept for each model that stands behind, and `max_attempts` caps those of a node, whoever makes them.
    Raises the first model's error, with what became of the others as its cause.
    """
    failures: list[tuple[Model, ModelError]] = []
    node.attempt = 0
    for at, model in enumerate(models):
        attempts = max(1, attempts_left(run, node) - (len(models) - at - 1))
        try:
            return await ask_one(Try(model, attempts, node.attempt, is_stand_in=at > 0)), model
        except ModelError as error:
            if not failures and not takes_over(error):
                raise
            failures.append((model, error))
            if at + 1 == len(models) or not attempts_left(run, node):
                raise _as_one(failures) from None
            _tell(run, node, model, models[at + 1], error)
    raise AssertionError("there is always a model")


def attempts_left(run: Run, node: Node) -> int:
    """How many more attempts a node's calls may make that fail."""
    return max(0, run.settings.max_attempts - node.failed_attempts)


def stand_in_for(run: Run, model: Model, reply: ModelReply) -> Model:
    """Who gave a reply, `model` having been asked first."""
    named = (each for each in run.fallbacks if model_name(each) == reply.answered_by)
    return next(named, model) if reply.answered_by else model


def keep_bill(run: Run, node: Node, model: Model, asked: Model, usage: Usage) -> None:
    """Remember that a call of a node was billed by another model than that of its phase: a stand-in, or a tier's."""
    if model is not asked or asked in run.tier_models.values():
        run.stand_ins.setdefault(node.id, []).append((model, usage))


def _tell(run: Run, node: Node, model: Model, following: Model, error: ModelError) -> None:
    instead_of, name = model_name(model), model_name(following)
    run.stream.emit(ModelFellBack, node_id=node.id, model=name, instead_of=instead_of, error=error.to_dict())
    run.warn("MODEL_FELL_BACK", f"{name} stands in for {instead_of}: {error.what}", node.id)


def _as_one(failures: Sequence[tuple[Model, ModelError]]) -> ModelError:
    """The first error; its cause also says what the others came to."""
    (_, first), *others = failures
    causes = [first.cause, *(f"{model_name(model)} after it: {error.code}: {error.what}" for model, error in others)]
    first.cause = "; ".join(cause for cause in causes if cause)
    return first
