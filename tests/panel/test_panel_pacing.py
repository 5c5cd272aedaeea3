"""The pictures of a replay."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestra.panel.view.pacing import Frame, frames
from orchestra.runtime.recorded_events import shown_pause, with_pauses

PAUSES = st.lists(st.sampled_from((0.0, 0.01, 0.1, 0.5, 2.0, 60.0)), max_size=30)


def at_times(*times: float) -> list[dict[str, Any]]:
    return [{"sequence": number, "at": at} for number, at in enumerate(times, start=1)]


def after_pauses(pauses: list[float]) -> list[dict[str, Any]]:
    return at_times(*(sum(pauses[: number + 1]) for number in range(len(pauses))))


def test_events_that_follow_closely_are_one_picture_and_long_pauses_are_short() -> None:
    found = list(frames(at_times(0.0, 0.1, 0.2, 1.0, 1.1, 601.0), 1.0))

    assert found == [Frame(0, 3), Frame(1000, 5), Frame(3100, 6)]


@pytest.mark.parametrize(("speed", "wait_ms"), [(0.5, 3000), (1, 2000), (4, 500), (50, None)])
def test_a_speed_is_how_many_times_as_fast(speed: float, wait_ms: int | None) -> None:
    waits = [frame.wait_ms for frame in frames(at_times(0.0, 2.0), speed)]

    assert waits == ([0] if wait_ms is None else [0, wait_ms])


@given(PAUSES, st.sampled_from((0.5, 1.0, 3.0, 50.0)))
def test_pictures_end_with_the_last_event_come_in_order_and_take_the_time_of_all_pauses(pauses, speed) -> None:
    events = after_pauses(pauses)

    found = list(frames(events, speed))

    assert [frame.at for frame in found] == sorted({frame.at for frame in found})
    assert (found[-1].at if found else 0) == len(events)
    assert all(frame.wait_ms >= 300 for frame in found[1:])
    whole_s = sum(shown_pause(pause_s, speed) for pause_s, _ in with_pauses(events))
    assert -len(found) <= whole_s * 1000 - sum(frame.wait_ms for frame in found) <= 300 + len(found)
