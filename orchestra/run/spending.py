"""What the calls of a run cost, held against its budget."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable

from orchestra.document import count_tokens
from orchestra.errors import InputInvalid, ModelReplyInvalid, ModelTimeout, NodeTimeout
from orchestra.models.protocol import Model, ModelRequest, Usage
from orchestra.runtime.budget import NOTHING, Amount, Budget
from orchestra.runtime.calls import model_base_url, model_name
from orchestra.settings import Settings


def budget_of(settings: Settings, models: Iterable[Model]) -> Budget:
    """The budget of a run. Raises `InputInvalid` for a limit in dollars where a model has no known price."""
    if settings.max_cost_usd is not None:
        for model in models:
            if _price(model, Usage(1)) is None:
                raise InputInvalid(
                    f"max_cost_usd is set, and no price is known for {model_name(model)}",
                    cause="what its calls cost could not be held to a limit",
                    suggestion="Use max_tokens_total, or a model that the price list knows.",
                )
    return Budget(max_tokens=settings.max_tokens_total, max_cost_usd=settings.max_cost_usd)


def most(budget: Budget, models: Iterable[Model], counted: int, max_tokens: int) -> Amount:
    """What a call can take, whichever of `models` answers: its input, `counted` here and scaled to the provider's
    count, and all of its output.

    Every input token is priced as if it were written to a prompt cache, where that is the dearer way.
    """
    input_tokens = math.ceil(counted * budget.scale)
    cost = 0.0
    for model in models if budget.max_cost_usd is not None else ():
        plain = _price(model, Usage(input_tokens, output_tokens=max_tokens)) or 0.0
        written = _price(model, Usage(cache_write_tokens=input_tokens, output_tokens=max_tokens)) or 0.0
        cost = max(cost, plain, written)
    return Amount(input_tokens + max_tokens, cost)


def amount_of(budget: Budget, model: Model, usage: Usage) -> Amount:
    """What a call has taken."""
    cost = _price(model, usage) or 0.0 if budget.max_cost_usd is not None else 0.0
    return Amount(usage.total_input_tokens + usage.output_tokens, cost)


def billed_usage(error: BaseException) -> Usage | None:
    """The usage of a call that failed and was billed all the same, where the provider reported it."""
    usage = getattr(error, "details", {}).get("usage")
    return usage if isinstance(usage, Usage) else None


def possibly_billed(error: BaseException, at_most: Amount) -> Amount:
    """What a failed call may have cost that nobody reported: all of it where a reply was under way, else nothing."""
    return at_most if isinstance(error, ModelTimeout | NodeTimeout | ModelReplyInvalid) else NOTHING


def sent_tokens(request: ModelRequest) -> int:
    """Tokens of all that is sent, the reply's schema and the tools included, counted here."""
    frame = [dict(request.schema)] if request.schema is not None else []
    frame += [dict(message.raw) for message in request.messages if message.raw]
    frame += [{"name": tool.name, "about": tool.description, **tool.parameters} for tool in request.tools]
    return count_tokens(request.prompt) + sum(count_tokens(json.dumps(part, default=str)) for part in frame)


def _price(model: Model, usage: Usage) -> float | None:
    from orchestra.models.prices import price

    return price(model_name(model), usage, base_url=model_base_url(model))
