"""The bounded loop: a model that calls tools, is told what they gave, and answers at last.

A turn is one call of the model. The calls that it makes in a turn run together, and their results stand in its order.
With the last turn it is asked for the answer. The tools stay in that request, for at every provider they are the
beginning of what the prompt cache holds, and it says that none may be called: a provider may read the turns anew
then, which costs less than a model that goes on calling.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from orchestra.errors import ModelBadRequest, ModelReplyInvalid, OrchestraError, RunCancelled, RunWaiting
from orchestra.models.blocks import Instructions
from orchestra.models.protocol import Message, Model, ModelReply, ModelRequest, ToolResult
from orchestra.planning.costs import request_tokens
from orchestra.planning.prompt_files import prompt
from orchestra.run.asking import ask
from orchestra.run.state import Run
from orchestra.run.tool_calls import Calling, calling, carry_out
from orchestra.run.toolbox import Toolbox, toolbox_of
from orchestra.runtime.calls import cache_minimum
from orchestra.runtime.node import Node
from orchestra.runtime.tools.results import bounded
from orchestra.skills import Skill

MOST_ANSWERED_TURNS = 50
"""Turns that do not count, because a person answered in them: he may be a program."""
MOST_CALLS_AT_ONCE = 32  # of one turn; the rest are not run

_TAKES_NO_TOOLS = re.compile(r"\b(tools?|functions?|tool[ _-]use|function[ _-]calling)\b", re.IGNORECASE)


async def answer(
    run: Run,
    node: Node,
    skill: Skill,
    request: ModelRequest,
    limit_s: float,
    *,
    model: Model | None = None,
    streams_answer: bool = False,
) -> ModelReply:
    """The reply to `request`: from one call, or, where the skill has tools, from a loop. Raises as `ask` does.

    `limit_s` bounds each turn, and each call of a tool that has no limit of its own. `model` None: the run's worker.
    """
    model = model or run.worker
    box = toolbox_of(run, node, skill)
    if box is None:
        return await ask(run, node, model, request, limit_s, streams_answer=streams_answer)
    try:
        return await _loop(run, node, model, box, request, limit_s, streams_answer=streams_answer)
    except _NoTools as error:
        run.warn("TOOLS_NOT_TAKEN", f"the model takes no tools, and is asked without: {error.refusal.cause}", node.id)
        return await ask(run, node, model, request, limit_s, streams_answer=streams_answer)


class _NoTools(Exception):
    """The first request was refused for its tools."""

    def __init__(self, refusal: ModelBadRequest) -> None:
        super().__init__(refusal.what)
        self.refusal = refusal


async def _loop(
    run: Run, node: Node, model: Model, box: Toolbox, request: ModelRequest, limit_s: float, *, streams_answer: bool
) -> ModelReply:
    asked = with_tools(request, box)
    least = cache_minimum(model)
    if least is not None and request_tokens(asked) >= least:
        asked = kept(asked)
    counted, answered = 1, 0
    while counted < box.max_turns:
        try:
            reply = await ask(run, node, model, asked, limit_s, streams_answer=streams_answer)
        except ModelBadRequest as error:
            if not asked.messages and _TAKES_NO_TOOLS.search(error.cause):
                raise _NoTools(error) from None
            raise
        if not reply.tool_calls:
            return reply
        made = [calling(run, node, call) for call in reply.tool_calls[:MOST_CALLS_AT_ONCE]]
        results = await _results(run, made, box, limit_s)
        results += tuple(
            ToolResult(call.id, f"not called: {MOST_CALLS_AT_ONCE} calls at once are the most", is_error=True)
            for call in reply.tool_calls[MOST_CALLS_AT_ONCE:]
        )
        is_free = any(each.was_answered for each in made) and answered < MOST_ANSWERED_TURNS
        counted, answered = (counted, answered + 1) if is_free else (counted + 1, answered)
        asked = continued(asked, reply, results, is_last=counted >= box.max_turns)
    reply = await ask(run, node, model, last_turn(asked), limit_s, streams_answer=streams_answer)
    if reply.tool_calls and not reply.text.strip():
        raise ModelReplyInvalid(
            f"{node.id} gave no answer within {box.max_turns} turns",
            cause="it went on calling tools when there were none left",
            suggestion="Raise max_turns in the skill's manifest, or ask for less at once.",
            is_retryable=False,
        )
    return reply


async def _results(run: Run, made: Sequence[Calling], box: Toolbox, limit_s: float) -> tuple[ToolResult, ...]:
    """What each call gave, in the model's order. Raises only what ends the node: waiting, and being cancelled."""
    jobs = [run.scheduler.spawn(carry_out(run, each, box, limit_s), each.node) for each in made]
    await run.scheduler.join(jobs)
    for kind in (RunCancelled, RunWaiting):
        for job in jobs:
            if isinstance(job.error, kind):
                raise job.error
    return tuple(
        ToolResult(each.call.id, job.value)
        if job.error is None
        else ToolResult(each.call.id, told(job.error), is_error=True)
        for each, job in zip(made, jobs, strict=True)
    )


def with_tools(request: ModelRequest, box: Toolbox) -> ModelRequest:
    """The request with the tools and how to use them."""
    *blocks, task = request.blocks
    return replace(request, blocks=(*blocks, Instructions(prompt("tools")), task), tools=box.specs)


def kept(request: ModelRequest) -> ModelRequest:
    """The request as one whose prompt is read again in the next turn, so that a prompt cache is to hold all of it."""
    *blocks, task = request.blocks
    return replace(request, blocks=(*blocks, replace(task, cacheable=True)))


def continued(
    request: ModelRequest, reply: ModelReply, results: Sequence[ToolResult], *, is_last: bool = False
) -> ModelRequest:
    """The request with one turn more; the newest turn is where the prompt cache may end."""
    earlier = tuple(replace(message, cacheable=False) for message in request.messages)
    text = prompt("tools_last") if is_last else ""
    told_now = Message("user", text, tool_results=tuple(results), cacheable=not is_last)
    return replace(request, messages=(*earlier, reply.turn, told_now))


def last_turn(request: ModelRequest) -> ModelRequest:
    """The request whose reply is the answer. Nobody reads it again, so nothing of it is kept."""
    blocks = tuple(replace(block, cacheable=False) for block in request.blocks)
    return replace(request, blocks=blocks, tool_choice="none")


def told(error: OrchestraError) -> str:
    """What a model is told of a call that failed."""
    cause = f": {error.cause}" if error.cause else ""
    return bounded(f"{error.code}: {error.what}{cause}")
