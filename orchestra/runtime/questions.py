"""What a run asks a person, what he may say, and the hash that binds the one to the other."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, cast

from orchestra.errors import InputInvalid

QuestionKind = Literal["approval", "ask_user", "permission"]
Outcome = Literal["approved", "edited", "rejected", "answered"]

_KINDS = ("approval", "ask_user", "permission")
_LONGEST_TEXT = 100_000  # characters of a reason or an answer: what follows is no person's


@dataclass(frozen=True, slots=True)
class Question:
    """What a person is shown, as JSON. An answer holds for this and nothing else: it is bound to `digest`.

    "approval" lets the work go on or not, "permission" one call of a tool; "ask_user" wants words. `options` are
    answers to choose from. `editable` names the keys of `shown` that the person may change (None: all of them for an
    approval, none otherwise). `asking` counts from 1 how often a node asks the very same: an answer serves once.

    Raises `InputInvalid` for what is no JSON.
    """

    kind: QuestionKind
    node_id: str
    title: str
    shown: Mapping[str, Any] = field(default_factory=dict[str, Any])
    options: tuple[str, ...] = ()
    editable: tuple[str, ...] | None = None
    asking: int = 1

    def __post_init__(self) -> None:
        if self.kind not in _KINDS:
            raise InputInvalid(f"{self.kind!r} is no kind of question", cause=f"it is one of {', '.join(_KINDS)}")
        editable = self.editable
        if editable is None:
            editable = tuple(self.shown) if self.kind == "approval" else ()
        object.__setattr__(self, "shown", _plain_json(self.shown, f"what {self.node_id} shows"))
        object.__setattr__(self, "options", tuple(str(option) for option in self.options))
        object.__setattr__(self, "editable", tuple(sorted(str(key) for key in editable)))

    def to_dict(self) -> dict[str, Any]:
        """Everything that an answer is bound to."""
        return {
            "kind": self.kind,
            "node_id": self.node_id,
            "title": self.title,
            "shown": self.shown,
            "options": list(self.options),
            "editable": list(self.editable or ()),
            "asking": self.asking,
        }

    @classmethod
    def from_dict(cls, payload: Mapping[str, Any]) -> Question:
        """The reverse of `to_dict`. Raises `InputInvalid`."""
        try:
            return cls(
                kind=payload["kind"],
                node_id=str(payload["node_id"]),
                title=str(payload["title"]),
                shown=payload["shown"],
                options=tuple(payload["options"]),
                editable=tuple(payload["editable"]),
                asking=int(payload["asking"]),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise InputInvalid("this is no question", cause=f"{type(error).__name__}: {error}") from None

    @property
    def digest(self) -> str:
        """SHA-256 over the canonical JSON of all that is shown, as hex: the same in every process."""
        canonical = json.dumps(self.to_dict(), sort_keys=True, ensure_ascii=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Decision:
    """What a person said. `edited` is, by the outcome "edited", all of what was shown as it is to be instead;
    `reason` says why it was rejected; `text` answers an "ask_user".
    """

    outcome: Outcome
    edited: Mapping[str, Any] | None = None
    reason: str = ""
    text: str = ""

    @property
    def is_approved(self) -> bool:
        """Whether the work may go on, with `edited` where there is one."""
        return self.outcome in ("approved", "edited")

    def to_dict(self) -> dict[str, Any]:
        return {"outcome": self.outcome, "edited": self.edited, "reason": self.reason, "text": self.text}


OnApproval: TypeAlias = Callable[[Question], Decision | bool | str | None]
"""Asks a person. True approves, False rejects, a text answers an "ask_user"; None means that nobody answered."""


@dataclass(frozen=True, slots=True)
class AtOnce:
    """An `OnApproval` that is asked all that is open at once, each question on a thread of its own.

    Any other is asked one question at a time.
    """

    ask: OnApproval

    def __call__(self, question: Question) -> Decision | bool | str | None:
        return self.ask(question)


def checked_decision(question: Question, answer: object) -> Decision:
    """The decision that `answer` is: one that fits the question, edits laid over what was shown.

    Whatever does not fit decides nothing: it raises `InputInvalid`, naming what is wrong.
    """
    if isinstance(answer, bool):
        answer = Decision("approved" if answer else "rejected")
    elif isinstance(answer, str):
        answer = Decision("answered", text=answer)
    elif isinstance(answer, Mapping):
        answer = _from_mapping(cast("Mapping[object, Any]", answer))
    if not isinstance(answer, Decision):
        raise InputInvalid(f"{type(answer).__name__} is no answer to {question.node_id}")
    _check_texts(answer)
    if answer.outcome == "rejected":
        return Decision("rejected", reason=answer.reason)
    if question.kind == "ask_user":
        return _words(question, answer)
    if answer.outcome == "approved":
        return Decision("approved", reason=answer.reason)
    if answer.outcome != "edited":
        raise InputInvalid(
            f"{question.node_id} asks for {question.kind}, and {answer.outcome!r} neither approves nor rejects"
        )
    return Decision("edited", _edited(question, answer.edited), reason=answer.reason)


def _from_mapping(answer: Mapping[object, Any]) -> Decision:
    try:
        return Decision(**{str(key): value for key, value in answer.items()})
    except TypeError as error:
        raise InputInvalid("this mapping is no decision", cause=str(error)) from None


def _check_texts(answer: Decision) -> None:
    for name in ("outcome", "reason", "text"):
        value = cast("object", getattr(answer, name))
        if not isinstance(value, str):
            raise InputInvalid(f"the decision's {name} is {type(value).__name__}, not a text")
        if len(value) > _LONGEST_TEXT:
            long = f"it has {len(value):,} characters, and most is {_LONGEST_TEXT:,}"
            raise InputInvalid(f"the decision's {name} is too long", cause=long)


def _words(question: Question, answer: Decision) -> Decision:
    if answer.outcome != "answered" or not answer.text.strip():
        raise InputInvalid(f"{question.node_id} asks for words, and none were given")
    return Decision("answered", text=answer.text)


def _edited(question: Question, edited: object) -> Mapping[str, Any]:
    """`question.shown` with the edits over it."""
    if not isinstance(edited, Mapping) or not edited:
        raise InputInvalid("the edit holds nothing", cause="it is an object with the keys that are to change")
    changes = _plain_json(cast("Mapping[Any, Any]", edited), "the edit")
    allowed = question.editable or ()
    for key, value in changes.items():
        if key in question.shown and value == question.shown[key] and _is_alike(value, question.shown[key]):
            continue
        if key not in allowed:
            known = f"it may change {', '.join(allowed)}" if allowed else "nothing of it may be changed"
            raise InputInvalid(f"the edit changes {key!r}", cause=known)
        if key not in question.shown or not _is_alike(value, question.shown[key]):
            raise InputInvalid(f"the edit's {key!r} is not of the kind that was shown")
        if isinstance(value, str) and not value.strip() and question.shown[key].strip():
            raise InputInvalid(f"the edit's {key!r} is empty", cause="reject what is not to be done")
    return {**question.shown, **changes}


def _is_alike(value: object, shown: object) -> bool:
    """Whether both are the same kind of JSON; anything may stand for null."""
    if shown is None:
        return True
    if isinstance(value, bool) or isinstance(shown, bool):
        return isinstance(value, bool) and isinstance(shown, bool)
    if isinstance(value, int | float) and isinstance(shown, int | float):
        return True
    return type(value) is type(shown)


def _plain_json(value: Mapping[Any, Any], what: str) -> dict[str, Any]:
    """A copy as JSON gives it back, which nobody can change from outside."""
    try:
        copied = json.loads(json.dumps(value, default=_mapping_or_sequence, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise InputInvalid(f"{what} is no JSON", cause=str(error)) from None
    if not isinstance(copied, dict):
        raise InputInvalid(f"{what} is no JSON object")
    return cast("dict[str, Any]", copied)


def _mapping_or_sequence(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(cast("Mapping[Any, Any]", value))
    raise TypeError(f"{type(value).__name__} is not JSON")
