"""Many runs in one process: what stays behind of each, and what sharing a pool of workers costs.

    python benchmarks/many_runs.py [--runs 2000] [--at-once 64]

Each run has 6 subtasks over a model that answers at once, and beside it 6 nodes that call, spawn nodes that call and
spawn nodes that call, three levels deep. All share one pool of 8 workers. Printed: memory after each tenth of the runs
as a ratio to that after the first, threads and open files, and the time of a run on the shared pool over that of one
with workers of its own.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from orchestra import ModelReply, ModelRequest, Usage, WorkerPool, orchestrate
from orchestra.runtime.events import EventStream
from orchestra.runtime.node import Node
from orchestra.runtime.scheduler import Scheduler

SUBTASKS = 6
TEXT = "# Report\n\n" + "\n\n".join(f"## Part {at}\n\nThe value is {at}." for at in range(1, SUBTASKS + 1))
PLAN = {
    "subtasks": [
        {
            "id": str(at),
            "skill": "fact-extraction",
            "task": f"What is the value of part {at}?",
            "context_pointers": {"sections": [f"Part {at}"], "line_ranges": []},
        }
        for at in range(1, SUBTASKS + 1)
    ],
    "reasoning": "one part each",
}


class Answering:
    """A model that needs no time."""

    name = "benchmark:answering"

    def complete(self, request: ModelRequest) -> ModelReply:
        return ModelReply("It is so [L5].", Usage(100, output_tokens=10))


def one_run(pool: WorkerPool | None) -> None:
    result = orchestrate(TEXT, "What are the values?", model=Answering(), plan=PLAN, pool=pool, max_followups=0)
    assert (result.status, len(result.subtasks)) == ("completed", SUBTASKS), result
    nested_run(pool)


def nested_run(pool: WorkerPool | None) -> None:
    scheduler, root = Scheduler(EventStream(), pool=pool), Node("run", "run")

    async def work(node: Node, levels: int) -> int:
        own = await scheduler.call(lambda deadline, attempt: 1, node=node)
        names = [str(number) for number in range(2 if levels else 0)]
        jobs = [scheduler.spawn(work(child, levels - 1), child) for child in map(partial(_below, node), names)]
        await scheduler.join(jobs)
        return own + sum(job.value for job in jobs)

    async def story() -> int:
        nodes = [_below(root, str(number)) for number in range(SUBTASKS)]
        jobs = [scheduler.spawn(work(node, 2), node) for node in nodes]
        await scheduler.join(jobs)
        return sum(job.value for job in jobs)

    assert scheduler.run(story(), root) == SUBTASKS * 7


def _below(parent: Node, name: str) -> Node:
    return parent.child(name, "subtask", skill=f"{parent.skill}{name}s")


def resident_mb() -> float:
    gc.collect()
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise OSError("no VmRSS in /proc/self/status")


def left() -> str:
    return f"{threading.active_count()} threads, {len(os.listdir('/proc/self/fd'))} open files"


def seconds(threads: ThreadPoolExecutor, runs: int, pool: WorkerPool | None) -> float:
    began = time.perf_counter()
    list(threads.map(one_run, [pool] * runs))
    return time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--at-once", type=int, default=64)
    arguments = parser.parse_args()
    share = max(1, arguments.runs // 10)
    with WorkerPool(8) as pool, ThreadPoolExecutor(arguments.at_once) as threads:
        seconds(threads, share, pool)
        first, at_first = resident_mb(), left()
        print(f"after {share} runs: {first:.0f} MB, {at_first}")
        for number in range(2, 11):
            seconds(threads, share, pool)
            print(f"after {share * number} runs: {resident_mb() / first:.3f} of that memory, {left()}")
        ratios = [seconds(threads, share, pool) / seconds(threads, share, None) for _ in range(3)]
        print(f"time on the shared pool over that on workers of each run's own: {sorted(ratios)[1]:.2f}")


if __name__ == "__main__":
    main()
