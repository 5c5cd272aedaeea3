"""A task as questions: where one ends and the next begins, and what a pronoun in it stands for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from orchestra.models.extractive.vocabulary import stem, stems

MAX_QUESTIONS = 24
_ASKING = "who|whom|whose|what|when|where|why|how|which"
_AUXILIARY = "is|are|was|were|does|do|did|has|have|had|can|could|will|would|should"
_ORDERING = (
    "list|name|give|find|tell|show|compare|contrast|summari[sz]e|explain|describe|identify|evaluate|assess|critique|"
    "criticize|classify|categori[sz]e|analy[sz]e|outline|discuss|extract|report|state|determine|combine|review|quote"
)
_ASKING_STEMS = frozenset(stem(word) for word in re.findall(r"\w{3,}", f"{_ASKING}|{_ORDERING}"))
_HARD_BREAK = re.compile(r"[?;]+[\"'”’)]*\s*|\n+")
_ITEM = re.compile(r"^\s*(?:[-*+•]|\(?\d{1,2}[.)]|\(?[a-h][.)])\s+")
_SENTENCE_END = re.compile(r"(?<=[a-z0-9%)\"'”’])[.!]\s+(?=[\"'“‘(]?[A-Z])")
_JOINT = re.compile(
    rf"\s*,\s*(?:and|but|or|then|also)?\s*(?:also\s+|then\s+)?(?=(?:{_ASKING}|{_ORDERING})\b)"
    rf"|\s+(?:and|then|and\s+then|and\s+also)\s+(?=(?:{_ASKING}|{_ORDERING})\b)"
    rf"|\s*,\s*and\s+(?=(?:{_AUXILIARY})\b)",
    re.IGNORECASE,
)
_ASKS = re.compile(rf"(?:in|on|at|by|from|for|to|of|with|since|until)?\s*\b(?:{_ASKING})\b", re.IGNORECASE)
_ORDERS = re.compile(rf"\s*(?:please\s+|then\s+|also\s+)*(?:{_ORDERING}|{_AUXILIARY})\b", re.IGNORECASE)
_PRONOUN = re.compile(r"\b(?:it|its|they|their|them|this|these|those|that one|he|she|his|her)\b", re.IGNORECASE)
_LEAD = re.compile(
    rf"^(?:and|but|or|then|please|also)?\s*(?:(?:{_ASKING}|{_ORDERING})\b\s*)?"
    rf"(?:(?:much|many|far|long|often|high|large|big|the|me|us)\b\s*)*(?:(?:{_AUXILIARY})\b\s*)?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Question:
    """One question of a task. `subject` is what a pronoun in it stands for, "" when it stands alone."""

    text: str
    subject: str = ""

    @property
    def full(self) -> str:
        """The question so that it can be understood alone."""
        if not self.subject:
            return self.text
        return f"{self.text.removesuffix('?')} ({self.subject}){'?' if self.text.endswith('?') else ''}"


def split(task: str) -> tuple[Question, ...]:
    """The questions of a task in order; a task that asks nothing is one question, and what is too many is joined."""
    pieces = [piece for chunk in _chunks(task) for piece in _parts(chunk)]
    questions = list(_with_subjects(pieces)) or [Question(" ".join(task.split()))]
    if len(questions) <= MAX_QUESTIONS:
        return tuple(questions)
    rest = " ".join(question.full for question in questions[MAX_QUESTIONS - 1 :])
    return (*questions[: MAX_QUESTIONS - 1], Question(rest))


def _chunks(task: str) -> Iterator[str]:
    """What question marks, semicolons, line ends, list marks and full stops divide."""
    for line in _HARD_BREAK.split(task):
        for sentence in _SENTENCE_END.split(_ITEM.sub("", line)):
            text = " ".join(sentence.split()).strip(" .,:!")
            if text:
                yield text


def _parts(chunk: str) -> Iterator[str]:
    """A chunk cut where an "and" begins another question, unless the rest could not stand alone."""
    pieces: list[str] = []
    for piece in _JOINT.split(chunk):
        text = piece.strip(" ,.")
        if not text:
            continue
        is_same = bool(pieces) and set(_content(text)) <= set(_content(pieces[-1]))
        if pieces and (is_same or not _content(pieces[-1])):
            start = chunk.rfind(pieces[-1])
            pieces[-1] = chunk[start : chunk.find(text, start + len(pieces[-1])) + len(text)]
        else:
            pieces.append(text)
    yield from pieces


def _with_subjects(pieces: list[str]) -> Iterator[Question]:
    """Pieces that ask; what only sets the scene is dropped when something else asks."""
    asking = [piece for piece in pieces if _ASKS.match(piece) or _ORDERS.match(piece)]
    subject = ""
    for piece in asking or pieces:
        needs_subject = bool(subject and _PRONOUN.search(piece) and len(_content(piece)) <= 3)
        yield Question(_written(piece), subject if needs_subject else "")
        if not needs_subject:
            subject = _LEAD.sub("", piece).strip()


def _content(text: str) -> list[str]:
    """The stems of a piece that are more than asking."""
    return [each for each in stems(text) if each not in _ASKING_STEMS]


def _written(piece: str) -> str:
    """With a capital, and with a question mark where it asks."""
    mark = "?" if _ASKS.match(piece) or re.match(rf"(?:{_AUXILIARY})\b", piece, re.IGNORECASE) else ""
    return piece[:1].upper() + piece[1:] + mark
