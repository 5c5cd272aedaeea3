"""A run's blocking calls: those that wait for a place, and those that a worker has."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any

from orchestra.errors import NodeTimeout, OrchestraError, RunCancelled, UnexpectedFailure
from orchestra.models.deadline import Deadline
from orchestra.runtime.effects import Call, HeldBack, Job
from orchestra.runtime.events import EventStream
from orchestra.runtime.node import Node
from orchestra.runtime.workers import Lane, Turn, WorkerPool, borrow, give_back

GRACE_S = 0.25  # past its deadline, how long a call may take to say so itself

Started = Callable[[Job[Any], Call], None]
Ended = Callable[[Job[Any], Call, Any, BaseException | None], None]


class Admission:
    """At most `max_workers` calls at a time, in the order in which they came, on `pool` or on workers of the run's own.

    Used from the run's own thread. `post` and `post_soon` bring what happens on a worker back to it; there `on_start`
    is told of each call that begins, if `stream` has listeners, and `on_end` of what came of it.
    """

    def __init__(
        self,
        max_workers: int,
        pool: WorkerPool | None,
        *,
        post: Callable[[Callable[[], None]], None],
        post_soon: Callable[[Callable[[], None]], None],
        stream: EventStream,
        on_start: Started,
        on_end: Ended,
    ) -> None:
        self._max_workers = max_workers
        self._shared_pool = pool
        self._own_pool: WorkerPool | None = None
        self._lane: Lane | None = None
        self._post = post
        self._post_soon = post_soon
        self._stream = stream
        self._on_start = on_start
        self._on_end = on_end
        self._queued: deque[tuple[Job[Any], Call]] = deque()
        self._under_way: dict[Call, tuple[Job[Any], Turn]] = {}
        self._is_over = False

    def submit(self, job: Job[Any], call: Call) -> None:
        """Have `call` made as soon as there is a place."""
        self._queued.append((job, call))
        self._dispatch()

    def stop(self) -> None:
        """Begin no more calls, those that a pool has already taken included."""
        self._is_over = True

    def let_go_of_overdue(self) -> None:
        """What ignores its deadline is left behind; what obeys it has ended by itself before the grace is over."""
        for call, (job, _) in list(self._under_way.items()):
            if call.deadline is not None and call.deadline.is_overdue(GRACE_S):
                call.deadline.cancel()
                self._leave_behind(call)
                error = NodeTimeout(f"{call.node.id} did not end within {call.timeout_s:g} s")
                self._on_end(job, call, None, error)

    def close(self) -> None:
        """Give the workers back, without those that are still at work."""
        self.stop()
        self._queued.clear()
        if self._own_pool is not None:
            give_back(self._own_pool, is_busy=bool(self._under_way))
        elif self._lane is not None:
            for _, turn in self._under_way.values():
                self._lane.leave_behind(turn)

    def _dispatch(self) -> None:
        """Hand queued calls to the pool, as many as may be under way at a time."""
        while len(self._under_way) < self._max_workers and (queued := self._next()) is not None:
            job, call = queued
            if job.waiting_for is not call:
                continue
            if self._lane is None:
                self._lane = self._pool().lane()
            try:
                self._under_way[call] = (job, self._lane.submit(partial(self._work, job, call)))
            except RunCancelled as closed:
                self._on_end(job, call, None, closed)

    def _next(self) -> tuple[Job[Any], Call] | None:
        """The call that came first. Those beside the work leave it a place, unless there is one in all."""
        if not self._queued:
            return None
        beside = sum(_is_beside(call.node) for call in self._under_way)
        is_full = beside >= max(1, self._max_workers - 1)
        for place, (job, call) in enumerate(self._queued):
            if not (is_full and _is_beside(call.node)):
                del self._queued[place]
                return job, call
        return None

    def _pool(self) -> WorkerPool:
        if self._shared_pool is not None:
            return self._shared_pool
        self._own_pool = borrow(self._max_workers)
        return self._own_pool

    def _work(self, job: Job[Any], call: Call) -> Callable[[], None]:
        """On a worker: do the work; gives what hands the outcome to the run's thread."""
        value, error = None, None
        try:
            value = self._perform(job, call)
        except BaseException as raised:  # noqa: BLE001 - carried over to the run's thread, never dropped
            error = raised if isinstance(raised, OrchestraError | HeldBack) else unexpected(raised)
        return partial(self._post, partial(self._ended, job, call, value, error))

    def _perform(self, job: Job[Any], call: Call) -> Any:
        if call.turnstile is not None and not call.turnstile.start():
            raise HeldBack
        deadline = call.deadline = Deadline(call.timeout_s)
        if self._is_over:  # looked at after the deadline is there for whoever cancels to see
            raise RunCancelled("the run was cancelled")
        call.began = (time.time(), time.monotonic())
        if self._stream.is_heard:
            self._post_soon(partial(self._on_start, job, call))
        return call.function(deadline, call.attempt)

    def _leave_behind(self, call: Call) -> None:
        """Its worker may never come back, so another one takes its place."""
        _, turn = self._under_way.pop(call)
        if self._lane is not None:
            self._lane.leave_behind(turn)
        self._dispatch()

    def _ended(self, job: Job[Any], call: Call, value: Any, error: BaseException | None) -> None:
        self._under_way.pop(call, None)
        self._dispatch()
        self._on_end(job, call, value, error)


def _is_beside(node: Node | None) -> bool:
    """Whether a node belongs to an enhancement, which holds nothing up."""
    return node is not None and (node.kind == "enhancement" or _is_beside(node.parent))


def unexpected(error: BaseException) -> UnexpectedFailure:
    """The error for a defect."""
    failure = UnexpectedFailure(f"{type(error).__name__}: {error}", cause="a defect, not a condition that was foreseen")
    failure.__cause__ = error
    return failure
