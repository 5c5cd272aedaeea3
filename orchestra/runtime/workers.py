"""Worker threads that outlive the run that started them, for the next run to use.

Starting five threads costs a fifth of what a run costs its client. A run has a pool to itself while it lasts, so
one run's slow calls never hold up another's.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor, Future
from functools import partial
from typing import Any, ParamSpec, TypeVar

MOST_IDLE_POOLS = 4

P = ParamSpec("P")
T = TypeVar("T")


class Workers(Executor):
    """A thread pool that can do without a worker that never comes back.

    Its threads are daemons: `ThreadPoolExecutor` would keep the process from ending until the last call has ended.
    """

    def __init__(self, max_workers: int) -> None:
        self._most = max_workers
        self._threads = 0
        self._idle = 0
        self._is_shut_down = False
        self._queue: deque[tuple[Future[Any], Callable[[], Any]]] = deque()
        self._changed = threading.Condition()

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        future: Future[T] = Future()
        with self._changed:
            if self._is_shut_down:
                raise RuntimeError("the workers have been let go")
            self._queue.append((future, partial(fn, *args, **kwargs)))
            self._staff()
        return future

    def leave_one_behind(self) -> None:
        """Count a worker as lost to a call that does not end; another may take its place."""
        with self._changed:
            self._most += 1
            self._staff()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Start nothing more once the queue is empty. Never waits for a call under way."""
        with self._changed:
            self._is_shut_down = True
            if cancel_futures:
                for future, _ in self._queue:
                    future.cancel()
            self._changed.notify_all()

    def _staff(self) -> None:
        """With the lock held: as many hands as there is work, up to the most."""
        if self._idle < len(self._queue) and self._threads < self._most:
            self._threads += 1
            threading.Thread(target=self._serve, name=f"orchestra_{self._threads}", daemon=True).start()
        self._changed.notify()

    def _serve(self) -> None:
        while True:
            with self._changed:
                self._idle += 1
                self._changed.wait_for(lambda: self._queue or self._is_shut_down)
                self._idle -= 1
                if not self._queue:
                    return
                future, work = self._queue.popleft()
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(work())
                except BaseException as error:  # noqa: BLE001 - the future's owner decides
                    future.set_exception(error)
            del future, work  # an idle worker must not keep a run's documents alive


_idle: list[tuple[int, Workers]] = []
_lock = threading.Lock()


def borrow(max_workers: int) -> Workers:
    """An idle pool of that size, or a new one."""
    with _lock:
        for position, (size, pool) in enumerate(_idle):
            if size == max_workers:
                del _idle[position]
                return pool
    return Workers(max_workers)


def give_back(pool: Executor, max_workers: int, *, is_busy: bool) -> None:
    """Keep the pool for later; one with a call still under way, or one too many, is let go of."""
    with _lock:
        if isinstance(pool, Workers) and not is_busy and len(_idle) < MOST_IDLE_POOLS:
            _idle.append((max_workers, pool))
            return
    pool.shutdown(wait=False, cancel_futures=True)


def _forget_after_fork() -> None:
    global _lock
    _lock = threading.Lock()  # may have been held, and the threads are not here any more
    _idle.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_after_fork)
