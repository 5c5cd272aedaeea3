"""A process on a pseudo terminal, driven as a person would drive it."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).parents[1]
BELL = 30  # seconds after which a test has failed


class Terminal:
    """A process on a terminal of its own; standard output is a pipe."""

    def __init__(self, *arguments: object, columns: int = 80, **environment: str) -> None:
        self.master, slave = pty.openpty()
        variables = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm", "COLUMNS": str(columns), **environment}
        for name in ("EDITOR", "VISUAL"):
            variables.pop(name, None) if name not in environment else None
        command = [sys.executable, "-m", "orchestra", *(str(argument) for argument in arguments)]
        self.process = subprocess.Popen(command, stdin=slave, stdout=subprocess.PIPE, stderr=slave, env=variables)
        os.close(slave)
        self.shown = ""

    def type(self, text: str) -> None:
        os.write(self.master, text.encode())

    def wait_for(self, text: str, *, times: int = 1) -> None:
        ends_at = time.monotonic() + BELL
        while self.shown.count(text) < times:
            assert time.monotonic() < ends_at, self.shown
            assert self._read(), self.shown

    def end(self) -> tuple[int, str]:
        while self._read():
            pass
        out, _ = self.process.communicate(timeout=BELL)
        return self.process.returncode, out.decode()

    def _read(self) -> bool:
        if not select.select([self.master], [], [], BELL)[0]:
            return False
        with suppress(OSError):  # a terminal whose other side is closed
            piece = os.read(self.master, 1 << 16)
            self.shown += piece.decode("utf-8", "replace")
            return bool(piece)
        return False

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()
        os.close(self.master)
