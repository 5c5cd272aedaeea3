"""Very long texts. Measured in processes of their own, by the script that measures them for people.

`ORCHESTRA_LARGE_TEXT_MB=100` takes a text of the greatest length that is aimed at.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from models_for_tests import ScriptedModel, at, plan_of

from orchestra import Document, orchestrate
from orchestra.planning.costs import request_tokens

HUGE_MB = int(os.environ.get("ORCHESTRA_LARGE_TEXT_MB", "20"))
SCRIPT = Path(__file__).parents[1] / "benchmarks" / "large_text.py"
TASK = "Which request took longest at Kestrel Point?"


def measured(folder: Path, size_mb: int) -> dict[str, dict[str, Any]]:
    """Step by step: peak memory as a multiple of the text, and what the run sent."""
    path = folder / f"{size_mb}.md"
    writing = [sys.executable, str(SCRIPT), "--write", str(path), "--kinds", "markdown", "--sizes", str(size_mb)]
    subprocess.run(writing, check=True)
    done = subprocess.run([sys.executable, str(SCRIPT), "--measure", str(path)], check=True, capture_output=True)
    path.unlink()
    return {row["step"]: row for row in json.loads(done.stdout)}


def log(lines: int) -> str:
    steps = (
        f"12:{number % 60:02} worker-{number % 7} took {number % 997} ms for request {number}\n"
        for number in range(lines)
    )
    return "".join(steps) + "12:59 worker-3 at Kestrel Point took 8417 ms for request 77\n"


@pytest.fixture(scope="module")
def long_log() -> Document:
    return Document.from_text(log(12_000), name="log.txt")


def test_a_huge_text_takes_little_memory_and_the_tokens_of_a_short_one(tmp_path: Path) -> None:
    short, huge = measured(tmp_path, 1), measured(tmp_path, HUGE_MB)

    assert huge["cite"]["peak_ratio"] < 4
    assert huge["run"]["peak_ratio"] < 6
    assert huge["run"]["input_tokens"] == pytest.approx(short["run"]["input_tokens"], rel=0.1)


@pytest.mark.parametrize("pointer", ["s0", "s0.7", "L1-L12001"])
def test_a_model_with_a_small_window_works_on_a_text_of_many_times_its_length(long_log: Document, pointer: str) -> None:
    model = ScriptedModel(plan=plan_of({"context_pointers": at(pointer)}), subtask="Request 77 [L12001].")
    model.context_window = 8_000

    result = orchestrate(long_log, TASK, model=model, strategy="outline", max_tokens=500)

    assert result.status == "completed", result.errors
    assert all(request_tokens(request) <= 7_500 for request in model.requests)
    assert len(model.requests) == 2


def test_a_slice_that_was_narrowed_to_the_window_is_a_warning(long_log: Document) -> None:
    model = ScriptedModel(plan=plan_of({"task": TASK, "context_pointers": at("s0")}), subtask="Request 77 [L12001].")
    model.context_window = 8_000

    result = orchestrate(long_log, TASK, model=model, strategy="outline", max_tokens=500)

    assert "SLICE_NARROWED" in {warning.code for warning in result.warnings}
    assert any("Kestrel Point" in block.text for block in model.sent("subtask")[0].blocks)
