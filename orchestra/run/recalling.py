"""A model call and what is on record of it: found before it is made, and on record before its reply is used."""

from __future__ import annotations

from dataclasses import dataclass, field

from orchestra.errors import ModelError
from orchestra.models.protocol import Model, ModelReply, ModelRequest, Usage
from orchestra.planning.costs import request_tokens
from orchestra.run.cache import ReplyCache, cache_entry
from orchestra.run.journal import EffectKey, Journal, NoJournal
from orchestra.run.replies import FinishedCall, error_payload, finished_call, reply_payload
from orchestra.run.spending import amount_of, billed_usage, sent_tokens
from orchestra.run.standing_in import keep_bill, stand_in_for
from orchestra.run.state import Run
from orchestra.runtime.calls import add, model_name, replay
from orchestra.runtime.events import EffectReplayed
from orchestra.runtime.node import Node


@dataclass(slots=True)
class CallRecord:
    """One call's way into the journal, and into the cache where the run has one. Its methods run on the worker.

    `failed` is what the attempts that failed have cost, so that a replay can put it on the bill. `has_begun`: an
    attempt was made.
    """

    journal: Journal
    key: EffectKey
    cache: ReplyCache | None = None
    entry: str = ""
    failed: list[Usage] = field(default_factory=list[Usage])
    has_begun: bool = False

    def begin(self) -> None:
        self.has_begun = True
        self.journal.begin(self.key)

    def finish(self, reply: ModelReply) -> None:
        self.journal.finish(self.key, reply_payload(reply, self.failed))
        if self.cache is not None and not reply.answered_by:  # the cache is for one model's replies
            self.cache.keep(self.entry, reply)

    def fail(self, error: BaseException) -> None:
        """A failure that was billed, and would come again, is on record as one; no other is."""
        usage = billed_usage(error)
        if usage is not None and isinstance(error, ModelError) and not error.is_retryable:
            return self.journal.finish(self.key, error_payload(error, usage, self.failed))
        if usage is not None:
            self.failed.append(usage)
        return self.journal.abandon(self.key)

    def take(self, reply: ModelReply) -> None:
        """Put on record a reply that somebody else has paid for."""
        self.journal.finish(self.key, reply_payload(reply, is_billed=False))


def record_of(run: Run, node: Node, model: Model, request: ModelRequest) -> CallRecord | None:
    """The record of the call that a node makes next; None for a run without a store."""
    if isinstance(run.journal, NoJournal):
        return None
    fingerprint = request.fingerprint
    key = run.journal.key(node.id, "model", fingerprint)
    entry = cache_entry(run.cache, model, fingerprint) if run.cache is not None else ""
    return CallRecord(run.journal, key, run.cache, entry)


def recalled(run: Run, node: Node, record: CallRecord) -> FinishedCall | None:
    """What an earlier process of this run has finished of a call. What it has left undone, the run says."""
    known = record.journal.find(record.key)
    if known is None:
        if record.journal.unclaimed(node.id, "model"):
            message = f"the request of {node.id} is not the one that was answered before the run was interrupted"
            run.warn("REQUEST_CHANGED", f"{message}: it is sent anew", node.id)
        return None
    call = None if known.payload is None else finished_call(known.payload)
    if call is None:
        why = "was under way when the run was interrupted" if known.payload is None else "cannot be read from the store"
        run.warn("CALL_REPEATED", f"a call of {node.id} {why}: it is sent again", node.id)
    return call


def use(
    run: Run,
    node: Node,
    model: Model,
    request: ModelRequest,
    call: FinishedCall,
    source: str,
    *,
    streams_answer: bool = False,
) -> ModelReply:
    """The reply of a finished call, counted as if it had just come, if this run is the one that pays for it.

    Raises the call's error, if that is what it came to.
    """
    run.stream.emit(EffectReplayed, node_id=node.id, kind="model", source=source)
    for usage in call.failed:
        _count(run, node, model, usage)
    if call.reply is None:
        error = call.error or ModelError(f"the call of {node.id} failed")
        _count(run, node, model, billed_usage(error) or Usage())
        run.scheduler.begin(node)
        raise error
    replay(run.scheduler, node, call.reply, streams_answer=streams_answer)
    if call.reply.answered_by:
        run.warn("MODEL_FELL_BACK", f"{call.reply.answered_by} stood in for {model_name(model)}", node.id)
    if not call.is_billed:
        return call.reply
    usage, answering = call.reply.usage, stand_in_for(run, model, call.reply)
    _count(run, node, answering, usage)
    keep_bill(run, node, answering, model, usage)
    if not usage.is_estimated:
        run.budget.learn(sent_tokens(request) if run.budget.is_limited else 0, usage.total_input_tokens)
        run.counted_tokens += request_tokens(request)
        run.reported_tokens += usage.total_input_tokens
    return call.reply


def _count(run: Run, node: Node, model: Model, usage: Usage) -> None:
    run.budget.spent += amount_of(run.budget, model, usage)
    node.usage = usage if node.usage is None else add(node.usage, usage)
    run.calls[node.id] = run.calls.get(node.id, 0) + 1
