"""Worker threads that outlive the run that started them, for the next run to use.

Starting five threads costs a fifth of what a run costs its client. A run has a pool to itself while it lasts, so
one run's slow calls never hold up another's.
"""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor

MOST_IDLE_POOLS = 4

_idle: list[tuple[int, ThreadPoolExecutor]] = []
_lock = threading.Lock()


def borrow(max_workers: int) -> ThreadPoolExecutor:
    """An idle pool of that size, or a new one."""
    with _lock:
        for position, (size, pool) in enumerate(_idle):
            if size == max_workers:
                del _idle[position]
                return pool
    return ThreadPoolExecutor(max_workers, thread_name_prefix="orchestra")


def give_back(pool: ThreadPoolExecutor, max_workers: int, *, is_busy: bool) -> None:
    """Keep the pool for later, in place of the oldest where there are many; one that is busy is let go of."""
    with _lock:
        if not is_busy:
            _idle.append((max_workers, pool))
            if len(_idle) <= MOST_IDLE_POOLS:
                return
            _, pool = _idle.pop(0)
    pool.shutdown(wait=False, cancel_futures=True)


def _forget_after_fork() -> None:
    global _lock
    _lock = threading.Lock()  # may have been held, and the threads are not here any more
    _idle.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_after_fork)
