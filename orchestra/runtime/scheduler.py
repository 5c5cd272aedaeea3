"""The one scheduler: coroutines on the caller's thread, blocking calls on one pool of threads.

A node's work is an `async def` that awaits three things only: `call` (a blocking function, on the pool), `pause` and
`join` (other jobs). Whatever waits, also for a retry or a rate limit, is a suspended coroutine and holds no worker, so
nesting cannot deadlock a small pool, and all bookkeeping happens on one thread, without locks.
"""

from __future__ import annotations

import heapq
import itertools
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Coroutine, Generator, Iterable, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from orchestra.errors import (
    DependencyFailed,
    NodeTimeout,
    OrchestraError,
    RunCancelled,
    RunWaiting,
)
from orchestra.models.deadline import Deadline
from orchestra.runtime.admission import Admission, unexpected
from orchestra.runtime.effects import Apart, Call, Effect, HeldBack, Job, Join, Milestone, Pause, Turnstile
from orchestra.runtime.events import CallHeldBack, EventStream, NodeUpdated, RetryScheduled
from orchestra.runtime.inbox import Inbox
from orchestra.runtime.node import FINAL, WAITING, Node, Status
from orchestra.runtime.retry import RetryPolicy
from orchestra.runtime.workers import WorkerPool

__all__ = ["Job", "Milestone", "Scheduler"]

T = TypeVar("T")
LONGEST_WAIT_S = 0.5  # some platforms do not see Ctrl-C during an endless wait
LONGEST_HOLD_S = 5.0  # then the turnstile is asked again: it may have learnt that there is room


class Scheduler:
    """Runs one tree of jobs, at most `max_workers` blocking calls of it at a time, on `pool` or workers of its own."""

    def __init__(self, stream: EventStream, *, max_workers: int = 5, pool: WorkerPool | None = None) -> None:
        self.stream = stream
        self._inbox = Inbox()
        self._ready: deque[tuple[Job[Any], Any, BaseException | None]] = deque()
        self._timers: list[tuple[float, int, Callable[[], None]]] = []
        self._order = itertools.count()
        self._jobs: dict[Job[Any], None] = {}
        self._is_cancelled = False
        self._admission = Admission(
            max_workers,
            pool,
            post=self._inbox.post,
            post_soon=self._inbox.post_soon,
            stream=stream,
            on_start=self._started,
            on_end=self._ended,
        )

    # What a coroutine awaits

    async def call(
        self,
        function: Callable[[Deadline, int], T],
        *,
        node: Node,
        timeout_s: float | None = None,
        retry: RetryPolicy | None = None,
        turnstile: Turnstile | None = None,
        attempts_before: int = 0,
    ) -> T:
        """`function(deadline, attempt)` on a worker, and again as `retry` says, each time when `turnstile` lets it go.

        Time in the queue, at the turnstile or before a retry does not count towards `timeout_s`. Raises what the
        function raised, `NodeTimeout`, or `RunCancelled`; a defect arrives as `UnexpectedFailure`. `attempts_before`
        are those that others made at the same call: the counting goes on from them, `retry` counts from 1.
        """
        attempt = attempts_before + 1
        while True:
            try:
                if turnstile is not None:
                    await self._pass(turnstile, node)
                node.attempt = attempt
                return await Call(function, node, timeout_s, attempt, turnstile)
            except HeldBack:
                continue
            except (NodeTimeout, RunCancelled):
                raise
            except OrchestraError as error:
                delay = retry.delay_before_next(error, attempt - attempts_before) if retry else None
                if delay is None:
                    raise
                self.retry_scheduled(node, attempt + 1, delay, error)
            finally:
                if turnstile is not None:
                    turnstile.end()
            attempt += 1
            await self.pause(delay)

    async def pause(self, seconds: float) -> None:
        """Wait, on no worker. Raises `RunCancelled`."""
        await Pause(seconds)

    async def call_apart(self, function: Callable[[], T]) -> T:
        """`function()` on a thread of its own, which holds no worker and has no deadline: for what people take.

        Raises what the function raised, or `RunCancelled`; then its thread is left behind, and Python's exit does not
        wait for it.
        """
        return await Apart(function)

    async def join(self, jobs: Sequence[Job[Any] | Milestone], *, at_most_s: float | None = None) -> None:
        """Wait until all of `jobs` have ended, however they ended, and the milestones among them are reached.

        After `at_most_s` seconds it goes on all the same.
        """
        await Join(jobs, at_most_s=at_most_s)

    def retry_scheduled(self, node: Node, attempt: int, delay: float, error: OrchestraError) -> None:
        """Say that work of a node will be tried again."""
        described = error.to_dict()
        self.stream.emit(RetryScheduled, node_id=node.id, attempt=attempt, delay_s=round(delay, 3), error=described)

    async def _pass(self, turnstile: Turnstile, node: Node) -> None:
        is_told = False
        while (wait_s := turnstile.wait_s()) > 0:
            if not is_told:
                self.stream.emit(CallHeldBack, node_id=node.id, reason=turnstile.reason, delay_s=round(wait_s, 3))
            is_told = True
            await self.pause(min(wait_s, LONGEST_HOLD_S))

    async def wait_outside(self, milestone: Milestone) -> None:
        """Wait for what another run reaches, with `post`. Holds no worker; raises `RunCancelled`."""
        await Join([milestone], is_outside=True)

    # Starting and stopping

    def run(self, coroutine: Coroutine[Any, Any, T], node: Node) -> T:
        """Drive `coroutine`, and all that it spawns, to the end; returns its value or raises its error.

        The first Ctrl-C cancels (see `cancel`), the second raises KeyboardInterrupt.
        """
        with self._ctrl_c_cancels():
            root = Job(coroutine, node)
            self._jobs[root] = None
            self._ready.append((root, None, None))
            try:
                while not root.is_done:
                    self._advance()
            finally:
                self._close()
        return root.value

    def spawn(self, coroutine: Coroutine[Any, Any, T], node: Node, after: Iterable[Job[Any]] = ()) -> Job[T]:
        """Start a job once all of `after` have completed; if one of them did not, it fails with DEPENDENCY_FAILED."""
        job = Job(coroutine, node)
        self._jobs[job] = None
        self._announce(node)
        after = tuple(after)
        dependencies = [dependency for dependency in after if not dependency.is_done]
        failed = next((dependency for dependency in after if dependency.error), None)
        if self._is_cancelled:
            self._ready.append((job, None, RunCancelled("the run was cancelled before this started")))
        elif failed is not None:
            self._ready.append((job, None, _dependency_failed(failed)))
        elif dependencies:
            job.unfinished_dependencies = len(dependencies)
            for dependency in dependencies:
                dependency.waiters.append(lambda ended: self._dependency_ended(job, ended))
        else:
            self._ready.append((job, None, None))
        return job

    async def within(self, work: Coroutine[Any, Any, None], node: Node) -> OrchestraError | None:
        """Do a node's work as part of the job that awaits this; gives its error. Only its end is announced."""
        node.start()
        error = None
        try:
            await work
        except OrchestraError as raised:
            error = raised
        except Exception as raised:  # noqa: BLE001 - as in `_step`
            error = unexpected(raised)
        self._end(node, error)
        return error

    def cancel(self) -> None:
        """Start nothing more and let go of what runs; finished jobs keep their results. From any thread."""
        self._inbox.post(self._cancel)

    def begin(self, node: Node) -> None:
        """Say that work on a node has begun, where no call does."""
        if node.status is Status.ROUTING:
            node.start()
            self._announce(node)

    def post(self, action: Callable[[], None]) -> None:
        """Run `action` on the run's own thread, in order of arrival. From any thread."""
        self._inbox.post(action)

    def post_soon(self, action: Callable[[], None]) -> None:
        """As `post`, a little later (`Inbox.post_soon`): for what there may be much of."""
        self._inbox.post_soon(action)

    def after(self, seconds: float, action: Callable[[], None]) -> None:
        """Run `action` on the run's own thread so much later, if the run lasts that long. From that thread only."""
        heapq.heappush(self._timers, (time.monotonic() + seconds, next(self._order), action))

    # The loop

    def _advance(self) -> None:
        while self._ready:
            self._step(*self._ready.popleft())
        if not self._jobs:
            return
        next_timer_s = max(0.0, self._timers[0][0] - time.monotonic()) if self._timers else LONGEST_WAIT_S
        self._inbox.wait(min(next_timer_s, LONGEST_WAIT_S))
        while self._timers and self._timers[0][0] <= time.monotonic():
            heapq.heappop(self._timers)[2]()
        self._admission.let_go_of_overdue()

    def _step(self, job: Job[Any], value: Any, error: BaseException | None) -> None:
        if job.is_done:
            return
        job.waiting_for = None
        try:
            effect = job.coroutine.throw(error) if error is not None else job.coroutine.send(value)
        except StopIteration as stop:
            self._finish(job, stop.value, None)
        except OrchestraError as raised:
            self._finish(job, None, raised)
        except Exception as raised:  # noqa: BLE001 - a defect in one node must not lose the others
            self._finish(job, None, unexpected(raised))
        else:
            job.waiting_for = effect
            self._begin(job, effect)

    def _begin(self, job: Job[Any], effect: Effect) -> None:
        if isinstance(effect, Call):
            self._submit(job, effect)
        elif isinstance(effect, Pause):
            self._pause(job, effect)
        elif isinstance(effect, Apart):
            self._start_apart(job, effect)
        elif isinstance(effect, Join):
            pending = [other for other in effect.jobs if not other.is_done]
            effect.missing = len(pending)
            if self._is_cancelled and effect.is_outside:
                pending = []
                self._ready.append((job, None, RunCancelled("the run was cancelled")))
            elif not pending:
                self._ready.append((job, None, None))
            for other in pending:
                other.waiters.append(lambda _, job=job, effect=effect: self._joined(job, effect))
            if pending and effect.at_most_s is not None:
                self.after(effect.at_most_s, lambda: self._resume(job, effect, None, None))

    def _joined(self, job: Job[Any], effect: Join) -> None:
        effect.missing -= 1
        if effect.missing == 0:
            self._resume(job, effect, None, None)

    def _resume(self, job: Job[Any], effect: Effect, value: Any, error: BaseException | None) -> None:
        """Go on with a job, unless it has gone on without this effect (timeout, cancellation)."""
        if job.waiting_for is effect:
            job.waiting_for = None
            self._ready.append((job, value, error))

    def _finish(self, job: Job[Any], result: Any, error: OrchestraError | None) -> None:
        job.is_done, job.result, job.error = True, result, error
        self._jobs.pop(job, None)
        if isinstance(error, RunWaiting):
            self._leave_waiting(job.node, error)
        elif job.node.status not in FINAL and (error is not None or job.node.status not in WAITING):
            self._end(job.node, error)
        for notify in job.waiters:
            notify(job)

    def _end(self, node: Node, error: OrchestraError | None) -> None:
        ended = Status.COMPLETED
        if error is not None:
            ended = Status.CANCELLED if isinstance(error, RunCancelled) else Status.FAILED
        node.end(ended, error)
        self._announce(node)

    def _leave_waiting(self, node: Node, error: RunWaiting) -> None:
        """A node that waits for a person keeps its status, and so does one that has not begun; its parents get it."""
        status = error.details.get("status")
        if node.status is Status.EXECUTING and status in WAITING:
            node.status = Status(status)
            self._announce(node)

    def _dependency_ended(self, job: Job[Any], ended: Job[Any]) -> None:
        job.unfinished_dependencies -= 1
        if ended.error is not None:
            self._ready.append((job, None, _dependency_failed(ended)))
        elif job.unfinished_dependencies == 0:
            self._ready.append((job, None, None))

    # Blocking calls

    def _submit(self, job: Job[Any], call: Call) -> None:
        if self._is_cancelled:
            self._ready.append((job, None, RunCancelled("the run was cancelled")))
            return
        self._admission.submit(job, call)

    def _started(self, job: Job[Any], call: Call) -> None:
        if job.waiting_for is call and call.began and call.node.status is Status.ROUTING:
            call.node.start(*call.began)
            self._announce(call.node)

    def _ended(self, job: Job[Any], call: Call, value: Any, error: BaseException | None) -> None:
        self._started(job, call)
        self._resume(job, call, value, error)

    def _pause(self, job: Job[Any], pause: Pause) -> None:
        if self._is_cancelled:
            self._ready.append((job, None, RunCancelled("the run was cancelled")))
            return
        self.after(pause.seconds, lambda: self._resume(job, pause, None, None))

    def _start_apart(self, job: Job[Any], apart: Apart) -> None:
        if self._is_cancelled:
            self._ready.append((job, None, RunCancelled("the run was cancelled")))
            return

        def work() -> None:
            value, error = None, None
            try:
                value = apart.function()
            except BaseException as raised:  # noqa: BLE001 - carried over to the run's thread, never dropped
                error = raised if isinstance(raised, OrchestraError) else unexpected(raised)
            self._inbox.post(lambda: self._resume(job, apart, value, error))

        threading.Thread(target=work, name="orchestra-person", daemon=True).start()

    # Cancellation, the end

    def _cancel(self) -> None:
        self._is_cancelled = True
        self._admission.stop()
        for job in list(self._jobs):
            effect = job.waiting_for
            if isinstance(effect, Call) and effect.deadline is not None:
                effect.deadline.cancel()
            if _is_cut_short(effect) or job.unfinished_dependencies:
                job.waiting_for = None
                self._ready.append((job, None, RunCancelled("the run was cancelled")))

    def _close(self) -> None:
        self._is_cancelled = self._is_cancelled or bool(self._jobs)
        for job in self._jobs:
            if isinstance(job.waiting_for, Call) and job.waiting_for.deadline is not None:
                job.waiting_for.deadline.cancel()
            job.coroutine.close()
        self._jobs.clear()
        self._admission.close()

    def _announce(self, node: Node) -> None:
        if self.stream.is_heard:
            self.stream.emit(NodeUpdated, **node.snapshot())

    @contextmanager
    def _ctrl_c_cancels(self) -> Generator[None]:
        """As asyncio.run does: only on the main thread, and only over Python's own handler."""
        is_ours = (
            threading.current_thread() is threading.main_thread()
            and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        )
        if not is_ours:
            yield
            return

        def on_interrupt(_number: int, _frame: Any) -> None:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            self.cancel()

        signal.signal(signal.SIGINT, on_interrupt)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, signal.default_int_handler)


def _is_cut_short(effect: Effect | None) -> bool:
    """Whether cancelling a run ends it; what waits for other jobs of the run goes on when they have ended."""
    return isinstance(effect, Call | Pause | Apart) or (isinstance(effect, Join) and effect.is_outside)


def _dependency_failed(dependency: Job[Any]) -> OrchestraError:
    error = dependency.error
    if isinstance(error, RunCancelled):
        return RunCancelled("the run was cancelled before this started")
    if isinstance(error, RunWaiting):
        return RunWaiting(f"{dependency.node.id}, on which this depends, waits for a person")
    cause = f"{error.code}: {error.what}" if error is not None else ""
    return DependencyFailed(f"{dependency.node.id}, on which this depends, failed", cause=cause)
