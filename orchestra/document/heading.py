"""A heading: where a section begins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Heading:
    """Where a section begins. `line` is 1-indexed, `title` is plain text, `level` is 1..6."""

    title: str
    level: int
    line: int
    kind: Literal["heading", "cue"] = "heading"
