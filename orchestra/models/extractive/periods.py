"""Periods as questions write them ("FY2018", "FY21", "2QFY24", "2016 to 2018") in the words that texts use."""

from __future__ import annotations

import re

_FISCAL = re.compile(r"\bFY\s*['’]?(?P<year>(?:19|20)?\d\d)\b", re.IGNORECASE)
_FISCAL_QUARTER = re.compile(r"\b(?:(?P<before>[1-4])Q|Q(?P<after>[1-4]))(?=\b|FY|\d)", re.IGNORECASE)
_SPAN = re.compile(r"\b((?:19|20)\d\d)\s*(?:-|–|—|to|through|until)\s*((?:19|20)\d\d)\b")
_ORDINALS = ("first", "second", "third", "fourth")
LONGEST_SPAN = 12


def spelt_out(question: str) -> str:
    """The question with fiscal years in four digits, quarters in words and each year of a span."""
    text = _FISCAL_QUARTER.sub(_quarter_of, question)
    text = _FISCAL.sub(lambda match: match["year"] if len(match["year"]) == 4 else f"20{match['year']}", text)
    return _SPAN.sub(_years_of, text)


def _quarter_of(match: re.Match[str]) -> str:
    return f"{_ORDINALS[int(match['before'] or match['after']) - 1]} quarter "


def _years_of(match: re.Match[str]) -> str:
    first, last = int(match[1]), int(match[2])
    if not first < last <= first + LONGEST_SPAN:
        return match[0]
    return ", ".join(map(str, range(first, last + 1)))
