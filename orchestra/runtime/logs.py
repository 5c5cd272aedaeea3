"""A run's events as records of the standard `logging`, under "orchestra.run"; silent until somebody listens.

A record's message is short, and its fields are attributes of the record (`run_id`, `node_id`, `code`, ...), for
formatters and filters. No text of documents, tasks, prompts, replies, tools or people is ever logged, and no key: only
ids, names of skills and models, codes, counts and times. What a defect raised is logged with its traceback, of which
`JsonFormatter` prints no message.
"""

from __future__ import annotations

import hashlib
import json
import logging
import re
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from typing import Any, cast

from orchestra.runtime.events import (
    CallHeldBack,
    EffectReplayed,
    Event,
    FollowedUp,
    Listener,
    ModelFellBack,
    NodeEvent,
    NodeUpdated,
    PermissionRefused,
    PlanReady,
    QuestionAnswered,
    QuestionAsked,
    RetryScheduled,
    RouteCompleted,
    RouteFailed,
    RouteStarted,
    SkillLoaded,
    StrategyChosen,
    Warned,
)

log = logging.getLogger("orchestra.run")
logging.getLogger("orchestra").addHandler(logging.NullHandler())  # else Python prints warnings that nobody asked for

FIELDS = (
    "event",
    "run_id",
    "session_id",
    "node_id",
    "kind",
    "skill",
    "status",
    "code",
    "model",
    "models",
    "strategy",
    "attempt",
    "delay_s",
    "duration_ms",
    "input_tokens",
    "cached_input_tokens",
    "cache_write_tokens",
    "output_tokens",
    "tokens",
    "documents",
    "delegated",
    "self_answered",
    "permission",
    "taken_by",
    "source",
    "outcome",
)
"""What a record may carry besides its message."""

Fields = dict[str, Any]
Described = tuple[int, str, Fields]
_WORD = re.compile(r"[A-Za-z_][\w-]*")
_PLAIN = re.compile(r"[A-Za-z0-9_.:-]{1,40}")


def log_listener() -> Listener | None:
    """Logs each event that deserves it; None where no handler would get a record, so that nothing is made in vain."""
    return _log_event if _is_heard(log) else None


def logged_id(node_id: str) -> str:
    """A node's id as it may be logged: a planner names subtasks, and what is no plain name may be a text."""
    parts = (part if _PLAIN.fullmatch(part) else f"~{_digest(part)}" for part in node_id.split("/"))
    return "/".join(parts)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:8]


def _is_heard(logger: logging.Logger) -> bool:
    if not logger.isEnabledFor(logging.CRITICAL):
        return False
    current: logging.Logger | None = logger
    while current is not None:
        if any(not isinstance(handler, logging.NullHandler) for handler in current.handlers):
            return True
        current = current.parent if current.propagate else None
    return False


def _log_event(event: Event) -> None:
    describe = _DESCRIBED.get(type(event))
    described = describe(event) if describe is not None else None
    if described is None:
        return
    level, message, fields = described
    if not log.isEnabledFor(level):
        return
    known = {"event": event.type, "run_id": event.route_run_id, "session_id": event.session_id, **fields}
    log.log(level, message, extra={name: value for name, value in known.items() if value not in (None, "")})


def _started(event: RouteStarted) -> Described:
    models = dict(event.models or {})
    names = ", ".join(dict.fromkeys(models.values()))
    return logging.INFO, f"run started with {names}", {"models": models, "documents": len(event.documents)}


def _ended(event: RouteCompleted | RouteFailed) -> Described:
    status = event.result_status if isinstance(event, RouteCompleted) else event.status
    fields = {**_of_node(event), "status": status}
    code = fields.get("code")
    level = logging.INFO if status in ("completed", "waiting") else logging.WARNING
    return level, f"run {status}" + (f" ({code})" if code else ""), fields


def _updated(event: NodeUpdated) -> Described | None:
    if event.depth == 0:  # the run itself has events of its own
        return None
    fields = _of_node(event)
    if event.status in ("failed", "cancelled"):
        return logging.WARNING, f"{logged_id(event.node_id)} {event.status} ({fields.get('code', '')})", fields
    level = logging.INFO if event.status == "completed" else logging.DEBUG
    return level, f"{logged_id(event.node_id)} {event.status}", fields


def _of_node(event: NodeEvent) -> Fields:
    usage = event.usage or {}
    counts = ("input_tokens", "cached_input_tokens", "cache_write_tokens", "output_tokens")
    return {
        "node_id": logged_id(event.node_id),
        "kind": event.kind,
        "skill": event.skill_name,
        "status": event.status,
        "attempt": event.attempt,
        "duration_ms": (event.timing or {}).get("duration_ms"),
        "code": (event.error or {}).get("code"),
        **{name: usage[name] for name in counts if name in usage},
    }


def _retried(event: RetryScheduled) -> Described:
    code = event.error.get("code", "")
    fields = {"node_id": logged_id(event.node_id), "attempt": event.attempt, "delay_s": event.delay_s, "code": code}
    return logging.WARNING, f"{logged_id(event.node_id)} is tried again in {event.delay_s:.1f} s ({code})", fields


def _fell_back(event: ModelFellBack) -> Described:
    fields = {"node_id": logged_id(event.node_id), "model": event.model, "code": event.error.get("code")}
    return logging.WARNING, f"{event.model} stands in for {event.instead_of}", fields


def _refused(event: PermissionRefused) -> Described:
    word = _WORD.match(event.permission)  # a tool's arguments and a path may hold text
    permission = word[0] if word else ""
    fields = {"node_id": logged_id(event.node_id), "permission": permission, "taken_by": event.taken_by}
    return logging.WARNING, f"{logged_id(event.node_id)} may not use {permission}", fields


def _planned(event: PlanReady) -> Described:
    delegated, answered = len(event.delegated), len(event.self_answered)
    message = f"plan: {delegated} delegated, {answered} self-answered"
    return logging.INFO, message, {"delegated": delegated, "self_answered": answered}


_DESCRIBED: Mapping[type[Event], Callable[[Any], Described | None]] = {
    RouteStarted: _started,
    RouteCompleted: _ended,
    RouteFailed: _ended,
    NodeUpdated: _updated,
    RetryScheduled: _retried,
    ModelFellBack: _fell_back,
    PermissionRefused: _refused,
    PlanReady: _planned,
    StrategyChosen: lambda event: (logging.INFO, f"strategy {event.strategy}", {"strategy": event.strategy}),
    Warned: lambda event: (
        logging.WARNING,
        f"notice {event.code}",
        {"code": event.code, "node_id": logged_id(event.node_id)},
    ),
    FollowedUp: lambda event: (
        logging.INFO,
        f"{logged_id(event.node_id)} is followed up",
        {"node_id": logged_id(event.node_id), "tokens": event.tokens},
    ),
    CallHeldBack: lambda event: (
        logging.INFO,
        f"{logged_id(event.node_id)} waits for a limit",
        {"node_id": logged_id(event.node_id)},
    ),
    EffectReplayed: lambda event: (
        logging.INFO,
        f"{logged_id(event.node_id)} has its {event.kind} from the {event.source}",
        {"node_id": logged_id(event.node_id), "kind": event.kind, "source": event.source},
    ),
    QuestionAsked: lambda event: (
        logging.INFO,
        f"{logged_id(event.node_id)} asks a person",
        {"node_id": logged_id(event.node_id), "kind": event.kind},
    ),
    QuestionAnswered: lambda event: (
        logging.INFO,
        f"{logged_id(event.node_id)} was answered",
        {"node_id": logged_id(event.node_id), "outcome": event.outcome},
    ),
    SkillLoaded: lambda event: (
        logging.DEBUG,
        f"{logged_id(event.node_id)} loaded {event.skill}",
        {"node_id": logged_id(event.node_id), "skill": event.skill, "tokens": event.tokens},
    ),
}


class JsonFormatter(logging.Formatter):
    """One JSON object per line: `time` (ISO 8601, UTC), `level`, `logger`, `message`, and the fields that are set.

    Of an exception its type and where it was raised, not what it says: that may quote what was sent.
    """

    def format(self, record: logging.LogRecord) -> str:
        moment = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        line: Fields = {
            "time": f"{moment}.{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **{name: getattr(record, name) for name in FIELDS if hasattr(record, name)},
        }
        if record.exc_info and record.exc_info[0] is not None:
            line["exception"] = record.exc_info[0].__name__
            line["raised_at"] = list(_frames(record))
        return json.dumps(line, ensure_ascii=True, default=str)


def _frames(record: logging.LogRecord) -> Iterator[str]:
    exception = cast("tuple[Any, Any, Any]", record.exc_info)
    for frame in traceback.extract_tb(exception[2]):
        yield f"{frame.filename}:{frame.lineno} {frame.name}"
