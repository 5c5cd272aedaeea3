"""The command in this process (`call`) and in one of its own (`spawn`)."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from orchestra.cli import main

ROOT = Path(__file__).parents[2]
KEYS = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "ORCHESTRA_MODEL", "ANTHROPIC_BASE_URL", "OPENAI_BASE_URL")


@pytest.fixture(autouse=True)
def _without_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in KEYS:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(autouse=True)
def _with_a_state_folder_of_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    monkeypatch.delenv("ORCHESTRA_STORE", raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))


@pytest.fixture
def call() -> Callable[..., Result]:
    def call_main(*arguments: object, text: str | None = None) -> Result:
        return CliRunner().invoke(main, [str(argument) for argument in arguments], input=text)

    return call_main


@pytest.fixture
def spawn() -> Callable[..., subprocess.CompletedProcess[str]]:
    def run_process(*arguments: object, text: str | None = None, **environment: str):
        command = [sys.executable, "-m", "orchestra", *(str(argument) for argument in arguments)]
        environment = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
        return subprocess.run(
            command, input=text, capture_output=True, text=True, timeout=60, env=environment, check=False
        )

    return run_process


@pytest.fixture
def report(tmp_path: Path) -> Path:
    path = tmp_path / "report.md"
    path.write_text(
        "# Annual report\n\nThe year was good.\n\n"
        "## Audit\n\nThe auditor is Harrow Pike LLP, appointed in 2019.\n\n"
        "## Results\n\nRevenue was 412 million euros in 2025, after 371 million euros in 2024.\n\n"
        "### Margin\n\nThe margin rose to 14.2 percent because freight costs fell.\n",
        encoding="utf-8",
    )
    return path
