"""Writes of several threads that go out together, and several writes of one thread that hold together."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from records_for_tests import a_run, node_event

from orchestra.errors import InputInvalid, OrchestraError, RunNotFound, StoreUnavailable
from orchestra.store import Store
from orchestra.store.combining import Combined
from orchestra.store.statements import Upsert
from orchestra.store.tables import calls


def test_what_is_done_together_is_there_as_a_whole(store: Store) -> None:
    def begin() -> bool:
        store.begin_run(a_run())
        store.append_events("r1", [node_event(1, "run")])
        return store.lease("r1", "me", 60)

    assert store.together(begin) is True
    assert (store.last_sequence("r1"), store.holder("r1")) == (1, "me")
    assert [node.node_id for node in store.nodes("r1")] == ["run"]


def test_what_fails_midway_leaves_nothing(store: Store) -> None:
    def begin() -> None:
        store.begin_run(a_run())
        store.begin_call("another run", "run/plan", "model", "f")

    with pytest.raises(RunNotFound):
        store.together(begin)
    assert store.run("r1") is None
    store.begin_run(a_run())
    assert store.lease("r1", "me", 60)


def test_what_has_no_json_form_is_refused_midway_and_what_is_done_instead_stands(store: Store) -> None:
    store.begin_run(a_run())

    def end() -> None:
        store.append_events("r1", [node_event(1, "run")])
        with pytest.raises(InputInvalid):
            store.end_run("r1", "completed", result={"answer": object()})
        store.end_run("r1", "completed")

    store.together(end)
    assert store.run_status("r1") == "completed"
    with pytest.raises(InputInvalid):
        store.finish_call("r1", "run/plan", "model", "f", 1, {"answer": object()})


def test_together_within_together_is_one(store: Store) -> None:
    def outer() -> None:
        store.begin_run(a_run("r1"))
        store.together(lambda: store.begin_run(a_run("r2")))
        raise InputInvalid("no")

    with pytest.raises(InputInvalid):
        store.together(outer)
    assert (store.run("r1"), store.run("r2")) == (None, None)


def test_what_follows_a_part_that_is_done_together_belongs_to_the_whole(store: Store) -> None:
    def outer() -> None:
        store.together(lambda: store.begin_run(a_run()))
        store.append_events("r1", [node_event(1, "run")])
        store.begin_call("r1", "run/plan", "model", "f")
        raise InputInvalid("no")

    with pytest.raises(InputInvalid):
        store.together(outer)
    assert store.run("r1") is None


def test_other_threads_wait_and_see_the_whole(store: Store) -> None:
    is_midway = threading.Event()

    def begin() -> None:
        store.begin_run(a_run())
        is_midway.set()
        time.sleep(0.2)
        store.append_events("r1", [node_event(1, "run")])

    with ThreadPoolExecutor(2) as pool:
        beginning = pool.submit(store.together, begin)
        assert is_midway.wait(10)
        seen = pool.submit(lambda: (store.run("r1") is not None, store.last_sequence("r1")))
        beginning.result(20)
        assert seen.result(20) in ((False, 0), (True, 1), (False, 1))
    assert store.last_sequence("r1") == 1


def test_calls_of_many_threads_are_each_committed_when_they_return(store: Store) -> None:
    store.begin_run(a_run())
    missing: list[str] = []

    def call(number: int) -> None:
        store.begin_call("r1", f"n{number}", "model", "f")
        store.finish_call("r1", f"n{number}", "model", "f", 1, {"number": number})
        kept = [record.payload for record in store.calls("r1", f"n{number}")]
        if kept != [{"number": number}]:
            missing.append(f"n{number}")

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(call, range(300)))
    assert missing == []
    assert len(store.calls("r1")) == 300


def test_one_that_cannot_be_written_leaves_those_beside_it_alone(store: Store) -> None:
    store.begin_run(a_run())
    refused: list[str] = []

    def call(number: int) -> None:
        run_id = "r1" if number % 3 else f"no run {number}"
        try:
            store.begin_call(run_id, f"n{number}", "model", "f")
        except RunNotFound:
            refused.append(run_id)

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(call, range(150)))
    assert len(refused) == 50
    assert len(store.calls("r1")) == 100


class _Writer:
    """Counts what is written alone and together; what is written alone waits until `is_open`."""

    def __init__(self) -> None:
        self.alone = 0
        self.together = 0
        self.is_open = threading.Event()
        self.error: OrchestraError | None = None

    def run(self, work: object) -> None:
        self.alone += 1
        self.is_open.wait(10)

    def transact(self, work: object) -> None:
        if self.error is not None:
            raise self.error
        self.together += 1


def _at_once(combined: Combined, writer: _Writer, many: int) -> list[BaseException]:
    """So many threads write: the first has the turn until all others wait for it. What was raised to them."""
    raised: list[BaseException] = []
    statement = Upsert(calls)

    def write(number: int) -> None:
        try:
            combined.write(statement, {"run_id": str(number)})
        except (OrchestraError, KeyboardInterrupt) as error:
            raised.append(error)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(many)]
    threads[0].start()
    ends_at = time.monotonic() + 20
    while writer.alone == 0 and time.monotonic() < ends_at:
        time.sleep(0.001)
    for thread in threads[1:]:
        thread.start()
    while len(combined._waiting) < many - 1 and time.monotonic() < ends_at:
        time.sleep(0.001)
    writer.is_open.set()
    for thread in threads:
        thread.join(10)
    return raised


@pytest.mark.parametrize(
    ("error", "alone", "together", "refused"),
    [(None, 1, 1, 0), (RunNotFound("one of them"), 6, 0, 0), (StoreUnavailable("it is locked"), 1, 0, 5)],
)
def test_those_that_wait_share_one_transaction_and_are_tried_one_by_one_where_one_of_them_fails(
    error: OrchestraError | None, alone: int, together: int, refused: int
) -> None:
    writer = _Writer()
    writer.error = error
    combined = Combined(writer.run, writer.transact)

    raised = _at_once(combined, writer, 6)

    assert (writer.alone, writer.together) == (alone, together)
    assert len({id(each) for each in raised}) == refused
    assert not combined._waiting


def test_what_was_cut_off_with_the_turn_is_made_up_for_by_the_next_one() -> None:
    """Ctrl-C may end the thread that writes for the others."""

    class CutOff(_Writer):
        def transact(self, work: object) -> None:
            self.together += 1
            if self.together == 1:
                raise KeyboardInterrupt

    writer = CutOff()
    combined = Combined(writer.run, writer.transact)

    raised = _at_once(combined, writer, 4)

    assert [type(each) for each in raised] == [KeyboardInterrupt]
    assert (writer.alone, writer.together) == (1, 2)
    assert not combined._waiting


def test_a_defect_is_met_with_by_the_thread_whose_row_it_is_and_by_no_other(tmp_path: Path) -> None:
    with Store.open(tmp_path / "runs.db") as store:
        store.begin_run(a_run())
        no_text: Any = 5
        with pytest.raises(AttributeError):
            store.begin_call("r1", no_text, "model", "f")
        store.begin_call("r1", "n1", "model", "f")
        assert [call.node_id for call in store.calls("r1")] == ["n1"]


def test_an_error_of_the_store_reaches_each_who_writes() -> None:
    def refuse(work: object) -> None:
        raise OrchestraError("the disk is full")

    combined = Combined(refuse, refuse)
    for _ in range(2):
        with pytest.raises(OrchestraError, match="disk"):
            combined.write(Upsert(calls), {"run_id": "1"})
    assert not combined._waiting
