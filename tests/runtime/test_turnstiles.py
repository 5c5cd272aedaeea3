"""Calls that wait before they go out, as a turnstile says."""

from __future__ import annotations

import threading

import pytest

from orchestra.errors import ModelOverloaded, ModelRateLimited, RunCancelled
from orchestra.runtime.events import CallHeldBack, EventStream
from orchestra.runtime.node import Node
from orchestra.runtime.retry import RetryPolicy
from orchestra.runtime.scheduler import Scheduler


class Scripted:
    """Waits as it is told, one number for each look; `starts` says whether an attempt may begin after all."""

    reason = "because"

    def __init__(self, waits=(), starts=()):
        self.waits, self.starts = list(waits), list(starts)
        self.ended = 0

    def wait_s(self):
        wait = self.waits.pop(0) if self.waits else 0
        if isinstance(wait, Exception):
            raise wait
        return wait

    def start(self):
        return self.starts.pop(0) if self.starts else True

    def end(self):
        self.ended += 1


def run(turnstile, function=lambda deadline, attempt: attempt, *, retry=None, timeout_s=None, max_workers=1, also=None):
    events = []
    scheduler, root = Scheduler(EventStream(events.append), max_workers=max_workers), Node("run", "run")

    async def story():
        node = root.child("leaf", "subtask")
        work = scheduler.call(function, node=node, turnstile=turnstile, retry=retry, timeout_s=timeout_s)
        jobs = [scheduler.spawn(work, node)]
        if also is not None:
            jobs.append(scheduler.spawn(also(scheduler, root), root.child("other", "subtask")))
        await scheduler.join(jobs)
        return jobs[0].value

    return scheduler.run(story(), root), [event for event in events if isinstance(event, CallHeldBack)]


def test_a_call_waits_and_says_so_once():
    value, held = run(Scripted(waits=[0.02, 0.01]))

    assert value == 1
    assert [(event.node_id, event.reason, event.delay_s) for event in held] == [("run/leaf", "because", 0.02)]


def test_a_call_that_need_not_wait_says_nothing():
    assert run(Scripted()) == (1, [])


def test_a_call_that_finds_itself_held_back_on_its_worker_goes_back_and_waits():
    turnstile, calls = Scripted(waits=[0, 0.01], starts=[False, True]), []

    _, held = run(turnstile, lambda deadline, attempt: calls.append(attempt))

    assert calls == [1]
    assert len(held) == 1
    assert turnstile.ended == 2


def test_what_waits_holds_no_worker():
    other_ran = threading.Event()

    async def other(scheduler, root):
        await scheduler.call(lambda deadline, attempt: other_ran.set(), node=root)

    value, _ = run(Scripted(waits=[0.05]), lambda deadline, attempt: other_ran.is_set(), also=other)

    assert value is True


def test_waiting_is_not_on_the_clock():
    value, _ = run(Scripted(waits=[0.1]), lambda deadline, attempt: deadline.remaining_s(), timeout_s=0.09)

    assert value > 0.05


def test_each_attempt_goes_through_and_is_ended():
    turnstile = Scripted()

    def flaky(deadline, attempt):
        if attempt < 3:
            raise ModelOverloaded("busy")
        return attempt

    value, _ = run(turnstile, flaky, retry=RetryPolicy(3, first_wait_s=0.001))

    assert value == 3
    assert turnstile.ended == 3


def test_a_wait_without_hope_is_the_calls_error():
    with pytest.raises(ModelRateLimited):
        run(Scripted(waits=[ModelRateLimited("full", is_retryable=False)]))


def test_cancelling_ends_the_waiting():
    async def cancel(scheduler, root):
        scheduler.cancel()

    turnstile = Scripted(waits=[60, 60])

    with pytest.raises(RunCancelled):
        run(turnstile, also=cancel)
    assert turnstile.ended == 1
