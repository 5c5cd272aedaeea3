"""How far a run is, in words, and what of its answer has arrived."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_DONE = ("completed", "failed", "cancelled")
_WAITING = ("waiting_user", "confirm_required")
_NODE_EVENTS = "skill-route-"
_BUSY = ("executing",)
_CHECKING = ("guarantee",)
_PLANNING = ("plan", "route", "decompose", "resolve")
_WORK = ("subtask",)
_STEPS = ("skill",)
_JOINING = ("synthesis",)
_MOST_STREAMED = 100_000  # characters that are kept of an answer as it arrives


@dataclass(frozen=True, slots=True)
class Progress:
    """`line` says the phase, and how many are done of how many. `text` is the answer up to the event `last`.

    `stream` names the attempt that the text belongs to: another one starts anew. Empty where nothing has arrived.
    """

    line: str
    last: int = 0
    stream: str = ""
    text: str = ""


class RunningRun:
    """What the events of one run have told so far. `last` is the sequence of the latest one."""

    def __init__(self) -> None:
        self.last = 0
        self._nodes: dict[str, tuple[str, str]] = {}
        self._counts: Counter[tuple[str, str]] = Counter()
        self._stream = ""
        self._text = ""

    def add(self, event: Mapping[str, Any]) -> None:
        """The next event, as the store gives it."""
        self.last = event["sequence"]
        kind, node_id = str(event.get("type", "")), str(event.get("node_id") or "")
        if kind.startswith(_NODE_EVENTS) and node_id:
            if (before := self._nodes.get(node_id)) is not None:
                self._counts[before] -= 1
            now = self._nodes[node_id] = (str(event.get("kind") or ""), str(event.get("status") or ""))
            self._counts[now] += 1
        elif kind == "answer-delta":
            stream = f"{node_id}:{event.get('attempt', 1)}"
            if stream != self._stream:
                self._stream, self._text = stream, ""
            if len(self._text) < _MOST_STREAMED:
                self._text += str(event.get("text") or "")

    def progress(self) -> Progress:
        return Progress(self._line(), self.last, self._stream, self._text)

    def _line(self) -> str:
        kinds = _WORK if self._count(_WORK) else _STEPS
        work, ended = self._count(kinds), self._count(kinds, _DONE)
        done = f"{ended} of {work} done"
        if self._count(statuses=_WAITING):
            return f"Waiting for you: {done}" if work else "Waiting for you"
        if self._count(_JOINING, _BUSY):
            return f"Joining what was found: {done}"
        if ended < work:
            return f"Working: {done}"
        if self._count(_PLANNING, _BUSY):
            return "Planning"
        if self._count(_CHECKING, _BUSY):
            return "Checking what is needed"
        return f"Finishing: {done}" if work else "Starting"

    def _count(self, kinds: Sequence[str] = (), statuses: Sequence[str] = ()) -> int:
        """Of the nodes of these kinds and in these statuses; of all where none is named."""
        return sum(
            count
            for (kind, status), count in self._counts.items()
            if (not kinds or kind in kinds) and (not statuses or status in statuses)
        )
