"""A task about the documents as a whole: one call with everything where that fits, else a map-reduce."""

from __future__ import annotations

from orchestra.planning.direct import direct_plan
from orchestra.planning.plan import Plan
from orchestra.run.state import Run


def plan_for_whole(run: Run, skill: str) -> Plan:
    return direct_plan(run.task)
