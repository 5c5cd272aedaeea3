"""Events, nodes and calls on record."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import pytest
from records_for_tests import a_run, node_event

from orchestra.errors import InputInvalid, RunNotFound
from orchestra.runtime.events import AnswerDelta, Warned
from orchestra.store import Store


def test_events_come_back_in_order_however_many(store: Store) -> None:
    store.begin_run(a_run())
    written = [{"type": "warning", "sequence": number, "message": f"m{number}"} for number in range(1, 1203)]
    store.append_events("r1", written[600:])
    store.append_events("r1", written[:600])

    assert list(store.events("r1")) == written
    assert store.last_sequence("r1") == 1202


@pytest.mark.parametrize(
    ("after", "limit", "expected"), [(0, 2, [1, 2]), (3, None, [4, 5]), (4, 9, [5]), (5, None, []), (0, 0, [])]
)
def test_events_are_read_from_where_one_left_off(
    store: Store, after: int, limit: int | None, expected: list[int]
) -> None:
    store.begin_run(a_run())
    store.append_events("r1", [{"type": "warning", "sequence": number} for number in range(1, 6)])

    assert [event["sequence"] for event in store.events("r1", after, limit)] == expected


def test_an_event_that_is_on_record_stays_as_it_is(store: Store) -> None:
    store.begin_run(a_run())
    store.append_events("r1", [{"type": "warning", "sequence": 1, "message": "first"}])

    store.append_events("r1", [{"type": "warning", "sequence": 1, "message": "again"}])

    assert [event["message"] for event in store.events("r1")] == ["first"]


def test_an_event_without_a_sequence_is_refused(store: Store) -> None:
    store.begin_run(a_run())

    with pytest.raises(InputInvalid):
        store.append_events("r1", [{"type": "warning", "sequence": 0}])


@pytest.mark.parametrize(
    "node_id",
    [
        "run/subtask-1",
        'run/subtask-"1"',
        "run/subtask-100%_",
        "run/subtask-Übersicht",
        "run/subtask-\\\ud800",
        "run/\0",
    ],
)
def test_the_events_of_a_node_are_those_that_bear_its_id(store: Store, node_id: str) -> None:
    store.begin_run(a_run())
    own = node_event(1, node_id)
    below = node_event(2, f"{node_id}/tool-1", parent_node_id=node_id)
    beside = {"type": "warning", "sequence": 3, "node_id": f"{node_id}0", "message": f'"node_id":"{node_id}"'}
    nested = {"type": "plan-ready", "sequence": 4, "plan": {"node_id": node_id}}
    last = {"type": "warning", "sequence": 5, "node_id": node_id, "message": "late"}

    store.append_events("r1", [own, below, beside, nested, last])

    assert [event["sequence"] for event in store.node_events("r1", node_id)] == [1, 5]


def test_the_events_of_a_node_are_read_page_by_page(store: Store) -> None:
    store.begin_run(a_run())
    store.append_events("r1", [node_event(number, f"run/{number % 2}") for number in range(1, 1203)])

    assert [event["sequence"] for event in store.node_events("r1", "run/1")] == list(range(1, 1203, 2))
    assert list(store.node_events("r1", "run/2")) == []


def test_a_run_without_events_has_none(store: Store) -> None:
    assert list(store.events("r1")) == []
    assert store.last_sequence("r1") == 0


def test_nodes_are_what_their_last_events_say_in_the_order_they_began(store: Store) -> None:
    store.begin_run(a_run())
    first = [node_event(1, "run", depth=0), node_event(2, "run/b"), node_event(3, "run/a", parent_node_id="run")]
    last = node_event(
        4,
        "run/b",
        status="failed",
        attempt=2,
        timing={"started_at": 5.5, "duration_ms": 20.25},
        usage={"input_tokens": 7},
        error={"code": "TIMEOUT"},
        permission_snapshot={"tools": []},
    )

    store.append_events("r1", first)
    store.append_events("r1", [last])

    nodes = store.nodes("r1")
    assert [(node.node_id, node.status, node.attempt) for node in nodes] == [
        ("run", "executing", 1),
        ("run/b", "failed", 2),
        ("run/a", "executing", 1),
    ]
    assert (nodes[1].timing, nodes[1].usage) == ({"started_at": 5.5, "duration_ms": 20.25}, {"input_tokens": 7})
    assert (nodes[1].error, nodes[1].permission_snapshot) == ({"code": "TIMEOUT"}, {"tools": []})


def test_events_are_read_by_their_types(store: Store) -> None:
    store.begin_run(a_run())
    texts = ("plain", '"type":"warning"', "é\ud800")
    told = [Warned(sequence=1 + each, code="X", message=text).to_dict() for each, text in enumerate(texts)]
    told += [node_event(4, "run", title='{"type":"warning"}'), node_event(5, "run")]
    told += [AnswerDelta(sequence=each, node_id="run", text="x").to_dict() for each in range(6, 1106)]
    store.append_events("r1", told)

    assert [each["sequence"] for each in store.events_of_types("r1", ["warning"])] == [1, 2, 3]
    assert [each["sequence"] for each in store.events_of_types("r1", ["warning", "skill-route-node-updated"], 2)] == [
        3,
        4,
        5,
    ]
    assert len(list(store.events_of_types("r1", ["answer-delta"]))) == 1100
    assert list(store.events_of_types("r1", ["warn", "%"])) == []


def test_events_of_a_removed_run_are_not_taken(store: Store) -> None:
    with pytest.raises(RunNotFound):
        store.append_events("r1", [node_event(1, "run")])


def test_a_call_is_begun_then_finished(store: Store) -> None:
    store.begin_run(a_run())

    store.begin_call("r1", "run/1", "model", "f", 1)
    begun = store.calls("r1")
    store.finish_call("r1", "run/1", "model", "f", 1, {"text": "Prices."})
    finished = store.calls("r1")

    assert [(call.payload, call.finished_at) for call in begun] == [(None, None)]
    assert [(call.node_id, call.kind, call.fingerprint, call.ordinal) for call in finished] == [
        ("run/1", "model", "f", 1)
    ]
    assert [call.payload for call in finished] == [{"text": "Prices."}]
    assert finished[0].begun_at == begun[0].begun_at


def test_equal_calls_are_told_apart_by_their_ordinal(store: Store) -> None:
    store.begin_run(a_run())

    for ordinal in (1, 2):
        store.finish_call("r1", "run/1", "tool", "f", ordinal, {"result": ordinal})

    assert [call.payload for call in store.calls("r1")] == [{"result": 1}, {"result": 2}]


def test_beginning_a_finished_call_does_not_undo_it(store: Store) -> None:
    store.begin_run(a_run())
    store.finish_call("r1", "run/1", "model", "f", 1, {"text": "Prices."})

    store.begin_call("r1", "run/1", "model", "f", 1)
    store.abandon_call("r1", "run/1", "model", "f", 1)

    assert [call.payload for call in store.calls("r1")] == [{"text": "Prices."}]


def test_an_abandoned_call_was_never_begun(store: Store) -> None:
    store.begin_run(a_run())
    store.begin_call("r1", "run/1", "model", "f", 1)

    store.abandon_call("r1", "run/1", "model", "f", 1)

    assert store.calls("r1") == []


def test_the_calls_of_one_node_are_read_apart(store: Store) -> None:
    store.begin_run(a_run())
    for node_id in ("run/1", "run/10", "run/1"):
        store.begin_call("r1", node_id, "model", f"hash of {node_id}", 1)
    store.finish_call("r1", "run/1", "tool", "other", 1, {"text": "Prices."})

    assert [(call.node_id, call.kind) for call in store.calls("r1", "run/1")] == [("run/1", "model"), ("run/1", "tool")]
    assert store.calls("r1", "run") == []


def test_a_call_of_an_unknown_run_is_refused(store: Store) -> None:
    with pytest.raises(RunNotFound):
        store.begin_call("r1", "run/1", "model", "f", 1)


def test_threads_share_a_store(store: Store) -> None:
    store.begin_run(a_run())

    def work(number: int) -> None:
        store.begin_call("r1", f"run/{number}", "model", "f", 1)
        store.append_events("r1", [node_event(number, f"run/{number}")])
        store.finish_call("r1", f"run/{number}", "model", "f", 1, {"text": str(number)})

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(work, range(1, 101)))

    assert {call.payload["text"] for call in store.calls("r1") if call.payload} == {str(n) for n in range(1, 101)}
    assert store.last_sequence("r1") == 100
    assert all(call.begun_at <= later.begun_at for call, later in pairwise(store.calls("r1")))


def test_what_a_killed_process_committed_is_on_record(store_url: str) -> None:
    script = (
        "import os, signal, sys\n"
        "from orchestra.store import Store, RunRecord\n"
        "store = Store.open(sys.argv[1])\n"
        "store.begin_run(RunRecord('r1', 'task'))\n"
        "store.begin_call('r1', 'run/1', 'model', 'f', 1)\n"
        "store.begin_call('r1', 'run/2', 'model', 'f', 1)\n"
        "store.finish_call('r1', 'run/1', 'model', 'f', 1, {'text': 'Prices.'})\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )

    ended = subprocess.run([sys.executable, "-c", script, store_url], env=os.environ, check=False)

    assert ended.returncode == -signal.SIGKILL
    with Store.open(store_url) as store:
        assert {call.node_id: call.payload for call in store.calls("r1")} == {
            "run/1": {"text": "Prices."},
            "run/2": None,
        }
