"""A task as questions: where one ends and the next begins, and what a pronoun in it stands for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from orchestra.models.extractive.vocabulary import stem, stems
from orchestra.models.extractive.word_lists import FORM, NUMBERS_IN_WORDS

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
    rf"|\s*,\s*and\s+(?=(?:{_AUXILIARY})\b)"
    rf"|:\s+(?=(?:{_ASKING})\b)",
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


_FORM = frozenset(stems(" ".join((*FORM, *NUMBERS_IN_WORDS, "one"))))
_DEFINES = re.compile(r"\s*(?:define|calculate|compute)\b.+\b(?:as|using|by|from)\b|.+\bdefined as\b", re.IGNORECASE)
_CONDITION = re.compile(r"\s*(?:if|unless|in case)\b", re.IGNORECASE)
_SOURCE = re.compile(
    r"\b(?:sheets?|statements?|p&l|notes?|table|section|chapter|page|appendix|report)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Question:
    """One question of a task. `subject` is what a pronoun in it stands for, "" when it stands alone.

    `context` is what the task says beside it: definitions, where to look, the form of the answer.
    """

    text: str
    subject: str = ""
    context: tuple[str, ...] = ()

    @property
    def asked(self) -> str:
        """The question alone, so that it can be understood."""
        if not self.subject:
            return self.text
        return f"{self.text.removesuffix('?')} ({self.subject}){'?' if self.text.endswith('?') else ''}"

    @property
    def definitions(self) -> tuple[str, ...]:
        """What of the context says how something is computed."""
        return tuple(each for each in self.context if _DEFINES.match(each))

    @property
    def full(self) -> str:
        """The question with all that belongs to it; splitting it again gives the same question."""
        end = "" if self.text.endswith("?") or not self.context else "."
        return f"{self.asked}{end}{''.join(f' {each}.' for each in self.context)}"


def split(task: str) -> tuple[Question, ...]:
    """The questions of a task in order; a task that asks nothing is one question, and what is too many is joined."""
    pieces = [piece for chunk in _chunks(task) for piece in _parts(chunk)]
    questions = _with_subjects(pieces) or [Question(" ".join(task.split()))]
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


def _with_subjects(pieces: list[str]) -> list[Question]:
    """Pieces that ask, each with what is said beside it; what only sets the scene is dropped if something else asks."""
    asking = [at for at, piece in enumerate(pieces) if _asks(piece)]
    asking = asking or [at for at, piece in enumerate(pieces) if _ORDERS.match(piece)] or list(range(len(pieces)))
    questions: list[Question] = []
    waiting: list[str] = []
    subject = ""
    for at, piece in enumerate(pieces):
        if at not in asking:
            said = [piece[:1].upper() + piece[1:]] if _belongs(piece) else []
            if questions:
                questions[-1] = replace(questions[-1], context=(*questions[-1].context, *said))
            else:
                waiting += said
            continue
        needs_subject = bool(subject and _PRONOUN.search(piece) and len(_content(piece)) <= 3)
        questions.append(Question(_written(piece), subject if needs_subject else "", tuple(waiting)))
        waiting = []
        if not needs_subject:
            subject = _LEAD.sub("", piece).strip()
    return questions


def _asks(piece: str) -> bool:
    """Whether a piece asks for something itself, rather than saying how the answer is to be found or given."""
    if _DEFINES.match(piece) or _CONDITION.match(piece):
        return False
    if _ASKS.match(piece):
        return True
    return bool(_ORDERS.match(piece)) and not _is_form(piece)


def _belongs(piece: str) -> bool:
    """Whether what does not ask says something about the answer: a definition, a source, a form."""
    return bool(_DEFINES.match(piece) or _CONDITION.match(piece) or _SOURCE.search(piece)) or _is_form(piece)


def _is_form(piece: str) -> bool:
    """Whether a piece only speaks of the answer: its unit, its rounding, where it is to be found."""
    content = _content(piece)
    return bool(content) and all(each in _FORM or each.isdigit() for each in content)


def _content(text: str) -> list[str]:
    """The stems of a piece that are more than asking."""
    return [each for each in stems(text) if each not in _ASKING_STEMS]


def _written(piece: str) -> str:
    """With a capital, and with a question mark where it asks."""
    mark = "?" if _ASKS.match(piece) or re.match(rf"(?:{_AUXILIARY})\b", piece, re.IGNORECASE) else ""
    return piece[:1].upper() + piece[1:] + mark
