"""The strategy `direct` with an answer schema: one call gives the text and the data."""

from __future__ import annotations

from orchestra.errors import RunWaiting
from orchestra.models.blocks import Finding
from orchestra.planning.assemble import Assignment
from orchestra.planning.history import with_history
from orchestra.planning.synthesis import AnswerSchema, Draft, with_schema
from orchestra.run.permitting import permit
from orchestra.run.retrying import with_retries
from orchestra.run.state import Run
from orchestra.run.synthesize import ask_for_data


async def answer_with_data(run: Run, assignment: Assignment, schema: AnswerSchema) -> tuple[list[Finding], Draft]:
    """The whole task over the whole document, answered as the schema asks."""
    subtask = assignment.subtask
    node = run.node(f"subtask-{subtask.id}", "subtask", skill=assignment.skill.name, title=subtask.task)
    permit(run, node, assignment.skill)
    request = with_schema(
        assignment.request(max_tokens=run.settings.synthesis_max_tokens, temperature=run.settings.temperature), schema
    )
    request = with_history(request, run.history)

    async def once(number: int) -> Draft:
        return await ask_for_data(run, node, run.worker, request, schema)

    work = with_retries(run, node, run.settings.retries_of(assignment.skill), once)
    job = run.scheduler.spawn(work, node)
    await run.scheduler.join([job])
    if job.error is None:
        return [Finding(subtask.id, subtask.task, job.value.text)], job.value
    if not isinstance(job.error, RunWaiting):
        run.errors.append(job.error)
    missing = Finding(subtask.id, subtask.task, f"no reply ({job.error.code})", is_missing=True)
    return [missing], Draft("", error=job.error)
