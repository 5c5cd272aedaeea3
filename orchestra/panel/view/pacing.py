"""When a replay shows what: the pauses of a run at a chosen speed, by the rules of the command's replay."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from orchestra.runtime.recorded_events import shown_pause, with_pauses

SPEEDS = (0.5, 1, 2, 5, 10, 25, 50)
LEAST_S = 0.3  # from one picture to the next: what comes sooner is shown with it


@dataclass(frozen=True, slots=True)
class Frame:
    """After `wait_ms` more the run is shown as of the event `at`."""

    wait_ms: int
    at: int


def frames(events: Iterable[Mapping[str, Any]], speed: float, *, least_s: float = LEAST_S) -> Iterator[Frame]:
    """Pictures of a run, `speed` times as fast as it was; no pause between events is longer than three seconds.

    Each event is in one picture; a picture begins with its first event, and ends before the next can be shown.
    """
    wait_s = since_s = 0.0
    at: int | None = None
    for pause_s, event in with_pauses(events):
        shown_s = shown_pause(pause_s, speed)
        since_s += shown_s
        if at is not None and since_s >= least_s:
            yield Frame(round(wait_s * 1000), at)
            at, wait_s, since_s = None, since_s, 0.0
        elif at is None:
            wait_s, since_s = shown_s, 0.0
        at = event["sequence"]
    if at is not None:
        yield Frame(round(wait_s * 1000), at)
