"""The list of sessions, and of the runs that belong to none."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from orchestra.errors import InputInvalid
from orchestra.panel.view.visible import one_line
from orchestra.store import RunSummary, SessionRecord

LONGEST_TITLE = 200  # characters
RUNS_AT_ONCE = 50

_SHOWN_TITLE = 60
_SHOWN_TASK = 80
_SIGNS = {
    "running": ("▸", "running"),
    "waiting": ("…", "waiting"),
    "completed": ("✓", "completed"),
    "partial": ("!", "partly completed"),
    "failed": ("✗", "failed"),
    "cancelled": ("✗", "cancelled"),
}


@dataclass(frozen=True, slots=True)
class SessionRow:
    """A session in the list. `own_title` is what a person has called it."""

    id: str
    title: str
    own_title: str
    runs: int
    started_at: float


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run in the list: its status as a sign and a word."""

    id: str
    task: str
    sign: str
    word: str
    started_at: float


def session_row(session: SessionRecord) -> SessionRow:
    """Without a title of its own a session is called by its first task."""
    title = one_line(session.title, _SHOWN_TITLE) or one_line(session.first_task, _SHOWN_TITLE) or "New session"
    return SessionRow(session.id, title, session.title, session.runs, session.started_at)


def run_rows(runs: Sequence[RunSummary]) -> list[RunRow]:
    return [
        RunRow(run.id, one_line(run.task, _SHOWN_TASK) or "(no task)", *_SIGNS[run.status], run.started_at)
        for run in runs
    ]


def checked_title(text: str) -> str:
    """A title as it is kept, blanks joined; empty gives the session back the title of its first task.

    `InputInvalid` for one that is too long, or holds control characters.
    """
    title = text.strip()
    if any(unicodedata.category(each) in ("Cc", "Cs", "Zl", "Zp") for each in title):
        raise InputInvalid("the title holds a control character", suggestion="Write it as one line of text.")
    if len(title) > LONGEST_TITLE:
        raise InputInvalid(
            "the title is too long",
            cause=f"{len(title):,} characters, of at most {LONGEST_TITLE}",
            suggestion="Shorten it.",
        )
    return " ".join(title.split())
