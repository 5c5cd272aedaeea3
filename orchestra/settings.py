"""What a caller may choose, and the kinds of things he may pass."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from orchestra.document import Document, DocumentSet
from orchestra.errors import InputInvalid
from orchestra.models.protocol import Cancellation, Model
from orchestra.planning.assemble import OnUnresolved
from orchestra.planning.outline_planner import OUTLINE_TOKENS
from orchestra.planning.plan import Plan
from orchestra.planning.strategy import CHOICES, StrategyChoice
from orchestra.runtime.events import Listener
from orchestra.skills import Skill, SkillLibrary

Context = str | Path | Document | DocumentSet | Sequence[str | Path | Document]
Skills = SkillLibrary | Mapping[str, str | Mapping[str, Any] | Skill]
ModelChoice = str | Model | None
PlanChoice = Plan | Mapping[str, Any] | str | Path

MOST_FOLLOWUPS = 3
SUBTASK_TIMEOUT_S = 60.0
PHASE_TIMEOUT_S = 300.0  # planning and synthesis
REPLY_ROOM = 0.9  # share of a context window that a slice may take
_LONGEST_PATH_TEXT = 10_000  # characters


@dataclass(frozen=True, slots=True)
class Settings:
    """What a caller may set.

    `timeout_s` None means 60 s for a subtask and 300 s for the other phases; `on_unresolved` None means "search" by
    strategy `outline` and "full" otherwise.
    """

    max_workers: int = 5
    max_tokens: int = 2048
    synthesis_max_tokens: int = 4096
    temperature: float | None = 0.3
    on_unresolved: OnUnresolved | None = None
    timeout_s: float | None = None
    max_attempts: int = 3
    strategy: StrategyChoice = "auto"
    outline_tokens: int = OUTLINE_TOKENS
    is_document_cached: bool = False
    max_followups: int = 1
    max_tokens_total: int | None = None
    max_cost_usd: float | None = None

    def check(self) -> None:
        """Raise `InputInvalid` for a value that makes no sense."""
        for name in ("max_workers", "max_tokens", "synthesis_max_tokens", "max_attempts", "outline_tokens"):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise InputInvalid(f"{name} is {value!r}", cause="it is a whole number of at least 1")
        limit = self.max_tokens_total
        if limit is not None and (type(limit) is not int or limit < 1):
            raise InputInvalid(f"max_tokens_total is {limit!r}", cause="it is a whole number of at least 1, or None")
        cost = self.max_cost_usd
        if cost is not None and not (_is_number(cost) and 0 <= cost < math.inf):
            raise InputInvalid(f"max_cost_usd is {cost!r}", cause="it is a number of dollars, at least 0, or None")
        if self.timeout_s is not None and not (_is_number(self.timeout_s) and self.timeout_s > 0):
            raise InputInvalid(f"timeout_s is {self.timeout_s!r}", cause="it is a number of seconds above 0")
        if self.temperature is not None and not (_is_number(self.temperature) and 0 <= self.temperature < math.inf):
            raise InputInvalid(f"temperature is {self.temperature!r}", cause="it is a number of at least 0, or None")
        if type(self.max_followups) is not int or not 0 <= self.max_followups <= MOST_FOLLOWUPS:
            raise InputInvalid(f"max_followups is {self.max_followups!r}", cause=f"it is 0 to {MOST_FOLLOWUPS}")
        if self.strategy not in CHOICES:
            raise InputInvalid(f"strategy is {self.strategy!r}", cause=f"it is one of {', '.join(CHOICES)}")
        if self.on_unresolved not in ("full", "search", "error", None):
            raise InputInvalid(f"on_unresolved is {self.on_unresolved!r}", cause="it is 'full', 'search' or 'error'")


@dataclass(frozen=True, slots=True)
class Services:
    """What a run is given to work with, besides documents, skills and models: who listens, who may stop it."""

    on_event: Listener | None = None
    cancellation: Cancellation | None = None


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_path_of_a_file(text: str) -> bool:
    """Whether a caller who passed this as text meant the file: he would get an answer about its path."""
    if len(text) > _LONGEST_PATH_TEXT:  # a huge text is not copied to find out
        return False
    line = text.strip()
    return len(line) <= 255 and "\n" not in line and Path(line).is_file()
