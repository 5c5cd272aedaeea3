"""What a run says on standard error while it lasts."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest

from orchestra.cli.progress import LiveRows, named_models, plain, progress
from orchestra.runtime.events import (
    AnswerDelta,
    FollowedUp,
    NodeUpdated,
    PlanReady,
    RetryScheduled,
    RouteStarted,
    Warned,
)

DONE = NodeUpdated(
    node_id="run/subtask-1",
    depth=1,
    skill_name="critique",
    title="Is it sound?",
    status="completed",
    timing={"started_at": 1.0, "duration_ms": 2345.6},
    usage={"input_tokens": 1000, "cached_input_tokens": 234, "cache_write_tokens": 0, "output_tokens": 10},
)
EXECUTING = NodeUpdated(node_id="run/plan", depth=1, title="plan", status="executing")
FAILED = NodeUpdated(
    node_id="run/synthesis",
    depth=1,
    title="synthesis",
    status="failed",
    error={"code": "MODEL_OVERLOADED", "message": "the server is busy"},
)
RETRY = RetryScheduled(
    node_id="run/plan", attempt=1, delay_s=2.5, error={"code": "TIMEOUT", "message": "no reply in 60 s"}
)


@pytest.mark.parametrize(
    ("event", "line"),
    [
        (DONE, "completed: subtask-1 [critique] Is it sound?  2.3 s, 1,234 tokens in\n"),
        (FAILED, "failed: synthesis  MODEL_OVERLOADED: the server is busy\n"),
        (EXECUTING, ""),
        (NodeUpdated(node_id="run", depth=0, status="completed"), ""),
        (PlanReady(plan={}), ""),
        (RETRY, "retry: plan in 2.5 s (TIMEOUT: no reply in 60 s)\n"),
        (
            FollowedUp(node_id="run/subtask-1", missing="the costs of 2024", ranges=["L9"], tokens=3_210),
            "follow-up: subtask-1, 3,210 tokens more: the costs of 2024\n",
        ),
        (
            Warned(code="PLAN_MENDED", message="an \x1b[31mid\x1b[0m was missing"),
            "warning: PLAN_MENDED: an id was missing\n",
        ),
        (
            RouteStarted(models={"plan": "builtin:extractive", "subtasks": "builtin:extractive"}),
            "model: builtin:extractive - quotes, does not reason\n",
        ),
    ],
)
def test_without_a_terminal_each_event_is_at_most_one_plain_line(capsys, event, line: str) -> None:
    plain(event)

    assert capsys.readouterr() == ("", line)


@pytest.mark.parametrize(
    ("models", "line"),
    [
        ({}, ""),
        ({"plan": "openai:a", "subtasks": "openai:a"}, "model: openai:a"),
        (
            {"plan": "openai:a", "subtasks": "openai:b", "synthesis": "builtin:extractive"},
            "models: plan openai:a, subtasks openai:b, synthesis builtin:extractive - quotes, does not reason",
        ),
    ],
)
def test_the_models_are_named_once_or_by_phase(models: dict[str, str], line: str) -> None:
    assert named_models(models) == line


def test_quiet_listens_to_nothing() -> None:
    with progress(is_quiet=True) as listener:
        assert listener is None


def test_a_terminal_that_cannot_move_its_cursor_gets_plain_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "dumb")

    with progress(is_quiet=False) as listener:
        assert listener is plain


@pytest.fixture
def screen():
    from rich.console import Console

    return Console(file=io.StringIO(), force_terminal=False, width=70, highlight=False, markup=False, emoji=False)


def drawn(rows: LiveRows, screen) -> list[str]:
    screen.print(rows)
    return [line.rstrip() for line in screen.file.getvalue().splitlines()]


def test_a_terminal_shows_one_row_per_node_in_its_latest_state(screen) -> None:
    rows = LiveRows(screen)

    rows(EXECUTING)
    rows(NodeUpdated(node_id="run/subtask-1", depth=1, title="[bold]wait[/bold]", status="routing"))
    rows(DONE)

    assert drawn(rows, screen) == ["… plan  0 s", "✓ subtask-1 [critique] Is it sound?  2.3 s, 1,234 tokens in"]


def test_markup_in_a_title_is_text(screen) -> None:
    rows = LiveRows(screen)

    rows(NodeUpdated(node_id="run/subtask-1", depth=1, title="[bold]wait[/bold] \x1b[2J:smile:", status="routing"))

    assert drawn(rows, screen) == ["· subtask-1 [bold]wait[/bold] :smile:"]


def test_a_row_says_that_its_node_is_tried_again(screen) -> None:
    rows = LiveRows(screen)

    rows(EXECUTING)
    rows(RETRY)

    assert drawn(rows, screen) == ["… plan  0 s, again in 2.5 s: TIMEOUT"]


def test_a_long_title_is_cut_so_that_the_row_stays_one_line_and_keeps_its_facts(screen) -> None:
    rows = LiveRows(screen)

    rows(replace(DONE, title="why " * 100))

    (line,) = drawn(rows, screen)
    assert len(line) == 70
    assert line.endswith("…  2.3 s, 1,234 tokens in")


def test_warnings_stand_above_the_rows(screen) -> None:
    rows = LiveRows(screen)

    rows(Warned(code="PLAN_MENDED", message="[red]x[/red]"))

    assert drawn(rows, screen)[0] == "warning: PLAN_MENDED: [red]x[/red]"


def test_the_answer_shows_while_it_arrives_and_not_after(screen) -> None:
    rows = LiveRows(screen)

    rows(AnswerDelta(node_id="run/synthesis", text="The margin "))
    rows(AnswerDelta(node_id="run/synthesis", text="rose."))
    shown = drawn(rows, screen)
    rows.finish()
    screen.file.truncate(0)
    screen.file.seek(0)

    assert shown[-1] == "The margin rose."
    assert drawn(rows, screen) == []


def test_a_new_attempt_starts_the_answer_anew(screen) -> None:
    rows = LiveRows(screen)

    rows(AnswerDelta(node_id="run/synthesis", text="Half an ans"))
    rows(AnswerDelta(node_id="run/synthesis", text="All of it.", attempt=2))

    assert drawn(rows, screen)[-1] == "All of it."


def test_of_a_long_answer_the_last_lines_show(screen) -> None:
    rows = LiveRows(screen)

    rows(AnswerDelta(node_id="run/synthesis", text="\n".join(f"line {number}" for number in range(50))))

    assert drawn(rows, screen)[-2:] == ["line 48", "line 49"]
    assert "line 40" not in drawn(rows, screen)
