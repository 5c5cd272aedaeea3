"""What happens in a run, as typed objects on one stream.

Names and payloads of the `skill-route-*` events follow the runtime design; the others are ours.
A listener is any callable that takes an `Event`. One that raises is logged and asked again next time:
it cannot hurt the run.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from operator import attrgetter
from typing import Any, ClassVar

log = logging.getLogger("orchestra.events")


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """`sequence` counts from 1 within a run; ids are empty strings where they do not apply."""

    type: ClassVar[str] = "event"
    session_id: str = ""
    route_run_id: str = ""
    sequence: int = 0

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready: `{"type": ..., field: value, ...}`."""
        names, values_of = _reader_of(type(self))
        return {"type": self.type, **dict(zip(names, values_of(self), strict=True))}


@cache
def _reader_of(event_type: type[Event]) -> tuple[tuple[str, ...], Callable[[Event], tuple[Any, ...]]]:
    """The names of an event's fields, and what reads their values."""
    names = tuple(field.name for field in fields(event_type))
    return names, attrgetter(*names)


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeEvent(Event):
    """What is known of one node. `timing`: `{"started_at": unix seconds or None, "duration_ms": float or None}`."""

    node_id: str = ""
    parent_node_id: str | None = None
    kind: str = ""
    skill_name: str = ""
    title: str = ""
    depth: int = 0
    status: str = ""
    mode: str = "inline"
    attempt: int = 1
    timing: Mapping[str, float | None] | None = None
    usage: Mapping[str, Any] | None = None
    error: Mapping[str, str] | None = None
    permission_snapshot: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteStarted(NodeEvent):
    """A run begins. `models` names who will be sent text, by phase, before anything is sent."""

    type: ClassVar[str] = "skill-route-started"
    task: str = ""
    models: Mapping[str, str] | None = None
    documents: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeUpdated(NodeEvent):
    type: ClassVar[str] = "skill-route-node-updated"


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteCompleted(NodeEvent):
    """The run ended with an answer, whole or partial (`result_status`), or until people have answered ("waiting")."""

    type: ClassVar[str] = "skill-route-completed"
    result_status: str = "completed"


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteFailed(NodeEvent):
    type: ClassVar[str] = "skill-route-failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class StrategyChosen(Event):
    """How the task will be answered, and why; `Result.strategy` has the estimated bills of all ways."""

    type: ClassVar[str] = "strategy-chosen"
    strategy: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LookTaken(Event):
    """The planner asked to see these sections or pages closer before it plans."""

    type: ClassVar[str] = "look-taken"
    node_id: str
    ids: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanReady(Event):
    """`plan` as JSON; ids of the subtasks that the planner answered and of those that go out."""

    type: ClassVar[str] = "plan-ready"
    plan: Mapping[str, Any]
    self_answered: Sequence[str] = ()
    delegated: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PointerResolved(Event):
    """Which rung of the ladder answered a pointer. `ranges`: `["L120-L134", ...]`, empty when unresolved."""

    type: ClassVar[str] = "pointer-resolved"
    node_id: str
    pointer: str
    rung: str
    ranges: Sequence[str] = ()
    notes: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceReady(Event):
    """What a subtask will see. `fallback` says how the slice was found when no pointer resolved."""

    type: ClassVar[str] = "slice-ready"
    node_id: str
    ranges: Sequence[str]
    tokens: int
    fallback: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowedUp(Event):
    """A reply said that something is `missing`: the subtask is asked again, over `ranges` that it has not read.

    Where its answer streams, it starts anew. `tokens` are those of the further excerpts.
    """

    type: ClassVar[str] = "followed-up"
    node_id: str
    missing: str
    ranges: Sequence[str]
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryScheduled(Event):
    type: ClassVar[str] = "retry-scheduled"
    node_id: str
    attempt: int
    delay_s: float
    error: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class CallHeldBack(Event):
    """A call waits before it goes out, for about `delay_s`: a rate limit is known to be used up. It holds no worker."""

    type: ClassVar[str] = "call-held-back"
    node_id: str
    reason: str
    delay_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CallFailed(Event):
    """A model call came to nothing, after all its attempts; `request_sha256` is the request's fingerprint.

    Told by runs with a store, whose journal keeps finished calls only: what was asked in vain can be held to its hash.
    """

    type: ClassVar[str] = "call-failed"
    node_id: str
    request_sha256: str
    error: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFellBack(Event):
    """A call goes to another model, because the first one is overloaded, out of reach or at its limit."""

    type: ClassVar[str] = "model-fell-back"
    node_id: str
    model: str
    instead_of: str
    error: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerDelta(Event):
    """A piece of the answer as it arrives. A new `attempt`, be it a retry or a follow-up, starts the text anew."""

    type: ClassVar[str] = "answer-delta"
    node_id: str
    text: str
    attempt: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Warned(Event):
    """Something was mended, dropped or doubted; the run goes on. `code` is stable."""

    type: ClassVar[str] = "warning"
    code: str
    message: str
    node_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PermissionsNarrowed(Event):
    """A node may do less than its parent. `narrowings`: `[{"permission", "taken_by", "reason"}, ...]`.

    `taken_by` is "skill" (what it declares), "policy" (the workspace's) or "trust" (the skill is not trusted).
    """

    type: ClassVar[str] = "permissions-narrowed"
    node_id: str
    narrowings: Sequence[Mapping[str, str]]
    permission_snapshot: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class PermissionRefused(Event):
    """A node asked for what it may not do. `taken_by` as in `PermissionsNarrowed`, or "run" where nobody gave it."""

    type: ClassVar[str] = "permission-refused"
    node_id: str
    permission: str
    taken_by: str
    reason: str
    permission_snapshot: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionAsked(Event):
    """A person is asked. `kind`: "approval", "ask_user" or "permission"; `shown` is what the answer is bound to."""

    type: ClassVar[str] = "question-asked"
    node_id: str
    kind: str
    title: str
    shown: Mapping[str, Any]
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionAnswered(Event):
    """`outcome`: "approved", "edited", "rejected" or "answered"."""

    type: ClassVar[str] = "question-answered"
    node_id: str
    digest: str
    outcome: str
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectReplayed(Event):
    """A finished call, tool or answer was taken from the journal or the cache (`source`), and not paid for again."""

    type: ClassVar[str] = "effect-replayed"
    node_id: str
    kind: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillLoaded(Event):
    """A run reached a skill: its body, or a file of its folder, was read."""

    type: ClassVar[str] = "skill-loaded"
    node_id: str
    skill: str
    path: str
    tokens: int


Listener = Callable[[Event], object]


class EventStream:
    """Numbers events and hands each to every listener, in order. Used from the run's own thread only.

    `sequence` is the number of the last event; a run that is resumed counts on.
    """

    def __init__(self, *listeners: Listener | None, run_id: str = "", session_id: str = "") -> None:
        self.run_id = run_id
        self.session_id = session_id
        self.sequence = 0
        self._listeners = tuple(listener for listener in listeners if listener is not None)
        self._readers = len(self._listeners)

    def listen(self, listener: Listener | None, *, reads_text: bool = True) -> None:
        """Tell one more listener, after the others, of what comes from now on.

        For one that does not read the answer as it arrives, no call is made to stream.
        """
        if listener is not None:
            self._listeners = (*self._listeners, listener)
            self._readers += reads_text

    @property
    def is_heard(self) -> bool:
        """False when there is nobody to tell, and events need not even be made."""
        return bool(self._listeners)

    @property
    def is_read(self) -> bool:
        """Whether somebody wants the answer as it arrives."""
        return self._readers > 0

    def emit(self, event_type: type[Event], /, **values: Any) -> None:
        if not self._listeners:
            return
        self.sequence += 1
        event = event_type(session_id=self.session_id, route_run_id=self.run_id, sequence=self.sequence, **values)
        for listener in self._listeners:
            try:
                listener(event)
            except Exception:
                log.warning("a listener raised on %s", event.type, exc_info=True)
