"""Dates in common English forms."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from orchestra.document.grammar.text import mask
from orchestra.document.grammar.words import MONTHS

# (year, month, day); None where the text does not say.
Reading = tuple[int | None, int, int | None]


@dataclass(frozen=True, slots=True)
class Date:
    """A day, a month of a year, or a day of a month. 03/04/2024 has two readings."""

    text: str
    start: int
    end: int
    readings: tuple[Reading, ...]

    @property
    def years(self) -> frozenset[int]:
        return frozenset(year for year, _, _ in self.readings if year is not None)


_MONTH_FORMS = sorted({form for name in MONTHS for form in (name.capitalize(), name.upper())}, key=len, reverse=True)
_MONTH = rf"(?P<month>{'|'.join(_MONTH_FORMS)})\b\.?"
_DAY = r"(?P<day>[0-3]?[0-9])(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>(?:1[5-9]|2[01])[0-9]{2})"
_STARTS = r"(?<![\w.$€£/-])"
_ENDS = r"(?![\w/]|[.,-][0-9])"


def _named(match: re.Match[str]) -> tuple[Reading, ...]:
    parts = match.groupdict()
    year, day = parts.get("year"), parts.get("day")
    return ((int(year) if year else None, MONTHS[parts["month"].lower()], int(day) if day else None),)


def _iso(match: re.Match[str]) -> tuple[Reading, ...]:
    return ((int(match["year"]), int(match["number"]), int(match["day"])),)


def _slashed(match: re.Match[str]) -> tuple[Reading, ...]:
    """Month first and day first: the text does not say which."""
    year, one, two = int(match["year"]), int(match["one"]), int(match["two"])
    return ((year, one, two), (year, two, one))


# (name, pattern, reading): the longer forms first, for each takes its text from those below it.
_RULES: tuple[tuple[str, re.Pattern[str], Callable[[re.Match[str]], tuple[Reading, ...]]], ...] = tuple(
    (name, re.compile(_STARTS + pattern + _ENDS), read)
    for name, pattern, read in (
        ("March 3, 2024", rf"{_MONTH}\s+{_DAY}\s*,?\s+{_YEAR}", _named),
        ("3 March 2024", rf"{_DAY}\s+(?:of\s+)?{_MONTH},?\s+{_YEAR}", _named),
        ("2024-03-03", rf"{_YEAR}(?P<sep>[-/.])(?P<number>[01]?[0-9])(?P=sep)(?P<day>[0-3]?[0-9])", _iso),
        ("3/3/2024", rf"(?P<one>[0-3]?[0-9])(?P<sep>[/.])(?P<two>[0-3]?[0-9])(?P=sep){_YEAR}", _slashed),
        ("March 2024", rf"{_MONTH},?\s+{_YEAR}", _named),
        ("March 3", rf"{_MONTH}\s+{_DAY}(?!\s*%)", _named),
        ("3 March", rf"{_DAY}\s+(?:of\s+)?{_MONTH}", _named),
    )
)


def find_dates(text: str) -> Iterator[Date]:
    """The dates of a text, rule by rule; an impossible day or month is no date."""
    for _, pattern, read in _RULES:
        taken: list[tuple[int, int]] = []
        for match in pattern.finditer(text):
            readings = tuple(reading for reading in read(match) if _is_possible(reading))
            if readings:
                taken.append(match.span())
                yield Date(match[0], *match.span(), readings)
        text = mask(text, taken)


def same_date(claim: Date, source: Date, years: frozenset[int]) -> bool:
    """Whether the source's date says what the claim's does, or more.

    A source that names a day without a year, as a table's head does, takes any of `years` that stand beside it.
    """
    return any(_covers(ours, theirs, years) for ours in claim.readings for theirs in source.readings)


def _covers(ours: Reading, theirs: Reading, years: frozenset[int]) -> bool:
    year, month, day = ours
    their_year, their_month, their_day = theirs
    if month != their_month or day not in (None, their_day):
        return False
    return year is None or year == their_year or (their_year is None and year in years)


def _is_possible(reading: Reading) -> bool:
    _, month, day = reading
    return 1 <= month <= 12 and (day is None or 1 <= day <= 31)
