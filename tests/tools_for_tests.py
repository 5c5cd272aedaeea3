"""Functions at the top of a module, as tools that run apart must be."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from pathlib import Path


def add(one: int, other: int = 1) -> dict[str, int]:
    """Add two numbers.

    Args:
        one: the first
        other: the second
    """
    print("adding")
    return {"sum": one + other}


async def add_later(one: int, other: int) -> int:
    """Add two numbers, in a while."""
    await asyncio.sleep(0)
    return one + other


def fail(words: str) -> str:
    """Raise it."""
    raise ValueError(words)


def leave() -> None:
    """End the process."""
    os._exit(7)


def say_nothing_useful() -> None:
    """Write to where the answer is expected, and to standard input's place."""
    print("{}", flush=True)
    sys.stdin.read()


def big() -> str:
    """A long text."""
    return "many words\n" * 100_000


def hang(notes: str) -> None:
    """Write the ids of this process and of one that it starts to a file, then hang."""
    started = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    note = Path(notes)
    note.with_suffix(".part").write_text(f"{os.getpid()} {started.pid}")
    note.with_suffix(".part").rename(note)
    while True:
        time.sleep(60)
