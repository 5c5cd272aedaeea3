"""Progress on standard error: live rows on a terminal, plain lines elsewhere, nothing when quiet."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from orchestra.cli.terminal import clean, one_line, say
from orchestra.runtime.events import (
    AnswerDelta,
    Event,
    FollowedUp,
    Listener,
    NodeUpdated,
    QuestionAsked,
    RetryScheduled,
    RouteStarted,
    Warned,
)

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.live import Live

PREVIEW_LINES = 8
REFRESH_PER_SECOND = 8
FINAL_MARKS = {"completed": "✓", "failed": "✗", "cancelled": "–"}
MARKS = {**FINAL_MARKS, "routing": "·", "confirm_required": "?", "waiting_user": "?"}
STYLES = {
    "completed": "green",
    "failed": "red",
    "cancelled": "yellow",
    "executing": "cyan",
    "confirm_required": "yellow",
    "waiting_user": "yellow",
}


@contextmanager
def progress(*, is_quiet: bool) -> Iterator[Listener | None]:
    """What to pass as `on_event` while a run lasts; None when nothing is to be shown."""
    if is_quiet:
        yield None
    elif sys.stderr.isatty() and os.environ.get("TERM", "") not in ("dumb", ""):
        with _live() as listener:
            yield listener
    else:
        yield plain


def plain(event: Event) -> None:
    """One line per node when it ends, and one per warning or retry."""
    if isinstance(event, NodeUpdated) and is_shown(event) and event.status in FINAL_MARKS:
        say(f"{event.status}: {_label(event)}  {_facts(event)}".rstrip())
        return
    line = notice(event)
    if line:
        say(line)


def is_shown(event: NodeUpdated) -> bool:
    """Whether a node is worth a line: not the run itself, nor a gate that nobody has to know of."""
    return event.depth > 0 and (event.kind != "guarantee" or event.status == "failed")


def notice(event: Event) -> str:
    """The line that an event deserves by itself, or nothing."""
    if isinstance(event, RouteStarted):
        return named_models(event.models or {})
    if isinstance(event, RetryScheduled):
        reason = f"{event.error.get('code', '')}: {event.error.get('message', '')}"
        return f"retry: {_short(event.node_id)} in {event.delay_s:.1f} s ({reason})"
    if isinstance(event, FollowedUp):
        missing = f": {event.missing}" if event.missing else ""
        return f"follow-up: {_short(event.node_id)}, {event.tokens:,} tokens more{missing}"
    if isinstance(event, QuestionAsked):
        return f"question: {_short(event.node_id)} waits for a person: {event.title}"
    if isinstance(event, Warned):
        return f"warning: {event.code}: {event.message}"
    return ""


def named_models(models: Mapping[str, str]) -> str:
    """Who is sent text: one name, or one per phase."""
    if not models:
        return ""
    names = list(dict.fromkeys(models.values()))
    if len(names) == 1:
        return f"model: {described_model(names[0])}"
    return "models: " + ", ".join(f"{phase} {described_model(name)}" for phase, name in models.items())


def described_model(name: str) -> str:
    return f"{name} - quotes, does not reason" if name == "builtin:extractive" else name


@dataclass(slots=True)
class _Row:
    event: NodeUpdated
    since: float
    note: str = ""


class LiveRows:
    """One row per node, and the tail of the answer while it arrives. Drawn by another thread than it is fed by."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._live: Live | None = None
        self._is_over = False
        self._drawing = threading.Lock()
        self._lock = threading.Lock()
        self._rows: dict[str, _Row] = {}
        self._answer = ""
        self._attempt = 0
        self._answering = ""

    def __call__(self, event: Event) -> None:
        with self._lock:
            self._take(event)
        line = "" if isinstance(event, RetryScheduled | QuestionAsked) else notice(event)
        if line:
            from rich.text import Text

            self._console.print(Text(clean(line)), soft_wrap=True)

    def _take(self, event: Event) -> None:
        if isinstance(event, NodeUpdated) and is_shown(event):
            row = self._rows.get(event.node_id)
            is_same = row is not None and row.event.status == event.status
            self._rows[event.node_id] = _Row(event, row.since if row and is_same else time.monotonic())
        elif isinstance(event, RetryScheduled) and event.node_id in self._rows:
            self._rows[event.node_id].note = f", again in {event.delay_s:.1f} s: {event.error.get('code', '')}"
        elif isinstance(event, AnswerDelta):
            if (event.node_id, event.attempt) != (self._answering, self._attempt):
                self._answer, self._answering, self._attempt = "", event.node_id, event.attempt
            self._answer += event.text

    def pause(self) -> None:
        """Take the rows off the terminal, which somebody else needs for a while."""
        with self._drawing:
            if self._live is not None:
                self._live.transient = True
                self._live.stop()
                self._live = None

    def go_on(self) -> None:
        """Draw the rows, until they are paused or finished."""
        from rich.live import Live

        with self._drawing:
            if self._is_over:
                return
            self._live = Live(
                self,
                console=self._console,
                refresh_per_second=REFRESH_PER_SECOND,
                redirect_stdout=False,
                redirect_stderr=False,
            )
            self._live.start(refresh=True)

    def finish(self) -> None:
        """Drop the preview: the answer itself follows on standard output."""
        with self._lock:
            self._answer = ""
        with self._drawing:
            self._is_over = True
            if self._live is not None:
                self._live.stop()
                self._live = None

    def __rich__(self) -> RenderableType:
        from rich.console import Group
        from rich.text import Text

        with self._lock:
            rows = [self._row(row) for row in self._rows.values()]
            tail = clean(self._answer).strip().splitlines()[-PREVIEW_LINES:]
        preview = [Text(line, style="dim", no_wrap=True, overflow="ellipsis") for line in tail]
        return Group(*rows, *([Text("")] if preview else []), *preview)

    def _row(self, row: _Row) -> RenderableType:
        from rich.text import Text

        event = row.event
        facts = _facts(event) if event.status in FINAL_MARKS else self._elapsed(row)
        facts = one_line(facts + row.note)
        label = Text(one_line(_label(event)))
        label.truncate(max(self._console.width - len(facts) - 4, 20), overflow="ellipsis")
        mark = MARKS.get(event.status, "…")
        line = Text(no_wrap=True, overflow="ellipsis")
        return line.append(f"{mark} ", STYLES.get(event.status, "dim")).append(label).append(f"  {facts}", "dim")

    @staticmethod
    def _elapsed(row: _Row) -> str:
        if row.event.status in ("confirm_required", "waiting_user"):
            return "waits for a person"
        return f"{time.monotonic() - row.since:.0f} s" if row.event.status == "executing" else ""


@contextmanager
def _live() -> Iterator[LiveRows]:
    from rich.console import Console

    rows = LiveRows(Console(stderr=True, highlight=False, markup=False, emoji=False))
    rows.go_on()
    try:
        yield rows
    finally:
        rows.finish()


def _label(event: NodeUpdated) -> str:
    name = _short(event.node_id)
    skill = f" [{event.skill_name}]" if event.skill_name else ""
    title = f" {event.title}" if event.title != name else ""
    return f"{name}{skill}{title.rstrip()}"


def _facts(event: NodeUpdated) -> str:
    duration = (event.timing or {}).get("duration_ms")
    usage = event.usage or {}
    tokens_in = sum(usage.get(key) or 0 for key in ("input_tokens", "cached_input_tokens", "cache_write_tokens"))
    facts = [
        f"{duration / 1000:.1f} s" if duration is not None else "",
        f"{tokens_in:,} tokens in" if tokens_in else "",
        f"{event.error.get('code', '')}: {event.error.get('message', '')}" if event.error else "",
    ]
    return ", ".join(fact for fact in facts if fact)


def _short(node_id: str) -> str:
    return node_id.rpartition("/")[2]
