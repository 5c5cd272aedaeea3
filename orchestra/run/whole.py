"""A task about the documents as a whole: one call with everything where that fits, else a map-reduce."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from orchestra.document import LineRange, cut
from orchestra.errors import ContextTooLong, OrchestraError
from orchestra.models.blocks import Finding
from orchestra.planning.assemble import DEFAULT_CONTEXT_TOKENS, Assignment
from orchestra.planning.costs import request_tokens
from orchestra.planning.direct import direct_plan, direct_tokens
from orchestra.planning.plan import Plan, Subtask
from orchestra.planning.whole import (
    FINDINGS_SHARE,
    SHRINKING,
    findings_tokens,
    grouped,
    join_request,
    joined_finding,
    map_reduce_estimate,
    map_reduce_plan,
    of_parts,
    part_words,
    pointers_to,
)
from orchestra.run.asking import ask, keep_reply
from orchestra.run.state import Run
from orchestra.runtime.calls import context_window
from orchestra.runtime.node import Node
from orchestra.runtime.scheduler import Job
from orchestra.settings import REPLY_ROOM

PART_SKILL = "summarization"
MOST_LEVELS = 8
FEW_FINDINGS_TOKENS = 4_000  # of a run that does not read in parts: any window holds them, and none is looked up
_REPLY_SHARE = 4  # a reply may take a fourth of a window
_MOST_PARTS = 9_999  # for the words of a part before their number is known


def plan_for_whole(run: Run, skill: str) -> Plan:
    """The plan for a task about the whole, `skill` being the one that the planner named ("" for none).

    One call where everything fits the worker's window: a map-reduce reads the same lines, pays its rules once for each
    part and a joining call on top, so it is never cheaper. Else every line goes to one of many calls.
    """
    window = _window(run)
    if fits_one_call(run):
        _tell(run, "direct")
        return _everything(run, skill) if skill in run.library else direct_plan(run.task)
    run.reads_in_parts = True
    run.settings = replace(
        run.settings,
        max_tokens=min(run.settings.max_tokens, window // _REPLY_SHARE, _findings_room(run) // SHRINKING),
        synthesis_max_tokens=min(run.settings.synthesis_max_tokens, _synthesis_window(run) // _REPLY_SHARE),
    )
    run.joining_skill = skill if skill in run.library else ""  # its form is that of the answer, not of a part
    room = max(1, int(window * REPLY_ROOM) - _bare_tokens(run, PART_SKILL))
    plan = map_reduce_plan(run.documents, run.task, PART_SKILL, context_tokens=room)
    _tell(run, "map-reduce")
    tokens = run.documents.size.tokens
    calls, usage = map_reduce_estimate(tokens, context_tokens=room)
    message = (
        f"the task is about the whole: all of about {tokens:,} tokens is read, in {len(plan.subtasks)} parts,"
        f" for about {usage.input_tokens:,} tokens in {calls} calls"
    )
    run.warn("READ_IN_PARTS", message)
    return plan


def fits_one_call(run: Run) -> bool:
    """Whether the worker can read everything at once, and reply."""
    return direct_tokens(run.documents, run.task) + run.settings.max_tokens <= _window(run) * REPLY_ROOM


async def condense(run: Run, findings: Sequence[Finding]) -> tuple[list[Finding], OrchestraError | None]:
    """Findings that one synthesis can hold: as they are, or neighbours joined in groups, level by level.

    When a group's call fails, or they cannot be made to fit, they come back as far as they got, with the error.
    """
    held = of_parts(findings) if run.reads_in_parts else list(findings)
    tokens = findings_tokens(held)
    if not run.reads_in_parts and tokens <= FEW_FINDINGS_TOKENS:
        return held, None
    room = _findings_room(run)
    for level in range(1, MOST_LEVELS + 1):
        if tokens <= room:
            return held, None
        groups = grouped(held, room)
        if len(groups) == len(held):
            break
        held, error = await _join_level(run, level, groups, room)
        if error is not None:
            return held, error
        tokens = findings_tokens(held)
    what = f"the findings come to {tokens:,} tokens, and a joining call can hold {room:,}"
    return held, None if tokens <= room else ContextTooLong(what)


async def _join_level(
    run: Run, level: int, groups: Sequence[Sequence[Finding]], room: int
) -> tuple[list[Finding], OrchestraError | None]:
    """Each group as one finding; one whose call failed as it was, and the first of the errors."""
    jobs: list[Job[Finding] | None] = []
    for number, group in enumerate(groups, start=1):
        if len(group) == 1:
            jobs.append(None)
            continue
        node = run.node(f"join-{level}-{number}", "synthesis", title=f"join {joined_finding(group, '').task}")
        jobs.append(run.scheduler.spawn(_join(run, node, group, room), node))
    await run.scheduler.join([job for job in jobs if job is not None])
    held: list[Finding] = []
    errors: list[OrchestraError] = []
    for group, job in zip(groups, jobs, strict=True):
        if job is None or job.error is not None:
            held += group
        else:
            held.append(job.value)
        if job is not None and job.error is not None:
            errors.append(job.error)
    return held, errors[0] if errors else None


async def _join(run: Run, node: Node, group: Sequence[Finding], room: int) -> Finding:
    most = max(1, min(run.settings.synthesis_max_tokens, room // SHRINKING))
    request = join_request(run.task, group, max_tokens=most, temperature=run.settings.temperature)
    reply = await ask(run, node, run.synthesizer, request, run.settings.phase_limit_s)
    keep_reply(run, node, reply)
    return joined_finding(group, reply.text.strip())


def _bare_tokens(run: Run, skill: str) -> int:
    """What the call for a part needs beside its excerpts, the reply included."""
    words = part_words(run.task, _MOST_PARTS, _MOST_PARTS)
    subtask = Subtask(id="1", task=words, skill=skill)
    bare = Assignment(subtask, run.library.get_or_generic(skill)[0], cut((), run.documents))
    request = bare.request(max_tokens=run.settings.max_tokens)
    return request_tokens(request) + request.max_tokens


def _everything(run: Run, skill: str) -> Plan:
    """One subtask with the skill and every line."""
    lines = [LineRange(key, 1, document.line_count) for key, _, document in run.documents.items()]
    return Plan(
        subtasks=[Subtask(id="1", task=run.task, skill=skill, context_pointers=pointers_to(lines, run.documents))]
    )


def _window(run: Run) -> int:
    return context_window(run.worker) or DEFAULT_CONTEXT_TOKENS


def _synthesis_window(run: Run) -> int:
    return context_window(run.synthesizer) or DEFAULT_CONTEXT_TOKENS


def _findings_room(run: Run) -> int:
    """Tokens that the findings of one joining call may take."""
    return int(_synthesis_window(run) * FINDINGS_SHARE)


def _tell(run: Run, way: Literal["direct", "map-reduce"]) -> None:
    if run.strategy is not None:
        run.strategy = run.strategy.model_copy(update={"whole": way})
