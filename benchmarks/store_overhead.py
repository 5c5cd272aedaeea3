"""What a store costs a run: plan + 5 subtasks + synthesis kept in SQLite, beside the same run that keeps nothing.

    python benchmarks/store_overhead.py [--runs 50] [--rounds 7] [--store postgresql://...]

The calls go to a loopback server that answers at once. The ways take turns run by run in one process, and what counts
is the median of the differences: absolute times are noisy.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from loopback import serving
from run_cost import TEXT

from orchestra import Document, orchestrate
from orchestra.store import Store

LIMIT_MS = 10.0


def once(document: Document, store: Store | str | bool) -> tuple[float, float]:
    """Milliseconds of wall-clock and of CPU that one run takes."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = orchestrate(document, "What happened?", model="openai:m", strategy="full", store=store)
    taken = (time.perf_counter() - wall) * 1000, (time.process_time() - cpu) * 1000
    assert (result.status, result.usage.calls) == ("completed", 7), result
    assert not result.warnings, result.warnings
    return taken


def medians_of(document: Document, ways: Mapping[str, Store | str | bool], runs: int) -> dict[str, tuple[float, float]]:
    """What `once` takes by each way, in the median of so many runs; the ways take turns."""
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    for _ in range(runs):
        for name, way in ways.items():
            taken[name].append(once(document, way))
    return {
        name: (statistics.median(wall for wall, _ in rows), statistics.median(cpu for _, cpu in rows))
        for name, rows in taken.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=50, help="runs of each way in each round")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--store", help="a URL to use in place of a new file of SQLite")
    arguments = parser.parse_args()
    document = Document.from_text(TEXT, name="sections.md")
    differences: dict[str, list[float]] = {}
    with serving() as base_url, tempfile.TemporaryDirectory() as folder:
        os.environ.update(OPENAI_BASE_URL=base_url, OPENAI_API_KEY="none")
        url = arguments.store or f"sqlite:///{folder}/runs.db"
        with Store.open(url) as store:
            ways = {"no store": False, "open Store": store, "URL": url}
            medians_of(document, ways, 5)
            for number in range(1, arguments.rounds + 1):
                medians = medians_of(document, ways, arguments.runs)
                bare, bare_cpu = medians.pop("no store")
                said = [f"no store {bare:6.2f} ms ({bare_cpu:5.2f} CPU)"]
                for name, (wall, cpu) in medians.items():
                    more = f"{name} +{wall - bare:5.2f} ms (+{cpu - bare_cpu:5.2f} CPU)"
                    said.append(f"{more}, ratio {wall / bare:4.2f}")
                    differences.setdefault(name, []).append(wall - bare)
                print(f"round {number}: " + "; ".join(said))
    for name, values in differences.items():
        print(f"{name}: {statistics.median(values):.2f} ms more a run, in the median (limit {LIMIT_MS:.0f})")


if __name__ == "__main__":
    main()
