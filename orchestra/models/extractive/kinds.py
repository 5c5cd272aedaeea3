"""What kind of answer a question asks for, and where in a text one begins."""

from __future__ import annotations

import re
from typing import Literal

from orchestra.models.extractive.vocabulary import YEAR, stem, words
from orchestra.models.extractive.word_lists import MONTHS, NUMBERS_IN_WORDS, ROLES, WEEKDAYS

Kind = Literal["who", "when", "where", "number", "definition", "other"]

_WHO = re.compile(r"\b(?:who|whom|whose|which (?:person|firm|company|bank|agency|auditor))\b", re.IGNORECASE)
_WHEN = re.compile(r"\bwhen\b|\b(?:what|which) (?:date|day|month|year)\b|\bhow long ago\b", re.IGNORECASE)
_WHERE = re.compile(r"\bwhere\b|\b(?:what|which) (?:city|country|place|town|state)\b", re.IGNORECASE)
_NUMBER = re.compile(
    r"\bhow (?:much|many|high|large|big|long|old|far|often)\b"
    r"|\b(?:number|amount|total|percent\w*|rate|ratio|margin|eps|dividend|debt|age|backlog|headcount|price|cost|fees?"
    r"|revenue|sales|income|profit|value|size|share)\b",
    re.IGNORECASE,
)
_WHAT_IS = re.compile(r"\s*what (?:is|was|were|are)\b", re.IGNORECASE)
_RELATIVE = re.compile(
    r"\b(?:percent\w*|rate|margin|growth|share|ratio|change|increase|decrease|return|proportion|part|yield)\b|%",
    re.IGNORECASE,
)
_DEFINE = re.compile(r"\s*(?:define\b|what is (?:an? )?[\w\s-]+$|what does [\w\s-]+ mean)", re.IGNORECASE)
_SEVERAL = re.compile(
    r"\W*(?:(?:which|what)\s+(?:\w+\s+)?\w{3,}[^su\W]s\b(?!\s+the\b)|(?:what|which) (?:are|were)\b|.*\ball\b)",
    re.IGNORECASE,
)
_SEVERAL_NAMED = re.compile(r"\W*(?:who (?:are|were)|list|name|identify)\b", re.IGNORECASE)

_CAPITALISED = r"(?:[A-ZÀ-Þ][\w'’.&-]+|[A-Z]\.)"
NAME = re.compile(rf"{_CAPITALISED}(?:\s+(?:&|of|de|van|von|der|du|la)?\s*{_CAPITALISED})+")
AMOUNT = re.compile(rf"(?<![\w-])[$€£]?\(?\d[\d,.]*|\b(?:{'|'.join(NUMBERS_IN_WORDS)})\b", re.IGNORECASE)
_DATE = re.compile(rf"\b(?:(?:{'|'.join((*MONTHS, *WEEKDAYS))})\b|(?:19|20)\d\d\b|\d{{1,2}}/\d{{1,2}}/\d{{2,4}})")
_PLACE = re.compile(r"\b(?:in|at|of|from|near|to)\s+(?:the\s+)?(?:\d+\s+)?[A-ZÀ-Þ]\w+")
_DEFINES = re.compile(r"\b(?:is|are|means?|refers? to|denotes?)\b|\*\*:|: ")


def kinds(question: str) -> tuple[Kind, ...]:
    """The kinds of answer that a question asks for; ("other",) when its words do not say."""
    asked: tuple[tuple[Kind, re.Pattern[str]], ...] = (("who", _WHO), ("when", _WHEN), ("where", _WHERE))
    found: tuple[Kind, ...] = tuple(kind for kind, pattern in asked if pattern.search(question))
    if found:
        return found
    if _NUMBER.search(question) or (YEAR.search(question) and _WHAT_IS.match(question)):
        return ("number",)
    return ("definition",) if _DEFINE.match(question.rstrip(" ?.")) else ("other",)


def asks_for_several(question: str) -> bool:
    """Whether more than one thing is asked for: which risks, what are the reasons, list the directors."""
    return bool(_SEVERAL_NAMED.match(question) or (kinds(question) == ("other",) and _SEVERAL.match(question)))


def answer_place(kind: Kind, text: str, question: str) -> int:
    """Where in the text an answer of this kind begins that the question does not hold itself; -1 for nowhere."""
    if kind == "who":
        return _name_place(text, {stem(word) for word in words(question)})
    if kind == "number":
        return _amount_place(text, question)
    if kind == "other":
        return 0
    pattern = {"when": _DATE, "where": _PLACE, "definition": _DEFINES}[kind]
    asked_years = YEAR.findall(question)
    return next((match.start() for match in pattern.finditer(text) if match[0] not in asked_years), -1)


def _name_place(text: str, asked: set[str]) -> int:
    """A name of two words or more that is no office and not in the question."""
    for match in NAME.finditer(text):
        name = {stem(word) for word in words(match[0]) if word not in ROLES}
        if name and not name <= asked:
            return match.start()
    return -1


def _amount_place(text: str, question: str) -> int:
    """A figure that is no year; in words only where things are counted, in percent only where a share may be meant."""
    takes_percent = _RELATIVE.search(question) is not None or not _WHAT_IS.match(question)
    for match in AMOUNT.finditer(text):
        if not takes_percent and text[match.end() : match.end() + 1] == "%":
            continue
        amount = match[0].strip("$€£().,")
        is_new = bool(amount) and not YEAR.fullmatch(amount) and amount not in question
        if is_new and (amount[0].isdigit() or "how many" in question.lower()):
            return match.start()
    return -1
