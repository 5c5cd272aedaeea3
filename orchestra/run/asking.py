"""Every call of a run to a model goes through here."""

from __future__ import annotations

from orchestra.errors import ModelReplyInvalid, OutputTruncated
from orchestra.models.protocol import Model, ModelReply, ModelRequest
from orchestra.planning.costs import request_tokens
from orchestra.run.state import Run
from orchestra.runtime.calls import CallLimits
from orchestra.runtime.calls import ask as call_model
from orchestra.runtime.node import Node
from orchestra.runtime.retry import RetryPolicy


async def ask(
    run: Run,
    node: Node,
    model: Model,
    request: ModelRequest,
    default_timeout_s: float,
    *,
    streams_answer: bool = False,
) -> ModelReply:
    """Send `request` for `node` within the run's limits, and count it."""
    limits = CallLimits(run.settings.timeout_s or default_timeout_s, RetryPolicy(run.settings.max_attempts))
    reply = await call_model(run.scheduler, node, model, request, limits, streams_answer=streams_answer)
    run.calls[node.id] = run.calls.get(node.id, 0) + 1
    if not reply.usage.is_estimated:
        run.counted_tokens += request_tokens(request)
        run.reported_tokens += reply.usage.total_input_tokens
    return reply


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
