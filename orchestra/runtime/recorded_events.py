"""From the JSON of an event back to the event: what a store gives is checked like all that comes from outside."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from functools import cache
from typing import Any

from pydantic import TypeAdapter, ValidationError

from orchestra.errors import StoreDamaged
from orchestra.runtime.events import Event


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
