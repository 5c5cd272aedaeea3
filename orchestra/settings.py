"""What a caller may choose, and the kinds of things he may pass."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict, TypeVar, cast

from orchestra.document import Document, DocumentSet
from orchestra.errors import InputInvalid
from orchestra.models.deadline import Cancellation
from orchestra.models.protocol import Model
from orchestra.planning.assemble import OnUnresolved
from orchestra.planning.history import HISTORY_TOKENS, Turn
from orchestra.planning.outline_planner import OUTLINE_TOKENS
from orchestra.planning.plan import Plan
from orchestra.planning.strategy import CHOICES, StrategyChoice
from orchestra.runtime.events import Listener
from orchestra.runtime.questions import OnApproval
from orchestra.runtime.tools.given import ToolChoice
from orchestra.runtime.workers import WorkerPool
from orchestra.skills import CATALOGUE_TOKENS, Skill, SkillLibrary, fold_name
from orchestra.skills.policy import Policy

if TYPE_CHECKING:
    from orchestra.store import Store

T = TypeVar("T")

Context = str | Path | Document | DocumentSet | Sequence[str | Path | Document]
Skills = SkillLibrary | Mapping[str, str | Mapping[str, Any] | Skill]
ModelChoice = str | Model | None
StoreChoice: TypeAlias = "Store | str | Path | bool | None"
"""An open store, the place of one, None for the configured one, False for none."""
PlanChoice = Plan | Mapping[str, Any] | str | Path
PerSkill = Mapping[str, T] | T
"""By skill, or one value for every skill."""

MOST_FOLLOWUPS = 3
MOST_RETRIES = 2
SUBTASK_TIMEOUT_S = 60.0
PHASE_TIMEOUT_S = 300.0  # planning and synthesis
LONGEST_TIMEOUT_S = 1_000_000
REPLY_ROOM = 0.9  # share of a context window that a slice may take
_LONGEST_PATH_TEXT = 10_000  # characters


class Options(TypedDict, total=False):
    """The keyword arguments that choose a `Settings`. One that is not given is the configuration's."""

    max_workers: int
    max_tokens: int
    synthesis_max_tokens: int
    temperature: float | None
    on_unresolved: OnUnresolved | None
    timeout_s: float | None
    phase_timeout_s: float | None
    timeout_per_skill: PerSkill[float] | None
    retries: int
    retry_on_failure: PerSkill[int | bool] | None
    max_attempts: int
    max_depth: int
    strategy: StrategyChoice
    mode: str
    outline_tokens: int
    catalogue_tokens: int
    is_document_cached: bool
    history_tokens: int
    max_followups: int
    max_tokens_total: int | None
    max_cost_usd: float | None


@dataclass(frozen=True, slots=True)
class Settings:
    """What a caller may set; `RANGES` says what each may be.

    `timeout_s` bounds each attempt of a call; None means 60 s for a subtask and 300 s for planning and synthesis, which
    `phase_timeout_s` bounds by itself. `timeout_per_skill` and `retry_on_failure` are for the subtasks of a skill, and
    win over what its manifest says; as one value, they are for every skill whose manifest says nothing. `retries` is
    how often a subtask that failed is done again, within `max_attempts`. That caps the failed attempts of a node: those
    of all its calls, of all models that stand in, and of all its `retries` together. `on_unresolved` None means
    "search" by strategy `outline` and "full" otherwise.
    """

    max_workers: int = 5
    max_tokens: int = 2048
    synthesis_max_tokens: int = 4096
    temperature: float | None = 0.3
    on_unresolved: OnUnresolved | None = None
    timeout_s: float | None = None
    phase_timeout_s: float | None = None
    timeout_per_skill: PerSkill[float] | None = None
    retries: int = 0
    retry_on_failure: PerSkill[int | bool] | None = None
    max_attempts: int = 3
    max_depth: int = 4
    strategy: StrategyChoice = "auto"
    mode: str = "eco"
    outline_tokens: int = OUTLINE_TOKENS
    catalogue_tokens: int = CATALOGUE_TOKENS
    is_document_cached: bool = False
    history_tokens: int = HISTORY_TOKENS
    max_followups: int = 1
    max_tokens_total: int | None = None
    max_cost_usd: float | None = None

    def check(self) -> None:
        """Raise `InputInvalid` for a value that makes no sense."""
        for name, default in _DEFAULTS.items():
            value = getattr(self, name)
            if value is not default:
                RANGES[name].check(name, value)

    def subtask_limit_s(self, *skills: Skill) -> float:
        """Seconds for one attempt of a call that does the work of these skills' subtasks, together."""
        each = [self._own_timeout_s(skill) or self.timeout_s or SUBTASK_TIMEOUT_S for skill in skills]
        return sum(each) if self.timeout_s is None else max(each)

    @property
    def most_catalogue_tokens(self) -> int:
        """What a planner may be shown of the skills, at most half of an outline's prompt."""
        return min(self.catalogue_tokens, self.outline_tokens // 2)

    @property
    def phase_limit_s(self) -> float:
        """Seconds for one attempt of a call that plans or joins."""
        return self.phase_timeout_s or self.timeout_s or PHASE_TIMEOUT_S

    def retries_of(self, skill: Skill) -> int:
        """How often a subtask of this skill is done again when it fails."""
        own, general = _named(self.retry_on_failure, skill), _bare(self.retry_on_failure)
        return int(_first(own, skill.retries, general, self.retries))

    def skills_named(self) -> list[tuple[str, str]]:
        """Every skill that a setting names, after the setting's name."""
        by_skill = {"timeout_per_skill": self.timeout_per_skill, "retry_on_failure": self.retry_on_failure}
        return [(name, skill) for name, value in by_skill.items() if isinstance(value, Mapping) for skill in value]

    def _own_timeout_s(self, skill: Skill) -> float | None:
        return _first(_named(self.timeout_per_skill, skill), skill.timeout_s, _bare(self.timeout_per_skill), None)


def _named(setting: PerSkill[T] | None, skill: Skill) -> T | None:
    if not isinstance(setting, Mapping):
        return None
    return next((value for name, value in setting.items() if fold_name(name) == skill.name), None)


def _bare(setting: PerSkill[T] | None) -> T | None:
    return None if isinstance(setting, Mapping) else setting


def _first(*values: Any) -> Any:
    return next((value for value in values if value is not None), None)


@dataclass(frozen=True, slots=True)
class Range:
    """What a setting may be, and the words that say so: "it is {words}"."""

    words: str
    holds: Callable[[Any], bool]

    def check(self, name: str, value: object) -> None:
        """Raise `InputInvalid` for a value outside it."""
        if not self.holds(value):
            raise InputInvalid(f"{name} is {value!r}", cause=f"it is {self.words}")

    def or_none(self) -> Range:
        return Range(f"{self.words}, or None", lambda value: value is None or self.holds(value))

    def or_per_skill(self) -> Range:
        """One value, or a mapping of skills to values."""

        def holds(value: Any) -> bool:
            if not isinstance(value, Mapping):
                return value is None or self.holds(value)
            entries = cast("Mapping[object, object]", value).items()
            return all(isinstance(name, str) and bool(fold_name(name)) and self.holds(each) for name, each in entries)

        return Range(f"{self.words}, or a mapping of skills to such values", holds)


def _whole(least: int, most: int | None = None) -> Range:
    words = f"a whole number of at least {least}" if most is None else f"a whole number from {least} to {most}"
    return Range(words, lambda value: type(value) is int and least <= value <= (value if most is None else most))


def _one_of(*choices: str) -> Range:
    return Range(f"one of {', '.join(choices)}", lambda value: isinstance(value, str) and value in choices)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and -math.inf < value < math.inf


_seconds = Range(
    f"a number of seconds above 0, at most {LONGEST_TIMEOUT_S:,}",
    lambda value: _is_number(value) and 0 < value <= LONGEST_TIMEOUT_S,
)
_times = Range(
    f"a whole number from 0 to {MOST_RETRIES}, or true or false",
    lambda value: isinstance(value, int) and 0 <= value <= MOST_RETRIES,
)

RANGES: Mapping[str, Range] = {
    "max_workers": _whole(1),
    "max_tokens": _whole(1),
    "synthesis_max_tokens": _whole(1),
    "temperature": Range("a number of at least 0", lambda value: _is_number(value) and value >= 0).or_none(),
    "on_unresolved": _one_of("full", "search", "error").or_none(),
    "timeout_s": _seconds.or_none(),
    "phase_timeout_s": _seconds.or_none(),
    "timeout_per_skill": _seconds.or_per_skill(),
    "retries": _whole(0, MOST_RETRIES),
    "retry_on_failure": _times.or_per_skill(),
    "max_attempts": _whole(1),
    "max_depth": _whole(2, 8),
    "strategy": _one_of(*CHOICES),
    "mode": Range("the name of a mode", lambda value: isinstance(value, str) and bool(value.strip())),
    "outline_tokens": _whole(1),
    "catalogue_tokens": _whole(1),
    "history_tokens": _whole(0),
    "is_document_cached": Range("true or false", lambda value: isinstance(value, bool)),
    "max_followups": _whole(0, MOST_FOLLOWUPS),
    "max_tokens_total": _whole(1).or_none(),
    "max_cost_usd": Range("a number of dollars, at least 0", lambda value: _is_number(value) and value >= 0).or_none(),
}
"""What each field of `Settings` may be. Nothing else knows ranges."""
_DEFAULTS: Mapping[str, Any] = {name: getattr(Settings(), name) for name in RANGES}


@dataclass(frozen=True, slots=True)
class Services:
    """What a run is given to work with, besides documents, skills and models: who listens, who may stop it,
    who is asked, which tools there are, what the workspace allows, where it is kept, and what was asked before.

    `run_id` is that of a run that goes on; a new one gets its own. `files` were its documents when it began.
    `modes` are the workspace's own compositions of skills, `tiers` the models of "fast", "balanced" and "strong".
    """

    on_event: Listener | None = None
    cancellation: Cancellation | None = None
    on_approval: OnApproval | None = None
    policy: Policy = field(default_factory=Policy)
    fallbacks: tuple[ModelChoice, ...] = ()
    pool: WorkerPool | None = None
    store: Store | None = None
    run_id: str = ""
    session_id: str = ""
    history: tuple[Turn, ...] = ()
    tools: Sequence[ToolChoice] = ()
    files: tuple[Path, ...] = ()
    modes: Mapping[str, Sequence[str]] = field(default_factory=dict)
    tiers: Mapping[str, str] = field(default_factory=dict)


def first_and_fallbacks(
    model: ModelChoice, models: Sequence[ModelChoice] | None
) -> tuple[ModelChoice, tuple[ModelChoice, ...]]:
    """The model that is asked first, and those that stand in for it, in order. Raises `InputInvalid`."""
    if models is None:
        return model, ()
    if model is not None:
        raise InputInvalid("model and models are both given", suggestion="Put the model first in models=[...].")
    if isinstance(models, str) or not models or None in models:
        raise InputInvalid(f"models is {models!r}", cause="it is a list of models, the first one first")
    if any(each in models[:at] for at, each in enumerate(models)):
        raise InputInvalid("a model stands twice in models", cause="one that failed does not stand in for itself")
    return models[0], tuple(models[1:])


def is_path_of_a_file(text: str) -> bool:
    """Whether a caller who passed this as text meant the file: he would get an answer about its path."""
    if len(text) > _LONGEST_PATH_TEXT:  # a huge text is not copied to find out
        return False
    line = text.strip()
    return len(line) <= 255 and "\n" not in line and Path(line).is_file()
