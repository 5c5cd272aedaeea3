"""What a strategy is: a way from a question and a document to an answer, by calls to one model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from orchestra.document import Document
from orchestra.models.deadline import Cancellation
from orchestra.models.protocol import Model


@dataclass(frozen=True, slots=True)
class Attempt:
    """One question to be answered one way.

    `budget_tokens` is what the whole prompt may hold, for a strategy with a budget; `subtasks` how many a naive
    fan-out makes.
    """

    question: str
    document: Document
    model: Model
    cancellation: Cancellation
    subtasks: int = 5
    budget_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Answered:
    """The answer. `estimated_input_tokens` is what the cost model expected, `chosen` what `auto` took."""

    text: str
    chosen: str = ""
    estimated_input_tokens: int | None = None


Strategy: TypeAlias = Callable[[Attempt], Answered]
