"""Many who watch one run: what the panel's server holds, and whether each of them gets each event once.

    python benchmarks/panel_watchers.py [--watchers 50] [--rounds 4] [--events 3000] [--seconds 10]

A panel serves in a process of its own, over a store in which another process keeps events, evenly over each round. As
many HTTP clients watch from a third; between rounds each of them loses its connection, some for a while, and goes on by
the id of its last message. Printed: the server's memory before anybody watches, in the first round, and after the last;
events missed and repeated; how long an event took from the store to a watcher. The exit code is 1 where memory grew by
more than a tenth after the first round, or an event was missed or repeated.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

RUN = "watched"
FLAT = 1.1
_SERVER = """
import sys
from orchestra.panel.desk import open_desk
from orchestra.panel.security import Gate
from orchestra.panel.server import PanelServer
from orchestra.store import Store

with Store.open(sys.argv[1]) as store:
    desk = open_desk(store)
    server = PanelServer(desk)
    gate = Gate(desk.secret, "127.0.0.1", server.port)
    print(server.url, gate.cookie_name, gate.cookie, flush=True)
    server.run()
"""
_WRITER = """
import sys, time
from orchestra.runtime.events import AnswerDelta, NodeUpdated
from orchestra.store import Store

path, run_id, count, seconds = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
permissions = {"tools": ["read_file"] * 20, "read": ["@skill"], "write": [], "hosts": [], "models": ["m"]}
with Store.open(path) as store:
    first, flushes = store.last_sequence(run_id) + 1, max(1, round(seconds * 4))
    began = time.monotonic()
    for flush in range(flushes):
        numbers = range(first + count * flush // flushes, first + count * (flush + 1) // flushes)
        store.append_events(run_id, [
            {
                **(
                    AnswerDelta(sequence=number, node_id="run/synthesis", text="some words of an answer")
                    if number % 5 == 0
                    else NodeUpdated(sequence=number, node_id=f"run/{number}", parent_node_id="run", kind="subtask",
                                     depth=1, status="executing", permission_snapshot=permissions)
                ).to_dict(),
                "at": time.time(),
            }
            for number in numbers
        ])
        time.sleep(max(0.0, began + (flush + 1) * seconds / flushes - time.monotonic()))
"""


@dataclass
class Watcher:
    """One client: the sequences that it got, in order, and how old each was, in seconds."""

    client: httpx.AsyncClient
    got: list[int] = field(default_factory=list[int])
    ages_s: list[float] = field(default_factory=list[float])

    async def watch(self, until: int) -> None:
        """Until the event `until` has come."""
        headers = {"Last-Event-ID": f"{RUN}:{self.got[-1]}"} if self.got else {}
        async with self.client.stream("GET", "/live", params={"run": RUN}, headers=headers) as answer:
            answer.raise_for_status()
            async for line in answer.aiter_lines():
                if not line.startswith('data: {"seq"'):
                    continue
                told: dict[str, Any] = json.loads(line[6:])
                self.got.append(told["seq"])
                self.ages_s.append(time.time() - told["at"])
                if told["seq"] >= until:
                    return


def resident_mb(process: subprocess.Popen[str]) -> float:
    """What a process holds in memory (Linux)."""
    pages = int(Path(f"/proc/{process.pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


async def one_round(
    watchers: Sequence[Watcher], path: Path, number: int, options: argparse.Namespace, server: subprocess.Popen[str]
) -> float:
    """Everybody watches while events are written; of every third the connection is late. The server's memory, in MB."""
    until = options.events * (number + 1)
    arguments = [sys.executable, "-c", _WRITER, str(path), RUN, str(options.events), str(options.seconds)]
    writer = await asyncio.create_subprocess_exec(*arguments)

    async def late(watcher: Watcher, by_s: float) -> None:
        await asyncio.sleep(by_s)
        await watcher.watch(until)

    delays = [options.seconds / 2 if each % 3 == 2 else 0.0 for each in range(len(watchers))]
    watching = [asyncio.create_task(late(*each)) for each in zip(watchers, delays, strict=True)]
    held = 0.0
    while not all(task.done() for task in watching):
        held = max(held, resident_mb(server))
        await asyncio.sleep(0.25)
    await asyncio.gather(*watching)
    await writer.wait()
    return held


async def measured(options: argparse.Namespace, path: Path, server: subprocess.Popen[str]) -> bool:
    assert server.stdout is not None
    url, cookie_name, cookie = server.stdout.readline().split()
    limits = httpx.Limits(max_connections=options.watchers, max_keepalive_connections=0)
    cookies = {cookie_name: cookie}
    async with httpx.AsyncClient(base_url=url, cookies=cookies, limits=limits, timeout=60) as client:
        watchers = [Watcher(client) for _ in range(options.watchers)]
        at_rest = resident_mb(server)
        held = [await one_round(watchers, path, number, options, server) for number in range(options.rounds)]
    expected = list(range(1, options.events * options.rounds + 1))
    missed = sum(len(set(expected) - set(watcher.got)) for watcher in watchers)
    repeated = sum(len(watcher.got) - len(set(watcher.got)) for watcher in watchers)
    unordered = sum(watcher.got != sorted(watcher.got) for watcher in watchers)
    prompt = [age for each, watcher in enumerate(watchers) if each % 3 != 2 for age in watcher.ages_s]
    ratio = max(held[1:], default=held[0]) / held[0]
    print(f"watchers {options.watchers}, rounds {options.rounds}, events of a round {options.events}")
    print(
        f"server's memory: {at_rest:.1f} MB before anybody watches; by round "
        + ", ".join(f"{each:.1f}" for each in held)
    )
    print(f"the largest round over the first: {ratio:.3f} (flat: at most {FLAT})")
    print(f"messages received {sum(len(watcher.got) for watcher in watchers):,}")
    print(f"events missed {missed}, repeated {repeated}, watchers with a wrong order {unordered}")
    print(
        f"from the store to a watcher: median {statistics.median(prompt):.2f} s, 99 of 100 within "
        f"{statistics.quantiles(prompt, n=100)[98]:.2f} s"
    )
    return ratio <= FLAT and not (missed or repeated or unordered)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--watchers", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--events", type=int, default=3000)
    parser.add_argument("--seconds", type=float, default=10.0)
    options = parser.parse_args()
    from orchestra.store import RunRecord, Store

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "runs.db"
        with Store.open(path) as store:
            store.begin_run(RunRecord(RUN, "Watch this.", started_at=time.time()))
        arguments = [sys.executable, "-c", _SERVER, str(path)]
        with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as server:
            try:
                is_good = asyncio.run(measured(options, path, server))
            finally:
                server.terminate()
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
