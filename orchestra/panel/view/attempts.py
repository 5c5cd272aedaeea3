"""What changed between the attempts of a node: what failed, how long was waited, which model or lines came next."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from orchestra.panel.view.faults import Fault, fault_of
from orchestra.panel.view.visible import one_line

_FINAL = frozenset({"completed", "failed", "cancelled"})
_WORDS = 400  # characters of what an event says
_MOST_RANGES = 200
_MOST_NOTES = 20


@dataclass(slots=True)
class Attempt:
    """One attempt. `why` says what made it another one; `ranges` are the lines that it adds to those before it.

    `delay_s` was waited before it. `model` is named where it is not the one that the node began with. `outcome` is
    empty as long as it is under way.
    """

    number: int
    why: str = "first"
    delay_s: float | None = None
    model: str = ""
    ranges: tuple[str, ...] = ()
    notes: list[str] = field(default_factory=list[str])
    outcome: str = ""
    fault: Fault | None = None


def attempts_of(events: Iterable[Mapping[str, Any]]) -> list[Attempt]:
    """The attempts that a node's events tell of, in order; at least one."""
    attempts = [Attempt(1)]
    for event in events:
        told = _TOLD.get(str(event.get("type")))
        if told is not None:
            told(attempts, event)
    return attempts


def differ(attempts: Sequence[Attempt]) -> bool:
    """Whether there is anything to compare."""
    return len(attempts) > 1 or any(attempt.notes for attempt in attempts)


def _next(attempts: list[Attempt], why: str, outcome: str, event: Mapping[str, Any], model: str = "") -> Attempt:
    """Begin another attempt: it goes on with the last one's model, unless it has one of its own."""
    last = attempts[-1]
    last.outcome = outcome
    last.fault = fault_of(event.get("error"))
    attempts.append(Attempt(last.number + 1, why, model=model or last.model))
    return attempts[-1]


def _retried(attempts: list[Attempt], event: Mapping[str, Any]) -> None:
    _next(attempts, "tried again", "failed", event).delay_s = _seconds(event)


def _fell_back(attempts: list[Attempt], event: Mapping[str, Any]) -> None:
    model = _words(event, "model")
    _next(attempts, f"{model} stands in for {_words(event, 'instead_of')}", "failed", event, model)


def _followed_up(attempts: list[Attempt], event: Mapping[str, Any]) -> None:
    missing = _words(event, "missing")
    further = _next(
        attempts, "asked again over further lines", f"missing: {missing}" if missing else "incomplete", event
    )
    further.ranges = ranges_of(event)


def _sliced(attempts: list[Attempt], event: Mapping[str, Any]) -> None:
    attempts[-1].ranges = ranges_of(event)


def _held_back(attempts: list[Attempt], event: Mapping[str, Any]) -> None:
    seconds = _seconds(event)
    waited = f", about {seconds:.1f} s" if seconds is not None else ""
    _note(attempts, f"held back{waited}: {_words(event, 'reason')}")


def _replayed(attempts: list[Attempt], event: Mapping[str, Any]) -> None:
    _note(attempts, f"taken from the {_words(event, 'source') or 'journal'}, not paid for again")


def _warned(attempts: list[Attempt], event: Mapping[str, Any]) -> None:
    _note(attempts, f"{_words(event, 'code')}: {_words(event, 'message')}")


def _looked(attempts: list[Attempt], event: Mapping[str, Any]) -> None:
    ids = event.get("ids")
    _note(attempts, f"looked closer at {one_line(', '.join(map(str, ids)), _WORDS)}" if isinstance(ids, list) else "")


def _updated(attempts: list[Attempt], event: Mapping[str, Any]) -> None:
    last, status = attempts[-1], _words(event, "status")
    if status in _FINAL:
        last.outcome, last.fault = status, fault_of(event.get("error"))
    elif last.outcome in _FINAL:
        attempts.append(Attempt(last.number + 1, "taken up again"))


_TOLD: Mapping[str, Callable[[list[Attempt], Mapping[str, Any]], None]] = {
    "retry-scheduled": _retried,
    "model-fell-back": _fell_back,
    "followed-up": _followed_up,
    "slice-ready": _sliced,
    "call-held-back": _held_back,
    "effect-replayed": _replayed,
    "warning": _warned,
    "look-taken": _looked,
    "skill-route-node-updated": _updated,
    "skill-route-completed": _updated,
    "skill-route-failed": _updated,
}


def ranges_of(event: Mapping[str, Any]) -> tuple[str, ...]:
    """The line ranges that an event names, as far as they are shown."""
    ranges = event.get("ranges")
    return tuple(one_line(str(each), _WORDS) for each in ranges[:_MOST_RANGES]) if isinstance(ranges, list) else ()


def _note(attempts: list[Attempt], text: str) -> None:
    notes = attempts[-1].notes
    if text and text not in notes and len(notes) < _MOST_NOTES:
        notes.append(text)


def _words(event: Mapping[str, Any], name: str) -> str:
    value = event.get(name)
    return one_line(value, _WORDS) if isinstance(value, str) else ""


def _seconds(event: Mapping[str, Any]) -> float | None:
    value = event.get("delay_s")
    return float(value) if isinstance(value, int | float) and 0 <= value < 1e9 else None
