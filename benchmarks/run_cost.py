"""What a run costs the client: CPU of plan + 5 subtasks + synthesis, beside the same seven calls made plainly.

    python benchmarks/run_cost.py [--runs 100] [--rounds 5]

Both talk to the same loopback server that answers at once. They take turns in one process, and what counts is the
ratio, round by round: absolute times are noisy. Also printed: import time beside pydantic's, in fresh processes.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from loopback import serving

RULES = "You extract facts. Cite lines."
SECTIONS = [
    f"# Section {number}\n\n" + "\n".join(f"Line {line}: revenue was {number * line} dollars." for line in range(220))
    for number in range(1, 6)
]
TEXT = "\n\n".join(SECTIONS)


def plain(base_url: str) -> Callable[[], object]:
    """The seven calls with a thread pool and httpx, nothing else; no streaming."""
    import httpx

    client = httpx.Client(base_url=base_url)
    pool = ThreadPoolExecutor(5)

    def call(text: str) -> str:
        messages = [{"role": "system", "content": RULES}, {"role": "user", "content": text}]
        body = {"model": "m", "messages": messages, "max_completion_tokens": 500}
        return client.post("/chat/completions", json=body).json()["choices"][0]["message"]["content"]

    def once() -> str:
        plan = json.loads(call(f"{TEXT}\n\nAnswer as a plan."))
        prompts = [section + subtask["task"] for section, subtask in zip(SECTIONS, plan["subtasks"], strict=True)]
        return call("\n".join(pool.map(call, prompts)))

    return once


def orchestrated(base_url: str) -> Callable[[], object]:
    """The same through `orchestrate`, from a prepared document, streaming included."""
    from orchestra import Document, orchestrate

    os.environ.update(OPENAI_BASE_URL=base_url, OPENAI_API_KEY="none")
    document = Document.from_text(TEXT, name="sections.md")

    def once() -> str:
        result = orchestrate(document, "What happened?", model="openai:m", strategy="full")
        assert (result.status, result.usage.calls) == ("completed", 7), result
        return result.answer

    return once


def cpu_ms(once: Callable[[], object], runs: int) -> float:
    start = time.process_time()
    for _ in range(runs):
        once()
    return (time.process_time() - start) / runs * 1000


def import_ms(module: str) -> float:
    code = f"import time; start = time.perf_counter(); import {module}; print(time.perf_counter() - start)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return float(done.stdout) * 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=100, help="runs in each round")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    with serving() as base_url:
        ways = [plain(base_url), orchestrated(base_url)]
        for way in ways:
            cpu_ms(way, 10)
        rounds = [[cpu_ms(way, arguments.runs) for way in ways] for _ in range(arguments.rounds)]
    for number, (bare, ours) in enumerate(rounds, start=1):
        print(f"round {number}: plain {bare:5.2f} ms CPU a run, orchestrate {ours:5.2f} ms, ratio {ours / bare:4.2f}")
    print(f"median ratio: {statistics.median(ours / bare for bare, ours in rounds):.2f}")
    imports = [[import_ms(module) for module in ("pydantic", "orchestra")] for _ in range(7)]
    pydantic, orchestra = (statistics.median(column) for column in zip(*imports, strict=True))
    print(f"import pydantic {pydantic:.0f} ms, orchestra {orchestra:.0f} ms, ratio {orchestra / pydantic:.2f}")


if __name__ == "__main__":
    main()
