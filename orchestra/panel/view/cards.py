"""Questions to people as cards: what is shown, what of it may be changed, and an answer read from a form."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from orchestra import Decision, Question
from orchestra.errors import InputInvalid, StoreDamaged
from orchestra.panel.view.visible import visible
from orchestra.runtime.questions import checked_decision
from orchestra.store import ApprovalRecord

_ASKS = {
    "approval": "Your approval is asked for",
    "permission": "A permission is asked for, for this call only",
    "ask_user": "A question for you",
}
_MOST_ROWS = 16
_WIDTH = 60  # characters of a row, about


@dataclass(frozen=True, slots=True)
class CardField:
    """One thing that is shown. `shown` is for reading, with hidden characters spelt out; `text` is what can be edited.

    `name` is the form's; empty where it may not be changed. `is_json`: the text is JSON, of the same kind as it was.
    """

    key: str
    shown: str
    text: str
    name: str = ""
    is_json: bool = False
    rows: int = 1


@dataclass(frozen=True, slots=True)
class Card:
    """An open question. `digest` binds the answer to all of it."""

    run_id: str
    node_id: str
    digest: str
    kind: str
    heading: str
    title: str
    fields: tuple[CardField, ...]
    options: tuple[str, ...]
    asking: int
    asked_at: float

    @property
    def is_editable(self) -> bool:
        return any(field.name for field in self.fields)


def question_of(record: ApprovalRecord) -> Question:
    """What was asked, checked against the hash that an answer is bound to. Raises `StoreDamaged`, `InputInvalid`."""
    question = Question.from_dict(record.shown)
    if question.digest != record.digest or question.node_id != record.node_id:
        raise StoreDamaged(
            f"the question of {record.node_id} was changed after it was asked", cause="its hash is that of another"
        )
    return question


def card_of(record: ApprovalRecord) -> Card:
    """A question as it is shown. Raises what `question_of` does."""
    question = question_of(record)
    editable = question.editable or ()
    return Card(
        run_id=record.run_id,
        node_id=question.node_id,
        digest=record.digest,
        kind=question.kind,
        heading=_ASKS[question.kind],
        title=visible(question.title),
        fields=tuple(
            _field(key, value, f"edit-{number}" if key in editable else "")
            for number, (key, value) in enumerate(question.shown.items())
            if key in editable or value != question.title
        ),
        options=tuple(map(visible, question.options)),
        asking=question.asking,
        asked_at=record.asked_at,
    )


def decision_of(question: Question, form: Mapping[str, str]) -> Decision:
    """What a form says to a question: "outcome", "reason", "text" or "option" (its number, from 0), and the edits.

    An edit is "edited", a JSON object of keys, or "edit-N", the text of the N-th thing shown; one that leaves it as it
    was is none. An approval with edits is "edited". Raises `InputInvalid` for what does not answer the question.
    """
    outcome = form.get("outcome", "")
    if outcome == "rejected":
        return checked_decision(question, Decision("rejected", reason=form.get("reason", "").strip()))
    if outcome == "answered":
        return checked_decision(question, Decision("answered", text=_words(question, form)))
    if outcome not in ("approved", "edited"):
        raise InputInvalid(f"{outcome[:40]!r} is no answer", cause="it is approved, edited, rejected or answered")
    edits = _edits(question, form)
    if not edits:
        return checked_decision(question, Decision("approved"))
    return checked_decision(question, Decision("edited", edits))


def words_of_answer(record: ApprovalRecord) -> str:
    """What somebody has answered: `approved`, `rejected: too dear`."""
    said = record.text if record.outcome == "answered" else record.reason
    short = visible(" ".join(said.split()))
    short = f"{short[:197]}..." if len(short) > 200 else short
    return f"{record.outcome}: {short}" if short else record.outcome


def _field(key: str, value: Any, name: str) -> CardField:
    text = _as_sent(_text(value))
    rows = sum(1 + len(line) // _WIDTH for line in text.split("\n")[:_MOST_ROWS])
    return CardField(visible(key), visible(text), text, name, not isinstance(value, str), min(rows, _MOST_ROWS))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)


def _words(question: Question, form: Mapping[str, str]) -> str:
    number = form.get("option", "")
    if not number:
        return form.get("text", "")
    if not (number.isdecimal() and len(number) <= 9 and int(number) < len(question.options)):
        raise InputInvalid(f"there is no option {number[:20]!r}", cause=f"there are {len(question.options)}")
    return question.options[int(number)]


def _edits(question: Question, form: Mapping[str, str]) -> dict[str, Any]:
    edits: dict[str, Any] = {}
    if form.get("edited"):
        given = _json("edited", form["edited"])
        if not isinstance(given, dict):
            raise InputInvalid("the edit is no JSON object", cause="it is an object with the keys that are to change")
        edits |= given
    for number, (key, value) in enumerate(question.shown.items()):
        written = form.get(f"edit-{number}")
        if written is None or _as_sent(written) == _as_sent(_text(value)):
            continue
        edits[key] = _as_sent(written) if isinstance(value, str) else _json(key, written)
    return edits


def _as_sent(text: str) -> str:
    """A text as a browser sends it back: one kind of line end, and what a page cannot hold replaced."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\x00", "\ufffd")
    return text.encode("utf-8", "replace").decode()


def _json(key: str, text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputInvalid(
            f"what is written for {key[:80]!r} is no JSON",
            cause=str(error),
            suggestion="Correct it, and send it again.",
        ) from None
