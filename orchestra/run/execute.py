"""The execution phase: subtasks go out as soon as what they depend on is there."""

from __future__ import annotations

from collections.abc import Sequence

from orchestra.models.protocol import Finding
from orchestra.planning.assemble import Assignment
from orchestra.planning.plan import Plan
from orchestra.run.asking import ask, keep_reply
from orchestra.run.followup import follow_up
from orchestra.run.state import Run
from orchestra.runtime.node import Node
from orchestra.runtime.scheduler import Job
from orchestra.settings import SUBTASK_TIMEOUT_S


async def execute(run: Run, plan: Plan, assignments: Sequence[Assignment], *, streams: bool) -> list[Finding]:
    """Send what is delegated; findings in plan order. With `streams`, a lone subtask's reply streams as the answer."""
    by_id = {assignment.subtask.id: assignment for assignment in assignments}
    streams_answer = streams and len(plan.subtasks) == 1
    findings: dict[str, Finding] = {
        subtask.id: Finding(subtask.id, subtask.task, subtask.answer or "") for subtask in plan.self_answered
    }
    jobs: dict[str, Job[None]] = {}
    for subtask in plan.in_dependency_order():
        if subtask.is_self_answered:
            continue
        assignment = by_id[subtask.id]
        node = run.node(f"subtask-{subtask.id}", "subtask", skill=assignment.skill.name, title=subtask.task)
        work = _execute_one(run, node, assignment, findings, streams_answer=streams_answer)
        jobs[subtask.id] = run.scheduler.spawn(work, node, [jobs[name] for name in subtask.depends_on if name in jobs])
    await run.scheduler.join(list(jobs.values()))
    for subtask in plan.delegated:
        error = jobs[subtask.id].error
        if error is not None:
            run.errors.append(error)
            findings[subtask.id] = Finding(subtask.id, subtask.task, f"{error.code}: {error.what}", is_missing=True)
    return [findings[subtask.id] for subtask in plan.subtasks]


async def _execute_one(
    run: Run, node: Node, assignment: Assignment, findings: dict[str, Finding], *, streams_answer: bool
) -> None:
    if assignment.error is not None:
        raise assignment.error
    subtask = assignment.subtask
    needed = [findings[name] for name in subtask.depends_on]
    request = assignment.request(
        max_tokens=run.settings.max_tokens, temperature=run.settings.temperature, findings=needed
    )
    reply = await ask(run, node, run.worker, request, SUBTASK_TIMEOUT_S, streams_answer=streams_answer)
    keep_reply(run, node, reply)
    text = await follow_up(run, node, assignment, reply.text.strip(), needed, streams_answer=streams_answer)
    findings[subtask.id] = Finding(subtask.id, subtask.task, text)
