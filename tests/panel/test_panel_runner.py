"""Runs that the panel starts: begun, asked, answered from anywhere, ended, and taken up again."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from models_for_tests import COSTS, REPORT, ScriptedModel, plan_of
from processes import started
from servers import json_answer, openai_chunks, openai_completion, openai_stream, sse_answer

from orchestra.errors import DocumentUnreadable, InputInvalid, ModelAuth, RunBusy, RunNotFound
from orchestra.panel.runner import Runner
from orchestra.store import Store

CAREFUL = {"careful": {"description": "Careful work.", "system_prompt": "Take care.", "needs_approval": True}}
PLAN = plan_of({"skill": "careful", "task": "Why did costs rise?", "context_pointers": COSTS})


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "runs.db") as opened:
        yield opened


@pytest.fixture
def document(tmp_path: Path) -> Path:
    path = tmp_path / "report.md"
    path.write_text(REPORT, encoding="utf-8")
    return path


@contextmanager
def running(store: Store, **options) -> Iterator[Runner]:
    runner = Runner(store, **options)
    try:
        yield runner
    finally:
        runner.close()


def careful_model() -> ScriptedModel:
    """Its plan has one subtask for the skill that needs an approval."""
    return ScriptedModel(plan=PLAN, subtask="Steel became dearer [L9].")


def until(claim: Callable[[], object], seconds: float = 20.0):
    """What `claim` gives, once that is true."""
    ends_at = time.monotonic() + seconds
    while not (found := claim()):
        assert time.monotonic() < ends_at, "it did not come true"
        threading.Event().wait(0.02)
    return found


def ended(runner: Runner, run_id: str):
    return until(lambda: not runner.is_running(run_id))


def asked(store: Store, run_id: str):
    return until(lambda: store.approvals(run_id, "open"))[0]


def say(store: Store, record, outcome="approved", **said) -> bool:
    return store.answer(record.run_id, record.node_id, record.digest, outcome=outcome, **said)


def start(runner: Runner, *documents: Path, task="Why did costs rise?", **options) -> str:
    return runner.start(session_id="s", documents=documents, task=task, **options)


class Held:
    """A model whose subtasks wait until they may end, or their call is cancelled."""

    name = "test:held"

    def __init__(self) -> None:
        self.may_end = threading.Event()
        self.is_asked = threading.Event()

    def complete(self, request):
        self.is_asked.set()
        forget = request.deadline.on_cancel(self.may_end.set) if request.deadline else lambda: None
        self.may_end.wait(30)
        forget()
        return ScriptedModel(subtask="It rose [L5].").complete(request)


def test_a_run_is_on_record_under_its_session_before_it_has_ended(store, document):
    model = Held()
    with running(store, model=model) as runner:
        run_id = start(runner, document, strategy="direct")

        record = store.run(run_id)
        assert (record.status, record.session_id, record.task) == ("running", "s", "Why did costs rise?")
        assert runner.is_running(run_id)
        model.may_end.set()
        ended(runner, run_id)
        assert store.run(run_id).status == "completed"


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"task": " "}, InputInvalid),
        ({"options": {"max_depth": 99}}, InputInvalid),
        ({"model": "nobody:knows"}, InputInvalid),
        ({"model": "anthropic:claude-sonnet-5-5"}, ModelAuth),
    ],
)
def test_a_run_that_cannot_begin_is_an_error_and_on_no_record(store, document, monkeypatch, changes, error):
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    with running(store) as runner, pytest.raises(error):
        start(runner, document, **changes)

    assert store.runs() == []


def test_a_document_that_cannot_be_read_is_an_error(store, tmp_path):
    with running(store) as runner, pytest.raises(DocumentUnreadable):
        start(runner, tmp_path / "nothing.md")


def test_several_runs_go_on_at_once_and_share_the_workers(store, document):
    model = Held()
    with running(store, model=model) as runner:
        ids = [start(runner, document, strategy="direct") for _ in range(3)]

        assert len(set(ids)) == 3
        assert all(map(runner.is_running, ids))
        model.may_end.set()
        for run_id in ids:
            ended(runner, run_id)
    assert {run.status for run in store.runs()} == {"completed"}


def test_what_the_store_is_told_answers_a_run_that_waits(store, document):
    with running(store, model=careful_model(), skills=CAREFUL) as runner:
        run_id = start(runner, document, strategy="full")

        assert say(store, asked(store, run_id))
        runner.answered(run_id)
        ended(runner, run_id)

    record = store.run(run_id)
    assert record.status == "completed"
    assert "Steel became dearer" in record.result["answer"]
    assert [warning["code"] for warning in record.result["warnings"] if "APPROVAL" in warning["code"]] == []


def test_an_answer_of_another_process_is_heard_without_being_told(store, document):
    with running(store, model=careful_model(), skills=CAREFUL) as runner:
        run_id = start(runner, document, strategy="full")
        record = asked(store, run_id)
        place = store.database.location.url.database

        script = (
            "import sys; from orchestra.store import Store\n"
            "with Store.open(sys.argv[1]) as store: store.answer(*sys.argv[2:5], outcome='rejected', reason='too dear')"
        )
        command = [sys.executable, "-c", script, place, run_id, record.node_id, record.digest]
        subprocess.run(command, check=True, timeout=60)
        ended(runner, run_id)

    (subtask,) = store.run(run_id).result["subtasks"]
    assert subtask["error"]["code"] == "APPROVAL_REJECTED"
    assert "too dear" in subtask["error"]["message"] + subtask["error"]["cause"]


def test_a_run_that_nobody_answers_ends_as_waiting_and_is_resumed_when_somebody_does(store, document):
    with running(store, model=careful_model(), skills=CAREFUL, answer_wait_s=0.2) as runner:
        run_id = start(runner, document, strategy="full")
        ended(runner, run_id)
        assert store.run(run_id).status == "waiting"

        say(store, asked(store, run_id))
        runner.answered(run_id)
        until(lambda: store.run(run_id).status == "completed")


def test_stopping_leaves_a_waiting_run_waiting_and_another_panel_goes_on_with_it(store, document):
    runner = Runner(store, model=careful_model(), skills=CAREFUL)
    run_id = start(runner, document, strategy="full")
    record = asked(store, run_id)

    runner.close()

    assert store.run(run_id).status == "waiting"
    assert store.holder(run_id) is None
    say(store, record)
    with running(store, model=careful_model(), skills=CAREFUL) as later:
        later.answered(run_id)
        until(lambda: store.run(run_id).status == "completed")


def test_stopping_ends_what_is_under_way_as_something_that_can_be_resumed(store, document):
    model = Held()
    runner = Runner(store, model=model)
    run_id = start(runner, document, strategy="direct")
    model.is_asked.wait(20)

    runner.close()

    assert store.run(run_id).status == "cancelled"
    assert store.holder(run_id) is None
    with running(store, model=ScriptedModel(subtask="It rose [L5].")) as later:
        later.resume(run_id)
        until(lambda: store.run(run_id).status == "completed")


def test_what_is_finished_stays_completed_when_the_panel_stops(store, document):
    runner = Runner(store)
    run_id = start(runner, document, task="Who audits the company?")
    ended(runner, run_id)

    runner.close()

    assert store.run(run_id).status == "completed"


def test_a_run_is_ended_from_outside_and_keeps_what_it_has(store, document):
    model = Held()
    with running(store, model=model) as runner:
        run_id = start(runner, document, strategy="direct")

        assert runner.cancel(run_id)
        ended(runner, run_id)
        assert store.run(run_id).status == "cancelled"
        assert not runner.cancel(run_id)


def test_cancelling_a_run_that_waits_ends_the_waiting(store, document):
    with running(store, model=careful_model(), skills=CAREFUL) as runner:
        run_id = start(runner, document, strategy="full")
        asked(store, run_id)

        runner.cancel(run_id)
        ended(runner, run_id)

    assert store.run(run_id).status == "cancelled"


def test_what_another_process_works_on_is_left_to_it(store, document):
    with running(store) as runner:
        run_id = start(runner, document, task="Who audits the company?")
        ended(runner, run_id)
        store.end_run(run_id, "waiting")
        assert store.lease(run_id, "somebody else", 60)

        with pytest.raises(RunBusy):
            runner.resume(run_id)
        runner.answered(run_id)  # the other one goes on with it
        assert not runner.is_running(run_id)


def test_a_run_that_is_not_there_cannot_be_resumed(store):
    with running(store) as runner, pytest.raises(RunNotFound):
        runner.resume("0" * 32)


def test_a_run_whose_process_was_killed_goes_on(store, document):
    script = (
        "import sys\nfrom pathlib import Path\nfrom orchestra.panel.runner import Runner\n"
        "from orchestra.store import Store\n"
        "class Hanging:\n"
        "    name = 'test:hanging'\n"
        "    def complete(self, request):\n"
        "        print(run_id, flush=True); import os; os.kill(os.getpid(), 9)\n"
        "import threading; run_id = 'begun'\n"
        "store = Store.open(sys.argv[1]); runner = Runner(store, model=Hanging())\n"
        "runner.start(session_id='s', documents=[Path(sys.argv[2])], task='Why?', strategy='direct')\n"
        "threading.Event().wait(60)\n"
    )
    place = store.database.location.url.database
    killed = subprocess.run([sys.executable, "-c", script, place, str(document)], timeout=60, stdout=subprocess.DEVNULL)
    assert killed.returncode == -9
    (summary,) = store.runs()
    assert summary.status == "running"

    with running(store, model=ScriptedModel(subtask="It rose [L5].")) as runner:
        runner.resume(summary.id)
        until(lambda: store.run(summary.id).status == "completed")


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
def test_a_panel_that_is_told_to_end_leaves_its_run_to_another_one(tmp_path, document, monkeypatch, serve, end):
    is_answering = threading.Event()
    server = serve(lambda received, wire: replied(received) if is_answering.is_set() else wire.hang())
    monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
    place = tmp_path / "panel" / "runs.db"
    options = ["--no-browser", "--store", str(place), "--model", "openai:m-1"]
    command = [sys.executable, "-m", "orchestra", "panel", str(document), *options]
    with started(command, stderr=subprocess.DEVNULL) as process:
        run_id = begun_through(process.stdout.readline().strip())
        until(lambda: server.requests, 60)
        process.send_signal(end)
        process.wait(60)

    is_answering.set()
    with Store.open(place) as store:
        assert (store.run(run_id).status, store.holder(run_id)) == ("cancelled", None)
        with running(store) as runner:
            runner.resume(run_id)
            until(lambda: store.run(run_id).status == "completed", 60)


def begun_through(link: str) -> str:
    """The id of a run that is begun by a browser which came by the link of a panel."""
    url = link.partition("/open?")[0]
    with httpx.Client(base_url=url, headers={"Origin": url}, timeout=60) as client:
        client.get(link)
        token = re.search(r'data-token="(\w+)"', client.get("/", follow_redirects=True).text)[1]
        session = client.post("/sessions", data={"token": token}).headers["location"]
        form = {"task": "Why did costs rise?", "strategy": "direct", "token": token}
        return client.post(f"{session}/messages", data=form).headers["location"].rpartition("run=")[2]


def replied(received) -> bytes:
    if received.json.get("stream"):
        return sse_answer(openai_stream(openai_chunks("Steel became dearer [L9].")))
    return json_answer(openai_completion("Steel became dearer [L9]."))
