"""How the program ends: when its own work is done, whatever workers that were left behind still do."""

from __future__ import annotations

import atexit
import os
import sys
import time
from contextlib import suppress

GRACE_S = 1.0  # what was cancelled mostly comes back at once
_LOOK_AGAIN_S = 0.01


def leave(code: object) -> None:
    """End the process with exit code `code`, if a worker does not come back; else return, and let Python end it.

    Python waits for the threads of every pool, so that one call which ignores its deadline would hold up the shell for
    as long as it likes. All else that is done when a process ends is done: what was printed goes out, stores close.
    """
    if not _is_held_up():
        return
    atexit._run_exitfuncs()  # all of it but the waiting, which has no public name
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # nobody reads it any more
            stream.flush()
    os._exit(code if isinstance(code, int) else 0 if code is None else 1)


def _is_held_up() -> bool:
    workers = sys.modules.get("orchestra.runtime.workers")  # a command that has no use for them does not load them
    if workers is None:
        return False
    until = time.monotonic() + GRACE_S
    while is_anyone_left := workers.anyone_at_work():
        if time.monotonic() >= until:
            break
        time.sleep(_LOOK_AGAIN_S)
    return is_anyone_left
