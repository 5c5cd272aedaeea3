"""Many runs at once on one pool of workers: none waits for ever, and nothing of them stays behind."""

from __future__ import annotations

import gc
import threading
from concurrent.futures import ThreadPoolExecutor

from models_for_tests import ScriptedModel, plan_of

from orchestra import WorkerPool, orchestrate
from orchestra.run import Run
from orchestra.runtime.effects import Job
from orchestra.runtime.events import EventStream
from orchestra.runtime.node import Node
from orchestra.runtime.scheduler import Scheduler
from orchestra.runtime.workers import Turn

AT_ONCE = 64
SIX = range(1, 7)
TEXT = "# Report\n\n" + "\n\n".join(f"## Part {at}\n\nThe value is {at}." for at in SIX)
PLAN = plan_of(*({"context_pointers": {"sections": [f"Part {at}"], "line_ranges": []}} for at in SIX))


def one_run(pool):
    model = ScriptedModel(subtask="It is so [L5].", synthesis="All of it [L5].")
    return orchestrate(TEXT, "What are the values?", model=model, plan=PLAN, pool=pool, max_followups=0).status


def one_nested_run(pool):
    """Six nodes that call, spawn nodes that call, and so on, three levels deep; how many calls were made."""
    scheduler, root = Scheduler(EventStream(), pool=pool), Node("run", "run")

    async def work(node, levels):
        own = await scheduler.call(lambda deadline, attempt: 1, node=node)
        names = "ab" if levels else ""
        children = [node.child(name, "subtask", skill=f"{node.skill}{name}") for name in names]
        jobs = [scheduler.spawn(work(child, levels - 1), child) for child in children]
        await scheduler.join(jobs)
        last = await scheduler.call(lambda deadline, attempt: 1, node=node)
        return own + last + sum(job.value for job in jobs)

    async def story():
        nodes = [root.child(str(at), "subtask", skill=str(at)) for at in SIX]
        jobs = [scheduler.spawn(work(node, 2), node) for node in nodes]
        await scheduler.join(jobs)
        return sum(job.value for job in jobs)

    return scheduler.run(story(), root)


def alive(*kinds):
    gc.collect()
    return sum(isinstance(each, kinds) for each in gc.get_objects())


def test_many_runs_of_nested_nodes_share_a_few_workers_without_a_deadlock():
    with WorkerPool(8) as pool, ThreadPoolExecutor(AT_ONCE) as threads:
        runs = [threads.submit(one_nested_run, pool) for _ in range(AT_ONCE)]

        assert [run.result(120) for run in runs] == [6 * 7 * 2] * AT_ONCE


def test_many_runs_of_six_subtasks_share_a_few_workers():
    with WorkerPool(8) as pool, ThreadPoolExecutor(AT_ONCE) as threads:
        runs = [threads.submit(one_run, pool) for _ in range(AT_ONCE)]

        assert [run.result(120) for run in runs] == ["completed"] * AT_ONCE


def test_nothing_of_a_run_stays_behind():
    kinds = (Run, Scheduler, Node, Job, Turn)
    before, threads_before = alive(*kinds), threading.active_count()
    with WorkerPool(4) as pool:
        for _ in range(10):
            one_run(pool), one_nested_run(pool)

    assert alive(*kinds) <= before
    assert threading.active_count() <= threads_before
