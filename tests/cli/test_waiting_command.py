"""A run that waits: `orchestra run`, `approve` and `resume` with one store, in processes of their own where it counts."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from servers import Received, Wire, openai_chunks, openai_stream, sse_answer

pytest.importorskip("pty")
from terminals import Terminal

ROOT = Path(__file__).parents[2]
CAREFUL, PLAIN, JOINED = "What drove the margin?", "Who audits?", "You join findings into one answer"
REPLIES = {
    JOINED: "Harrow Pike LLP audits [L7]; the margin rose to 14.2 percent [L15].",
    f"Task: {CAREFUL}": "The margin rose to 14.2 percent because freight costs fell [L15].",
    f"Task: {PLAIN}": "The auditor is Harrow Pike LLP [L7].",
}


class Provider:
    """Answers by what a request asks; with `hangs_at`, leaves the first such request without an answer."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.hangs_at = ""
        self.is_hanging = threading.Event()

    def __call__(self, received: Received, wire: Wire) -> bytes | None:
        prompt = json.dumps(received.json["messages"])
        asked = next(words for words in REPLIES if words in prompt)
        self.asked.append(asked.removeprefix("Task: "))
        if self.asked[-1] == self.hangs_at:
            self.hangs_at = ""
            self.is_hanging.set()
            return wire.hang()
        return sse_answer(openai_stream(openai_chunks(REPLIES[asked])))


@pytest.fixture
def provider(serve, monkeypatch: pytest.MonkeyPatch) -> Provider:
    script = Provider()
    monkeypatch.setenv("OPENAI_BASE_URL", f"{serve(script).url}/v1")
    monkeypatch.setenv("ORCHESTRA_MODEL", "openai:m-1")
    return script


@pytest.fixture
def begin(report: Path, tmp_path: Path) -> list[object]:
    """The arguments of a run with two subtasks, of which one needs approval."""
    skill = tmp_path / "skills" / "careful" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: careful\ndescription: Careful work.\napproval: required\n---\nTake care.\n")
    subtasks = [
        {"id": "1", "task": CAREFUL, "skill": "careful", "context_pointers": {"sections": ["s4"]}},
        {"id": "2", "task": PLAIN, "skill": "critique", "context_pointers": {"sections": ["s2"]}},
    ]
    plan = tmp_path / "plan.json"
    plan.write_text(json.dumps({"reasoning": "", "subtasks": subtasks}))
    return ["run", report, "Tell me.", "--plan", plan, "--skills", skill.parents[1], "--max-followups", 0]


@pytest.fixture
def apart(spawn, store_url: str) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs the command in a process of its own, on the test's store."""

    def run(*arguments: object):
        return spawn(*arguments, "--store", store_url, "--json")

    return run


@pytest.fixture
def orchestra(call, store_url: str) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs the command in this process, on the test's store."""

    def run(*arguments: object):
        done = call(*arguments, "--store", store_url, "--json")
        return subprocess.CompletedProcess(arguments, done.exit_code, done.stdout, done.stderr)

    return run


def begun(orchestra, begin) -> str:
    """The id of a run that waits."""
    done = orchestra(*begin)
    assert done.returncode == 4, done.stderr
    return json.loads(done.stdout)["run_id"]


def test_a_run_waits_is_approved_and_goes_on_each_in_its_own_process(apart, orchestra, begin, provider) -> None:
    waiting = apart(*begin)
    result = json.loads(waiting.stdout)
    run_id = result["run_id"]
    too_early = orchestra("resume", run_id)
    asked_at_first = list(provider.asked)
    shown = orchestra("approve", run_id)
    approved = apart("approve", run_id, "subtask-1", "--yes", "--digest", result["waiting"][0]["digest"])
    resumed = apart("resume", run_id)

    assert (waiting.returncode, result["status"], too_early.returncode) == (4, "waiting", 4)
    assert asked_at_first == [PLAIN]
    assert f"orchestra approve {run_id} run/subtask-1" in waiting.stderr
    assert f"orchestra resume {run_id}" in waiting.stderr
    assert json.loads(shown.stdout)["waiting"][0]["shown"]["task"] == CAREFUL
    assert approved.returncode == 0
    assert (resumed.returncode, json.loads(resumed.stdout)["status"]) == (0, "completed")
    assert "the margin rose to 14.2 percent [2]" in json.loads(resumed.stdout)["answer"]
    assert provider.asked == [PLAIN, CAREFUL, JOINED]


def test_a_run_waits_for_what_a_gate_asks_before_anything_is_planned(orchestra, begin, provider, tmp_path) -> None:
    gate = tmp_path / "skills" / "calm"
    gate.mkdir()
    (gate / "SKILL.md").write_text("---\nname: calm\ndescription: Is it calm?\napproval: required\n---\nCode.\n")
    (gate / "skill.yaml").write_text("type: code\nfunction: calm.py:calm\nlayer: guarantee\n")
    (gate / "calm.py").write_text("def calm() -> bool:\n    return True\n")
    begin[begin.index("--plan") + 1].write_text(
        json.dumps({"subtasks": [{"id": "1", "task": PLAIN, "skill": "critique"}], "reasoning": ""})
    )

    waiting = orchestra(*begin)
    result = json.loads(waiting.stdout)
    approved = orchestra("approve", result["run_id"], "--yes")
    resumed = orchestra("resume", result["run_id"])

    assert (waiting.returncode, result["status"], result["plan"]) == (4, "waiting", None)
    assert f"orchestra approve {result['run_id']} run/gate-calm" in waiting.stderr
    assert (approved.returncode, resumed.returncode) == (0, 0), resumed.stderr
    assert provider.asked == [PLAIN]


def test_an_approval_outlives_a_killed_process(orchestra, begin, provider, store_url: str) -> None:
    run_id = begun(orchestra, begin)
    orchestra("approve", run_id, "subtask-1", "--yes")
    provider.hangs_at = CAREFUL
    command = [sys.executable, "-m", "orchestra", "resume", run_id, "--store", store_url]
    killed = subprocess.Popen(
        command, env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    assert provider.is_hanging.wait(30)
    killed.send_signal(signal.SIGKILL)
    killed.wait()

    resumed = orchestra("resume", run_id)

    result = json.loads(resumed.stdout)
    assert (resumed.returncode, result["status"]) == (0, "completed")
    assert provider.asked == [PLAIN, CAREFUL, CAREFUL, JOINED]
    assert [(notice["code"], notice["node_id"]) for notice in result["warnings"]] == [
        ("CALL_REPEATED", "run/subtask-1")
    ]


@pytest.mark.parametrize("store_url", ["sqlite"], indirect=True)
def test_what_a_killed_process_was_asking_on_a_terminal_can_be_answered_elsewhere(
    orchestra, begin, provider, store_url: str
) -> None:
    terminal = Terminal(*begin, "--store", store_url)
    terminal.wait_for("[a]pprove, [r]eject, [e]dit, [l]ater: ")
    terminal.process.kill()
    terminal.end()
    terminal.close()
    (run,) = json.loads(orchestra("runs").stdout)

    approved = orchestra("approve", run["id"], "subtask-1", "--yes")
    resumed = orchestra("resume", run["id"])

    assert (approved.returncode, resumed.returncode) == (0, 0)
    assert sorted(provider.asked) == sorted([PLAIN, CAREFUL, JOINED])


@pytest.mark.parametrize("store_url", ["sqlite"], indirect=True)
def test_of_two_processes_that_answer_at_once_one_wins_and_the_other_is_told(apart, orchestra, begin, provider) -> None:
    run_id = begun(orchestra, begin)
    together, done = threading.Barrier(4), []

    def say(number: int) -> None:
        together.wait()
        done.append(apart("approve", run_id, "subtask-1", "--reject", str(number)))

    people = [threading.Thread(target=say, args=(number,)) for number in range(4)]
    for person in people:
        person.start()
    for person in people:
        person.join()

    won = [each for each in done if each.returncode == 0]
    lost = [each for each in done if each.returncode != 0]
    assert len(won) == 1
    assert all("answered" in each.stderr for each in lost)
    assert json.loads(won[0].stdout)["reason"] in orchestra("resume", run_id).stderr
