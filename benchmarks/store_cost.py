"""What a store costs a run of 7 calls: plan + 5 subtasks + synthesis, beside the same run without a store.

    python benchmarks/store_cost.py [--runs 30] [--rounds 5] [--store URL]

Both talk to the same loopback server that answers at once, and take turns, run by run, in one process; what counts is
the median of the differences. By default the store is a new file of SQLite.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from loopback import serving
from run_cost import TEXT


def asked(base_url: str, store: str | bool) -> Callable[[], object]:
    """A run of seven calls, kept in `store`; False for none."""
    from orchestra import Document, orchestrate

    os.environ.update(OPENAI_BASE_URL=base_url, OPENAI_API_KEY="none")
    document = Document.from_text(TEXT, name="sections.md")

    def once() -> str:
        result = orchestrate(document, "What happened?", model="openai:m", strategy="full", store=store)
        assert (result.status, result.usage.calls, result.warnings) == ("completed", 7, ()), result
        return result.answer

    return once


def times_ms(once: Callable[[], object]) -> tuple[float, float]:
    """(CPU, wall) of one run."""
    cpu, wall = time.process_time(), time.perf_counter()
    once()
    return (time.process_time() - cpu) * 1000, (time.perf_counter() - wall) * 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=30, help="runs in each round")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--store", help="instead of a new file")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, serving() as base_url:
        without = asked(base_url, False)
        kept = asked(base_url, arguments.store or str(Path(folder) / "runs.db"))
        for once in (without, kept):
            for _ in range(5):
                once()
        medians = []
        for number in range(1, arguments.rounds + 1):
            pairs = [(times_ms(without), times_ms(kept)) for _ in range(arguments.runs)]
            medians.append([statistics.median(new[kind] - old[kind] for old, new in pairs) for kind in (0, 1)])
            bare = statistics.median(old[0] for old, _ in pairs)
            print(
                f"round {number}: without {bare:5.2f} ms CPU a run; the store adds {medians[-1][0]:5.2f} ms CPU,",
                end="",
            )
            print(f" {medians[-1][1]:5.2f} ms in all")
        cpu, wall = (statistics.median(column) for column in zip(*medians, strict=True))
        print(f"median: the store adds {cpu:.2f} ms CPU, {wall:.2f} ms in all")


if __name__ == "__main__":
    main()
