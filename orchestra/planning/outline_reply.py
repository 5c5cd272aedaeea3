"""How the outline planner's reply is read: a plan in its short form, a wish to look closer, or a task about the whole.

Its sections are ids. What is written another way (the long form with `context_pointers`, one string for a list, bare
numbers, ids in brackets) is mended as in `orchestra.planning.parse`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from pydantic import BaseModel, ConfigDict, field_validator

from orchestra.document import DocumentSet
from orchestra.planning.parse import is_plan, json_of, plan_of, refusing
from orchestra.planning.plan import SELF, ContextPointers, Plan, Subtask
from orchestra.planning.pointing import resolve_pointers

MOST_LOOKS = 6
"""Sections or pages that one look may ask for; the view's budget would show more of them too thinly."""

_SPLIT = re.compile(r"\s*[,;]\s*|\s+(?:and|&)\s+")
_ID = r"(?:d\d+:)?(?:p|s)?\d+(?:\.\d+)?"
_IDS = re.compile(rf"{_ID}(?:\s*[-–—]\s*{_ID})?", re.IGNORECASE)
_BARE = re.compile(r"(?P<key>[dD]\d+:)?(?P<number>\d{1,9})")
_WRAPPING = " \t\r\n\"'`[]()"


@dataclass(frozen=True, slots=True)
class OutlineReply:
    """What the planner decided: just one of `plan`, `look` and `whole` is set.

    `look` holds ids of sections or pages; `skill` is the one for a task about the whole, "" where none was named.
    """

    plan: Plan | None
    look: tuple[str, ...] = ()
    whole: bool = False
    skill: str = ""
    notes: tuple[str, ...] = ()


class _Wishes(BaseModel):
    """What stands beside the subtasks in a reply."""

    model_config = ConfigDict(extra="ignore")

    look: list[str] = []
    whole: bool = False

    @field_validator("look", mode="before")
    @classmethod
    def _listed(cls, value: object) -> list[str]:
        items = cast("list[Any]", value) if isinstance(value, list) else [value]
        return [str(item) for item in items if isinstance(item, str | int) and not isinstance(item, bool)]

    @field_validator("whole", mode="before")
    @classmethod
    def _claimed(cls, value: object) -> bool:
        return value is True or (isinstance(value, str) and value.strip().casefold() == "true")


def parse_outline(reply: object, documents: DocumentSet, *, may_look: bool = True) -> OutlineReply:
    """The decision in a reply: a model's text, or JSON already parsed.

    Subtasks that point somewhere, or answer, win over `look` and `whole`; `look` wins over `whole`. Without
    `may_look`, a further look counts as a pointer. Raises `PlanInvalid` when nothing of it can be used.
    """
    notes: list[str] = []
    with refusing(reply):
        value = json_of(reply, notes, _is_decision)
        fields = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
        wishes = _Wishes.model_validate(fields)
        look = _told_ids(wishes.look, documents, notes)[:MOST_LOOKS]
        plan = _plan_in(value, documents, notes, is_needed=not (wishes.whole or (look and may_look)))
    if plan is not None and _is_usable(plan, documents):
        if wishes.whole or look:
            notes.append(f"subtasks that point were taken, {'whole' if wishes.whole else 'look'} was not")
        return OutlineReply(plan, notes=tuple(notes))
    if look and may_look:
        return OutlineReply(None, look=look, notes=tuple(notes))
    if wishes.whole:
        skills = [subtask.skill for subtask in plan.subtasks if subtask.skill != SELF] if plan else []
        return OutlineReply(None, whole=True, skill=skills[0] if skills else "", notes=tuple(notes))
    return OutlineReply(_pointed(plan, look, notes), notes=tuple(notes))


def _is_decision(value: Any) -> bool:
    return is_plan(value) or (isinstance(value, Mapping) and ("look" in value or "whole" in value))


def _plan_in(value: Any, documents: DocumentSet, notes: list[str], *, is_needed: bool) -> Plan | None:
    """The plan, ids told; None where there is none and none is needed."""
    told: list[str] = []
    try:
        plan = plan_of(value, told)
    except ValueError:
        if is_needed:
            raise
        return None
    subtasks = [_told(subtask, documents, told) for subtask in plan.subtasks]
    notes += told
    return plan.model_copy(update={"subtasks": subtasks})


def _told(subtask: Subtask, documents: DocumentSet, notes: list[str]) -> Subtask:
    pointers = subtask.context_pointers
    sections = list(_told_ids(pointers.sections, documents, notes))
    if sections == pointers.sections:
        return subtask
    return subtask.model_copy(update={"context_pointers": pointers.model_copy(update={"sections": sections})})


def _told_ids(references: list[str], documents: DocumentSet, notes: list[str]) -> tuple[str, ...]:
    """References, lists of ids in one string taken apart, bare numbers read as the ids of pages or sections."""
    found: dict[str, None] = {}
    for reference in references:
        pieces = [piece for piece in _SPLIT.split(reference.strip(_WRAPPING)) if piece]
        are_ids = all(_IDS.fullmatch(piece.strip(_WRAPPING)) for piece in pieces)
        for piece in pieces if are_ids else [reference.strip()]:
            wanted = _numbered(piece.strip(_WRAPPING), documents) if are_ids else piece
            if wanted != piece.strip(_WRAPPING) and are_ids:
                notes.append(f"{piece!r} was read as {wanted}")
            if wanted:
                found.setdefault(wanted)
    return tuple(found)


def _numbered(piece: str, documents: DocumentSet) -> str:
    bare = _BARE.fullmatch(piece)
    if not bare:
        return piece
    key = (bare["key"] or "").lower()
    try:
        document = documents.find(key.rstrip(":")) if key else documents[0]
    except KeyError:
        return piece
    return f"{key}{'p' if document.page_starts else 's'}{bare['number']}"


def _is_usable(plan: Plan, documents: DocumentSet) -> bool:
    """Whether one of the subtasks answers, or points at lines of the documents."""
    return any(
        (subtask.is_self_answered and subtask.answer)
        or any(resolution.ranges for resolution in resolve_pointers(subtask.context_pointers, documents))
        for subtask in plan.subtasks
    )


def _pointed(plan: Plan | None, look: tuple[str, ...], notes: list[str]) -> Plan | None:
    """A plan without a usable pointer; a look that comes too late gives it the places that it asked for."""
    if plan is None or not look:
        return plan
    notes.append(f"a further look was not possible: {', '.join(look)} given to the subtasks instead")
    pointers = ContextPointers(sections=list(look))
    subtasks = [subtask.model_copy(update={"context_pointers": pointers}) for subtask in plan.subtasks]
    return plan.model_copy(update={"subtasks": subtasks})
