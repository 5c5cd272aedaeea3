"""Numbers that a claim works out from numbers its lines hold: sums, differences, ratios, changes, averages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import combinations, permutations

from orchestra.document.citing.wording import stems
from orchestra.document.grammar import Facts, Number, quantities
from orchestra.document.grammar.agreement import numbers_agree, tolerance
from orchestra.document.grammar.periods import declared_scales
from orchestra.document.grammar.words import DECREASE, INCREASE, words_of

MAX_ROWS = 8  # lines considered, those first whose words the claim shares
MAX_ROW_NUMBERS = 12  # numbers of a line
MAX_TERMS = 4  # numbers in one sum or average
# Among many numbers some pair fits by chance: a search that expects more chance fits than this is not begun.
MAX_CHANCE = 0.2

_CHANGE = INCREASE | DECREASE | words_of("change changed changes delta")
_DIFFERENCE = _CHANGE | words_of("difference gap more less fewer exceeds exceeded net spread")
_SUM = words_of("total totals totaled totalled totaling combined together sum aggregate plus")
_AVERAGE = words_of("average averaged averages averaging mean")
_SHARE = words_of(
    "share margin margins proportion ratio rate represents represented accounted accounts accounting made makes"
    " percentage portion yield contributed"
)
_SHARE_OF = re.compile(r"(?:%|percent|per cent)\s+of\b")
_RATIO = words_of("ratio times multiple turnover per divided coverage fold")
_PRODUCT = words_of("multiplied product")
_FORMULA = re.compile(r"[\d%)]\s*([-−–+×*/÷])\s*[($€£]*\d[^=\n]{0,30}=")
_SIGNS = {"+": "sum", "×": "product", "*": "product", "/": "ratio", "÷": "ratio"}  # any other is a minus
_WORD = re.compile(r"[a-z]+")
_HUNDRED = Decimal(100)


@dataclass(frozen=True, slots=True)
class _Operand:
    number: Number
    value: Decimal  # with its sign, and with its scale where that is written
    row: int
    column: int
    overlap: int  # words that its line shares with the claim
    is_stated: bool  # the claim names it too


@dataclass(frozen=True, slots=True)
class _Result:
    value: Decimal
    unit: str
    is_scaled: bool
    formula: str
    is_change: bool = False


def derivation(number: Number, claimed: Facts, source: str, source_scales: frozenset[int]) -> str:
    """How the number follows from numbers of the source, as a formula; "" when no way is found.

    The claim's words, or a formula that it writes out, say which operations are tried: "total" sums, "increase"
    differences and, for a percentage, changes, "average" averages, "margin" or "% of" shares, "ratio" ratios,
    "product" products. Numbers are combined along a line or a column, or where the claim names both. First numbers
    that the claim names are tried, then lines that share its words, then all. The result must round to the number as
    the claim writes it.
    """
    operands = _operands(claimed, source)
    stated = [operand for operand in operands if operand.is_stated]
    best = max((operand.overlap for operand in operands), default=0)
    near = [operand for operand in operands if operand.is_stated or (best and operand.overlap == best)]
    words = frozenset(_WORD.findall(claimed.text.lower())) | _written_operations(claimed.text)
    for tier in (stated, near, operands):
        results = list(_results(number, claimed.text.lower(), words, tier))
        if len(results) * _chance(number, claimed.text) > MAX_CHANCE:
            return ""
        for result in results:
            if _fits(result, number, claimed.text, words, source_scales):
                return f"{result.formula} = {number.text}"
    return ""


def _written_operations(text: str) -> frozenset[str]:
    """The operations of formulas in a text, such as "7,453 - 5,175 = 2,278", as words."""
    return frozenset(_SIGNS.get(sign, "difference") for sign in _FORMULA.findall(text))


def _operands(claimed: Facts, source: str) -> list[_Operand]:
    """The numbers of the lines that share most words with the claim, in the order of the text."""
    wanted = stems(claimed.text)
    claim_scales, source_scales = declared_scales(claimed.text), declared_scales(source)
    rows: list[tuple[int, int, tuple[Number, ...]]] = []
    for row, line in enumerate(source.split("\n")):
        numbers = tuple(number for number in quantities(line)[1] if _can_be_combined(number))
        if numbers:
            rows.append((len(wanted & stems(line)), row, numbers[:MAX_ROW_NUMBERS]))
    chosen = sorted(sorted(rows, key=lambda entry: -entry[0])[:MAX_ROWS], key=lambda entry: entry[1])
    return [
        _Operand(
            number=number,
            value=(-number.value if number.sign in ("-", "()") else number.value).scaleb(number.scale or 0),
            row=row,
            column=column - len(numbers),  # from the right: labels may hold numbers too
            overlap=overlap,
            is_stated=any(
                numbers_agree(stated, claimed.text, number, claim_scales, source_scales) for stated in claimed.numbers
            ),
        )
        for overlap, row, numbers in chosen
        for column, number in enumerate(numbers)
    ]


def _can_be_combined(number: Number) -> bool:
    return not number.is_year and number.unit not in ("quarter", "half", "ordinal")


def _results(number: Number, text: str, words: frozenset[str], operands: Sequence[_Operand]) -> Iterator[_Result]:
    """What the operations that the claim's words allow make of the operands."""
    pairs = [(a, b) for a, b in permutations(operands, 2) if _may_combine(a, b)]
    if number.unit == "%":
        changes = words & _CHANGE
        if changes:
            yield from (_change(a, b) for a, b in pairs if a.value * b.value > 0)
            # "The margin fell by 2%" for two points is common; the formula shows what was meant.
            yield from (_difference(a, b, "%") for a, b in pairs if a.number.unit == b.number.unit == "%")
        if words & _SHARE or _SHARE_OF.search(text) or not changes:
            yield from (_quotient(a, b, "%") for a, b in pairs if b.value)
    if number.unit == "x" or (not number.unit and words & _RATIO):
        yield from (_quotient(a, b, "x") for a, b in pairs if b.value)
    if words & _DIFFERENCE and number.unit not in ("%", "x"):
        yield from (_difference(a, b, "points") for a, b in pairs if abs(a.value) > abs(b.value))
    if words & _PRODUCT:
        yield from (_product(a, b) for a, b in pairs if (a.row, a.column) < (b.row, b.column))
    if words & (_SUM | _AVERAGE):
        for terms in _term_groups(operands):
            if words & _SUM:
                yield _sum(terms)
            if words & _AVERAGE:
                yield _average(terms)


def _may_combine(a: _Operand, b: _Operand) -> bool:
    """Along a line or a column, or both named by the claim; of one kind, and both with a written scale or neither."""
    is_near = a.row == b.row or a.column == b.column or (a.is_stated and b.is_stated)
    has_one_scale = (a.number.scale is None) == (b.number.scale is None) or not a.value or not b.value
    has_one_unit = a.number.unit == b.number.unit or any(not one.unit and one.is_open for one in (a.number, b.number))
    return is_near and has_one_scale and has_one_unit


def _term_groups(operands: Sequence[_Operand]) -> Iterator[tuple[_Operand, ...]]:
    lines = [
        [operand for operand in operands if getattr(operand, axis) == place]
        for axis in ("row", "column")
        for place in sorted({getattr(operand, axis) for operand in operands})
    ]
    stated = [operand for operand in operands if operand.is_stated]
    seen: set[tuple[_Operand, ...]] = set()
    for line in (*lines, stated):
        for count in range(2, MAX_TERMS + 1):
            for terms in combinations(line, count):
                if terms not in seen and all(_may_combine(terms[0], term) for term in terms[1:]):
                    seen.add(terms)
                    yield terms


def _unit(terms: Sequence[_Operand]) -> str:
    return next((term.number.unit for term in terms if term.number.unit), "")


def _is_scaled(terms: Sequence[_Operand]) -> bool:
    return any(term.number.scale is not None for term in terms)


def _sum(terms: Sequence[_Operand]) -> _Result:
    formula = " + ".join(term.number.text for term in terms)
    return _Result(sum((term.value for term in terms), Decimal(0)), _unit(terms), _is_scaled(terms), formula)


def _average(terms: Sequence[_Operand]) -> _Result:
    total = _sum(terms)
    return _Result(total.value / len(terms), total.unit, total.is_scaled, f"({total.formula}) / {len(terms)}")


def _difference(a: _Operand, b: _Operand, of_percentages: str) -> _Result:
    unit = _unit((a, b))
    formula = f"{a.number.text} - {b.number.text}"
    value = abs(a.value) - abs(b.value)  # tables show costs in brackets, and claims compare their sizes
    return _Result(value, of_percentages if unit == "%" else unit, _is_scaled((a, b)), formula)


def _product(a: _Operand, b: _Operand) -> _Result:
    return _Result(a.value * b.value, _unit((a, b)), _is_scaled((a, b)), f"{a.number.text} x {b.number.text}")


def _quotient(a: _Operand, b: _Operand, unit: str) -> _Result:
    value = a.value / b.value
    return _Result(value * _HUNDRED if unit == "%" else value, unit, True, f"{a.number.text} / {b.number.text}")


def _change(new: _Operand, old: _Operand) -> _Result:
    value = (abs(new.value) - abs(old.value)) / abs(old.value) * _HUNDRED
    formula = f"({new.number.text} - {old.number.text}) / {old.number.text}"
    return _Result(value, "%", True, formula, is_change=True)


def _fits(result: _Result, number: Number, text: str, words: frozenset[str], scales: frozenset[int]) -> bool:
    """Whether the result rounds to the number; a change also has to go the way that the claim says."""
    if result.is_change and result.value * _way(number, words) < 0:
        return False
    value = abs(result.value)
    computed = Number(
        text=f"{value:,f}", start=0, end=0, value=value, scale=0 if result.is_scaled else None, unit=result.unit
    )
    return numbers_agree(number, text, computed, declared_scales(text), scales)


def _way(number: Number, words: frozenset[str]) -> int:
    rises, falls = bool(words & INCREASE), bool(words & DECREASE) or number.sign == "-"
    return rises - falls


def _chance(number: Number, text: str) -> float:
    """The chance that a result in no relation to the number rounds to it: the width that rounds, of the usual range."""
    below, above = tolerance(number, text)
    width = max(below + above, Decimal(1).scaleb(-number.places))
    if number.unit in ("%", "points"):
        return float(width.scaleb(number.scale or 0) / _HUNDRED)
    return float(width / max(number.value, Decimal(1)))
