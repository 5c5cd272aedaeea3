"""How the status of a node is told: by a sign, a word and a tone, never by colour alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from orchestra.panel.view.visible import one_line

Tone = Literal["good", "warn", "bad", "live", "quiet"]


@dataclass(frozen=True, slots=True)
class StatusShown:
    """`word` is the status as the design names it, with blanks."""

    sign: str
    word: str
    tone: Tone


_KNOWN = {
    "routing": StatusShown("◦", "routing", "live"),
    "executing": StatusShown("▸", "executing", "live"),
    "waiting_user": StatusShown("…", "waiting user", "warn"),
    "confirm_required": StatusShown("…", "confirm required", "warn"),
    "completed": StatusShown("✓", "completed", "good"),
    "failed": StatusShown("✗", "failed", "bad"),
    "cancelled": StatusShown("⊘", "cancelled", "quiet"),
}


_INTERRUPTED = StatusShown("!", "interrupted", "warn")
_UNDER_WAY = ("routing", "executing")


def status_left(status: str) -> StatusShown:
    """Of a node whose run nobody works on: what was under way was interrupted."""
    return _INTERRUPTED if status in _UNDER_WAY else status_shown(status)


def status_shown(status: str) -> StatusShown:
    """Of a status that is none of ours, the word itself."""
    return _KNOWN.get(status) or StatusShown("•", one_line(status, 30) or "unknown", "quiet")
