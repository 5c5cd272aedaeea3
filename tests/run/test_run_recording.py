"""What a run writes into its store while it goes on, and what happens when the store does not take it."""

from __future__ import annotations

import json
import subprocess
import sys
import threading

import pytest
from models_for_tests import COSTS, REPORT, REVENUE, ScriptedModel, codes, plan_of
from servers import json_answer

from orchestra import Cancellation, orchestrate, resume
from orchestra.errors import InputInvalid, ModelRefused, StoreFull, StoreUnavailable
from orchestra.models.protocol import ModelReply
from orchestra.run.keeping import _is_gone, new_owner

TASK = "What was revenue, and why did costs rise?"
PLAN = plan_of({"context_pointers": REVENUE}, {"context_pointers": COSTS})


def a_model(**answers):
    return ScriptedModel(**{"plan": PLAN, "subtask": "So it says [L5].", "synthesis": "All of it [L5].", **answers})


def run_with(store, model=None, **options):
    return orchestrate(REPORT, TASK, model=model or a_model(), strategy="full", store=store, **options)


def model_calls(store, run_id):
    return [call for call in store.calls(run_id) if call.kind == "model"]


def failing_from(store, method, error, calls=0):
    """Let a method of the store fail after so many calls; the callable that mends it."""
    real, left = getattr(store, method), [calls]

    def fail(*arguments, **options):
        left[0] -= 1
        if left[0] < 0:
            raise error
        return real(*arguments, **options)

    setattr(store, method, fail)
    return lambda: setattr(store, method, real)


def test_the_store_holds_the_events_that_a_listener_hears(store):
    heard = []

    result = run_with(store, on_event=heard.append, session_id="talk")

    kept = list(store.events(result.run_id))
    deltas = [event for event in heard if event.type == "answer-delta"]
    others = json.loads(json.dumps([event.to_dict() for event in heard if event.type != "answer-delta"]))
    whole = [event for event in kept if event["type"] != "answer-delta"]
    assert [{key: value for key, value in event.items() if key != "at"} for event in whole] == others
    assert [event["at"] for event in kept] == sorted(event["at"] for event in kept)
    (joined,) = [event for event in kept if event["type"] == "answer-delta"]
    assert joined["text"] == "".join(delta.text for delta in deltas)
    assert joined["sequence"] == deltas[-1].sequence
    assert {node.status for node in store.nodes(result.run_id)} == {"completed"}


def test_the_run_stands_with_what_it_was_asked_and_came_to(store):
    result = run_with(store, session_id="talk")

    record = store.run(result.run_id)
    assert (record.task, record.session_id, record.status, record.models) == (TASK, "talk", "completed", result.models)
    assert record.result == result.model_dump(mode="json")
    assert [store.document(ref.digest) for ref in record.documents] == [REPORT]
    assert store.holder(result.run_id) is None


def test_no_key_reaches_the_store(tmp_path, monkeypatch, serve):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret-key")
    server = serve(lambda received, wire: json_answer({"error": {"message": "bad key sk-very-secret-key"}}, status=401))
    monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")

    run = orchestrate(REPORT, TASK, model="openai:m", strategy="direct", store=tmp_path / "runs.db")

    assert run.status == "failed"
    files = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert TASK.encode() in files
    assert b"very-secret" not in files


def test_a_failed_and_a_cancelled_run_stand_as_what_they_are(store):
    with pytest.raises(ModelRefused):
        run_with(store, a_model(plan=ModelRefused("no")))
    cancellation = Cancellation()

    def cancel(request):
        cancellation.cancel()
        return "too late"

    run_with(store, a_model(subtask=cancel), cancellation=cancellation)

    assert sorted(run.status for run in store.runs()) == ["cancelled", "failed"]


@pytest.mark.parametrize("method", ["begin_call", "finish_call", "append_events", "end_run", "release"])
@pytest.mark.parametrize("error", [StoreFull("the disk is full"), StoreUnavailable("it is gone")])
def test_a_store_that_fails_costs_the_run_nothing_but_the_record(store, method, error):
    failing_from(store, method, error)

    result = run_with(store)

    assert (result.status, result.answer) == ("completed", "All of it [1?].")
    assert codes(result) == ["STORE_LOST"]
    assert all(error.what in notice.message for notice in result.warnings)


@pytest.mark.parametrize("method", ["begin_run", "lease", "put_document"])
def test_a_store_that_fails_at_the_beginning_is_told_and_the_run_goes_on(store, method):
    failing_from(store, method, StoreFull("the disk is full"))
    events = []

    result = run_with(store, on_event=events.append)

    assert (result.status, codes(result)) == ("completed", ["STORE_LOST"])
    assert [event.type for event in events][:2] == ["skill-route-started", "warning"]


def test_a_store_that_cannot_be_opened_is_told_and_the_run_goes_on(tmp_path):
    place = tmp_path / "notes.txt"
    place.write_text("no database")

    result = run_with(place)

    assert (result.status, codes(result)) == ("completed", ["STORE_LOST"])
    assert place.read_text() == "no database"


def test_what_could_not_be_written_is_written_when_the_store_is_back(store):
    mend = failing_from(store, "finish_call", StoreUnavailable("it is gone"), calls=1)

    def synthesis(request):
        mend()
        return "All of it [L5]."

    result = run_with(store, a_model(synthesis=synthesis))

    assert all(call.payload is not None for call in store.calls(result.run_id))
    assert len(model_calls(store, result.run_id)) == 4
    assert codes(result) == ["STORE_LOST"]
    store.end_run(result.run_id, "running")
    model = a_model()
    assert resume(result.run_id, store=store, model=model).answer == result.answer
    assert model.requests == []


def test_a_run_that_is_removed_meanwhile_goes_on(store):
    def remove(request):
        (run,) = store.runs()
        store.release(run.id, store.holder(run.id))
        store.remove_run(run.id)
        return "So it says [L5]."

    result = run_with(store, a_model(subtask=remove), plan=plan_of({"context_pointers": REVENUE}))

    assert result.status == "completed"
    assert codes(result) == ["STORE_LOST"]
    assert store.runs() == []


def test_nothing_is_left_running(store):
    before = set(threading.enumerate())

    run_with(store)
    with pytest.raises(ModelRefused):
        run_with(store, a_model(plan=ModelRefused("no")))

    assert [thread for thread in set(threading.enumerate()) - before if "store" in thread.name] == []


def test_a_run_that_ends_for_want_of_a_thread_is_put_on_record_as_ended(store, monkeypatch):
    start = threading.Thread.start

    def refuse(thread):
        if thread.name == "orchestra-store":
            raise RuntimeError("can't start new thread")
        start(thread)

    def wait(request):
        request.deadline.on_cancel(is_cancelled.set)
        is_cancelled.wait(10)
        return "too late"

    is_cancelled = threading.Event()
    monkeypatch.setattr(threading.Thread, "start", refuse)

    with pytest.raises(RuntimeError, match="can't start new thread"):
        run_with(store, a_model(subtask=wait))

    (run,) = store.runs()
    assert (run.status, store.holder(run.id)) == ("cancelled", None)


def test_the_lease_of_a_run_under_way_is_held(store):
    holders = []

    def look(request):
        holders.append(store.holder(store.runs()[0].id))
        return "All of it [L5]."

    run_with(store, a_model(synthesis=look))

    assert len(holders) == 1
    assert not _is_gone(holders[0])


def test_an_owner_is_gone_when_its_process_is():
    place, pid, start, unique = new_owner().split("|")

    assert not _is_gone(new_owner())
    assert _is_gone("|".join((place, pid, "1", unique)))
    assert _is_gone("|".join((place, "4194303", start, unique)))
    assert not _is_gone("|".join(("elsewhere", "4194303", start, unique)))
    assert not _is_gone("somebody")


@pytest.mark.parametrize("wrong", [True, 7, object(), "redis://x", ""])
def test_what_is_no_store_is_refused(wrong):
    with pytest.raises(InputInvalid, match="store"):
        run_with(wrong)


def test_two_threads_may_use_one_store(store):
    results = []
    threads = [threading.Thread(target=lambda: results.append(run_with(store))) for _ in range(6)]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [codes(result) for result in results] == [[]] * 6
    assert len(store.runs()) == 6
    assert {len(model_calls(store, result.run_id)) for result in results} == {4}


def test_a_run_without_a_store_loads_nothing_of_it():
    code = (
        "import sys, orchestra\n"
        "orchestra.orchestrate('# A\\n\\nThe year was good.\\n', 'How was the year?', model='builtin:extractive')\n"
        "print([name for name in sys.modules if 'sqlalchemy' in name or name.startswith('orchestra.store')])"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)

    assert done.stdout.strip() == "[]"


def test_a_reply_is_on_record_before_it_is_used(store):
    seen = []

    def synthesis(request):
        seen.extend(model_calls(store, store.runs()[0].id))
        return ModelReply("All of it [L5].")

    result = run_with(store, a_model(synthesis=synthesis))

    assert result.status == "completed"
    assert [(call.node_id, call.payload is not None) for call in sorted(seen, key=lambda call: call.node_id)] == [
        ("run/plan", True), ("run/subtask-1", True), ("run/subtask-2", True), ("run/synthesis", False)
    ]  # fmt: skip
