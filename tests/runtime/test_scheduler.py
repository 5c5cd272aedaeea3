"""The scheduler, with real threads."""

from __future__ import annotations

import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from orchestra.errors import (
    DependencyFailed,
    ModelAuth,
    ModelOverloaded,
    ModelRateLimited,
    NodeTimeout,
    RunCancelled,
    UnexpectedFailure,
)
from orchestra.runtime.events import EventStream, NodeUpdated, RetryScheduled
from orchestra.runtime.node import Node, Status
from orchestra.runtime.retry import RetryPolicy
from orchestra.runtime.scheduler import Milestone, Scheduler
from orchestra.runtime.workers import MOST_IDLE_POOLS

QUICK_RETRY = RetryPolicy(max_attempts=3, first_wait_s=0.001, longest_wait_s=0.002)


@pytest.fixture
def events():
    return []


@pytest.fixture
def scheduler(events):
    return Scheduler(EventStream(events.append), max_workers=2)


@pytest.fixture
def root():
    return Node("run", "run")


def statuses(events, node_id):
    return [event.status for event in events if isinstance(event, NodeUpdated) and event.node_id == node_id]


def test_calls_run_at_the_same_time_up_to_the_number_of_workers(scheduler, root):
    both_are_here = threading.Barrier(2, timeout=5)

    async def leaf(node):
        return await scheduler.call(lambda deadline, attempt: both_are_here.wait() >= 0, node=node)

    async def story():
        nodes = [root.child(name, "subtask") for name in "ab"]
        jobs = [scheduler.spawn(leaf(node), node) for node in nodes]
        await scheduler.join(jobs)
        return [job.value for job in jobs]

    assert scheduler.run(story(), root) == [True, True]


def test_a_node_goes_through_routing_executing_completed(scheduler, root, events):
    node = root.child("leaf", "subtask")

    async def leaf():
        return await scheduler.call(lambda deadline, attempt: 7, node=node)

    async def story():
        job = scheduler.spawn(leaf(), node)
        await scheduler.join([job])
        return job.value

    assert scheduler.run(story(), root) == 7
    assert statuses(events, "run/leaf") == ["routing", "executing", "completed"]
    assert node.duration_ms >= 0


def test_nodes_that_wait_for_children_hold_no_worker():
    scheduler = Scheduler(EventStream(), max_workers=1)
    root = Node("run", "run")

    async def nest(node, depth):
        if depth == 0:
            return await scheduler.call(lambda deadline, attempt: 1, node=node)
        children = [node.child(str(number), "subtask") for number in range(2)]
        jobs = [scheduler.spawn(nest(child, depth - 1), child) for child in children]
        await scheduler.join(jobs)
        return sum(job.value for job in jobs)

    assert scheduler.run(nest(root, 5), root) == 32


def test_a_dependent_starts_when_its_own_dependencies_are_done_not_the_whole_wave(scheduler, root):
    release = threading.Event()
    order = []

    async def slow(node):
        return await scheduler.call(lambda deadline, attempt: release.wait(5), node=node)

    async def record(node, name):
        await scheduler.call(lambda deadline, attempt: order.append(name), node=node)
        if name == "dependent":
            release.set()

    async def story():
        nodes = {name: root.child(name, "subtask") for name in ("slow", "first", "dependent")}
        blocked = scheduler.spawn(slow(nodes["slow"]), nodes["slow"])
        first = scheduler.spawn(record(nodes["first"], "first"), nodes["first"])
        dependent = scheduler.spawn(record(nodes["dependent"], "dependent"), nodes["dependent"], after=[first])
        await scheduler.join([blocked, first, dependent])
        return blocked.value

    assert scheduler.run(story(), root) is True
    assert order == ["first", "dependent"]


def test_what_depends_on_a_failure_is_not_started(scheduler, root):
    sent = []

    async def failing(node):
        raise ModelAuth("no key")

    async def dependent(node):
        sent.append(node.id)

    async def story():
        one, two, three = (root.child(name, "subtask") for name in ("one", "two", "three"))
        first = scheduler.spawn(failing(one), one)
        second = scheduler.spawn(dependent(two), two, after=[first])
        third = scheduler.spawn(dependent(three), three, after=[second])
        await scheduler.join([first, second, third])
        late = scheduler.spawn(dependent(four := root.child("four", "subtask")), four, after=[first])
        await scheduler.join([late])
        return [first.error, second.error, third.error, late.error]

    errors = scheduler.run(story(), root)

    assert [type(error) for error in errors] == [ModelAuth, DependencyFailed, DependencyFailed, DependencyFailed]
    assert "MODEL_AUTH" in errors[1].cause
    assert sent == []


def test_a_retryable_error_is_tried_again_and_said(scheduler, root, events):
    attempts = []

    def flaky(deadline, attempt):
        attempts.append(attempt)
        if attempt < 3:
            raise ModelOverloaded("busy")
        return "done"

    node = root.child("leaf", "subtask")

    async def story():
        return await scheduler.call(flaky, node=node, retry=QUICK_RETRY)

    assert scheduler.run(story(), root) == "done"
    assert attempts == [1, 2, 3]
    assert [event.attempt for event in events if isinstance(event, RetryScheduled)] == [2, 3]


def test_attempts_are_capped_and_the_last_error_is_raised(scheduler, root):
    attempts = []

    def failing(deadline, attempt):
        attempts.append(attempt)
        raise ModelOverloaded(f"attempt {attempt}")

    async def story():
        return await scheduler.call(failing, node=root.child("leaf", "subtask"), retry=QUICK_RETRY)

    with pytest.raises(ModelOverloaded, match="attempt 3"):
        scheduler.run(story(), root)
    assert attempts == [1, 2, 3]


def test_a_waiting_retry_holds_no_worker(root):
    scheduler = Scheduler(EventStream(), max_workers=1)
    other_ran = threading.Event()

    def flaky(deadline, attempt):
        if attempt == 1:
            raise ModelRateLimited("slow down", retry_after_s=0.02)
        return other_ran.is_set()

    async def leaf(node, function):
        return await scheduler.call(function, node=node, retry=QUICK_RETRY)

    async def story():
        one, two = root.child("one", "subtask"), root.child("two", "subtask")
        first = scheduler.spawn(leaf(one, flaky), one)
        second = scheduler.spawn(leaf(two, lambda deadline, attempt: other_ran.set()), two)
        await scheduler.join([first, second])
        return first.value

    assert scheduler.run(story(), root) is True


def test_a_call_that_ignores_its_deadline_is_left_behind(scheduler, root):
    release = threading.Event()
    node = root.child("leaf", "subtask")

    async def leaf():
        return await scheduler.call(lambda deadline, attempt: release.wait(10), node=node, timeout_s=0.01)

    async def story():
        job = scheduler.spawn(leaf(), node)
        await scheduler.join([job])
        return job.error

    error = scheduler.run(story(), root)
    release.set()

    assert isinstance(error, NodeTimeout)
    assert node.status is Status.FAILED


def test_time_in_the_queue_does_not_count_towards_the_timeout():
    scheduler = Scheduler(EventStream(), max_workers=1)
    root = Node("run", "run")
    remaining = []

    async def leaf(node, function):
        return await scheduler.call(function, node=node, timeout_s=5)

    def first(deadline, attempt):
        time.sleep(0.05)

    async def story():
        one, two = root.child("one", "subtask"), root.child("two", "subtask")
        jobs = [
            scheduler.spawn(leaf(one, first), one),
            scheduler.spawn(leaf(two, lambda deadline, attempt: remaining.append(deadline.remaining_s())), two),
        ]
        await scheduler.join(jobs)

    scheduler.run(story(), root)

    assert remaining[0] > 4.96


def test_a_defect_in_one_call_does_not_lose_the_other(scheduler, root):
    async def leaf(node, function):
        return await scheduler.call(function, node=node)

    async def story():
        one, two = root.child("one", "subtask"), root.child("two", "subtask")
        broken = scheduler.spawn(leaf(one, lambda deadline, attempt: 1 / 0), one)
        fine = scheduler.spawn(leaf(two, lambda deadline, attempt: "fine"), two)
        await scheduler.join([broken, fine])
        return broken.error, fine.value

    error, value = scheduler.run(story(), root)

    assert isinstance(error, UnexpectedFailure)
    assert isinstance(error.__cause__, ZeroDivisionError)
    assert value == "fine"


def test_cancelling_lets_go_of_what_runs_and_starts_nothing_more(scheduler, root):
    woken, started = threading.Event(), threading.Event()

    def hang(deadline, attempt):
        deadline.on_cancel(woken.set)
        started.set()
        woken.wait(10)

    async def leaf(node, function):
        return await scheduler.call(function, node=node)

    async def story():
        nodes = [root.child(name, "subtask") for name in ("done", "hung", "after")]
        done = scheduler.spawn(leaf(nodes[0], lambda deadline, attempt: "kept"), nodes[0])
        await scheduler.join([done])
        hung = scheduler.spawn(leaf(nodes[1], hang), nodes[1])
        after = scheduler.spawn(leaf(nodes[2], lambda deadline, attempt: "never"), nodes[2], after=[hung])
        threading.Thread(target=lambda: (started.wait(5), scheduler.cancel())).start()
        await scheduler.join([hung, after])
        return done.value, hung.error, after.error

    value, hung_error, after_error = scheduler.run(story(), root)

    assert value == "kept"
    assert isinstance(hung_error, RunCancelled)
    assert isinstance(after_error, RunCancelled)
    assert woken.wait(5)


def test_ctrl_c_cancels_and_gives_the_handler_back(scheduler, root):
    previous = signal.getsignal(signal.SIGINT)
    started = threading.Event()

    def hang(deadline, attempt):
        woken = threading.Event()
        deadline.on_cancel(woken.set)
        started.set()
        woken.wait(10)

    node = root.child("leaf", "subtask")

    async def leaf():
        return await scheduler.call(hang, node=node)

    async def story():
        job = scheduler.spawn(leaf(), node)
        threading.Thread(target=lambda: (started.wait(5), os.kill(os.getpid(), signal.SIGINT))).start()
        await scheduler.join([job])
        return job.error

    error = scheduler.run(story(), root)

    assert isinstance(error, RunCancelled)
    assert signal.getsignal(signal.SIGINT) is previous


def worker_of_a_run(max_workers):
    scheduler, root = Scheduler(EventStream(), max_workers=max_workers), Node("run", "run")

    async def story():
        return await scheduler.call(lambda deadline, attempt: threading.current_thread(), node=root)

    return scheduler.run(story(), root)


def test_the_workers_of_one_run_serve_the_next():
    assert worker_of_a_run(7) is worker_of_a_run(7)


def test_the_workers_of_earlier_runs_make_room_for_those_of_the_last():
    for size in range(20, 20 + MOST_IDLE_POOLS):
        worker_of_a_run(size)

    assert worker_of_a_run(7) is worker_of_a_run(7)


def test_runs_at_the_same_time_do_not_share_workers():
    both_are_here = threading.Barrier(2, timeout=5)

    def one_run(_):
        scheduler, root = Scheduler(EventStream(), max_workers=1), Node("run", "run")

        async def story():
            return await scheduler.call(lambda deadline, attempt: both_are_here.wait() >= 0, node=root)

        return scheduler.run(story(), root)

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(one_run, range(2))) == [True, True]


def test_no_more_calls_are_under_way_than_there_are_workers_also_when_one_was_left_behind():
    release, two_are_here, now, most = threading.Event(), threading.Barrier(2, timeout=5), [], []
    scheduler, root = Scheduler(EventStream(), max_workers=2), Node("run", "run")

    def count(deadline, attempt):
        now.append(1)
        most.append(len(now))
        two_are_here.wait()
        now.pop()

    async def leaf(node, function, timeout_s):
        return await scheduler.call(function, node=node, timeout_s=timeout_s)

    async def story():
        nodes = [root.child(str(number), "subtask") for number in range(9)]
        stuck = scheduler.spawn(leaf(nodes[0], lambda deadline, attempt: release.wait(10), 0.01), nodes[0])
        others = [scheduler.spawn(leaf(node, count, 5), node) for node in nodes[1:]]
        await scheduler.join([stuck, *others])
        return [job.error for job in others]

    errors = scheduler.run(story(), root)
    release.set()

    assert errors == [None] * 8
    assert max(most) == 2


def test_a_worker_that_is_still_busy_is_not_handed_on():
    release = threading.Event()

    def run_with(function):
        scheduler, root = Scheduler(EventStream(), max_workers=3), Node("run", "run")

        async def story():
            return await scheduler.call(function, node=root, timeout_s=0.01)

        return scheduler.run(story(), root)

    with pytest.raises(NodeTimeout):
        run_with(lambda deadline, attempt: release.wait(10))
    stuck = [thread for thread in threading.enumerate() if thread.name.startswith("orchestra")]

    assert run_with(lambda deadline, attempt: threading.current_thread()) not in stuck
    release.set()


def test_what_is_queued_behind_a_call_that_never_ends_still_runs():
    release = threading.Event()
    scheduler, root = Scheduler(EventStream(), max_workers=1), Node("run", "run")

    async def leaf(node, function):
        return await scheduler.call(function, node=node, timeout_s=0.01)

    async def story():
        stuck, queued = root.child("stuck", "subtask"), root.child("queued", "subtask")
        jobs = [
            scheduler.spawn(leaf(stuck, lambda deadline, attempt: release.wait(10)), stuck),
            scheduler.spawn(leaf(queued, lambda deadline, attempt: release.is_set()), queued),
        ]
        await scheduler.join(jobs)
        return jobs[1].value

    was_released = scheduler.run(story(), root)
    release.set()

    assert was_released is False


def test_others_go_on_at_a_milestone_before_the_job_that_reaches_it_has_ended(scheduler, root):
    milestone, order = Milestone(), []

    async def leader(node):
        await scheduler.call(lambda deadline, attempt: None, node=node)
        order.append("reached")
        milestone.reach()
        await scheduler.join([follower_job])
        order.append("ended")

    async def follower():
        await scheduler.join([milestone])
        await scheduler.join([milestone])
        order.append("followed")

    async def story():
        nonlocal follower_job
        follower_job = scheduler.spawn(follower(), root.child("b", "subtask"))
        node = root.child("a", "subtask")
        await scheduler.join([scheduler.spawn(leader(node), node)])

    follower_job = None
    scheduler.run(story(), root)

    assert order == ["reached", "followed", "ended"]
