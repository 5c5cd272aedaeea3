"""`orchestra replay`."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import Any

import click

from orchestra.cli.group import debug_option
from orchestra.cli.progress import progress
from orchestra.cli.store_choice import open_store, store_option
from orchestra.cli.terminal import print_answer

LONGEST_PAUSE_S = 3.0


@click.command(epilog="\b\nExamples:\n  orchestra replay 3f9a1c\n  orchestra replay 3f9a1c --speed 10")
@click.argument("run_id", metavar="RUN")
@click.option(
    "--speed",
    type=click.FloatRange(0),
    default=1.0,
    metavar="N",
    show_default=True,
    help="N times as fast as it was; 0 waits for nothing.",
)
@store_option
@debug_option
def replay(run_id: str, speed: float, store: str | None) -> None:
    """Show RUN again as it went, and print its answer. Nothing is sent.

    No pause is longer than three seconds, however long the run waited.
    """
    from orchestra.runtime.recorded_events import read_event

    with open_store(store) as opened:
        run = opened.find_run(run_id)
        with progress(is_quiet=False) as listener:
            for pause_s, record in with_pauses(opened.events(run.id)):
                if speed:
                    time.sleep(min(pause_s / speed, LONGEST_PAUSE_S))
                event = read_event(record)
                if event is not None and listener is not None:
                    listener(event)
    answer = str((run.result or {}).get("answer") or "").strip()
    if answer:
        print_answer(answer)


def with_pauses(events: Iterable[Mapping[str, Any]]) -> Iterable[tuple[float, Mapping[str, Any]]]:
    """(seconds since the event before, event). One that does not say when it was came with the one before."""
    latest: float | None = None
    for event in events:
        at = _time_of(event)
        if at is None:
            yield 0.0, event
            continue
        yield max(at - latest, 0.0) if latest is not None else 0.0, event
        latest = at if latest is None else max(at, latest)


def _time_of(event: Mapping[str, Any]) -> float | None:
    """Unix seconds: when it was heard, or what the node's own times say."""
    if isinstance(event.get("at"), int | float):
        return event["at"]
    timing = event.get("timing")
    timing = timing if isinstance(timing, Mapping) else {}
    started_at, duration_ms = timing.get("started_at"), timing.get("duration_ms")
    if not isinstance(started_at, int | float):
        return None
    return started_at + (duration_ms / 1000 if isinstance(duration_ms, int | float) else 0.0)
