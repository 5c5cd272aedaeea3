"""The synthesis phase: one answer from the findings."""

from __future__ import annotations

from collections.abc import Sequence

from orchestra.errors import AnswerInvalid, RunWaiting
from orchestra.models.blocks import Finding
from orchestra.models.protocol import Model, ModelRequest
from orchestra.planning.history import with_history
from orchestra.planning.synthesis import (
    AnswerSchema,
    Draft,
    answer_repair,
    is_synthesis_needed,
    joined,
    read_answer,
    synthesis_request,
)
from orchestra.run.asking import ask, keep_reply
from orchestra.run.confirming import approve_joining
from orchestra.run.state import Run
from orchestra.run.whole import condense
from orchestra.runtime.calls import model_notice
from orchestra.runtime.node import Node


async def synthesize(
    run: Run, findings: Sequence[Finding], schema: AnswerSchema | None, *, self_answered: int = 0
) -> Draft:
    """One answer from the findings, by a call only where a call adds something.

    When that call fails, the findings as they stand are the answer, and the draft carries the error.
    """
    present = [finding for finding in findings if not finding.is_missing]
    if not present:
        return Draft("")
    if not is_synthesis_needed(findings, self_answered, schema):
        return Draft(_as_found(run, present))
    findings, error = await condense(run, findings)
    present = [finding for finding in findings if not finding.is_missing]
    if error is not None:
        run.errors.append(error)
        return Draft(_as_found(run, present), error=error)
    node = run.node("synthesis", "synthesis", title="synthesis")
    job = run.scheduler.spawn(_ask_for_answer(run, node, findings, schema), node)
    await run.scheduler.join([job])
    if job.error is None:
        return job.value
    if isinstance(job.error, RunWaiting):
        return Draft("")
    run.errors.append(job.error)
    return Draft(_as_found(run, present), error=job.error)


def _as_found(run: Run, findings: Sequence[Finding]) -> str:
    """The findings as the answer, with what the models that gave them say about themselves."""
    text = joined(findings)
    notices = dict.fromkeys((model_notice(run.planner), model_notice(run.worker)))
    return "\n\n".join((text, *(f"*{notice}*" for notice in notices if notice not in text)))


async def _ask_for_answer(run: Run, node: Node, findings: Sequence[Finding], schema: AnswerSchema | None) -> Draft:
    request = synthesis_request(
        run.task,
        findings,
        max_tokens=run.settings.synthesis_max_tokens,
        temperature=run.settings.temperature,
        schema=schema,
        skill_prompt=run.library[run.joining_skill].system_prompt if run.joining_skill else "",
    )
    request = with_history(request, run.history)
    if run.joining_skill and run.library[run.joining_skill].needs_approval:
        await approve_joining(run, node, run.joining_skill, request)
    if schema is not None:
        return await ask_for_data(run, node, run.synthesizer, request, schema)
    reply = await ask(run, node, run.synthesizer, request, run.settings.phase_limit_s, streams_answer=True)
    keep_reply(run, node, reply)
    return Draft(reply.text.strip())


async def ask_for_data(run: Run, node: Node, model: Model, request: ModelRequest, schema: AnswerSchema) -> Draft:
    """Text and data from one call; one more if they do not fit the schema. Raises `AnswerInvalid`."""
    reply = await ask(run, node, model, request, run.settings.phase_limit_s)
    keep_reply(run, node, reply)
    try:
        return Draft(*read_answer(reply, schema))
    except AnswerInvalid as error:
        run.warn("ANSWER_ASKED_AGAIN", f"the answer does not fit the schema: {error.cause}", node.id)
        reply = await ask(run, node, model, answer_repair(request, reply, error), run.settings.phase_limit_s)
        return Draft(*read_answer(reply, schema))
