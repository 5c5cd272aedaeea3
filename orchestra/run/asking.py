"""Every call of a run to a model goes through here: behind its prefix, within the budget, counted."""

from __future__ import annotations

from orchestra.errors import ModelReplyInvalid, NodeTimeout, OrchestraError, OutputTruncated
from orchestra.models.protocol import Model, ModelReply, ModelRequest
from orchestra.planning.costs import request_tokens
from orchestra.run.cache import Flight, flights
from orchestra.run.permitting import check_model, permitted_models
from orchestra.run.recalling import CallRecord, recalled, record_of, use
from orchestra.run.replies import FinishedCall
from orchestra.run.spending import amount_of, billed_usage, most, possibly_billed, sent_tokens
from orchestra.run.standing_in import Try, ask_in_turn, keep_bill
from orchestra.run.state import Run
from orchestra.runtime.attempts import was_sent
from orchestra.runtime.budget import Reservation
from orchestra.runtime.calls import CallLimits, add, cache_minimum, model_base_url, model_name
from orchestra.runtime.calls import ask as call_model
from orchestra.runtime.events import CallFailed
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
    """The reply to `request`: on record, from the cache, or sent within the run's limits; counted.

    Raises `PermissionDenied` or `BudgetExceeded` instead of sending.
    """
    check_model(run, node, model)
    if run.on_request is not None:
        run.on_request(node, model, request)
    record = record_of(run, node, model, request)
    if record is None:
        return await _send(run, node, model, request, timeout_s, None, streams_answer=streams_answer)
    call = recalled(run, node, record)
    if call is not None:
        return use(run, node, model, request, call, "journal", streams_answer=streams_answer)
    if record.cache is None:
        return await _send(run, node, model, request, timeout_s, record, streams_answer=streams_answer)
    flight, is_ours = flights.board(record.entry)
    if not is_ours:
        reply = await _landed(run, flight)
        if reply is None:
            return await _send(run, node, model, request, timeout_s, record, streams_answer=streams_answer)
        await run.scheduler.call(lambda deadline, attempt: record.take(reply), node=node)
    else:
        reply = None
        try:
            reply = await run.scheduler.call(lambda deadline, attempt: _found(record), node=node)
            if reply is None:
                reply = await _send(run, node, model, request, timeout_s, record, streams_answer=streams_answer)
                return reply
        finally:
            is_shared = reply is not None and not reply.answered_by  # who waits may not know the one who stood in
            flights.land(record.entry, flight, reply if is_shared else None)
    return use(run, node, model, request, FinishedCall(reply, is_billed=False), "cache", streams_answer=streams_answer)


async def _landed(run: Run, flight: Flight) -> ModelReply | None:
    """What an equal call that is under way comes to; None where it fails."""
    over = Milestone()
    flights.when_over(flight, lambda: run.scheduler.post(over.reach))
    await run.scheduler.wait_outside(over)
    return flight.reply


def _found(record: CallRecord) -> ModelReply | None:
    """The reply in the cache, on record for this run too."""
    reply = record.cache.find(record.entry) if record.cache is not None else None
    if reply is not None:
        record.take(reply)
    return reply


async def _send(
    run: Run,
    node: Node,
    model: Model,
    request: ModelRequest,
    timeout_s: float,
    record: CallRecord | None,
    *,
    streams_answer: bool,
) -> ModelReply:
    """Send the request, behind its prefix."""
    minimum = cache_minimum(model)
    prefix = prefix_of(request, f"{model_name(model)} {model_base_url(model)}") if minimum else None
    if minimum is None or prefix is None:
        return await _ask_within_budget(run, node, model, request, timeout_s, record, streams_answer=streams_answer)
    written = await _behind(run, prefix, minimum)
    try:
        began = run.prefixes.clock()
        reply = await _ask_within_budget(run, node, model, request, timeout_s, record, streams_answer=streams_answer)
        missed = "" if reply.answered_by else run.prefixes.finish(prefix, began, reply.usage, minimum)
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
    run: Run,
    node: Node,
    model: Model,
    request: ModelRequest,
    timeout_s: float,
    record: CallRecord | None,
    *,
    streams_answer: bool,
) -> ModelReply:
    """Send the request to the model, or to one that stands in for it. All their attempts share one reservation."""
    models = permitted_models(run, node, model)
    counted = sent_tokens(request) if run.budget.is_limited else 0
    room = await run.budget.reserve(
        run.scheduler, node.id, lambda: most(run.budget, models, counted, request.max_tokens)
    )

    async def ask_one(turn: Try) -> ModelReply:
        stopped: list[BaseException] = []

        def may_go_on(error: BaseException, would_follow: bool) -> bool:
            _count_failure(run, node, turn.model, model, room, error)
            if would_follow and not room.has_room:
                stopped.append(error)
            return not stopped

        retry = RetryPolicy(turn.attempts, may_go_on=may_go_on)
        limits = CallLimits(timeout_s, retry, turn.attempts_before, turn.is_stand_in)
        try:
            return await call_model(
                run.scheduler,
                node,
                turn.model,
                request,
                limits,
                streams_answer=streams_answer,
                record=record,
                watch=run.telemetry.watched if run.telemetry else None,
            )
        except NodeTimeout as error:  # it was left behind, so nobody has counted it
            node.failed_attempts += 1
            room.spend(possibly_billed(error, room.amount))
            raise
        except Exception:
            if stopped:
                cause = f"the attempt before it failed: {stopped[0]}"
                raise run.budget.exceeded(node.id, room.amount, cause=cause) from stopped[0]
            raise

    try:
        reply, answering = await ask_in_turn(run, node, models, ask_one)
        room.spend(amount_of(run.budget, answering, reply.usage))
    except OrchestraError as error:
        if record is not None and record.has_begun:
            run.stream.emit(CallFailed, node_id=node.id, request_sha256=record.key.fingerprint, error=error.to_dict())
        raise
    finally:
        room.release()
    keep_bill(run, node, answering, model, reply.usage)
    run.calls[node.id] = run.calls.get(node.id, 0) + 1
    if not reply.usage.is_estimated:
        run.budget.learn(counted, reply.usage.total_input_tokens)
        run.counted_tokens += request_tokens(request)
        run.reported_tokens += reply.usage.total_input_tokens
    return reply


def _count_failure(run: Run, node: Node, model: Model, asked: Model, room: Reservation, error: BaseException) -> None:
    """Put what a failed attempt cost on the bill, and take it off the attempts that the node has."""
    node.failed_attempts += was_sent(error)
    usage = billed_usage(error)
    if usage is None:
        return room.spend(possibly_billed(error, room.amount))
    room.spend(amount_of(run.budget, model, usage))
    keep_bill(run, node, model, asked, usage)
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
