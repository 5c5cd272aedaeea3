"""How far a benchmark is, on standard error: a bar on a terminal, a line for each question elsewhere."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

from orchestra.cli.terminal import one_line, say

Advance: TypeAlias = Callable[[str], None]
LINE_EVERY_S = 5.0


@contextmanager
def progress(title: str, total: int) -> Iterator[Advance]:
    """What to call, with a word on it, when one of `total` steps is done. Thread-safe."""
    if not total:
        yield lambda _: None
    elif sys.stderr.isatty():
        with _bar(title, total) as advance:
            yield advance
    else:
        yield _Lines(title, total)


class _Lines:
    """At most a line every few seconds, and one at the end."""

    def __init__(self, title: str, total: int) -> None:
        self._title = title
        self._total = total
        self._done = 0
        self._start = self._said = time.monotonic()
        self._lock = threading.Lock()

    def __call__(self, what: str) -> None:
        with self._lock:
            self._done += 1
            now = time.monotonic()
            if now - self._said < LINE_EVERY_S and self._done < self._total:
                return
            self._said = now
            left_s = (now - self._start) / self._done * (self._total - self._done)
        rest = f", about {_duration(left_s)} left" if self._done < self._total else ""
        say(f"{self._title} {self._done}/{self._total}{rest}: {one_line(what)}")


@contextmanager
def _bar(title: str, total: int) -> Iterator[Advance]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(
        *columns, TextColumn("{task.fields[what]}"), console=Console(stderr=True, markup=False), redirect_stdout=False
    ) as bar:
        task = bar.add_task(title, total=total, what="")
        yield lambda what: bar.update(task, advance=1, what=one_line(what)[:40])


def _duration(seconds: float) -> str:
    minutes = seconds / 60
    if minutes < 1:
        return f"{seconds:.0f} s"
    return f"{minutes:.0f} min" if minutes < 90 else f"{minutes / 60:.1f} h"
