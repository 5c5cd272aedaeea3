"""Questions and answers, and who works on a run."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from records_for_tests import a_question, a_run

from orchestra.errors import InputInvalid
from orchestra.store import Store


def test_a_question_waits_until_it_is_answered(store: Store) -> None:
    store.begin_run(a_run())
    store.ask(a_question())
    asked = store.approvals("r1", "open")

    is_first = store.answer("r1", "run/1", "q1", outcome="edited", edited={"to": ["a"]}, reason="fewer", text="only a")

    assert asked == [a_question()]
    assert is_first
    assert store.approvals("r1", "open") == []
    answered = store.approvals("r1")[0]
    assert (answered.status, answered.outcome, answered.edited) == ("answered", "edited", {"to": ["a"]})
    assert (answered.reason, answered.text) == ("fewer", "only a")
    assert answered.answered_at is not None


def test_the_first_of_many_answers_stands(store: Store) -> None:
    store.begin_run(a_run())
    store.ask(a_question())
    together = Barrier(8)

    def answer(number: int) -> bool:
        together.wait()
        return store.answer("r1", "run/1", "q1", outcome="rejected", reason=str(number))

    with ThreadPoolExecutor(8) as pool:
        is_first = list(pool.map(answer, range(8)))

    assert is_first.count(True) == 1
    assert store.approvals("r1")[0].reason == str(is_first.index(True))


def test_asking_again_keeps_the_answer(store: Store) -> None:
    store.begin_run(a_run())
    store.ask(a_question())
    store.answer("r1", "run/1", "q1", outcome="approved")

    store.ask(a_question())

    assert [question.outcome for question in store.approvals("r1")] == ["approved"]


def test_another_content_is_another_question(store: Store) -> None:
    store.begin_run(a_run())
    store.ask(a_question(asked_at=1.0))
    store.answer("r1", "run/1", "q1", outcome="approved")

    store.ask(a_question(asked_at=2.0, digest="q2", shown={"to": "others"}))

    assert [question.status for question in store.approvals("r1")] == ["answered", "open"]


def test_what_nobody_asked_cannot_be_answered(store: Store) -> None:
    store.begin_run(a_run())
    store.ask(a_question())

    with pytest.raises(InputInvalid):
        store.answer("r1", "run/1", "another digest", outcome="approved")


def test_one_owner_at_a_time_works_on_a_run(store: Store) -> None:
    store.begin_run(a_run())

    assert store.lease("r1", "first", 60)
    assert not store.lease("r1", "second", 60)
    assert store.renew("r1", "first", 60)
    assert store.holder("r1") == "first"
    store.release("r1", "second")
    assert store.holder("r1") == "first"
    store.release("r1", "first")
    assert store.holder("r1") is None
    assert not store.renew("r1", "first", -1) or store.lease("r1", "second", 60)


def test_a_lease_that_ran_out_is_free_to_take(store: Store) -> None:
    store.begin_run(a_run())
    store.lease("r1", "first", -1)

    assert store.holder("r1") is None
    assert store.lease("r1", "second", 60)
    assert not store.renew("r1", "first", 60)


def test_one_of_many_who_want_a_run_gets_it(store: Store) -> None:
    store.begin_run(a_run())
    together = Barrier(8)

    def take(number: int) -> bool:
        together.wait()
        return store.lease("r1", f"owner {number}", 60)

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(take, range(8))).count(True) == 1


def test_sessions_carry_the_turns_that_were_answered(store: Store) -> None:
    for number, (status, answer) in enumerate([("completed", "One."), ("failed", ""), ("partial", "Three.")]):
        store.begin_run(a_run(f"r{number}", task=f"task {number}", session_id="s1", started_at=100.0 + number))
        store.end_run(f"r{number}", status, result={"answer": answer})  # type: ignore[arg-type]
    store.begin_run(a_run("other", session_id="s2"))
    store.end_run("other", "completed", result={"answer": "Elsewhere."})

    assert store.turns("s1") == [("task 0", "One."), ("task 2", "Three.")]


def test_a_session_knows_the_task_of_its_first_run(store: Store) -> None:
    store.begin_session("empty")
    for number in (2, 1):
        store.begin_run(a_run(f"r{number}", task=f"task {number}", session_id="s1", started_at=100.0 + number))

    assert {session.id: session.first_task for session in store.sessions()} == {"empty": "", "s1": "task 1"}


def test_a_session_is_named_listed_and_removed_with_its_runs(store: Store) -> None:
    store.begin_session("s1", "First")
    store.begin_session("s1", "Again")
    store.begin_run(a_run("r1", session_id="s1"))
    store.begin_run(a_run("r2", session_id="s2", started_at=time.time()))

    assert store.rename_session("s1", "Margins")
    assert not store.rename_session("s3", "None")
    assert {(session.id, session.title, session.runs) for session in store.sessions()} == {
        ("s1", "Margins", 1),
        ("s2", "", 1),
    }
    assert store.remove_session("s1")
    assert not store.remove_session("s1")
    assert [run.id for run in store.runs()] == ["r2"]
