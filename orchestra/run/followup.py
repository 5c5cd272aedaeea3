"""A follow-up: a subtask whose slice did not hold the answer is asked again over further lines, alone and bounded."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from orchestra.document import Slice, cut
from orchestra.errors import OrchestraError, RunWaiting, UnexpectedFailure
from orchestra.models.blocks import Finding
from orchestra.models.protocol import ModelRequest
from orchestra.planning.assemble import Assignment, is_direct_skill
from orchestra.planning.costs import request_tokens
from orchestra.planning.followups import FOLLOWUP_TOKENS, followup_request, merged, widened, with_heads
from orchestra.planning.history import with_history
from orchestra.planning.insufficient import Shortfall, shortfall
from orchestra.run.asking import keep_reply
from orchestra.run.confirming import approve_followup
from orchestra.run.state import Run
from orchestra.run.tool_loop import answer
from orchestra.runtime.calls import context_window, model_notice
from orchestra.runtime.events import FollowedUp
from orchestra.runtime.node import Node
from orchestra.settings import REPLY_ROOM

log = logging.getLogger("orchestra")


async def follow_up(
    run: Run,
    node: Node,
    assignment: Assignment,
    reply: str,
    findings: Sequence[Finding] = (),
    *,
    streams_answer: bool = False,
) -> str:
    """What a subtask found: `reply`, or what became of it by at most `max_followups` calls for what it lacks.

    `findings` are those that the subtask builds on. Each call shows lines that it has not read, so none is made where
    nothing is left to show. A call that fails leaves what was found before it. What is lacking at the end is named in
    a notice, and makes the run's result partial.
    """
    if run.reads_in_parts:
        return reply
    subtask_id = assignment.subtask.id
    for _ in range(run.settings.max_followups):
        lack = shortfall(_without_notice(run, reply))
        if lack is None:
            return reply
        try:
            later = await _ask_again(run, node, assignment, lack, findings, streams_answer=streams_answer)
        except RunWaiting:
            raise
        except OrchestraError as error:
            _keep_earlier(run, node, subtask_id, error)
            break
        except Exception as defect:
            log.warning("a follow-up failed", exc_info=True)
            _keep_earlier(run, node, subtask_id, UnexpectedFailure(f"{type(defect).__name__}: {defect}"))
            break
        if later is None:
            break
        reply = merged(_without_notice(run, reply), _without_notice(run, later))
    lack = shortfall(_without_notice(run, reply))
    if lack is not None:
        run.insufficient[subtask_id] = lack.missing
        missing = lack.missing or "what the task asks for"
        run.warn("SUBTASK_INSUFFICIENT", f"subtask {subtask_id} did not find: {missing}", node.id)
    return reply


async def _ask_again(
    run: Run,
    node: Node,
    assignment: Assignment,
    lack: Shortfall,
    findings: Sequence[Finding],
    *,
    streams_answer: bool,
) -> str | None:
    """The reply over further lines; None, and no call, where there are none to show."""
    further = _further(run, assignment, lack, findings)
    if not further.passages:
        return None
    request = _request(run, assignment, further, lack, findings)
    if assignment.skill.needs_approval:
        await approve_followup(run, node, assignment, further, request)
    run.followups.setdefault(assignment.subtask.id, []).append(further)
    ranges = [str(lines) for lines in further.line_ranges]
    run.stream.emit(FollowedUp, node_id=node.id, missing=lack.missing, ranges=ranges, tokens=further.tokens)
    limit_s = run.settings.subtask_limit_s(assignment.skill)
    reply = await answer(run, node, assignment.skill, request, limit_s, streams_answer=streams_answer)
    keep_reply(run, node, reply)
    return reply.text.strip()


def _further(run: Run, assignment: Assignment, lack: Shortfall, findings: Sequence[Finding]) -> Slice:
    """What is shown next, as far as the budget and the worker's window go; empty when nothing is left."""
    budget = FOLLOWUP_TOKENS
    window = context_window(run.worker)
    if window:
        bare = _request(run, assignment, cut((), run.documents), lack, findings)
        budget = min(budget, int(window * REPLY_ROOM) - request_tokens(bare) - bare.max_tokens)
    read = [lines for slice_ in run.followups.get(assignment.subtask.id, ()) for lines in slice_.line_ranges]
    further = widened(assignment, lack.missing, run.documents, budget_tokens=budget, read=read)
    return with_heads(further, run.documents, budget_tokens=budget)


def _request(
    run: Run, assignment: Assignment, further: Slice, lack: Shortfall, findings: Sequence[Finding]
) -> ModelRequest:
    request = followup_request(
        assignment,
        further,
        lack.found,
        max_tokens=run.settings.max_tokens,
        temperature=run.settings.temperature,
        findings=findings,
    )
    return with_history(request, run.history) if is_direct_skill(assignment.skill) else request


def _keep_earlier(run: Run, node: Node, subtask_id: str, error: OrchestraError) -> None:
    """Say that a follow-up failed; it does not cost the reply before it."""
    run.errors.append(error)
    run.warn("FOLLOWUP_FAILED", f"subtask {subtask_id} keeps its earlier reply: {error.what}", node.id)


def _without_notice(run: Run, reply: str) -> str:
    """A reply without what its model says about itself, which is no finding; the answer gets it back at the end."""
    notice = model_notice(run.worker)
    return reply.replace(f"*{notice}*", "").strip() if notice else reply
