"""A pool of workers that several runs share, with real threads."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from orchestra.errors import InputInvalid, NodeTimeout, RunCancelled
from orchestra.runtime.events import EventStream
from orchestra.runtime.node import Node
from orchestra.runtime.scheduler import Scheduler
from orchestra.runtime.workers import WorkerPool


def run_on(pool, function, number=1, *, max_workers=50, timeout_s=None):
    """A run of `number` calls, all ready at once; the errors of those that failed."""
    scheduler, root = Scheduler(EventStream(), max_workers=max_workers, pool=pool), Node("run", "run")

    async def leaf(node):
        return await scheduler.call(lambda deadline, attempt: function(), node=node, timeout_s=timeout_s)

    async def story():
        nodes = [root.child(str(at), "subtask") for at in range(number)]
        jobs = [scheduler.spawn(leaf(node), node) for node in nodes]
        await scheduler.join(jobs)
        return [job.error for job in jobs if job.error]

    return scheduler.run(story(), root)


def test_no_more_calls_than_workers_are_under_way_whoever_makes_them():
    now, most, lock = [], [], threading.Lock()

    def count():
        with lock:
            now.append(1)
            most.append(len(now))
        threading.Event().wait(0.001)
        with lock:
            now.pop()

    with WorkerPool(3) as pool, ThreadPoolExecutor(6) as threads:
        runs = [threads.submit(run_on, pool, count, 10) for _ in range(6)]

        assert [run.result(30) for run in runs] == [[]] * 6
    assert max(most) <= 3
    assert len(most) == 60


def test_runs_take_turns_so_that_a_large_one_does_not_hold_up_a_small_one():
    order, large_is_queued, go = [], threading.Event(), threading.Event()

    def large():
        large_is_queued.set()
        go.wait(10)
        order.append("large")

    with WorkerPool(1) as pool, ThreadPoolExecutor(2) as threads:
        first = threads.submit(run_on, pool, large, 20)
        large_is_queued.wait(10)
        second = threads.submit(run_on, pool, lambda: order.append("small"), 3)
        while sum(len(lane.queued) for lane in pool._waiting) < 22:
            threading.Event().wait(0.001)
        go.set()
        first.result(30), second.result(30)

    assert order[:7] == ["large", "large", "small", "large", "small", "large", "small"]


def test_the_calls_of_one_run_start_in_their_order():
    order, numbers = [], iter(range(50))
    with WorkerPool(1) as pool:
        run_on(pool, lambda: order.append(next(numbers)), 50)

    assert order == list(range(50))


def test_nested_nodes_of_many_runs_do_not_block_each_other():
    def run_nested(pool):
        scheduler, root = Scheduler(EventStream(), pool=pool), Node("run", "run")

        async def nest(node, depth):
            if depth == 0:
                return await scheduler.call(lambda deadline, attempt: 1, node=node)
            own = await scheduler.call(lambda deadline, attempt: 1, node=node)
            children = [node.child(str(number), "subtask") for number in range(2)]
            jobs = [scheduler.spawn(nest(child, depth - 1), child) for child in children]
            await scheduler.join(jobs)
            return own + sum(job.value for job in jobs)

        return scheduler.run(nest(root, 3), root)

    with WorkerPool(2) as pool, ThreadPoolExecutor(16) as threads:
        assert list(threads.map(run_nested, [pool] * 16)) == [15] * 16


def test_a_worker_that_hangs_is_replaced_for_everyone():
    release, ran = threading.Event(), []
    with WorkerPool(1) as pool:
        errors = run_on(pool, lambda: release.wait(20), timeout_s=0.01)
        run_on(pool, lambda: ran.append(1))
        release.set()

    assert [type(error) for error in errors] == [NodeTimeout]
    assert ran == [1]


def test_a_run_that_ends_leaves_no_call_of_its_in_the_way():
    release, order = threading.Event(), []
    scheduler, root = Scheduler(EventStream(), pool=(pool := WorkerPool(1))), Node("run", "run")

    def hang(deadline, attempt):
        release.wait(20)
        order.append("hung")

    async def leaf(node):
        return await scheduler.call(hang, node=node)

    async def story():
        for name in "abc":
            node = root.child(name, "subtask")
            scheduler.spawn(leaf(node), node)

    scheduler.run(story(), root)
    run_on(pool, lambda: order.append("other"))
    release.set()
    pool.close()

    assert order[0] == "other"


def test_cancelling_one_run_leaves_the_others_on_the_pool():
    started, release = threading.Event(), threading.Event()
    with WorkerPool(1) as pool:
        scheduler, root = Scheduler(EventStream(), pool=pool), Node("run", "run")

        async def leaf(node):
            return await scheduler.call(lambda deadline, attempt: started.set() or release.wait(20), node=node)

        async def story():
            nodes = [root.child(name, "subtask") for name in "ab"]
            jobs = [scheduler.spawn(leaf(node), node) for node in nodes]
            threading.Thread(target=lambda: (started.wait(10), scheduler.cancel())).start()
            await scheduler.join(jobs)
            return [job.error for job in jobs]

        errors = scheduler.run(story(), root)
        after = run_on(pool, lambda: None)
        release.set()

    assert [type(error) for error in errors] == [RunCancelled, RunCancelled]
    assert after == []


def test_a_closed_pool_takes_no_more_work():
    pool = WorkerPool(2)
    run_on(pool, lambda: None)
    pool.close()
    pool.close()

    assert [type(error) for error in run_on(pool, lambda: None)] == [RunCancelled]


def test_closing_waits_for_what_is_queued():
    done, go = [], threading.Event()
    pool = WorkerPool(1)
    with ThreadPoolExecutor(2) as threads:
        run = threads.submit(run_on, pool, lambda: go.wait(10) and done.append(1), 5)
        while sum(len(lane.queued) for lane in pool._waiting) < 4:
            threading.Event().wait(0.001)
        closing = threads.submit(pool.close)
        go.set()
        closing.result(30)

        assert run.result(30) == []
    assert done == [1] * 5


@pytest.mark.parametrize("size", [0, -1, 1.5, True, "8"])
def test_a_size_that_makes_no_sense_is_refused(size):
    with pytest.raises(InputInvalid):
        WorkerPool(size)
