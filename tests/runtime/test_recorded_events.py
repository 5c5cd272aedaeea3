"""Events that come back from a store."""

from __future__ import annotations

import json

import pytest

from orchestra.errors import StoreDamaged
from orchestra.runtime.events import (
    AnswerDelta,
    Event,
    NodeUpdated,
    PlanReady,
    PointerResolved,
    RetryScheduled,
    RouteStarted,
    Warned,
)
from orchestra.runtime.recorded_events import read_event, shown_pause, with_pauses


@pytest.mark.parametrize(
    "event",
    [
        RouteStarted(node_id="run", task="task", models={"plan": "m"}, documents=["a.md"], sequence=1),
        NodeUpdated(
            node_id="run/1", depth=1, timing={"started_at": 1.5, "duration_ms": None}, usage={"input_tokens": 1}
        ),
        PlanReady(plan={"subtasks": [{"id": "1"}]}, delegated=["1"]),
        PointerResolved(node_id="run/1", pointer="s1", rung="id", ranges=["L1-L2"]),
        RetryScheduled(node_id="run/1", attempt=2, delay_s=0.5, error={"code": "TIMEOUT"}),
        AnswerDelta(node_id="run/synthesis", text="Prices.", attempt=2),
        Warned(code="PLAN_MENDED", message="an id was missing"),
    ],
)
def test_an_event_comes_back_from_its_json(event: Event) -> None:
    record = json.loads(json.dumps(event.to_dict()))

    read = read_event(record)

    assert type(read) is type(event)
    assert json.loads(json.dumps(read.to_dict())) == record


def test_what_a_later_version_adds_is_left_out() -> None:
    assert read_event({"type": "warning", "code": "X", "message": "m", "colour": "blue"}) == Warned(
        code="X", message="m"
    )
    assert read_event({"type": "of a later version"}) is None


@pytest.mark.parametrize("wrong", [{"message": ["m"]}, {"sequence": "first"}, {"code": None}])
def test_an_event_that_no_longer_is_one_says_which_field(wrong: dict[str, object]) -> None:
    record = {"type": "warning", "sequence": 7, "code": "X", "message": "m", **wrong}

    with pytest.raises(StoreDamaged, match=next(iter(wrong))):
        read_event(record)


def test_a_replay_keeps_the_pauses_of_the_run() -> None:
    events = [
        {"timing": {"started_at": 10.0}},
        {},
        {"timing": {"started_at": 10.0, "duration_ms": 500.0}},
        {"at": 12.0},
    ]

    assert [pause for pause, _ in with_pauses(events)] == [0.0, 0.0, 0.5, 1.5]


def test_times_that_go_backwards_pause_for_nothing() -> None:
    assert [pause for pause, _ in with_pauses([{"at": 5.0}, {"at": 1.0}, {"at": 6.0}])] == [0.0, 0.0, 1.0]


@pytest.mark.parametrize(
    ("pause_s", "speed", "shown_s"), [(2.0, 1, 2.0), (2.0, 4, 0.5), (600.0, 1, 3.0), (600.0, 300, 2.0), (5.0, 0, 0.0)]
)
def test_a_replay_waits_three_seconds_at_most(pause_s: float, speed: float, shown_s: float) -> None:
    assert shown_pause(pause_s, speed) == shown_s
