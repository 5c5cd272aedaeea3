"""The nodes of a run as of an earlier moment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from records_for_tests import a_run, node_event

from orchestra.errors import StoreDamaged
from orchestra.panel.folded.replays import Replays
from orchestra.panel.view.replayed import Timeline, nodes_at
from orchestra.runtime.events import PointerResolved, RouteCompleted, StrategyChosen
from orchestra.store import Store

NODES = ("run", "run/plan", "run/subtask-1", "run/subtask-2")
SNAPSHOTS = (None, {"tools": ["read_file"], "cost_usd": None}, {"tools": [], "cost_usd": 0.5})
ONE_EVENT = st.tuples(
    st.sampled_from(NODES),
    st.sampled_from(("routing", "executing", "completed", "failed")),
    st.integers(1, 3),
    st.sampled_from(SNAPSHOTS),
    st.sampled_from((None, {"started_at": 1.5, "duration_ms": None}, {"started_at": 1.5, "duration_ms": 20.0})),
    st.sampled_from((None, {"code": "TIMEOUT", "message": "no reply"})),
)


def told(rows: Sequence[tuple[Any, ...]]) -> list[dict[str, Any]]:
    """Each node event is followed by one that says nothing of how a node stands."""
    found: list[dict[str, Any]] = []
    for node_id, status, attempt, snapshot, timing, error in rows:
        known = {"status": status, "attempt": attempt, "timing": timing, "error": error}
        found.append(node_event(len(found) + 1, node_id, permission_snapshot=snapshot, **known))
        found.append(PointerResolved(sequence=len(found) + 1, node_id=node_id, pointer="1", rung="id").to_dict())
    return found


def stored(path: Path, batches: Sequence[Sequence[Mapping[str, Any]]]) -> Store:
    store = Store.open(path)
    store.begin_run(a_run())
    for batch in batches:
        store.append_events("r1", batch)
    return store


@settings(max_examples=40, deadline=None)
@given(st.lists(ONE_EVENT, max_size=25), st.integers(1, 7))
def test_all_events_folded_are_the_nodes_of_the_store(tmp_path_factory, rows, batch) -> None:
    events = told(rows)
    batches = [events[start : start + batch] for start in range(0, len(events), batch)]

    with stored(tmp_path_factory.mktemp("fold") / "runs.db", batches) as store:
        assert nodes_at(store.events("r1")) == store.nodes("r1")


@given(st.lists(ONE_EVENT, max_size=25), st.data())
def test_at_every_moment_a_timeline_says_what_the_events_until_then_say(rows, data) -> None:
    events = told(rows)
    at = data.draw(st.integers(0, len(events) + 2))
    timeline = Timeline()

    for event in events:
        timeline.add(event)

    assert timeline.nodes(at) == nodes_at(events[:at])


def test_the_end_of_a_run_is_a_state_of_its_root() -> None:
    events = [node_event(1, "run", depth=0), RouteCompleted(sequence=2, node_id="run", status="completed").to_dict()]

    assert [(node.node_id, node.status) for node in nodes_at(events)] == [("run", "completed")]


def test_equal_permissions_are_held_once() -> None:
    timeline = Timeline()
    for number in range(1, 4):
        timeline.add(node_event(number, f"run/{number}", permission_snapshot={"tools": ["Bash"]}))

    assert len({id(node.permission_snapshot) for node in timeline.nodes()}) == 1


def test_an_event_that_is_no_node_is_named() -> None:
    with pytest.raises(StoreDamaged, match="event 7"):
        nodes_at([node_event(7, "run", depth="deep")])


def test_a_run_that_goes_on_is_read_on_from_where_it_was_read(tmp_path) -> None:
    with stored(tmp_path / "runs.db", [[node_event(1, "run"), node_event(2, "run/plan")]]) as store:
        replays = Replays(store)
        before = replays.nodes("r1", 2)
        store.append_events("r1", [node_event(3, "run/plan", status="completed")])

        assert [node.status for node in before] == ["executing", "executing"]
        assert [node.status for node in replays.nodes("r1", 3)] == ["executing", "completed"]
        assert replays.nodes("r1", 2) == before
        assert [node.node_id for node in replays.nodes("r1", 1)] == ["run"]


def test_what_is_held_of_runs_has_a_bound_and_all_are_answered(tmp_path) -> None:
    with Store.open(tmp_path / "runs.db") as store:
        replays = Replays(store, most_states=25)
        for number in range(4):
            store.begin_run(a_run(f"r{number}"))
            store.append_events(f"r{number}", [node_event(each, f"run/{each}") for each in range(1, 11 + 10 * number)])

        found = [len(replays.nodes(f"r{number}", 9)) for number in (0, 1, 2, 3, 0, 1)]

        assert found == [9] * 6
        assert replays.size <= 25


def test_a_jump_reads_each_event_once_and_none_behind_the_moment_that_is_asked_for(tmp_path, monkeypatch) -> None:
    events = [node_event(each, f"run/{each}") for each in range(1, 5001)]
    events[99] = StrategyChosen(sequence=100, strategy="full", reason="as asked for").to_dict()
    read: list[int] = []

    with stored(tmp_path / "runs.db", [events]) as store:
        paged = Store.events

        def counted(*asked: Any, **options: Any) -> Iterator[Mapping[str, Any]]:
            for event in paged(*asked, **options):
                read.append(event["sequence"])
                yield event

        monkeypatch.setattr(Store, "events", counted)
        replays = Replays(store)
        assert len(replays.nodes("r1", 200)) == 199
        assert replays.remarks("r1", 200, None).strategy == "full"
        assert replays.remarks("r1", 99, None).strategy == ""
        assert len(replays.nodes("r1", 300)) == 299

    assert read == list(range(1, 301))


def test_a_moment_between_two_events_is_that_of_the_earlier_one(tmp_path) -> None:
    with stored(tmp_path / "runs.db", [[node_event(each, f"run/{each}") for each in (1, 2, 9)]]) as store:
        replays = Replays(store)

        assert [len(replays.nodes("r1", at)) for at in (1, 5, 8, 9, 50, 2)] == [1, 2, 2, 3, 3, 2]
