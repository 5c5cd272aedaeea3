"""Line ranges, and numbers as plans write them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import isfinite

_FARTHEST = 10**15
_NUMBER = re.compile(r"[lL]?\s*(?P<whole>[+-]?\d{1,15})(?P<fraction>\.\d{1,15})?")


@dataclass(frozen=True, slots=True)
class LineRange:
    """Lines of one document, 1-indexed, inclusive. The key is "" for the only document of a set."""

    key: str
    first: int
    last: int

    def __str__(self) -> str:
        """As a citation writes it: `L120-L134`, `L120`, `d2:L120-L134`."""
        key = f"{self.key}:" if self.key else ""
        return f"{key}L{self.first}-L{self.last}" if self.last > self.first else f"{key}L{self.first}"


def clip(key: str, first: int, last: int, line_count: int) -> tuple[LineRange | None, tuple[str, ...]]:
    """The range within lines 1..line_count, reversed ends swapped, None when nothing is left; and what was changed."""
    notes: list[str] = []
    if first > last:
        first, last = last, first
        notes.append(f"reversed: read as {first}-{last}")
    if last < 1 or first > line_count:
        return None, (*notes, f"lines {first}-{last} lie outside the document, which has {line_count}")
    if first < 1 or last > line_count:
        first, last = max(first, 1), min(last, line_count)
        notes.append(f"clipped to {first}-{last}")
    return LineRange(key, first, last), tuple(notes)


def near(number: int) -> int:
    """A number no text has so many lines as, in place of one that would be too long to print."""
    return max(-_FARTHEST, min(number, _FARTHEST))


def read_number(value: object) -> tuple[int | None, str]:
    """(line number, note) of an int, a float or a string of digits; (None, reason) of anything else."""
    if isinstance(value, bool):
        return None, f"{value} is no line number"
    if isinstance(value, int):
        return near(value), ""
    if isinstance(value, float):
        if not isfinite(value):
            return None, f"{value} is no line number"
        return near(int(value)), "" if value.is_integer() else f"{value} read as {int(value)}"
    if not isinstance(value, str):
        return None, f"a {type(value).__name__} is no line number"
    found = _NUMBER.fullmatch(value.strip().replace(",", "").replace("_", ""))
    if not found:
        return None, f"{value[:40]!r} is no line number"
    whole = int(found["whole"])
    is_exact = not (found["fraction"] or "").strip(".0")
    return whole, "" if is_exact else f"{value.strip()[:40]} read as {whole}"
