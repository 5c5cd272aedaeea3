"""When a number of the source holds a number of a claim: value, scale, unit and rounding."""

from __future__ import annotations

import re
from decimal import Decimal

from orchestra.document.grammar.numbers import Number
from orchestra.document.grammar.words import (
    CURRENCY_UNITS,
    DOLLARS,
    ROUND_ABOUT,
    ROUND_DOWN,
    ROUND_UP,
)

_RATES = frozenset({"%", "points"})
_PERIODS = frozenset({"quarter", "half", "ordinal"})
_GUESSED_SCALES = frozenset({3, 6, 9, 12})  # a table may state its numbers in any of these without saying so here
_REACH = 24  # characters before a number in which a word may say that it is rounded
_LAST_WORD = re.compile(r"(?:([\w-]+)|([~≈<>]))\s*$")


def numbers_agree(
    claim: Number, claim_text: str, source: Number, claim_scales: frozenset[int], source_scales: frozenset[int]
) -> bool:
    """Whether the source's number is the claim's, or rounds to it at the precision that the claim is written with.

    `claim_scales` and `source_scales` are the powers of ten that the texts declare for bare numbers. A claim that
    names its scale is also held by the same digits in a table's cell without one: $1.2 billion by 1,200.
    """
    return units_agree(claim, source) and _values_agree(claim, claim_text, source, claim_scales, source_scales)


def units_agree(claim: Number, source: Number) -> bool:
    """The unit that a claim states must be the source's, or left open by it; a claim may leave out the unit."""
    if claim.unit == source.unit:
        return True
    if claim.unit in _PERIODS or source.unit in _PERIODS:
        return False
    if not claim.unit:
        return True
    if not source.unit:
        return source.is_open and not source.is_year
    pair = {claim.unit, source.unit}
    return "$" in pair and pair <= DOLLARS


def tolerance(claim: Number, text: str) -> tuple[Decimal, Decimal]:
    """How far below and above the claim's digits a source may lie and still round to them.

    Half a unit of the last digit, for a number with decimals, a scale or a unit of money or percent. After "about",
    the zeros at the end count as rounded too; after "over" the source may only lie above, after "under" below.
    A bare whole number must be met exactly.
    """
    digit = Decimal(1).scaleb(-claim.places)
    hedge = _hedge(claim, text)
    if hedge:
        digit = max(digit, Decimal(1).scaleb(_trailing_zeros(claim.value)))
    elif not claim.places and claim.scale is None and claim.unit not in CURRENCY_UNITS | _RATES | {"x"}:
        return Decimal(0), Decimal(0)
    if hedge == "over":
        return Decimal(0), digit
    if hedge == "under":
        return digit, Decimal(0)
    return digit / 2, digit / 2


def leading_digits(value: Decimal) -> int:
    """The first two digits of a number, 10 to 99, whatever its power of ten; 0 for zero."""
    first, *rest = value.normalize().as_tuple().digits
    return 10 * first + (rest[0] if rest else 0)


def leading_digits_that_fit(claim: Number, text: str) -> frozenset[int]:
    """The first two digits that a number must have to agree with the claim's."""
    below, above = tolerance(claim, text)
    low, high = claim.value - below, claim.value + above
    if low <= 0 or high.adjusted() > low.adjusted() + 1:
        return frozenset(range(100))
    first, last = leading_digits(low), leading_digits(high)
    if high.adjusted() == low.adjusted():
        return frozenset(range(first, last + 1))
    return frozenset((*range(first, 100), *range(10, last + 1)))


def _values_agree(
    claim: Number, text: str, source: Number, claim_scales: frozenset[int], source_scales: frozenset[int]
) -> bool:
    below, above = tolerance(claim, text)
    if _RATES & {claim.unit, source.unit}:
        claim_scales = source_scales = frozenset[int]()
    ours = {0} | claim_scales if claim.scale is None else {claim.scale}
    for our_scale in ours:
        for their_scale in _scales(claim, source, source_scales):
            difference = source.value.scaleb(their_scale - our_scale) - claim.value
            if difference == 0 or -below <= difference <= above:
                return True
    return False


def _scales(claim: Number, source: Number, declared: frozenset[int]) -> frozenset[int]:
    """The powers of ten by which the source's digits may be read."""
    if source.scale is not None:
        return frozenset({source.scale})
    if source.is_year:
        return frozenset({0})
    if claim.unit in _RATES:
        # a column of basis points or of points shows bare numbers
        return frozenset({0, claim.scale or 0}) if not source.unit else frozenset({0})
    is_one_digit = source.value < 10 and not source.places
    if declared or claim.scale is None or not source.is_open or is_one_digit:
        return frozenset({0}) | declared
    return frozenset({0}) | _GUESSED_SCALES


def _hedge(number: Number, text: str) -> str:
    before = text[max(0, number.start - _REACH) : number.start].lower()
    last = _LAST_WORD.search(before)
    if last and (last[1] or last[2]) in ROUND_ABOUT:
        return "about"
    stripped = before.rstrip()
    if stripped.endswith(ROUND_DOWN):
        return "over"
    return "under" if stripped.endswith(ROUND_UP) else ""


def _trailing_zeros(value: Decimal) -> int:
    """Zeros at the end of a whole number, at most all digits but the first."""
    digits = str(int(value)) if value == int(value) else ""
    return min(len(digits) - len(digits.rstrip("0")), max(len(digits) - 1, 0))
