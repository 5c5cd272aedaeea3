"""Quarters, halves and fiscal years, and the scale that a text declares for its bare numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal

from orchestra.document.grammar.numbers import CODES, FIRST_YEAR, LAST_YEAR, SYMBOLS, Number, any_of
from orchestra.document.grammar.words import ORDINALS, SCALE_LETTERS, SCALE_WORDS

_YEAR = r"(?:\s?(?:FY\s?)?['’]?(?P<year>20[0-9]{2}|[0-9]{2})(?![\w%]|[.,][0-9]))?"
_ORDINAL = rf"\b(?P<word>{any_of(ORDINALS)})[\s-]+(?:fiscal[\s-]+)?"

# (unit, pattern): the named groups are a digit, a word or a year.
_RULES: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (unit, re.compile(pattern, re.IGNORECASE))
    for unit, pattern in (
        ("quarter", rf"(?<![\w$])Q(?P<digit>[1-4]){_YEAR}(?!\w)"),
        ("quarter", rf"(?<![\w$])(?P<digit>[1-4])Q{_YEAR}(?!\w)"),
        ("quarter", rf"{_ORDINAL}quarters?\b"),
        ("half", rf"(?<![\w$])H(?P<digit>[12]){_YEAR}(?!\w)"),
        ("half", rf"(?<![\w$])(?P<digit>[12])H{_YEAR}(?!\w)"),
        ("half", rf"{_ORDINAL}half\b"),
        ("", r"(?<!\w)(?:FY|CY|F)\s?['’]?(?P<year>[12][0-9]{3}|[0-9]{2})(?![\w%]|[.,][0-9])"),
        ("", r"(?<!\w)(?<!\w\s)['’](?P<year>[0-9]{2})(?![\w%]|[.,][0-9])"),
        ("", r"(?<![\w.,$€£/-])(?P<first>(?:19|20)[0-9]{2})\s?[-–/]\s?(?P<year>[0-9]{2})(?![\w%/-]|[.,][0-9])"),
    )
)
_SCALE_WORD = re.compile(r"\b(thousand|million|billion|trillion)s?\b", re.IGNORECASE)
_DECLARES = re.compile(
    rf"(?:\b(?:in|of)\s+|\(|(?:{SYMBOLS})\s?|\b(?:{CODES})\s+(?:in\s+)?)(?:[A-Za-z.]+\s+){{0,2}}?$", re.IGNORECASE
)
_DECLARES_LENGTH = 40
_SHORT_SCALE = re.compile(rf"(?:{SYMBOLS})\s?(?P<letter>{any_of(SCALE_LETTERS)})\b|[$€£'’]\s?000s?\b", re.IGNORECASE)


def find_periods(text: str) -> Iterator[Number]:
    """Q3 2024, 3Q24, third quarter, H1, FY18, '18, and the end of 2017-18: as numbers of a unit, years as years."""
    for unit, pattern in _RULES:
        for match in pattern.finditer(text):
            parts = match.groupdict()
            value = int(parts.get("digit") or 0) or ORDINALS.get((parts.get("word") or "").lower(), 0)
            if value:
                yield Number(match[0], match.start(), match.end(), Decimal(value), unit=unit)
            digits = parts.get("year")
            if not digits:
                continue
            year = int(digits) if len(digits) == 4 else 2000 + int(digits)
            if FIRST_YEAR <= year <= LAST_YEAR:
                start = match.start("year") if parts.get("first") else match.start()
                yield Number(text[start : match.end()], start, match.end(), Decimal(year))


def declared_scales(text: str) -> frozenset[int]:
    """The powers of ten that a text states for its bare numbers: "(in millions)", "$000s"."""
    scales: set[int] = set()
    for match in _SCALE_WORD.finditer(text):
        if _DECLARES.search(text, max(0, match.start() - _DECLARES_LENGTH), match.start()):
            scales.add(SCALE_WORDS[match[1].lower()])
    for match in _SHORT_SCALE.finditer(text):
        scales.add(SCALE_LETTERS[match["letter"].lower()] if match["letter"] else 3)
    return frozenset(scales)
