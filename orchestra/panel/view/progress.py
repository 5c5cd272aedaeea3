"""How far a run is, in words, and what of its answer has arrived."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_DONE = ("completed", "failed", "cancelled")
_WAITING = ("waiting_user", "confirm_required")
_NODE_EVENTS = "skill-route-"
_PLANNING = ("plan", "route", "decompose", "resolve")
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
        self._stream = ""
        self._text = ""

    def add(self, event: Mapping[str, Any]) -> None:
        """The next event, as the store gives it."""
        self.last = event["sequence"]
        kind, node_id = str(event.get("type", "")), str(event.get("node_id") or "")
        if kind.startswith(_NODE_EVENTS) and node_id:
            self._nodes[node_id] = (str(event.get("kind") or ""), str(event.get("status") or ""))
        elif kind == "answer-delta":
            stream = f"{node_id}:{event.get('attempt', 1)}"
            if stream != self._stream:
                self._stream, self._text = stream, ""
            if len(self._text) < _MOST_STREAMED:
                self._text += str(event.get("text") or "")

    def progress(self) -> Progress:
        return Progress(self._line(), self.last, self._stream, self._text)

    def _line(self) -> str:
        nodes = list(self._nodes.values())
        work = [status for kind, status in nodes if kind == "subtask"] or [
            status for kind, status in nodes if kind in ("skill", "step")
        ]
        counted = Counter(status in _DONE for status in work)
        done = f"{counted[True]} of {len(work)} done"
        busy = {kind for kind, status in nodes if status == "executing"}
        if any(status in _WAITING for _, status in nodes):
            return f"Waiting for you: {done}" if work else "Waiting for you"
        if "synthesis" in busy:
            return f"Joining what was found: {done}"
        if work and counted[False]:
            return f"Working: {done}"
        if busy & {*_PLANNING}:
            return "Planning"
        if "guarantee" in busy:
            return "Checking what is needed"
        return f"Finishing: {done}" if work else "Starting"
