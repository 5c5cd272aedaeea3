"""Every call of a run to a model goes through here: behind its prefix, within the budget, counted."""

from __future__ import annotations

from orchestra.errors import ModelReplyInvalid, NodeTimeout, OutputTruncated
from orchestra.models.protocol import Model, ModelReply, ModelRequest
from orchestra.planning.costs import request_tokens
from orchestra.run.spending import amount_of, billed_usage, most, possibly_billed, sent_tokens
from orchestra.run.state import Run
from orchestra.runtime.budget import Reservation
from orchestra.runtime.calls import CallLimits, add, cache_minimum, model_base_url, model_name
from orchestra.runtime.calls import ask as call_model
from orchestra.runtime.node import Node
from orchestra.runtime.prefixes import Prefix, prefix_of
from orchestra.runtime.retry import RetryPolicy
from orchestra.runtime.scheduler import Milestone


async def ask(
    run: Run,
    node: Node,
    model: Model,
    request: ModelRequest,
    timeout_s: float,
    *,
    streams_answer: bool = False,
) -> ModelReply:
    """Send `request` for `node` within the run's limits, and count it. Raises `BudgetExceeded` instead of sending."""
    minimum = cache_minimum(model)
    prefix = prefix_of(request, f"{model_name(model)} {model_base_url(model)}") if minimum else None
    if minimum is None or prefix is None:
        return await _ask_within_budget(run, node, model, request, timeout_s, streams_answer=streams_answer)
    written = await _behind(run, prefix, minimum)
    try:
        began = run.prefixes.clock()
        reply = await _ask_within_budget(run, node, model, request, timeout_s, streams_answer=streams_answer)
        missed = run.prefixes.finish(prefix, began, reply.usage, minimum)
    finally:
        if written is not None:
            written.reach()
    if missed:
        run.warn("CACHE_MISSED", f"a prompt cache hit was expected and did not come: {missed}", node.id)
    return reply


async def _behind(run: Run, prefix: Prefix, minimum_tokens: int) -> Milestone | None:
    """Wait for the call that is writing this prefix; if it is this one that writes it, what to reach afterwards.

    That costs the time of one reply, and saves the price of the prefix for each call that waits. When the first one
    fails, the others go out at once.
    """
    if prefix.tokens < minimum_tokens or run.prefixes.is_warm(prefix):
        return None
    written = run.writing.get(prefix.key)
    if written is not None:
        await run.scheduler.join([written])
        return None
    written = run.writing[prefix.key] = Milestone()
    return written


async def _ask_within_budget(
    run: Run, node: Node, model: Model, request: ModelRequest, timeout_s: float, *, streams_answer: bool
) -> ModelReply:
    counted = sent_tokens(request) if run.budget.is_limited else 0
    room = await run.budget.reserve(
        run.scheduler, node.id, lambda: most(run.budget, model, counted, request.max_tokens)
    )
    stopped: list[BaseException] = []

    def may_go_on(error: BaseException, would_follow: bool) -> bool:
        _count_failure(run, node, model, room, error)
        if would_follow and not room.has_room:
            stopped.append(error)
        return not stopped

    limits = CallLimits(timeout_s, RetryPolicy(run.settings.max_attempts, may_go_on=may_go_on))
    try:
        reply = await call_model(run.scheduler, node, model, request, limits, streams_answer=streams_answer)
        room.spend(amount_of(run.budget, model, reply.usage))
    except NodeTimeout as error:  # it was left behind, so nobody has counted it
        room.spend(possibly_billed(error, room.amount))
        raise
    except Exception:
        if stopped:
            cause = f"the attempt before it failed: {stopped[0]}"
            raise run.budget.exceeded(node.id, room.amount, cause=cause) from stopped[0]
        raise
    finally:
        room.release()
    run.calls[node.id] = run.calls.get(node.id, 0) + 1
    if not reply.usage.is_estimated:
        run.budget.learn(counted, reply.usage.total_input_tokens)
        run.counted_tokens += request_tokens(request)
        run.reported_tokens += reply.usage.total_input_tokens
    return reply


def _count_failure(run: Run, node: Node, model: Model, room: Reservation, error: BaseException) -> None:
    """Put what a failed attempt cost on the bill."""
    usage = billed_usage(error)
    if usage is None:
        return room.spend(possibly_billed(error, room.amount))
    room.spend(amount_of(run.budget, model, usage))
    node.usage = usage if node.usage is None else add(node.usage, usage)
    run.calls[node.id] = run.calls.get(node.id, 0) + 1
    return None


def keep_reply(run: Run, node: Node, reply: ModelReply) -> None:
    """Keep a reply with its node: an empty one is refused; one that was cut off stays, and the run says so."""
    is_cut = reply.stop_reason == "max_tokens"
    if not reply.text.strip():
        if is_cut:
            raise OutputTruncated(f"{node.id} used up its tokens before it said anything")
        raise ModelReplyInvalid(f"{node.id} got an empty reply", is_retryable=False)
    run.replies[node.id] = reply
    if is_cut:
        error = OutputTruncated(f"the reply of {node.id} was cut off at its token limit")
        run.errors.append(error)
        run.warn(error.code, error.what, node.id)
