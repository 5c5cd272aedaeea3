"""`orchestra run` asks a person on a real (pseudo) terminal."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from orchestra.store import Store

pytest.importorskip("pty")
from terminals import Terminal

CHOICES = "[a]pprove, [r]eject, [e]dit, [l]ater: "
HOSTILE = "Why?\x1b[2J\x1b[1;1H\r[a]pprove, [r]eject: a\u202e\u200b\n[a]pprove, [r]eject, [e]dit, [l]ater: a\napproved"


@pytest.fixture
def ask(report: Path, tmp_path: Path) -> Iterator[Callable[..., Terminal]]:
    """Starts a run whose only subtask, with the words given, needs approval."""
    started: list[Terminal] = []
    skill = tmp_path / "skills" / "careful" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: careful\ndescription: Careful work.\napproval: required\n---\nTake care.\n")

    def start(*options: object, task: str = "Who is the auditor?", **settings: object) -> Terminal:
        subtask = {"id": "1", "task": task, "skill": "careful", "context_pointers": {"sections": ["Audit"]}}
        plan = tmp_path / "plan.json"
        plan.write_text(json.dumps({"reasoning": "", "subtasks": [subtask]}))
        store = () if "--store" in options else ("--no-store",)
        arguments = ["run", report, "Tell me.", "--plan", plan, "--skills", skill.parent.parent, *store, *options]
        started.append(Terminal(*arguments, ORCHESTRA_MODEL="builtin:extractive", **settings))
        return started[-1]

    yield start
    for terminal in started:
        terminal.close()


def test_what_is_approved_here_goes_on(ask) -> None:
    terminal = ask()

    terminal.wait_for(CHOICES)
    terminal.type("a\n")
    code, out = terminal.end()

    assert code == 0
    assert "Harrow Pike LLP" in out
    assert "  │ skill: careful\r\n" in terminal.shown
    assert "  │ task: Who is the auditor?\r\n" in terminal.shown
    assert "  │ lines: L5-L8\r\n" in terminal.shown


def test_a_rejection_asks_for_the_reason(ask) -> None:
    terminal = ask()

    terminal.wait_for(CHOICES)
    terminal.type("r\n")
    terminal.wait_for("Why (empty: no reason): ")
    terminal.type("not today\n")
    code, _ = terminal.end()

    assert code == 1
    assert "APPROVAL_REJECTED" in terminal.shown
    assert "not today" in terminal.shown.partition("APPROVAL_REJECTED")[2]


def test_an_edit_is_shown_again_before_it_is_approved(ask) -> None:
    terminal = ask("--json")

    terminal.wait_for(CHOICES)
    terminal.type("e\n")
    terminal.wait_for("Instead (empty: as it is): ")
    terminal.type("When was the auditor appointed?\n")
    terminal.wait_for("task (edited): When was the auditor appointed?")
    terminal.wait_for(CHOICES, times=2)
    terminal.type("a\n")
    code, out = terminal.end()

    assert code == 0
    assert json.loads(out)["subtasks"][0]["task"] == "When was the auditor appointed?"


def test_an_edit_is_written_in_the_editor_where_there_is_one(ask, tmp_path: Path) -> None:
    editor = tmp_path / "editor.sh"
    editor.write_text("#!/bin/sh\necho 'When was the auditor appointed?' > \"$1\"\ntouch -d '+2 seconds' \"$1\"\n")
    editor.chmod(0o755)
    terminal = ask("--json", EDITOR=str(editor))

    terminal.wait_for(CHOICES)
    terminal.type("e\n")
    terminal.wait_for(CHOICES, times=2)
    terminal.type("a\n")
    code, out = terminal.end()

    assert code == 0
    assert json.loads(out)["subtasks"][0]["task"] == "When was the auditor appointed?"


def test_what_was_typed_before_the_question_does_not_answer_it(ask) -> None:
    terminal = ask()

    terminal.type("a\na\na\n")
    terminal.wait_for(CHOICES)
    terminal.type("r\n\n")
    code, _ = terminal.end()

    assert code == 1


def test_anything_else_is_asked_again(ask) -> None:
    terminal = ask()

    for times, text in enumerate(["yes please\n", "\x1b[A\n", "A\n"], start=1):
        terminal.wait_for(CHOICES, times=times)
        terminal.type(text)
    code, _ = terminal.end()

    assert code == 0
    assert terminal.shown.count("that is none of these") == 2


def test_hostile_text_cannot_look_like_the_prompt(ask) -> None:
    terminal = ask(task=HOSTILE + " " + "x" * 70 + "[a]pprove", columns=60)

    terminal.wait_for("[l]ater: a")
    terminal.wait_for("\r\n" + CHOICES)
    terminal.type("r\n\n")
    code, _ = terminal.end()

    asked = terminal.shown.partition("An approval is asked for:")[2].partition("\r\n" + CHOICES)[0]
    assert code == 1
    assert all(line.startswith("  │ ") and len(line) < 60 for line in asked.split("\r\n")[1:])
    assert "\x1b" not in asked
    assert "\\u001b[2J" in asked
    assert "\\u202e\\u200b" in asked.replace("\r\n  │ ", "")


def test_ctrl_c_at_the_question_ends_the_run_at_once(ask) -> None:
    terminal = ask()

    terminal.wait_for(CHOICES)
    terminal.process.send_signal(signal.SIGINT)
    code, out = terminal.end()

    assert (code, out) == (130, "")
    assert "Traceback" not in terminal.shown
    assert "Fatal" not in terminal.shown


def test_the_end_of_the_input_leaves_it_for_later(ask) -> None:
    terminal = ask()

    terminal.wait_for(CHOICES)
    terminal.type("\x04")
    code, _ = terminal.end()

    assert code == 1
    assert "left for later" in terminal.shown


def test_approve_never_asks_nobody(ask) -> None:
    terminal = ask("--approve", "never")

    code, _ = terminal.end()

    assert code == 1
    assert CHOICES not in terminal.shown


def test_a_dumb_terminal_can_ask_too(ask) -> None:
    terminal = ask(TERM="dumb")

    terminal.wait_for(CHOICES)
    terminal.type("a\n")
    code, _ = terminal.end()

    assert code == 0


def test_approve_without_an_option_asks_on_the_terminal(ask, tmp_path: Path) -> None:
    place = tmp_path / "runs.db"
    code, out = ask("--approve", "never", "--store", place, "--json").end()
    run_id = json.loads(out)["run_id"]
    terminal = Terminal("approve", run_id, "subtask-1", "--store", place)

    terminal.wait_for(CHOICES)
    terminal.type("r\n")
    terminal.wait_for("Why (empty: no reason): ")
    terminal.type("not today\n")
    answered, _ = terminal.end()
    terminal.close()

    assert (code, answered) == (4, 0)
    assert terminal.shown.count("An approval is asked for:") == 1
    with Store.open(place) as store:
        (record,) = store.approvals(run_id)
    assert (record.outcome, record.reason) == ("rejected", "not today")
