"""`orchestra runs` and `orchestra replay`: what is on record, listed, shown, exported, removed and shown again."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from records_for_tests import a_question, a_run, node_event

from orchestra.cli.dates import PointInTime
from orchestra.errors import OrchestraError
from orchestra.runtime.events import AnswerDelta, RouteStarted, Warned
from orchestra.store import DocumentRef, Store

HOSTILE = "\x1b[31mred\x1b[0m\r\n\u202eback"
RUN = "3f9a1c0000000000000000000000beef"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A store with a run that ended in part, and a later one that failed."""
    path = tmp_path / "runs.db"
    with Store.open(path) as store:
        store.begin_run(
            a_run(
                RUN,
                task=f"What drove {HOSTILE}?",
                started_at=1_700_000_000.0,
                documents=(DocumentRef("a.md", "d1"),),
                models={"plan": "test:planner"},
            )
        )
        store.put_document("d1", "a.md", "# Title\n")
        store.append_events(RUN, _events())
        store.finish_call(RUN, "run/plan", "model", "f", 1, {"text": "plan"})
        store.begin_call(RUN, "run/subtask-1", "model", "f", 1)
        store.end_run(RUN, "partial", result={"answer": "Prices. [1]"})
        store.begin_run(a_run("81c2", task="Later", started_at=time.time()))
        store.end_run(
            "81c2", "failed", error={"code": "PLAN_INVALID", "message": "no plan", "suggestion": "Try again."}
        )
    return path


def test_runs_are_listed_newest_first_a_line_each_and_terminals_are_safe(call, place: Path) -> None:
    done = call("runs", "--store", place)

    lines = done.stdout.splitlines()
    assert (done.exit_code, done.stderr) == (0, "")
    assert [line.split()[0] for line in lines] == ["81c2", RUN[:12]]
    assert "partial" in lines[1]
    assert lines[1].endswith("What drove red back?  (a.md)")


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--status", "failed"], ["81c2"]),
        (["--skill", "lookup"], [RUN]),
        (["--text", "prices"], [RUN]),
        (["--since", "1d"], ["81c2"]),
        (["--until", "2023-11-16"], [RUN]),
        (["--since", "2023-11-14", "--until", "2023-11-13"], []),
        (["--limit", "1"], ["81c2"]),
    ],
)
def test_the_list_is_narrowed_by_options(call, place: Path, options: list[str], expected: list[str]) -> None:
    done = call("runs", "--store", place, "--json", *options)

    assert [run["id"] for run in json.loads(done.stdout)] == expected


def test_a_list_without_runs_says_so(call, place: Path) -> None:
    done = call("runs", "--store", place, "--status", "waiting")

    assert (done.exit_code, done.stdout, done.stderr) == (0, "", "no run is on record that fits\n")


@pytest.mark.parametrize("options", [["--since", "soon"], ["--limit", "0"], ["--status", "odd"]])
def test_a_wrong_option_is_a_wrong_call(call, place: Path, options: list[str]) -> None:
    assert call("runs", "--store", place, *options).exit_code == 2


def test_a_run_is_shown_as_a_tree_with_errors_and_what_to_do(call, place: Path) -> None:
    done = call("runs", "--store", place, "show", RUN[:6])

    assert done.exit_code == 0
    assert done.stdout.splitlines()[-9:] == [
        "journal    1 finished, 1 not",
        "",
        "run                         partial, 3.5 s",
        "├─ plan                     completed, 1.5 s, 1,200 tokens in (200 cached), 30 out",
        "└─ subtask-1 [lookup] Who?  failed, 2.0 s, attempt 2",
        "     TIMEOUT: no reply (the server hangs)",
        "     Raise the timeout.",
        "",
        "Prices. [1]",
    ]
    assert "\x1b" not in done.stdout


def test_a_run_that_failed_says_why(call, place: Path) -> None:
    done = call("runs", "show", "81c2", "--store", place)

    assert done.stdout.endswith("\nPLAN_INVALID: no plan\nTry again.\n")


def test_a_run_that_waits_says_for_what(call, tmp_path: Path) -> None:
    with Store.open(tmp_path / "runs.db") as store:
        store.begin_run(a_run("r1"))
        store.ask(a_question("run/subtask-1"))
        store.end_run("r1", "waiting")

    done = call("runs", "--store", tmp_path / "runs.db", "show", "r1")

    assert done.stdout.splitlines()[-1] == "waits for Send it?: `orchestra approve r1 run/subtask-1`"


def test_the_raw_events_are_lines_of_json(call, place: Path) -> None:
    done = call("runs", "show", RUN, "--events", "--store", place)

    assert [json.loads(line) for line in done.stdout.splitlines()] == json.loads(json.dumps(_events()))
    assert done.stdout.isascii()


def test_a_run_as_json_has_its_nodes(call, place: Path) -> None:
    shown = json.loads(call("runs", "show", RUN, "--json", "--store", place).stdout)

    assert (shown["id"], shown["status"]) == (RUN, "partial")
    assert [node["node_id"] for node in shown["nodes"]] == ["run", "run/plan", "run/subtask-1"]
    assert shown["calls"] == {"finished": 1, "unfinished": ["run/subtask-1"]}


def test_an_export_holds_everything(call, place: Path, tmp_path: Path) -> None:
    done = call("runs", "export", RUN, "--output", tmp_path / "run.json", "--store", place)

    exported = json.loads((tmp_path / "run.json").read_text())
    assert (done.exit_code, done.stdout) == (0, "")
    assert exported["documents"] == [{"name": "a.md", "digest": "d1", "text": "# Title\n"}]
    assert [each["payload"] for each in exported["calls"]] == [{"text": "plan"}, None]
    assert [event["sequence"] for event in exported["events"]] == [1, 2, 3, 4, 5, 6]
    assert exported["result"] == {"answer": "Prices. [1]"}


def test_an_export_can_leave_the_texts_out(call, place: Path) -> None:
    exported = json.loads(call("runs", "export", RUN, "--no-texts", "--store", place).stdout)

    assert exported["documents"] == [{"name": "a.md", "digest": "d1"}]


def test_removed_runs_are_gone(call, place: Path) -> None:
    done = call("runs", "rm", RUN[:5], "81c2", "81", "--store", place)

    assert (done.exit_code, done.stdout, done.stderr) == (0, "", f"removed: {RUN}\nremoved: 81c2\n")
    assert call("runs", "--store", place).stderr == "no run is on record\n"


@pytest.mark.parametrize("command", [["runs", "show"], ["runs", "export"], ["runs", "rm"], ["replay"]])
def test_a_run_that_is_not_there_is_told(call, place: Path, command: list[str]) -> None:
    done = call(*command, "nosuch", "--store", place)

    assert done.exit_code == 1
    assert "RUN_NOT_FOUND: no run begins with 'nosuch'" in done.stderr


def test_a_store_that_is_not_there_is_told_and_not_made(call, tmp_path: Path) -> None:
    done = call("runs", "--store", tmp_path / "none.db")

    assert done.exit_code == 1
    assert "STORE_UNAVAILABLE: there is no store" in done.stderr
    assert list(tmp_path.glob("none*")) == []


def test_the_store_is_the_option_else_the_variable_else_the_users_own(
    call, place: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "home"))
    nowhere = call("runs")
    monkeypatch.setenv("ORCHESTRA_STORE", f"sqlite:///{place}")
    by_variable = call("runs", "--limit", "1")
    by_option = call("runs", "--store", tmp_path / "other.db")

    assert str(tmp_path / "home" / "orchestra" / "runs.db") in nowhere.stderr
    assert by_variable.stdout.startswith("81c2")
    assert "other.db" in by_option.stderr


def test_a_replay_shows_what_the_run_showed_and_its_answer(call, place: Path) -> None:
    done = call("replay", RUN[:6], "--speed", "0", "--store", place)

    assert done.exit_code == 0
    assert done.stdout == "Prices. [1]\n"
    assert done.stderr.splitlines() == [
        "model: test:planner",
        "completed: plan  1.5 s, 1,200 tokens in",
        "warning: PLAN_MENDED: red",
        "back",
        "failed: subtask-1 [lookup] Who?  2.0 s, TIMEOUT: no reply",
    ]


def test_until_a_day_means_until_its_end() -> None:
    start = PointInTime().convert("2026-11-21", None, None)

    assert PointInTime(is_end=True).convert("2026-11-21", None, None) - start == 86_400
    assert PointInTime(is_end=True).convert("2026-11-21T12:00", None, None) - start == 43_200


def test_nodes_that_lead_to_one_another_are_shown_once(call, tmp_path: Path) -> None:
    with Store.open(tmp_path / "runs.db") as store:
        store.begin_run(a_run("r1"))
        store.append_events("r1", [node_event(1, "a", parent_node_id="b"), node_event(2, "b", parent_node_id="a")])

    done = call("runs", "show", "r1", "--store", tmp_path / "runs.db")

    assert done.stdout.splitlines()[-2:] == ["a     executing", "└─ b  executing"]


def _events() -> list[dict[str, object]]:
    error: dict[str, str] = OrchestraError(
        "no reply", cause="the server hangs", suggestion="Raise the timeout."
    ).to_dict()
    usage = {"input_tokens": 1000, "cached_input_tokens": 200, "cache_write_tokens": 0, "output_tokens": 30}
    return [
        RouteStarted(
            sequence=1, node_id="run", kind="run", status="executing", models={"plan": "test:planner"}
        ).to_dict(),
        node_event(
            2,
            "run/plan",
            parent_node_id="run",
            title="plan",
            status="completed",
            usage=usage,
            timing={"started_at": 1.0, "duration_ms": 1500.0},
        ),
        Warned(sequence=3, code="PLAN_MENDED", message=HOSTILE).to_dict(),
        AnswerDelta(sequence=4, node_id="run/plan", text="Pri").to_dict(),
        node_event(
            5,
            "run/subtask-1",
            parent_node_id="run",
            skill_name="lookup",
            title="Who?",
            status="failed",
            attempt=2,
            error=error | {"code": "TIMEOUT"},
            timing={"started_at": 2.0, "duration_ms": 2000.0},
        ),
        node_event(6, "run", depth=0, status="partial", timing={"started_at": 0.5, "duration_ms": 3500.0}),
    ]
