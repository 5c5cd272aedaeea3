"""What must stand with a table's row for its figures to be read: the heads of its columns, their scale, its group.

Found by what lines look like, since a table out of a PDF is lines of words and figures: upward from the row, inside
the same page or section, to the nearest line of years, dates or periods, never past running text. A wrong head would
be worse than none, so where the lines do not tell, the line over the block of rows is all there is.
"""

from __future__ import annotations

import re

from orchestra.document.citing.columns import cells, head_of, years_in
from orchestra.document.document import Document
from orchestra.document.grammar.periods import declared_scales

_REACH = 60  # lines above a row
_LONGEST_HEAD = 160  # characters
_MOST_HEAD = 200  # characters of one head; some stand a word a line
_SCALE_REACH = 16  # lines above a head
_GROUP_REACH = 5
_FEWEST_WORDS = 10  # of a line of running text

_MONTH = r"(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]*\.?"
_PERIOD = re.compile(
    rf"\b(?:(?:FY)?(?:19|20)\d\d|{_MONTH}\s+\d{{1,2}}\b|{_MONTH}$|months?|weeks?|quarters?|q[1-4]|first|second|third"
    r"|fourth|years?|fiscal|(?:year-)?to-date|change|as of)\b",
    re.IGNORECASE,
)
_FIGURE = re.compile(r"[$€£(]?-?\d[\d,.]*\)?%?")
_YEAR = re.compile(r"(?:FY)?(?:19|20)\d\d[,.]?")
_DAY = re.compile(r"[0-3]?\d,?")
_RULER = re.compile(r"[|\s:=+-]*")  # between the head and the rows of a pipe table
_SHORT_LABEL = re.compile(r"[^\d$€£|]{0,16}[\d$€£(]")


def heads_of(document: Document, number: int, first: int) -> tuple[int, ...]:
    """The lines from `first` on that a table's row needs beside it, in order; () for what is no row."""
    if not cells(document.line(number)):
        return ()
    if document.line(number).lstrip().startswith("|"):
        found = [line for line in head_of(document, number, number) if line >= first]
        return tuple(line for line in found if not is_ruler(document, line))
    heads = _plain_heads(document, number, first)
    group = _group(document, number, max(first, heads[-1] + 1 if heads else first))
    return (*heads, *([group] if group else []))


def is_head(document: Document, number: int) -> bool:
    """Whether a line only names the columns of a table."""
    text = document.line(number)
    if len(text) > _LONGEST_HEAD:
        return False
    if text.lstrip().startswith("|"):
        return is_ruler(document, number + 1)
    return bool(years_in(text)) and not cells(text)


def is_ruler(document: Document, number: int) -> bool:
    """Whether a line only parts the head of a pipe table from its rows."""
    if number > document.line_count:
        return False
    text = document.line(number)[: 4 * _LONGEST_HEAD]
    return "-" in text and "|" in text and _RULER.fullmatch(text) is not None


def _plain_heads(document: Document, number: int, first: int) -> tuple[int, ...]:
    block_top = 0  # the line right over the rows that stand together with this one
    for line in range(number - 1, max(first, number - _REACH) - 1, -1):
        text = document.line(line)[: 2 * _LONGEST_HEAD].strip()
        if not text:
            continue
        if _names_columns(text):
            return _whole_head(document, line, first)
        if _runs_on(text):
            return (line,) if declared_scales(text) else (block_top,) if block_top else ()
        if not block_top and not any(_FIGURE.fullmatch(word) for word in text.split()[-1:]):
            block_top = line
    return (block_top,) if block_top else ()


def _whole_head(document: Document, line: int, first: int) -> tuple[int, ...]:
    """A line of years or periods with the lines of the same head over it, and the line that declares a scale."""
    heads, room = [line], _MOST_HEAD
    for above in range(line - 1, max(first, line - _SCALE_REACH) - 1, -1):
        text = document.line(above)[: 2 * _LONGEST_HEAD].strip()
        if not text:
            continue
        is_scale = bool(declared_scales(text))
        room -= len(text)
        if is_scale or (room >= 0 and _names_columns(text)):
            heads.append(above)
        if is_scale or _runs_on(text) or cells(text):
            break
    return tuple(sorted(heads))


def _names_columns(text: str) -> bool:
    """A short line that speaks of years, dates or periods and holds no other figures."""
    if len(text) > _LONGEST_HEAD or text.endswith((".", ";")) or not _PERIOD.search(text) or _runs_on(text):
        return False
    if years_in(text) and not cells(text):
        return True
    figures = [word for word in text.split() if _FIGURE.fullmatch(word)]
    if not all(_YEAR.fullmatch(word) or _DAY.fullmatch(word) for word in figures):
        return False
    return len(_PERIOD.findall(text)) * 4 >= len(text.split())


def _runs_on(text: str) -> bool:
    """Running text: long, without a figure at its end; a row's long label is no longer than a line of it."""
    words = text.split()
    return len(words) >= _FEWEST_WORDS and not _FIGURE.fullmatch(words[-1]) and (len(text) > 110 or text[-1] == ".")


def _group(document: Document, number: int, first: int) -> int | None:
    """The line above a short row that it is part of, as in "Earnings per share:" above "Basic 1.20 1.10"."""
    if not _SHORT_LABEL.match(document.line(number).strip()):
        return None
    for line in range(number - 1, max(first, number - _GROUP_REACH) - 1, -1):
        text = document.line(line).strip()
        if text.endswith(":") and len(text) <= _LONGEST_HEAD:
            return line
    return None
