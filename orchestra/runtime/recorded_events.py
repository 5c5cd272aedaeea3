"""From the JSON of an event back to the event: what a store gives is checked like all that comes from outside."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from functools import cache
from typing import Any

from pydantic import TypeAdapter, ValidationError

from orchestra.errors import StoreDamaged
from orchestra.runtime.events import Event

LONGEST_PAUSE_S = 3.0
"""However long a run waited, a replay waits no longer before an event."""


def read_event(record: Mapping[str, Any]) -> Event | None:
    """The event that `Event.to_dict` wrote; None for a type that this version does not know.

    Fields that it does not know are left out. `StoreDamaged` says which field is not what it was.
    """
    kind = _kinds().get(str(record.get("type")))
    if kind is None:
        return None
    known = {field.name: record[field.name] for field in fields(kind) if field.name in record}
    try:
        return _reader(kind).validate_python(known)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise StoreDamaged(
            f"event {record.get('sequence')} cannot be read",
            cause=f"{'.'.join(str(part) for part in first['loc'])}: {first['msg']}",
        ) from error


def with_pauses(events: Iterable[Mapping[str, Any]]) -> Iterable[tuple[float, Mapping[str, Any]]]:
    """(seconds since the event before, event). One that does not say when it was came with the one before."""
    latest: float | None = None
    for event in events:
        at = _time_of(event)
        if at is None:
            yield 0.0, event
            continue
        yield max(at - latest, 0.0) if latest is not None else 0.0, event
        latest = at if latest is None else max(at, latest)


@cache
def _kinds() -> dict[str, type[Event]]:
    return {kind.type: kind for kind in _below(Event)}


def _below(kind: type[Event]) -> Iterator[type[Event]]:
    for child in kind.__subclasses__():
        yield child
        yield from _below(child)


@cache
def _reader(kind: type[Event]) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def shown_pause(pause_s: float, speed: float) -> float:
    """How long a replay waits where the run paused: `speed` times as fast, never over the longest; 0 for speed 0."""
    return min(pause_s / speed, LONGEST_PAUSE_S) if speed else 0.0


def _time_of(event: Mapping[str, Any]) -> float | None:
    """Unix seconds: when it was heard, or what the node's own times say."""
    at = _number(event, "at")
    if at is not None:
        return at
    timing: Any = event.get("timing")
    if not isinstance(timing, Mapping):
        return None
    started_at, duration_ms = _number(timing, "started_at"), _number(timing, "duration_ms")
    return None if started_at is None else started_at + (duration_ms or 0.0) / 1000


def _number(record: Any, name: str) -> float | None:
    return record[name] if isinstance(record.get(name), int | float) else None
