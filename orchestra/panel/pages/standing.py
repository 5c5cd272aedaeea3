"""Whether a run goes on, as the views of its nodes say it."""

from __future__ import annotations

from orchestra.panel.desk import Desk


def is_worked_on(desk: Desk, run_id: str) -> bool:
    """Whether some process has the run. To be asked before its nodes are read: what ends meanwhile has ended there."""
    return desk.runner.is_running(run_id) or desk.store.holder(run_id) is not None
