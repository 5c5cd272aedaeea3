"""A run whose standard error is a real (pseudo) terminal."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

pty = pytest.importorskip("pty")

ROOT = Path(__file__).parents[2]
COLOUR = "\x1b[3"
TASK = "Who is the auditor of the company?"


@pytest.fixture
def on_terminal() -> Callable[..., tuple[int, str, str]]:
    """Exit code, standard output (a pipe) and what the terminal was sent."""

    def run_process(*arguments: object, **environment: str) -> tuple[int, str, str]:
        master, slave = pty.openpty()
        variables = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm-256color", "COLUMNS": "80", **environment}
        command = [sys.executable, "-m", "orchestra", *(str(argument) for argument in arguments)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=slave, text=True, env=variables)
        os.close(slave)
        shown = _read_to_the_end(master)
        out, _ = process.communicate(timeout=30)
        os.close(master)
        return process.returncode, out, shown

    return run_process


def _read_to_the_end(master: int) -> str:
    pieces: list[bytes] = []
    with suppress(OSError):  # a terminal whose other side is closed
        while piece := os.read(master, 1 << 16):
            pieces.append(piece)
    return b"".join(pieces).decode()


def test_a_terminal_gets_rows_that_change_and_the_answer_goes_out_once(on_terminal, report: Path) -> None:
    code, out, shown = on_terminal("run", report, TASK)

    assert code == 0
    assert out.count("Harrow Pike LLP, appointed in 2019") >= 1
    assert "model: builtin:extractive - quotes, does not reason" in shown
    assert "✓ " in shown
    assert COLOUR in shown
    assert "routed " in shown.splitlines()[-1]


def test_no_color_leaves_out_the_colours(on_terminal, report: Path) -> None:
    code, _, shown = on_terminal("run", report, TASK, NO_COLOR="1")

    assert code == 0
    assert "✓ " in shown
    assert COLOUR not in shown


def test_quiet_shows_nothing_on_a_terminal_either(on_terminal, report: Path) -> None:
    code, out, shown = on_terminal("run", report, TASK, "--quiet")

    assert (code, shown) == (0, "")
    assert "Harrow Pike" in out
