"""Records with what a test does not care about filled in."""

from __future__ import annotations

from typing import Any

from orchestra.store import RunRecord


def a_run(run_id: str = "r1", **fields: Any) -> RunRecord:
    return RunRecord(**{"id": run_id, "task": "What drove the margin?", "started_at": 1000.0, **fields})
