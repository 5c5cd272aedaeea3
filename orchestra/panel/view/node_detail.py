"""All that is on record of one node, as its details show it. Pure: texts of documents are handed in."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from orchestra.panel.view.amounts import Amount, amount_of
from orchestra.panel.view.attempts import Attempt, attempts_of, ranges_of
from orchestra.panel.view.faults import Fault, fault_of
from orchestra.panel.view.pricing import list_price
from orchestra.panel.view.visible import one_line, visible
from orchestra.store import CallRecord, DocumentRef

SHOWN_CHARACTERS = 6_000  # of a reply, until all of it is asked for
MOST_CHARACTERS = 1_000_000  # of a text that was asked for whole
MOST_LINES = 300  # of all lines of a slice together
LINES_OF_A_RANGE = 60
LONGEST_LINE = 600  # characters
_RANGE = re.compile(r"(?:d(\d{1,6}):)?L(\d{1,9})(?:-L?(\d{1,9}))?")

TextOf = Callable[[DocumentRef], str | None]


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Lines that a node was shown. `lines` are (number, text), the first of them; `left` are not sent."""

    label: str
    document: str
    first: int
    last: int
    lines: tuple[tuple[int, str], ...]
    left: int


@dataclass(frozen=True, slots=True)
class Pointer:
    """Which rung of the ladder answered a pointer; no `ranges` where none did."""

    pointer: str
    rung: str
    ranges: tuple[str, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Call:
    """One entry of the journal. `text` is what is shown of what came back, `left` how many characters are not.

    `number` counts a node's calls from 1. `requested` are the tools that a model called: name and arguments.
    """

    number: int
    kind: str
    duration_ms: float | None
    is_finished: bool
    text: str
    left: int
    model: str
    amount: Amount
    requested: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]
    fault: Fault | None


@dataclass(frozen=True, slots=True)
class Told:
    """What the events of a node tell of it. `skills` are (name, path) of what was loaded for it."""

    attempts: tuple[Attempt, ...]
    skills: tuple[tuple[str, str], ...]
    pointers: tuple[Pointer, ...]
    ranges: tuple[str, ...]
    slice_tokens: int
    fallback: str


def told_by(events: Iterable[Mapping[str, Any]]) -> Told:
    """From a node's events, in order."""
    events = list(events)
    of_type: dict[str, list[Mapping[str, Any]]] = {}
    for event in events:
        of_type.setdefault(str(event.get("type")), []).append(event)
    shown = [*of_type.get("slice-ready", ())[-1:], *of_type.get("followed-up", ())]
    loaded = [(_word(event, "skill"), _word(event, "path")) for event in of_type.get("skill-loaded", ())]
    return Told(
        tuple(attempts_of(events)),
        tuple(dict.fromkeys(loaded)),
        tuple(_pointer(event) for event in of_type.get("pointer-resolved", ())[:100]),
        tuple(dict.fromkeys(label for event in shown for label in ranges_of(event))),
        sum(_tokens(event) for event in shown),
        _word(shown[0], "fallback") if shown else "",
    )


def excerpts(ranges: Sequence[str], documents: Sequence[DocumentRef], text_of: TextOf) -> list[Excerpt]:
    """The lines that ranges such as `L120-L134` or `d2:L1-L9` name; a range that names none is left out."""
    split: dict[int, list[str]] = {}
    found: list[Excerpt] = []
    room = MOST_LINES
    for label in ranges:
        parsed = _RANGE.fullmatch(label)
        at = int(parsed[1] or 1) - 1 if parsed else -1
        if parsed is None or not 0 <= at < len(documents):
            continue
        if at not in split:
            split[at] = (text_of(documents[at]) or "").split("\n")
        first = max(1, int(parsed[2]))
        last = max(first, int(parsed[3] or first))
        shown = min(last - first + 1, LINES_OF_A_RANGE, room)
        lines = tuple(enumerate((_line(each) for each in islice(split[at], first - 1, first - 1 + shown)), start=first))
        room -= len(lines)
        found.append(Excerpt(label, documents[at].name, first, last, lines, last - first + 1 - len(lines)))
    return found


def calls_of(calls: Sequence[CallRecord], model: str, host: str = "", *, whole: bool = False) -> list[Call]:
    """What a node's calls came to. `model` is the one that its phase asks; texts are cut, unless `whole`."""
    return [_call(number, call, model, host, whole=whole) for number, call in enumerate(calls, start=1)]


def text_of_call(call: CallRecord) -> str:
    """All that came back, as text; what is no text as JSON. Empty for a call that was not seen to end."""
    payload = call.payload
    if payload is None:
        return ""
    reply = payload.get("reply")
    if call.kind == "model" and isinstance(reply, Mapping) and isinstance(reply.get("text"), str):
        return visible(reply["text"]) or _as_json(reply.get("data"))
    if call.kind == "model" and payload.get("error"):
        return ""
    if call.kind == "tool" and isinstance(payload.get("text"), str):
        return visible(payload["text"])
    return "" if call.kind == "tool" and payload.get("error") else _as_json(payload)


def _call(number: int, call: CallRecord, model: str, host: str, *, whole: bool) -> Call:
    payload = call.payload or {}
    reply = payload.get("reply")
    reply = reply if isinstance(reply, Mapping) else {}
    error = payload.get("error")
    text = text_of_call(call)
    kept = text[: MOST_CHARACTERS if whole else SHOWN_CHARACTERS]
    answered_by = _word(reply, "answered_by")
    usage = reply.get("usage") or (error.get("usage") if isinstance(error, Mapping) else None)
    usage = usage if isinstance(usage, Mapping) else {}
    asked = answered_by or model
    is_billed = payload.get("is_billed") is not False
    cost = list_price(asked, usage, "" if answered_by else host) if is_billed else 0.0
    return Call(
        number,
        call.kind,
        (call.finished_at - call.begun_at) * 1000 if call.finished_at is not None else None,
        call.payload is not None,
        kept,
        len(text) - len(kept),
        asked if call.kind == "model" else "",
        amount_of(usage, cost),
        tuple(_requested(reply)),
        tuple(_notes(reply, payload, is_billed=is_billed)),
        fault_of(error),
    )


def _notes(reply: Mapping[str, Any], payload: Mapping[str, Any], *, is_billed: bool) -> Iterable[str]:
    if not is_billed:
        yield "paid for by another run"
    stopped = _word(reply, "stop_reason")
    if stopped and stopped not in ("end", "tool_use"):
        yield f"stopped: {stopped}"
    failed = payload.get("failed")
    if isinstance(failed, list) and failed:
        yield f"{len(failed)} failed before it and were billed"
    if _word(reply, "answered_by"):
        yield "another model stood in"


def _requested(reply: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    calls = reply.get("tool_calls")
    for call in calls[:50] if isinstance(calls, list) else ():
        if isinstance(call, Mapping):
            yield _word(call, "name"), _as_json(call.get("arguments"))[:SHOWN_CHARACTERS]


def _pointer(event: Mapping[str, Any]) -> Pointer:
    notes = event.get("notes")
    return Pointer(
        _word(event, "pointer"),
        _word(event, "rung"),
        ranges_of(event),
        tuple(one_line(str(note), 300) for note in notes[:20]) if isinstance(notes, list) else (),
    )


def _tokens(event: Mapping[str, Any]) -> int:
    tokens = event.get("tokens")
    return tokens if isinstance(tokens, int) else 0


def _line(text: str) -> str:
    return visible(text if len(text) <= LONGEST_LINE else text[:LONGEST_LINE] + " …")


def _word(values: Mapping[str, Any], name: str) -> str:
    value = values.get(name)
    return one_line(value, 400) if isinstance(value, str) else ""


def _as_json(value: object) -> str:
    return "" if value is None else visible(json.dumps(value, indent=2, ensure_ascii=False, default=str))
