"""The raw events of a run: which are asked for, and each in a line."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from orchestra.panel.view.graph_query import Moment
from orchestra.panel.view.visible import one_line, visible
from orchestra.runtime import events as kinds
from orchestra.runtime.events import Event

PAGE = 200
LONGEST_SUMMARY = 160
LONGEST_SHOWN = 200_000  # characters of one event
_ENVELOPE = frozenset({"type", "session_id", "route_run_id", "sequence", "at", "node_id", "parent_node_id"})
_OF_NODES = frozenset({"kind", "depth", "mode", "usage", "permission_snapshot", "status"})
_NODE_EVENTS = "skill-route-"

TYPES = tuple(
    sorted(
        kind.type
        for kind in vars(kinds).values()
        if isinstance(kind, type) and issubclass(kind, Event) and kind.type != Event.type
    )
)
"""The types of events that this version knows."""


class LogQuery(Moment):
    """Events of one `type`, of the node `of` and those below it, with a `status`, that hold the text `q` in any case.

    Those behind the sequence `after`, up to `at` if it is given.
    """

    type: Annotated[str, Field(max_length=100)] = ""
    of: Annotated[str, Field(max_length=2_000)] = ""
    status: Annotated[str, Field(max_length=100)] = ""
    q: Annotated[str, Field(max_length=1_000)] = ""
    after: Annotated[int, Field(ge=0, le=2**31 - 1)] = 0

    @property
    def is_filtered(self) -> bool:
        return bool(self.type or self.of or self.status or self.q)

    def matches(self, event: Mapping[str, Any]) -> bool:
        if self.type and event.get("type") != self.type:
            return False
        if self.status and event.get("status") != self.status:
            return False
        if self.of and not f"{event.get('node_id') or ''}/".startswith(f"{self.of}/"):
            return False
        return not self.q or self.q.lower() in json.dumps(event, ensure_ascii=False).lower()


@dataclass(frozen=True, slots=True)
class LogRow:
    """`since_s` is counted from the first event of the run that says when it was; None where it is not known."""

    sequence: int
    since_s: float | None
    type: str
    node_id: str
    status: str
    summary: str


@dataclass(frozen=True, slots=True)
class LogPage:
    """`last` is the sequence of the last event that was looked at; `is_all` that there were none behind it."""

    rows: tuple[LogRow, ...]
    last: int
    is_all: bool


def chosen(events: Iterable[Mapping[str, Any]], query: LogQuery) -> Iterator[Mapping[str, Any]]:
    """In order, those that are asked for; `events` are those behind `query.after`."""
    for event in events:
        if query.at is not None and event["sequence"] > query.at:
            return
        if query.matches(event):
            yield event


def page_of(
    events: Iterable[Mapping[str, Any]], query: LogQuery, began_at: float | None, *, limit_s: float, size: int = PAGE
) -> LogPage:
    """The next rows, at most `size`, and fewer where the search has taken `limit_s` seconds."""
    until, rows, last = time.monotonic() + limit_s, [], query.after
    for event in events:
        if query.at is not None and event["sequence"] > query.at:
            break
        if len(rows) == size or time.monotonic() > until:
            return LogPage(tuple(rows), last, False)
        last = event["sequence"]
        if query.matches(event):
            rows.append(row_of(event, began_at))
    return LogPage(tuple(rows), last, True)


def row_of(event: Mapping[str, Any], began_at: float | None) -> LogRow:
    at = event.get("at")
    return LogRow(
        event["sequence"],
        at - began_at if isinstance(at, int | float) and began_at is not None else None,
        one_line(str(event.get("type", "")), 60),
        str(event.get("node_id") or ""),
        one_line(str(event.get("status") or ""), 30),
        summary_of(event),
    )


def summary_of(event: Mapping[str, Any]) -> str:
    """What is particular to an event, on one line."""
    is_of_node = str(event.get("type", "")).startswith(_NODE_EVENTS)
    left_out = _ENVELOPE | _OF_NODES if is_of_node else _ENVELOPE
    told = ((name, _short(name, value)) for name, value in event.items() if name not in left_out)
    return one_line("; ".join(f"{name.replace('_', ' ')}: {said}" for name, said in told if said), LONGEST_SUMMARY)


def as_shown(event: Mapping[str, Any]) -> str:
    """The whole event as JSON, for reading; of a very long one the beginning."""
    text = visible(json.dumps(event, indent=2, ensure_ascii=False))
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}\n… {len(text) - LONGEST_SHOWN:,} more"


def file_name(run_id: str) -> str:
    """A name for the file of a run's events, whatever its id is."""
    return f"run-{re.sub(r'[^A-Za-z0-9_-]+', '-', run_id)[:60] or 'events'}.jsonl"


def _short(name: str, value: Any) -> str:
    if value in (None, "", [], {}) or (name == "attempt" and value == 1):
        return ""
    if name == "timing":
        took = value.get("duration_ms") if isinstance(value, Mapping) else None
        return f"{took:,.0f} ms" if isinstance(took, int | float) else ""
    if name == "error" and isinstance(value, Mapping):
        return f"{value.get('code', '')}, {value.get('message', '')}"
    return value[:400] if isinstance(value, str) else json.dumps(value, ensure_ascii=False)[:400]
