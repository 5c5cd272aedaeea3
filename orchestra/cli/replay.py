"""`orchestra replay`."""

from __future__ import annotations

import time

import click

from orchestra.cli.group import debug_option
from orchestra.cli.progress import progress
from orchestra.cli.store_choice import open_store, store_option
from orchestra.cli.terminal import print_answer


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
    from orchestra.runtime.recorded_events import read_event, shown_pause, with_pauses

    with open_store(store) as opened:
        run = opened.find_run(run_id)
        with progress(is_quiet=False) as listener:
            for pause_s, record in with_pauses(opened.events(run.id)):
                time.sleep(shown_pause(pause_s, speed))
                event = read_event(record)
                if event is not None and listener is not None:
                    listener(event)
    answer = str((run.result or {}).get("answer") or "").strip()
    if answer:
        print_answer(answer)
