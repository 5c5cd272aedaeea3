"""Points in time as people write them, and as they read them."""

from __future__ import annotations

import re
import time
from datetime import datetime, timedelta
from typing import Any

import click

_AGO = re.compile(r"(\d{1,6})\s*([smhdw])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


class PointInTime(click.ParamType):
    """`2026-11-21`, `2026-11-21T14:30`, or how long ago: `90m`, `3d`. Unix seconds; without a zone, local time.

    With `is_end` a date means the end of that day.
    """

    name = "time"

    def __init__(self, *, is_end: bool = False) -> None:
        self._is_end = is_end

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        if isinstance(value, float):
            return value
        text = str(value).strip()
        try:
            if found := _AGO.fullmatch(text):
                return (datetime.now().astimezone() - timedelta(**{_UNITS[found[2]]: int(found[1])})).timestamp()
            moment = datetime.fromisoformat(text)
            if self._is_end and len(text) <= len("2026-11-21"):
                moment += timedelta(days=1)
            return moment.timestamp()
        except (ValueError, OverflowError, OSError):
            self.fail(f"{text!r} is no time; write 2026-11-21, 2026-11-21T14:30 or 3d", param, ctx)


def local_time(moment: float) -> str:
    """`2026-11-21 14:30:05`."""
    try:
        return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(moment))
    except (ValueError, OverflowError, OSError):
        return f"{moment:.0f}"
