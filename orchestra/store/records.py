"""What the store holds, as callers give it and get it back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

from pydantic import TypeAdapter, ValidationError

from orchestra.errors import StoreDamaged

RunStatus = Literal["running", "waiting", "completed", "partial", "failed", "cancelled"]
CallKind = Literal["model", "tool", "code", "person"]
ApprovalStatus = Literal["open", "answered"]
Outcome = Literal["", "approved", "edited", "rejected", "answered"]

T = TypeVar("T")
_readers: dict[type, TypeAdapter[Any]] = {}


@dataclass(frozen=True, slots=True)
class DocumentRef:
    """A document of a run: the name it went by, and the hash under which its text is kept."""

    name: str
    digest: str


@dataclass(frozen=True, slots=True)
class RunRecord:
    """One run. `request` holds, as JSON, all that is needed to start it again; times are unix seconds."""

    id: str
    task: str
    session_id: str = ""
    status: RunStatus = "running"
    request: Mapping[str, Any] = field(default_factory=dict)
    documents: tuple[DocumentRef, ...] = ()
    models: Mapping[str, Any] = field(default_factory=dict)
    started_at: float = 0.0
    ended_at: float | None = None
    result: Mapping[str, Any] | None = None
    error: Mapping[str, Any] | None = None
    version: str = ""


@dataclass(frozen=True, slots=True)
class RunSummary:
    """One line of a list of runs. `skills` are those that its nodes used, by name."""

    id: str
    task: str
    session_id: str
    status: RunStatus
    documents: tuple[str, ...]
    skills: tuple[str, ...]
    models: Mapping[str, Any]
    started_at: float
    ended_at: float | None
    error: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class NodeRecord:
    """The last that is known of a node, as its events told it."""

    node_id: str
    parent_node_id: str | None = None
    kind: str = ""
    skill_name: str = ""
    title: str = ""
    depth: int = 0
    status: str = ""
    mode: str = ""
    attempt: int = 1
    timing: Mapping[str, float | None] | None = None
    usage: Mapping[str, Any] | None = None
    error: Mapping[str, Any] | None = None
    permission_snapshot: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class CallRecord:
    """One entry of a run's journal. `payload` is None where the call was begun, and nobody saw it end."""

    node_id: str
    kind: CallKind
    fingerprint: str
    ordinal: int
    begun_at: float
    finished_at: float | None
    payload: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class ApprovalRecord:
    """A question to a person, bound by `digest` to what was `shown`, and the answer once there is one."""

    run_id: str
    node_id: str
    kind: str
    title: str
    shown: Mapping[str, Any]
    digest: str
    asked_at: float
    status: ApprovalStatus = "open"
    outcome: Outcome = ""
    edited: Any = None
    reason: str = ""
    text: str = ""
    answered_at: float | None = None


@dataclass(frozen=True, slots=True)
class SessionRecord:
    """A session, with how many runs it has, and the task of the first of them."""

    id: str
    title: str
    started_at: float
    runs: int = 0
    first_task: str = ""


def read(record: type[T], values: Mapping[str, Any], *, where: str) -> T:
    """A record from what a database gave. `StoreDamaged` names `where` when it no longer is one."""
    reader = _readers.get(record)
    if reader is None:
        reader = _readers[record] = TypeAdapter(record)
    try:
        return reader.validate_python(dict(values))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise StoreDamaged(
            f"{where} cannot be read",
            cause=f"{place}: {first['msg']}",
            suggestion="It was changed or written by another version; `orchestra runs rm` removes a run.",
        ) from error
