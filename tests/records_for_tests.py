"""Records with what a test does not care about filled in."""

from __future__ import annotations

from typing import Any

from orchestra.runtime.events import NodeUpdated
from orchestra.store import ApprovalRecord, RunRecord


def a_run(run_id: str = "r1", **fields: Any) -> RunRecord:
    return RunRecord(**{"id": run_id, "task": "What drove the margin?", "started_at": 1000.0, **fields})


def node_event(sequence: int, node_id: str, **fields: Any) -> dict[str, Any]:
    given = {"kind": "subtask", "status": "executing", "depth": 1, **fields}
    return NodeUpdated(sequence=sequence, node_id=node_id, **given).to_dict()


def a_question(node_id: str = "run/1", **fields: Any) -> ApprovalRecord:
    given = {"kind": "approval", "title": "Send it?", "shown": {"to": "all"}, "digest": "q1", "asked_at": 1000.0}
    return ApprovalRecord(**{"run_id": "r1", "node_id": node_id, **given, **fields})
