"""How well an answer agrees with the gold answer, by code alone.

A gold answer that is a number is met by a number of the answer with the same value: scales ("million", "bn", "in USD
millions" in the question, "(in thousands)" in the answer) and percent signs are reckoned with, and half a unit of
gold's last digit or half a percent may be lacking. Years must be met exactly. Brackets mean a minus, and also stand for
an outflow that gold states without a sign. Any number of the answer may be the one, but an answer of more than 50
numbers states nothing.

Any other gold answer is compared word by word as SQuAD does (Rajpurkar et al. 2016, arXiv 1606.05250): 1 if the answer
is, or holds, the gold words in one piece, else the F1 of their words, case, articles and punctuation aside.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from orchestra.document.grammar import Number, quantities
from orchestra.document.grammar.words import CURRENCY_UNITS

TOLERANCE = Decimal("0.005")
MOST_NUMBERS = 50
MOST_WORDS_BESIDE = 3
_CITATION = re.compile(r"\[(?:d\d+:)?L?\d[^\]\n]{0,80}\]")
_DECLARED = re.compile(
    r"\b(?:in|of)\s+(?:(?:USD|US\$|\$|dollars|[A-Z]{3})\s*)?(?P<scale>thousand|million|billion|trillion)s?\b",
    re.IGNORECASE,
)
_SCALES = {"thousand": 3, "million": 6, "billion": 9, "trillion": 12}
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_PUNCTUATION = str.maketrans(dict.fromkeys(string.punctuation + "’‘“”–—", " "))


@dataclass(frozen=True, slots=True)
class Score:
    """`value` from 0 to 1; `kind` says by which rule."""

    value: float
    kind: Literal["number", "text"]


def score(question: str, gold: str, answer: str) -> Score:
    """How well `answer` agrees with `gold`. Citation marks in the answer count for nothing."""
    answer = _CITATION.sub(" ", answer)
    wanted = number_of(gold)
    if wanted is None:
        return Score(_text_score(gold, answer), "text")
    _, found = quantities(answer)
    if len(found) > MOST_NUMBERS:
        return Score(0.0, "number")
    asked, stated = _declared_scales(question)[:1], _declared_scales(answer)
    return Score(float(any(numbers_match(wanted, each, asked, stated) for each in found)), "number")


def number_of(gold: str) -> Number | None:
    """The number that a gold answer is; None when it says more than that."""
    _, numbers = quantities(gold)
    if len(numbers) != 1:
        return None
    number = numbers[0]
    beside = gold[: number.start] + " " + gold[number.end :]
    return number if len(re.findall(r"[^\W\d_]+", beside)) <= MOST_WORDS_BESIDE else None


def numbers_match(
    gold: Number, found: Number, asked_scales: Sequence[int] = (), stated_scales: Sequence[int] = ()
) -> bool:
    """Whether two numbers say the same.

    Scales are powers of ten: what the question asks for holds for a bare gold number; a bare number of the answer may
    be meant in the scale of the gold one or in one that the answer states.
    """
    if gold.is_year or found.is_year:
        return gold.value == found.value and _sign(gold) == _sign(found)
    scale = gold.scale if gold.scale is not None else next(iter(asked_scales), 0)
    wanted = gold.value.scaleb(scale)
    allowed = max(Decimal("0.5").scaleb(scale - gold.places), TOLERANCE * wanted)
    return any(
        abs(sign * value - _sign(gold) * wanted) <= allowed
        for value in _readings(gold, found, (scale, *stated_scales))
        for sign in _signs(found)
    )


def _readings(gold: Number, found: Number, scales: Sequence[int]) -> list[Decimal]:
    """The values that a number may stand for beside gold; none where their units contradict each other."""
    is_rate, found_is_rate = gold.unit in ("%", "points"), found.unit in ("%", "points")
    value = found.value.scaleb(found.scale or 0)
    if is_rate != found_is_rate:
        other = found.unit if is_rate else gold.unit
        if other and other != "x":
            return []
        return [value, value * 100] if is_rate else [value / 100]
    if {gold.unit, found.unit} <= CURRENCY_UNITS and gold.unit != found.unit:
        return []
    return [value] if found.scale is not None or is_rate else [value.scaleb(scale) for scale in (0, *scales)]


def _sign(number: Number) -> int:
    return -1 if number.sign in ("-", "()") else 1


def _signs(number: Number) -> tuple[int, ...]:
    """Statements bracket what flows out, where a question asks for the amount."""
    return (-1, 1) if number.sign == "()" else (_sign(number),)


def _declared_scales(text: str) -> list[int]:
    return [_SCALES[found["scale"].lower()] for found in _DECLARED.finditer(text)]


def _text_score(gold: str, answer: str) -> float:
    wanted, said = _words(gold), _words(answer)
    if not wanted or not said:
        return float(wanted == said)
    if wanted == said or (len(wanted) > 1 and f" {' '.join(wanted)} " in f" {' '.join(said)} "):
        return 1.0
    shared = sum((Counter(wanted) & Counter(said)).values())
    return 2 * shared / (len(wanted) + len(said))


def _words(text: str) -> list[str]:
    return _ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split()
