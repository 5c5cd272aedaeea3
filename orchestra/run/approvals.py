"""Asking a person: the answer that is on record, else the caller's `on_approval`, else the run waits for one.

What nobody has answered does not go on, and an answer holds only for what was shown when it was given.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from orchestra.errors import ApprovalRejected, InputInvalid, OrchestraError, RunCancelled, RunWaiting, StoreError
from orchestra.result import WaitingFor
from orchestra.run.people import ApprovalStore
from orchestra.run.state import Run
from orchestra.runtime.events import EffectReplayed, NodeUpdated, QuestionAnswered, QuestionAsked
from orchestra.runtime.node import Node, Status
from orchestra.runtime.questions import AtOnce, Decision, OnApproval, Question, checked_decision
from orchestra.runtime.scheduler import Milestone

if TYPE_CHECKING:
    from orchestra.store import ApprovalRecord

__all__ = ["Decision", "OnApproval", "Question", "ask_person"]


async def ask_person(run: Run, node: Node, question: Question) -> Decision:
    """What a person says to `question`, asked on behalf of `node`, which waits meanwhile and then goes on.

    By the outcome "edited", what is to be used is `decision.edited`: all of what was shown, as he wants it. Raises
    `RunWaiting` where the run has a store and nobody has answered yet (let it pass: the run ends as waiting), and
    `ApprovalRejected` where nobody can be asked. What a person takes counts towards no deadline and holds no worker.
    """
    key = run.journal.key(node.id, "person", question.digest)
    question = replace(question, asking=key.ordinal)
    known = run.journal.find(key)
    if known is not None and known.payload is not None:
        run.people.used.add((node.id, question.digest))
        run.stream.emit(EffectReplayed, node_id=node.id, kind="person", source="journal")
        return checked_decision(question, known.payload)
    decision = await _stored_answer(run, node, question) or await _ask(run, node, question)

    def keep() -> None:
        run.journal.begin(key)
        run.journal.finish(key, decision.to_dict())

    await run.scheduler.call_apart(keep)
    run.people.used.add((node.id, question.digest))
    run.stream.emit(
        QuestionAnswered,
        node_id=node.id,
        digest=question.digest,
        outcome=decision.outcome,
        reason=decision.reason,
    )
    return decision


async def _stored_answer(run: Run, node: Node, question: Question) -> Decision | None:
    """The answer that was left for exactly this question; the run says of others of this node that they are stale."""
    store, run_id, digest = run.people.store, run.stream.run_id, question.digest
    if store is None:
        return None
    try:
        answered = await run.scheduler.call_apart(lambda: store.approvals(run_id, "answered"))
    except StoreError as error:
        run.warn("STORE_LOST", f"it cannot be read whether {node.id} was answered: {error.what}", node.id)
        return None
    found: Decision | None = None
    for record in answered:
        if record.node_id != node.id or (node.id, record.digest) in run.people.used:
            continue
        if record.digest == digest:
            found = _decision_of(question, record)
            continue
        run.people.used.add((node.id, record.digest))
        what = f"an answer to {record.title!r} is not used: what it was given for is not what is asked now"
        run.warn("APPROVAL_STALE", what, node.id)
    return found


async def _ask(run: Run, node: Node, question: Question) -> Decision:
    """Ask, while the node shows that it waits; afterwards it goes on, unless nobody has answered yet."""
    before = node.status
    node.status = Status.WAITING_USER if question.kind == "ask_user" else Status.CONFIRM_REQUIRED
    run.stream.emit(NodeUpdated, **node.snapshot())
    run.stream.emit(
        QuestionAsked,
        node_id=node.id,
        kind=question.kind,
        title=question.title,
        shown=question.shown,
        digest=question.digest,
    )
    try:
        decision = await _answer_of_somebody(run, node, question)
    except RunWaiting:
        raise
    except BaseException:
        node.status = before
        raise
    if before is Status.ROUTING:
        node.start()  # its own time begins here
    else:
        node.status = before
    run.stream.emit(NodeUpdated, **node.snapshot())
    return decision


async def _answer_of_somebody(run: Run, node: Node, question: Question) -> Decision:
    store = run.people.store
    if store is None or _is_beside(node):
        return await _answer_of_caller(run, node, question)
    try:
        await run.scheduler.call_apart(lambda: store.ask(_record(run, question)))
    except StoreError as error:
        run.warn("STORE_LOST", f"the question of {node.id} is not saved: {error.what}", node.id)
        return await _answer_of_caller(run, node, question)
    try:
        decision = await _answer_of_caller(run, node, question)
    except ApprovalRejected:
        waiting = WaitingFor(
            node_id=node.id, kind=question.kind, title=question.title, shown=question.shown, digest=question.digest
        )
        run.people.waiting.append(waiting)
        run_id = run.stream.run_id
        raise RunWaiting(
            f"{node.id} waits for a person: {question.title}",
            suggestion=f"`orchestra approve {run_id}` shows what it asks, and `orchestra resume {run_id}` goes on.",
            status=node.status,
            run_id=run_id,
        ) from None
    return await _first_answer(run, node, question, decision, store)


def _is_beside(node: Node | None) -> bool:
    """Whether a node belongs to an enhancement: it holds nothing up, so nothing waits for its answers."""
    return node is not None and (node.kind == "enhancement" or _is_beside(node.parent))


def _record(run: Run, question: Question) -> ApprovalRecord:
    from orchestra.store import ApprovalRecord

    return ApprovalRecord(
        run_id=run.stream.run_id,
        node_id=question.node_id,
        kind=question.kind,
        title=question.title,
        shown=question.to_dict(),
        digest=question.digest,
        asked_at=time.time(),
    )


async def _answer_of_caller(run: Run, node: Node, question: Question) -> Decision:
    """What `on_approval` says, which is asked one question at a time unless it is `AtOnce`.

    Raises `ApprovalRejected` when it says nothing.
    """
    ask = run.people.on_approval
    if ask is None:
        nobody = "nobody could be asked: there is no on_approval"
        raise _unanswered(question, nobody if _is_beside(node) else f"{nobody}, and no store to wait in")
    if isinstance(ask, AtOnce):
        return await _checked_answer(run, node, question, ask)
    while run.people.turn is not None:
        await run.scheduler.join([run.people.turn])
    turn = run.people.turn = Milestone()
    try:
        return await _checked_answer(run, node, question, ask)
    finally:
        run.people.turn = None
        turn.reach()


async def _checked_answer(run: Run, node: Node, question: Question, ask: OnApproval) -> Decision:
    try:
        answer = await run.scheduler.call_apart(lambda: ask(replace(question)))  # a copy: he may change it
        if answer is None:
            raise _unanswered(question, "nobody answered")
        return checked_decision(question, answer)
    except InputInvalid as error:
        cause = f"on_approval gave no answer that fits: {error.what}{f' ({error.cause})' if error.cause else ''}"
    except (RunCancelled, ApprovalRejected):
        raise
    except OrchestraError as error:
        cause = f"on_approval failed: {error.what}"
    run.warn("APPROVAL_UNANSWERED", cause, node.id)
    raise _unanswered(question, cause)


def _unanswered(question: Question, cause: str) -> ApprovalRejected:
    return ApprovalRejected(f"{question.node_id} needs an answer and got none: {question.title}", cause=cause)


async def _first_answer(run: Run, node: Node, question: Question, decision: Decision, store: ApprovalStore) -> Decision:
    """`decision`, now on record; or that of whoever answered the same question before."""
    run_id, digest = run.stream.run_id, question.digest

    def answer() -> Decision:
        if store.answer(run_id, node.id, digest, **decision.to_dict()):
            return decision
        earlier = (each for each in store.approvals(run_id, "answered") if each.digest == digest)
        return _decision_of(question, next(each for each in earlier if each.node_id == node.id))

    try:
        kept = await run.scheduler.call_apart(answer)
    except StoreError as error:
        run.warn("STORE_LOST", f"the answer to {node.id} is not saved: {error.what}", node.id)
        return decision
    if kept != decision:
        run.warn("APPROVAL_ANSWERED", f"somebody else had answered before: {kept.outcome}", node.id)
    return kept


def _decision_of(question: Question, record: ApprovalRecord) -> Decision:
    return checked_decision(
        question, {"outcome": record.outcome, "edited": record.edited, "reason": record.reason, "text": record.text}
    )
