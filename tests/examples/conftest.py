"""The shipped workflows, as a user runs them: in this process, and by the command in one of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from orchestra.cli import main

ROOT = Path(__file__).parents[2]
KEYS = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "ORCHESTRA_MODEL", "ORCHESTRA_STORE", "ORCHESTRA_CONFIG")


@pytest.fixture(autouse=True)
def _without_keys(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    for name in KEYS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))


@pytest.fixture
def mailbox() -> Path:
    return ROOT / "examples" / "mailbox.md"


@pytest.fixture
def report() -> Path:
    return ROOT / "examples" / "annual-report.md"


@pytest.fixture
def orchestra() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs the command in a process of its own."""

    def run(*arguments: object) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "orchestra", *map(str, arguments)]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        return subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment, check=False)

    return run


@pytest.fixture
def call() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs the command in this process."""

    def call_main(*arguments: object) -> subprocess.CompletedProcess[str]:
        done = CliRunner().invoke(main, [str(argument) for argument in arguments])
        return subprocess.CompletedProcess(arguments, done.exit_code, done.stdout, done.stderr)

    return call_main
