"""The one place where a run calls a model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Protocol, cast

from orchestra.document import count_tokens
from orchestra.errors import ContextTooLong, ModelReplyInvalid
from orchestra.models.deadline import Deadline
from orchestra.models.json_text import without_lone_surrogates
from orchestra.models.protocol import Model, ModelReply, ModelRequest, ToolCall, Usage
from orchestra.runtime.attempts import pass_of
from orchestra.runtime.events import AnswerDelta
from orchestra.runtime.node import Node
from orchestra.runtime.retry import RetryPolicy
from orchestra.runtime.scheduler import Scheduler


def model_name(model: Model) -> str:
    """How results and prices call a model."""
    return str(getattr(model, "name", "") or type(model).__name__)


def model_notice(model: Model) -> str:
    """A sentence about itself that a model wants to stand with its answers; mostly none."""
    return str(getattr(model, "notice", ""))


def model_base_url(model: Model) -> str:
    """Where a model's requests go to; empty for one that runs here."""
    return str(getattr(model, "base_url", ""))


def model_host(model: Model) -> str:
    """The host that a model's requests go to; empty for one that runs here."""
    return _host_of(model_base_url(model))


@lru_cache(maxsize=256)
def _host_of(url: str) -> str:
    from urllib.parse import urlsplit

    return urlsplit(url).hostname or ""


def context_window(model: Model) -> int | None:
    """Tokens that a model can read; None when not known."""
    window = getattr(model, "context_window", None)
    return window if isinstance(window, int) and window > 0 else None


def cache_minimum(model: Model) -> int | None:
    """Tokens of the shortest prefix that a model's prompt cache holds; None for one without a cache."""
    least = getattr(model, "cache_minimum_tokens", None)
    return least if isinstance(least, int) and least > 0 else None


@dataclass(frozen=True, slots=True)
class CallLimits:
    """Seconds that one attempt may take, and how often a call is tried.

    `attempts_before` are those of the models that were asked before this one, for which it then stands in.
    """

    timeout_s: float
    retry: RetryPolicy
    attempts_before: int = 0
    is_stand_in: bool = False


Send = Callable[[ModelRequest], ModelReply]
Watch = Callable[[Node, Model, Send], Send]
"""What gives a call that does the same as another one, and is seen by somebody."""


class Record(Protocol):
    """Where a call leaves its traces: each attempt begins, and finishes or fails. Called on the worker."""

    def begin(self) -> None: ...

    def finish(self, reply: ModelReply) -> None:
        """Returns when the reply is on record, and may be used."""
        ...

    def fail(self, error: BaseException) -> None: ...


async def ask(
    scheduler: Scheduler,
    node: Node,
    model: Model,
    request: ModelRequest,
    limits: CallLimits,
    *,
    streams_answer: bool = False,
    record: Record | None = None,
    watch: Watch | None = None,
) -> ModelReply:
    """Send `request` on a worker, when the model's rate limits let it go, and add the reply's usage to the node's.

    With `streams_answer`, the text goes out as `AnswerDelta` events while it arrives; their attempts count on from
    the node's earlier calls. Raises `ModelError`s, `NodeTimeout`, `RunCancelled`.
    """
    is_heard = streams_answer and scheduler.stream.is_read
    earlier = node.earlier_attempts - limits.attempts_before

    def send(deadline: Deadline, attempt: int) -> ModelReply:
        def on_delta(text: str) -> None:
            scheduler.post_soon(lambda: _emit_delta(scheduler, node, text, earlier + attempt))

        sent = replace(request, deadline=deadline, on_delta=on_delta if is_heard else None)
        if record is None:
            return answered(sent)
        record.begin()
        try:
            reply = answered(sent)
        except BaseException as error:
            record.fail(error)
            raise
        record.finish(reply)
        return reply

    def complete(sent: ModelRequest) -> ModelReply:
        reply = _checked(model.complete(sent), request, model)
        return replace(reply, answered_by=model_name(model)) if limits.is_stand_in else reply

    answered = complete if watch is None else watch(node, model, complete)
    try:
        reply = await scheduler.call(
            send,
            node=node,
            timeout_s=limits.timeout_s,
            retry=limits.retry,
            turnstile=pass_of(model, request),
            attempts_before=limits.attempts_before,
        )
    finally:
        node.earlier_attempts += node.attempt - limits.attempts_before
    node.usage = reply.usage if node.usage is None else add(node.usage, reply.usage)
    return reply


def replay(scheduler: Scheduler, node: Node, reply: ModelReply, *, streams_answer: bool = False) -> None:
    """Let a node have a reply that is there already, as if it had just come; `ask` without the call, and unbilled."""
    scheduler.begin(node)
    node.attempt = 1
    node.earlier_attempts += 1
    if streams_answer:
        for line in reply.text.splitlines(keepends=True):
            _emit_delta(scheduler, node, line, node.earlier_attempts)


def _emit_delta(scheduler: Scheduler, node: Node, text: str, attempt: int) -> None:
    scheduler.stream.emit(AnswerDelta, node_id=node.id, text=text, attempt=attempt)


def _checked(reply: object, request: ModelRequest, model: Model) -> ModelReply:
    if not isinstance(reply, ModelReply):
        raise ModelReplyInvalid(
            f"{model_name(model)} returned {type(reply).__name__}",
            cause="`complete` must return a ModelReply",
            is_retryable=False,
        )
    wrong = _what_is_wrong(reply)
    if wrong:
        raise ModelReplyInvalid(
            f"{model_name(model)} returned a reply that cannot be used", cause=wrong, is_retryable=False
        )
    text = without_lone_surrogates(reply.text)
    if text is not reply.text:
        reply = replace(reply, text=text)
    if reply.stop_reason == "context_exceeded":
        raise ContextTooLong(f"{model_name(model)} ran out of its context window")
    if reply.usage.total_input_tokens or reply.usage.output_tokens:
        return reply
    counted = Usage(count_tokens(request.prompt), output_tokens=count_tokens(reply.text), is_estimated=True)
    return replace(reply, usage=counted)


def _what_is_wrong(reply: ModelReply) -> str:
    """Types that a model written by hand may have got wrong, and that would lose the run later on."""
    text, usage = cast("object", reply.text), cast("object", reply.usage)
    if not isinstance(text, str):
        return f"its text is {type(text).__name__}, not str"
    if not isinstance(usage, Usage):
        return f"its usage is {type(usage).__name__}, not Usage"
    for name in ("input_tokens", "cached_input_tokens", "cache_write_tokens", "output_tokens"):
        tokens = cast("object", getattr(usage, name))
        if not isinstance(tokens, int) or tokens < 0:
            return f"usage.{name} is {tokens!r}, not a whole number of at least 0"
    for call in cast("Iterable[object]", reply.tool_calls):
        if not (isinstance(call, ToolCall) and isinstance(cast("object", call.arguments), Mapping)):
            return f"its tool calls hold {call!r:.200}, not a ToolCall with a mapping of arguments"
    return ""


def add(one: Usage, other: Usage) -> Usage:
    return Usage(
        one.input_tokens + other.input_tokens,
        one.cached_input_tokens + other.cached_input_tokens,
        one.cache_write_tokens + other.cache_write_tokens,
        one.output_tokens + other.output_tokens,
        one.is_estimated or other.is_estimated,
    )
