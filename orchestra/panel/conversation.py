"""The turns of a chat, gathered from the store: what each run shows, asks, and how far it is."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from orchestra.errors import OrchestraError
from orchestra.panel.desk import Desk
from orchestra.panel.view.cards import Card, card_of
from orchestra.panel.view.progress import Progress, RunningRun
from orchestra.panel.view.turns import Turn, state_of, turn_of
from orchestra.store import ApprovalRecord, RunRecord

log = logging.getLogger("orchestra.panel")

_WITH_QUESTIONS = ("running", "waiting")
_WITH_FAILURES = ("partial", "failed", "cancelled")
_AT_REST = ("waiting", "answered", "interrupted")
_OVER = ("completed", *_WITH_FAILURES)


@dataclass(frozen=True, slots=True)
class ShownTurn:
    """A turn, the cards of its open questions, and its progress while it runs.

    `is_endable`: a person may end it here, since this panel works on it, or nobody does.
    """

    turn: Turn
    cards: tuple[Card, ...] = ()
    progress: Progress | None = None
    is_endable: bool = False
    version: str = ""
    """Equal as long as nothing of it has changed; empty while it may."""


def turns_of(desk: Desk, session_id: str, *, most: int) -> tuple[list[ShownTurn], bool]:
    """The newest `most` turns of a session, oldest first, and whether there are more before them."""
    listed = desk.store.runs(session_id=session_id, limit=most + 1)
    records = [desk.store.run(summary.id) for summary in reversed(listed[:most])]
    return [shown_turn(desk, record) for record in records if record is not None], len(listed) > most


def shown_turn(desk: Desk, record: RunRecord) -> ShownTurn:
    """One run as a turn."""
    questions = open_questions(desk, record)
    is_ours = desk.runner.is_running(record.id)
    is_held = record.status in _WITH_QUESTIONS and (is_ours or desk.store.holder(record.id) is not None)
    state = state_of(record, is_held=is_held, has_questions=bool(questions))
    nodes = desk.store.nodes(record.id) if state in _WITH_FAILURES else ()
    return ShownTurn(
        turn_of(record, state, nodes),
        tuple(card for asked in questions if (card := _card(asked)) is not None),
        desk.progress.look(record.id, RunningRun.progress) if state == "running" else None,
        is_ours or (not is_held and state in _AT_REST),
        f"{state} {record.ended_at}" if state in _OVER else "",
    )


def open_questions(desk: Desk, record: RunRecord) -> list[ApprovalRecord]:
    """What a run asks; of one that has ended to wait, what it asked last."""
    if record.status not in _WITH_QUESTIONS:
        return []
    asked = desk.store.approvals(record.id, "open")
    last = (record.result or {}).get("waiting") if record.status == "waiting" else None
    digests = {each.get("digest") for each in last} if isinstance(last, list) else set()
    return [each for each in asked if each.digest in digests] if digests else asked


def _card(asked: ApprovalRecord) -> Card | None:
    try:
        return card_of(asked)
    except OrchestraError as error:
        log.warning("a question of run %s cannot be shown: %s", asked.run_id, error)
        return None
