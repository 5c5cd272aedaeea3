"""Worker threads: a pool that many runs may share, and pools that outlive the run that started them.

Starting five threads costs a fifth of what a run costs its client, so a run without a pool of the caller's borrows
one, has it to itself while it lasts, and leaves it for the next.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from orchestra.errors import InputInvalid, RunCancelled

MOST_IDLE_POOLS = 4


Work = Callable[[], Callable[[], None]]
"""What a worker does, and never raises; it gives what tells of its end, which is quick."""


class Turn:
    """One piece of work at a pool: in its lane's queue, then on a worker, then over or left behind."""

    __slots__ = ("is_on_worker", "is_over", "work")

    def __init__(self, work: Work) -> None:
        self.work = work
        self.is_on_worker = False
        self.is_over = False


class Lane:
    """One run's place at a pool: its work starts in the order in which it came."""

    __slots__ = ("_pool", "queued")

    def __init__(self, pool: WorkerPool) -> None:
        self._pool = pool
        self.queued: deque[Turn] = deque()

    def submit(self, work: Work) -> Turn:
        """Have `work` done on a worker. Raises `RunCancelled` when the pool was closed."""
        turn = Turn(work)
        self._pool.enqueue(self, turn)
        return turn

    def leave_behind(self, turn: Turn) -> None:
        """Its worker may never come back: another one takes its place, for this run and the others."""
        self._pool.leave_behind(self, turn)


class WorkerPool:
    """At most `max_workers` calls at a time, of all the runs that share it; each run's own `max_workers` still holds.

        with WorkerPool(8) as pool:
            orchestrate(text, task, pool=pool)  # from as many threads as you like

    Runs take turns, one call each, so that a run with fifty subtasks does not hold up one with two. A node that waits
    for others, for a retry or for a person holds no worker. Thread-safe. Closing waits for the calls under way.
    """

    def __init__(self, max_workers: int = 8) -> None:
        if type(max_workers) is not int or max_workers < 1:
            raise InputInvalid(f"max_workers is {max_workers!r}", cause="it is a whole number of at least 1")
        self.max_workers = max_workers
        self._start_afresh()
        self._is_closed = False
        _pools.add(self)

    def __enter__(self) -> WorkerPool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"WorkerPool({self.max_workers})"

    @property
    def is_closed(self) -> bool:
        return self._is_closed

    @property
    def is_at_work(self) -> bool:
        """Whether a worker has not come back yet, be it left behind or not."""
        return self._busy + self._left_behind > 0

    def lane(self) -> Lane:
        """A place for one more run."""
        return Lane(self)

    def close(self, *, wait: bool = True) -> None:
        """Take no more work, and wait until what it has is done. Idempotent."""
        with self._lock:
            self._is_closed = True
            executor = self._executor
        if executor is not None:
            executor.shutdown(wait=wait)

    def enqueue(self, lane: Lane, turn: Turn) -> None:
        with self._lock:
            if self._is_closed:
                raise RunCancelled(
                    "the worker pool of the run was closed", suggestion="Keep the pool open until its runs have ended."
                )
            if not lane.queued:
                self._waiting.append(lane)
            lane.queued.append(turn)
            self._put_to_work()

    def leave_behind(self, lane: Lane, turn: Turn) -> None:
        with self._lock:
            if turn.is_over:
                return
            turn.is_over = True
            if not turn.is_on_worker:
                self._drop(lane, turn)
                return
            self._busy -= 1
            self._left_behind += 1
            executor, self._executor = self._executor, None
            self._put_to_work()
        if executor is not None:
            executor.shutdown(wait=False)

    def _drop(self, lane: Lane, turn: Turn) -> None:
        lane.queued.remove(turn)
        if not lane.queued:
            self._waiting.remove(lane)

    def _put_to_work(self) -> None:
        """Start workers for what waits, but for what those will take who are about to look again."""
        free = self.max_workers - self._busy
        for _ in range(min(free, sum(len(lane.queued) for lane in self._waiting)) - self._looking):
            self._busy += 1
            if self._executor is None:
                self._executor = ThreadPoolExecutor(self.max_workers, thread_name_prefix="orchestra")
            self._executor.submit(self._serve, self._next())

    def _next(self) -> Turn:
        """The first turn of the lane that has waited longest since its last one."""
        lane = self._waiting.popleft()
        turn = lane.queued.popleft()
        if lane.queued:
            self._waiting.append(lane)
        turn.is_on_worker = True
        return turn

    def _serve(self, turn: Turn | None) -> None:
        """On a worker: one turn after the other, as long as there are any."""
        while turn is not None:
            tell = turn.work()
            with self._lock:
                was_left_behind, turn.is_over = turn.is_over, True
                if was_left_behind:
                    self._left_behind -= 1
                else:
                    self._busy -= 1
                    self._looking += 1
            tell()  # whoever hears of it finds the worker free
            if was_left_behind:  # another one serves in its place
                return
            turn = self._look()

    def _look(self) -> Turn | None:
        with self._lock:
            self._looking -= 1
            if not self._waiting or self._busy >= self.max_workers:
                return None
            self._busy += 1
            return self._next()

    def _start_afresh(self) -> None:
        self._lock = threading.Lock()
        self._busy = 0
        self._left_behind = 0
        self._looking = 0  # workers that are done with a turn and will look for the next
        self._waiting: deque[Lane] = deque()
        self._executor: ThreadPoolExecutor | None = None


_pools: weakref.WeakSet[WorkerPool] = weakref.WeakSet()
_idle: list[WorkerPool] = []
_lock = threading.Lock()


def borrow(max_workers: int) -> WorkerPool:
    """An idle pool of that size, or a new one."""
    with _lock:
        for position, pool in enumerate(_idle):
            if pool.max_workers == max_workers:
                return _idle.pop(position)
    return WorkerPool(max_workers)


def give_back(pool: WorkerPool, *, is_busy: bool) -> None:
    """Keep the pool for later, in place of the oldest where there are many; one that is busy is let go of."""
    with _lock:
        if not is_busy:
            _idle.append(pool)
            if len(_idle) <= MOST_IDLE_POOLS:
                return
            pool = _idle.pop(0)
    pool.close(wait=False)


def anyone_at_work() -> bool:
    """Whether a worker of any pool has not come back: Python waits for it before a process ends."""
    return any(pool.is_at_work for pool in list(_pools))


def _forget_after_fork() -> None:
    global _lock
    _lock = threading.Lock()  # may have been held, and the threads are not here any more
    _idle.clear()
    pools: list[Any] = list(_pools)
    for pool in pools:
        pool._start_afresh()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_after_fork)
