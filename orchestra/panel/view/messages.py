"""What the live stream says: small messages, each encoded once for all who watch."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from sse_starlette import ServerSentEvent

from orchestra.errors import InputInvalid

GONE = "removed"
"""What `ended` says of a run that is no longer in the store."""

RETRY_MS = 1500  # how soon a browser that lost the connection comes back
LAST_SEQUENCE = 2**31 - 1  # the store holds no more
_DELTA = "answer-delta"


@dataclass(frozen=True, slots=True)
class Message:
    """One event of a run as `encoded` bytes of the stream."""

    sequence: int
    encoded: bytes


def message_of(run_id: str, event: Mapping[str, Any]) -> Message:
    """An event without its payload: `{"seq", "type", "node", "parent", "status", "at"}`, and "text" of a delta."""
    slim: dict[str, Any] = {
        "seq": event["sequence"],
        "type": str(event.get("type", "")),
        "node": str(event.get("node_id") or ""),
        "parent": str(event.get("parent_node_id") or ""),
        "status": str(event.get("status") or ""),
        "at": _seconds(event.get("at")),
    }
    if slim["type"] == _DELTA:
        slim["text"] = str(event.get("text") or "")
        slim["attempt"] = event.get("attempt", 1)
    return Message(slim["seq"], _encoded("run", slim, message_id(run_id, slim["seq"])))


def hello() -> bytes:
    """Begins a stream, so that a browser knows it is connected."""
    return ServerSentEvent(comment="connected", retry=RETRY_MS).encode()


def ended(status: str) -> bytes:
    return _encoded("ended", {"status": status})


def runs_changed() -> bytes:
    return _encoded("runs", {})


def message_id(run_id: str, sequence: int) -> str:
    """`RID:SEQUENCE`; what a header cannot carry of the run's id is quoted."""
    return f"{quote(run_id, safe='')}:{sequence}"


def position(run_id: str, after: str | None, last_id: str | None) -> int:
    """Behind which sequence a stream goes on: after the last id that the browser got of this run, else after `after`.

    The id of another run says nothing. `InputInvalid` for what is neither.
    """
    if last_id:
        owner, colon, sequence = last_id.rpartition(":")
        if not colon:
            raise InputInvalid(f"Last-Event-ID is {last_id[:100]!r}", cause="it is a run's id, a colon, and a number")
        counted = _number("Last-Event-ID", sequence)
        if owner == quote(run_id, safe=""):
            return counted
    return _number("after", after) if after else 0


def _encoded(name: str, data: Mapping[str, Any], message_id: str | None = None) -> bytes:
    """In ASCII: a text may hold lone surrogates, which UTF-8 has no bytes for."""
    return ServerSentEvent(json.dumps(data, separators=(",", ":")), event=name, id=message_id).encode()


def _seconds(at: object) -> float | None:
    return at if isinstance(at, int | float) and math.isfinite(at) else None


def _number(name: str, text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 10 and int(text) <= LAST_SEQUENCE):
        raise InputInvalid(f"{name} is {text[:100]!r}", cause="it is a number of events")
    return int(text)
