"""What stands above a table's row: its head, and the year of each column."""

from __future__ import annotations

import re
from collections.abc import Iterable

from orchestra.document.document import Document
from orchestra.document.grammar import Date, Facts, Number, quantities
from orchestra.document.grammar.agreement import numbers_agree
from orchestra.document.grammar.periods import declared_scales
from orchestra.document.grammar.text import plain

_REACH = 60  # lines above a row in which its table's head may stand
_CAPTION_REACH = 4  # lines above a pipe table in which its scale may be declared
_MANY = 2
# Years side by side at a line's end: "(In millions) 2024 2023", "| Item | FY2024 | FY2023 |".
_YEARS = re.compile(r"(?:^|[\s|])(?:(?:FY\s?)?(?:19|20)[0-9]{2}[\s|*]+){1,11}(?:FY\s?)?(?:19|20)[0-9]{2}[\s|*]*$")
_YEAR = re.compile(r"(?:19|20)[0-9]{2}")


def cells(line: str) -> tuple[Number, ...]:
    """The numbers of a table's row in their order, years left out; empty for a line of prose."""
    _, numbers = quantities(plain(line))
    found = tuple(number for number in numbers if number.is_cell and number.unit not in ("quarter", "half"))
    is_row = len(found) >= _MANY or line.lstrip().startswith("|")
    return tuple(number for number in found if not number.is_year) if is_row else ()


def head_of(document: Document, first: int, last: int) -> tuple[int, ...]:
    """The lines above a table's row among first..last that name its columns' years and its scale; empty for prose.

    For a pipe table the two lines at its top and one close above that declares a scale; for a plain one the nearest
    line of years and the nearest that declares a scale, at most 60 lines up.
    """
    row = next((number for number in range(first, last + 1) if cells(document.line(number))), None)
    if row is None:
        return ()
    if document.line(row).lstrip().startswith("|"):
        return _pipe_head(document, row)
    above = range(row - 1, max(row - _REACH, 1) - 1, -1)
    years = next((number for number in above if years_in(document.line(number))), None)
    scale = next((number for number in above if declared_scales(document.line(number))), None)
    return tuple(sorted({number for number in (years, scale) if number is not None}))


def years_in(line: str) -> tuple[int, ...]:
    """The years of a table's columns, where a line ends with two or more side by side."""
    found = _YEARS.search(line)
    return tuple(int(year) for year in _YEAR.findall(found[0])) if found else ()


def other_year(
    claimed: Facts, places: Iterable[tuple[Document, int, int]], scales: frozenset[int] = frozenset()
) -> str:
    """Why a number belongs to another year than the claim names; "" when nothing says so.

    It does when every line of these places (document, first, last) that holds it is a row whose head tells the
    years of its columns, and the number stands under none that the claim names. A year that the row itself names,
    as in "Notes due 2025", is no column's.
    """
    named = _years(claimed.numbers, claimed.dates)
    lines = [(document, line) for document, first, last in places for line in range(first, last + 1)]
    for number in claimed.numbers if named else ():
        if number.is_year or number.unit in ("quarter", "half"):
            continue
        others: set[int] = set()
        for document, line in lines:
            dates, numbers = quantities(plain(document.line(line)))
            if not any(numbers_agree(number, claimed.text, other, frozenset(), scales) for other in numbers):
                continue
            asked = named - _years(numbers, dates)
            columns = _years_over(document, line, number, claimed.text, scales)
            if not asked or not columns or columns & asked:
                break
            others |= columns
        else:
            if others:
                return f"{number.text} stands under {', '.join(map(str, sorted(others)))} in the table"
    return ""


def _years(numbers: Iterable[Number], dates: Iterable[Date]) -> frozenset[int]:
    bare = frozenset(int(number.value) for number in numbers if number.is_year)
    return bare.union(*(date.years for date in dates))


def _years_over(document: Document, line: int, number: Number, claim: str, scales: frozenset[int]) -> frozenset[int]:
    """The years of the columns in which a row holds a number; none where its head does not tell.

    The head tells when it names exactly as many years as the row has numbers.
    """
    row = cells(plain(document.line(line)))
    heads = (years_in(document.line(above)) for above in head_of(document, line, line))
    years = next((years for years in heads if years), ())
    if len(row) != len(years):
        return frozenset()
    agreeing = (numbers_agree(number, claim, cell, frozenset(), scales) for cell in row)
    return frozenset(year for year, agrees in zip(years, agreeing, strict=True) if agrees)


def _pipe_head(document: Document, row: int) -> tuple[int, ...]:
    top = row
    while top > 1 and document.line(top - 1).lstrip().startswith("|"):
        top -= 1
    above = range(top - 1, max(top - _CAPTION_REACH, 1) - 1, -1)
    caption = [number for number in above if declared_scales(document.line(number))][:1]
    return (*caption, *range(top, min(top + 2, row)))
