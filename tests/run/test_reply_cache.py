"""Replies that other runs have paid for."""

from __future__ import annotations

import threading

import pytest
from models_for_tests import COSTS, REPORT, REVENUE, ScriptedModel, codes, plan_of

from orchestra import Cancellation, orchestrate, resume
from orchestra.errors import InputInvalid, ModelOverloaded, ModelRefused, StoreFull
from orchestra.models.protocol import ModelReply

TASK = "What was revenue, and why did costs rise?"
PLAN = plan_of({"context_pointers": REVENUE}, {"context_pointers": COSTS})


def a_model(name="test:scripted", **answers):
    model = ScriptedModel(**{"plan": PLAN, "subtask": "So it says [L5].", "synthesis": "All of it [L5].", **answers})
    model.name = name
    return model


def run_with(store, model, text=REPORT, skills=None, **options):
    options = {"strategy": "full", "cache": True, **options}
    return orchestrate(text, TASK, skills, model, store=store, **options)


def test_the_same_task_again_costs_nothing(store):
    model, events = a_model(), []
    first = run_with(store, model)

    again = run_with(store, model, on_event=events.append)

    assert len(model.requests) == 4
    assert (first.usage.calls, again.usage.calls, again.usage.total_input_tokens) == (4, 0, 0)
    assert (again.answer, again.status) == (first.answer, "completed")
    sources = [event.source for event in events if event.type == "effect-replayed" and event.kind == "model"]
    assert sources == ["cache"] * 4
    assert "".join(event.text for event in events if event.type == "answer-delta") == "All of it [L5]."


@pytest.mark.parametrize(
    "other",
    [
        {"name": "test:other"},
        {"text": REPORT + "\nOne more line.\n"},
        {"skills": {"critique": "Look twice."}},
        {"skills": {"unused": "Another one."}},
        {"temperature": 0.9},
        {"cache": False},
    ],
)
def test_nothing_is_used_again_for_another_request(store, other):
    run_with(store, a_model())
    model = a_model(other.get("name", "test:scripted"))

    again = run_with(store, model, **{key: value for key, value in other.items() if key != "name"})

    assert again.usage.calls == 4
    assert len(model.requests) == 4


def test_another_place_of_the_model_is_another_model(store):
    one, other = a_model(), a_model()
    one.base_url, other.base_url = "http://one.test/v1", "http://other.test/v1"
    run_with(store, one)

    run_with(store, other)

    assert len(other.requests) == 4


def test_a_reply_that_is_too_old_is_not_used(store, monkeypatch):
    run_with(store, a_model())
    model = a_model()
    import time

    later = time.time() + 100
    monkeypatch.setattr(time, "time", lambda: later)

    assert run_with(store, model, cache=200).usage.calls == 0
    assert run_with(store, model, cache=50).usage.calls == 4


@pytest.mark.parametrize(
    "useless",
    [ModelReply("cut off", stop_reason="max_tokens"), ModelRefused("no"), ModelReply("")],
)
def test_what_is_no_whole_reply_is_not_kept(store, useless):
    run_with(store, a_model(synthesis=useless))
    model = a_model()

    again = run_with(store, model)

    assert [request.purpose for request in model.requests] == ["synthesis"]
    assert again.usage.calls == 1


def test_a_run_from_the_cache_can_be_resumed_and_is_still_not_billed(store):
    run_with(store, a_model())
    second = run_with(store, a_model())
    store.forget(0)
    store.end_run(second.run_id, "running")
    model = a_model()

    again = resume(second.run_id, store=store, model=model)

    assert model.requests == []
    assert again.usage.model_dump() == second.usage.model_dump()


def test_a_run_that_is_removed_takes_its_replies_along(store):
    first = run_with(store, a_model())
    store.remove_run(first.run_id)
    model = a_model()

    run_with(store, model)

    assert len(model.requests) == 4


def together(*jobs):
    """What the jobs give, done at the same time."""
    results = [None] * len(jobs)

    def work(at):
        results[at] = jobs[at]()

    threads = [threading.Thread(target=work, args=(at,)) for at in range(len(jobs))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


class Gate:
    """A reply that is held back until `open`; `reached` when somebody asks for it."""

    def __init__(self, reply):
        self.reply, self.reached, self.opened = reply, threading.Event(), threading.Event()

    def __call__(self, request):
        self.reached.set()
        assert self.opened.wait(30)
        return self.reply


def test_calls_that_several_runs_make_at_once_are_made_once(store):
    gate = Gate("So it says [L5].")
    model = a_model(subtask=gate)
    opener = threading.Thread(target=lambda: (gate.reached.wait(30), gate.opened.set()))
    opener.start()

    results = together(*[lambda: run_with(store, model)] * 6)

    opener.join()
    assert len(model.requests) == 4
    assert sum(result.usage.calls for result in results) == 4
    assert {result.answer for result in results} == {"All of it [1?]."}


def test_equal_calls_of_one_run_are_made_once(store):
    plan = plan_of(
        {"context_pointers": REVENUE, "task": "Again?"},
        {"context_pointers": REVENUE, "task": "Again?", "depends_on": []},
    )
    plan["subtasks"].append(
        {"id": "3", "skill": "critique", "task": "Why?", "context_pointers": COSTS, "depends_on": ["1"]}
    )
    model = a_model()

    result = run_with(store, model, plan=plan)

    assert result.status == "completed"
    assert len({request.fingerprint for request in model.requests}) == len(model.requests)


def two_runs(store, first, second, gate, act, **options):
    """Two runs that ask the same at the same time; `act` happens while the second one waits for the first."""
    outcomes = []

    def one():
        outcomes.append(run_with(store, first, **options))

    leader = threading.Thread(target=one)
    leader.start()
    assert gate.reached.wait(30)
    follower_waits = threading.Event()
    events = []

    def hear(event):
        events.append(event)
        if event.type == "slice-ready":
            follower_waits.set()

    follower = threading.Thread(target=lambda: outcomes.append(run_with(store, second, on_event=hear)))
    follower.start()
    assert follower_waits.wait(30)
    act()
    gate.opened.set()
    leader.join()
    follower.join()
    return outcomes


def test_who_waits_for_a_call_that_fails_makes_his_own(store):
    gate = Gate(ModelRefused("no"))
    first, second = a_model(subtask=gate), a_model()

    outcomes = two_runs(store, first, second, gate, lambda: None)

    assert sorted(result.status for result in outcomes) == ["completed", "failed"]
    assert len(second.sent("subtask")) == 2


def test_who_waits_does_not_get_the_reply_of_a_model_that_he_did_not_name(store):
    gate, other = Gate(ModelOverloaded("busy")), a_model("test:other", subtask="So says the other [L5].")
    first, second = a_model(subtask=gate), a_model()
    answers = {}

    def one():
        answers["first"] = run_with(store, None, models=[first, other], strategy="direct", max_attempts=2).answer

    leader = threading.Thread(target=one)
    leader.start()
    assert gate.reached.wait(30)
    follower_waits = threading.Event()

    def hear(event):
        if event.type == "slice-ready":
            follower_waits.set()

    def two():
        answers["second"] = run_with(store, second, strategy="direct", on_event=hear).answer

    follower = threading.Thread(target=two)
    follower.start()
    assert follower_waits.wait(30)
    gate.opened.set()
    leader.join()
    follower.join()

    assert answers == {"first": "So says the other [1?].", "second": "So it says [1?]."}


def test_who_waits_for_a_call_of_a_run_that_is_cancelled_makes_his_own(store):
    gate, cancellation = Gate("too late"), Cancellation()
    first, second = a_model(subtask=gate), a_model()

    outcomes = two_runs(store, first, second, gate, cancellation.cancel, cancellation=cancellation)

    assert sorted(result.status for result in outcomes) == ["completed", "failed"]


def test_who_waits_can_be_cancelled(store):
    gate, cancellation = Gate("So it says [L5]."), Cancellation()
    leader = threading.Thread(target=lambda: run_with(store, a_model(subtask=gate)))
    leader.start()
    assert gate.reached.wait(30)

    def hear(event):
        if event.type == "slice-ready":
            cancellation.cancel()

    result = run_with(store, a_model(), cancellation=cancellation, on_event=hear)

    assert {error.code for error in result.errors} == {"CANCELLED"}
    gate.opened.set()
    leader.join()


def test_a_cache_that_cannot_be_read_costs_the_run_nothing(store):
    def fail(*_):
        raise StoreFull("the disk is full")

    store.cached = fail

    result = run_with(store, a_model())

    assert (result.status, codes(result)) == ("completed", ["STORE_LOST"])


def test_a_cache_needs_a_store(monkeypatch):
    monkeypatch.delenv("ORCHESTRA_STORE", raising=False)

    with pytest.raises(InputInvalid, match="no store"):
        run_with(None, a_model())


@pytest.mark.parametrize("wrong", ["yes", -1, 0, float("inf"), None])
def test_what_is_no_age_is_refused(store, wrong):
    with pytest.raises(InputInvalid, match="cache"):
        run_with(store, a_model(), cache=wrong)
