"""Which way a number goes: by its sign, or by the words beside it."""

from __future__ import annotations

import re
from itertools import zip_longest

from orchestra.document.grammar.numbers import Number
from orchestra.document.grammar.words import DECREASE, INCREASE, NEGATIVE, OUTFLOW

# "up to 5" is a bound, not a rise.
_BOUNDARY = re.compile(
    r"[.;:()|]\s|[;:()|]|,\s|\bup\s+to\b|\b(?:while|whereas|but|although|though|offset|despite)\b", re.IGNORECASE
)
_WORD = re.compile(r"[a-z][a-z'-]*")
_BRACKETED = re.compile(r"\([^()]*\)")
_REACH = 60  # characters on each side
_LINE_REACH = 300  # characters of the number's own line on each side
_WORDS_BEFORE, _WORDS_AFTER = 6, 3


def signs_agree(claim: Number, claim_text: str, source: Number, source_text: str) -> bool:
    """Whether two equal numbers go the same way, as far as both say.

    A sum told without its sign ("net loss of $5 million", "paid dividends of 12") may be shown with one, beside
    words for a loss or an outflow. "Increased by 5" against "decreased by 5" is a contradiction.
    """
    ours, theirs = _direction(claim, claim_text), _direction(source, source_text)
    label = _words_beside(source, source_text)
    if _is_minus(source):
        if ours < 0 or (claim.sign == "()" and not claim.is_cell):
            return True
        told = set(_WORD.findall(claim_text.lower()))
        return bool(told & (NEGATIVE | OUTFLOW) or label & (OUTFLOW | INCREASE))
    if _is_minus(claim):
        return theirs < 0 or bool(label & NEGATIVE)
    return not ours * theirs < 0


def _is_minus(number: Number) -> bool:
    """A minus, or brackets in a table; brackets in a sentence set an aside apart."""
    return number.sign == "-" or (number.sign == "()" and number.is_cell)


def _direction(number: Number, text: str) -> int:
    """-1, 0 or 1: the written sign, else the nearest word for a rise or a fall in the same clause."""
    if _is_minus(number):
        return -1
    if number.sign == "+":
        return 1
    left = _BOUNDARY.split(text[max(0, number.start - _REACH) : number.start].lower())[-1]
    right = _BOUNDARY.split(text[number.end : number.end + _REACH].lower())[0]
    before, after = _WORD.findall(left)[::-1][:_WORDS_BEFORE], _WORD.findall(right)[:_WORDS_AFTER]
    for pair in zip_longest(before, after, fillvalue=""):
        for word in pair:
            if word in INCREASE or word in DECREASE:
                return 1 if word in INCREASE else -1
    return 0


def _words_beside(number: Number, text: str) -> set[str]:
    """The words on the number's own line, without what stands in brackets: "Income (loss)" is no loss."""
    before = text[max(0, number.start - _LINE_REACH) : number.start].rpartition("\n")[2]
    after = text[number.end : number.end + _LINE_REACH].partition("\n")[0]
    line = f"{before} {after}"
    return set(_WORD.findall(_BRACKETED.sub(" ", line.lower())))
