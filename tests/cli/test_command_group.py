"""What every command shares: help, errors in two lines, exit codes, imports."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from orchestra.cli import COMMANDS

HEAVY = ("httpx", "markdown_it", "rich", "pydantic", "yaml", "sqlite3", "jsonschema", "rapidfuzz", "tenacity")


def test_the_version_is_printed(spawn) -> None:
    done = spawn("--version")

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("orchestra ")


@pytest.mark.parametrize("arguments", [["--version"], ["--help"], ["skills", "--help"]])
def test_version_and_help_load_nothing_that_they_do_not_need(arguments: list[str]) -> None:
    code = (
        "import sys, contextlib; sys.argv = ['orchestra', *sys.argv[1:]]; from orchestra.cli import main\n"
        "with contextlib.suppress(SystemExit): main()\n"
        "print('loaded:', *sorted(name for name in sys.modules if '.' not in name))"
    )

    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, timeout=60, check=True
    )

    loaded = done.stdout.rpartition("loaded:")[2].split()
    assert set(HEAVY) & set(loaded) == set()


@pytest.mark.parametrize("name", ["", *COMMANDS])
def test_help_fits_80_columns_and_teaches_by_example(call, name: str) -> None:
    done = call(*filter(None, [name]), "--help")

    assert done.exit_code == 0
    assert max(len(line) for line in done.stdout.splitlines()) <= 80
    assert "Example" in done.stdout
    assert f"orchestra {name}" in done.stdout.split("Example")[1]


def test_no_arguments_show_the_help_and_are_a_usage_error(spawn) -> None:
    done = spawn()

    assert (done.returncode, done.stdout) == (2, "")
    assert "Commands:" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "reason", "command"),
    [
        (["--nope"], "No such option '--nope'.", "orchestra"),
        (["fly"], "No such command 'fly'.", "orchestra"),
        (["skills", "--nope"], "No such option '--nope'.", "orchestra skills"),
        (["run"], "the document and the task are missing", "orchestra run"),
        (["run", "a question"], "the task is missing", "orchestra run"),
        (["run", "report.md", " "], "the task is empty", "orchestra run"),
        (["run", "-", "-", "a question"], "standard input (-) can be read once", "orchestra run"),
        (["run", "report.md", "a question", "--max-workers", "0"], "0 is not in the range", "orchestra run"),
        (["plan", "report.md"], "the task is missing", "orchestra plan"),
        (["slice", "report.md"], "Missing argument", "orchestra slice"),
    ],
)
def test_a_usage_error_is_two_lines_and_exit_code_2(call, arguments: list[str], reason: str, command: str) -> None:
    done = call(*arguments)

    what, todo = done.stderr.splitlines()
    assert (done.exit_code, done.stdout) == (2, "")
    assert what.startswith("orchestra: ")
    assert reason in what
    assert todo == f"  `{command} --help` shows how it is called."


def test_a_file_in_the_place_of_the_task_is_noticed(call, report) -> None:
    done = call("run", report, report)

    assert done.exit_code == 2
    assert "the task is missing" in done.stderr


def test_an_error_is_two_lines_without_a_traceback(call) -> None:
    done = call("skills", "--skills", "nowhere")

    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr.splitlines() == [
        "orchestra: SKILL_INVALID: nowhere holds no skill (there is no such folder)",
        "  Name a folder with a SKILL.md, or a folder of such folders.",
    ]


@pytest.mark.parametrize("arguments", [["--debug", "skills"], ["skills", "--debug"]])
def test_debug_adds_the_traceback(call, arguments: list[str]) -> None:
    done = call(*arguments, "--skills", "nowhere")

    assert done.exit_code == 1
    assert "Traceback (most recent call last)" in done.stderr
    assert done.stderr.splitlines()[-2].startswith("orchestra: SKILL_INVALID: nowhere holds no skill")


def test_a_defect_is_two_lines_too(call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("orchestra.skills.SkillLibrary.builtin", lambda: 1 / 0)

    done = call("skills")

    assert done.exit_code == 1
    assert done.stderr.splitlines()[0] == "orchestra: UNEXPECTED: ZeroDivisionError: division by zero"


def test_an_interrupt_with_nothing_finished_is_exit_code_130(call, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("orchestra.skills.SkillLibrary.builtin", interrupt)

    done = call("skills")

    assert done.exit_code == 130
    assert "interrupted" in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device here")
def test_output_that_cannot_be_written_is_two_lines() -> None:
    command = f"{sys.executable} -m orchestra skills > /dev/full"

    done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=60, check=False)

    assert done.returncode == 1
    assert done.stderr.splitlines()[0] == "orchestra: [Errno 28] No space left on device"


def test_a_closed_pipe_is_quiet() -> None:
    command = f"{sys.executable} -m orchestra skills --json | head -c 1"

    done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=60, check=False)

    assert (done.stdout, done.stderr) == ("{", "")
