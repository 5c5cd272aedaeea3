"""The heads of tables that are set with spaces: the line of years, and above it the title and the unit."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

REACH_LINES, TITLE_LINES, MAX_BLANK_LINES = 70, 6, 2
MAX_CHARACTERS, MAX_OTHER_WORDS, MAX_TITLE_WORDS = 240, 14, 14
_MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?"
    r"|Nov(?:ember)?|Dec(?:ember)?)\.?"
)
_COLUMN = re.compile(
    rf"(?:{_MONTH}\s+\d{{1,2}},\s+)?\b(?:19|20)\d\d\b(?!\s*vs)|(?:%|\bpercent)\s*change\b|(?:\$\s*)?\bchange\b(?:\s*%)?"
    r"|\b(?:increase|decrease)\b(?:\s*/?\s*\(?(?:increase|decrease)\b\)?)?|\b\d\d\s+vs\.?\s+\d\d\b",
    re.IGNORECASE,
)
_YEAR = re.compile(r"(?:19|20)\d\d")
_MONTH_DAY = re.compile(rf"\b{_MONTH}\s+\d{{1,2}},?", re.IGNORECASE)
_BESIDE = re.compile(r"\([^()]*\)|\bQ[1-4]\b|\b(?:Item|Note)\s+\d+", re.IGNORECASE)
_PROSE = re.compile(r"\b(?:and|or|to|from|through|in|of|versus|compared)\b", re.IGNORECASE)
_DAY = rf"{_MONTH}\s+\d{{1,2}}"
_FRAGMENT = re.compile(rf"\s*(?:{_DAY},?|(?:{_DAY},\s+)?(?:19|20)\d\d|{_MONTH})\s*$", re.IGNORECASE)
_UNIT = re.compile(
    r"\(?\s*((?:amounts?|dollars?|u\.s\. dollars?|\$|€|£|shares|figures|unaudited|[\w ]{0,24})[\w ,;/$€£&-]{0,40}"
    r"\b(?:millions?|thousands?|billions?)\b[^()]{0,60})\)?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Head:
    """The columns under which rows stand, on one line or a few. `title` stands above them, `unit` is of the figures."""

    first_position: int
    position: int
    columns: tuple[str, ...]
    title: str
    unit: str
    unit_position: int


class Heads:
    """The heads among some lines, found once. Positions count from 0."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._columns = {at: found for at, line in enumerate(lines) if (found := columns_of(line))}
        stacked = list(_stacked(lines))
        self._columns |= {at: columns for _, at, columns in stacked}
        self._firsts = {at: first for first, at, _ in stacked}
        self._columns |= {at: () for at, line in enumerate(lines) if at not in self._columns and _heads_otherwise(line)}
        self._positions = sorted(self._columns)
        self._made: dict[int, Head] = {}

    def is_head(self, position: int) -> bool:
        return bool(self._columns.get(position))

    def above(self, position: int) -> Head | None:
        """The nearest head above a line, if it is near enough."""
        before = bisect_left(self._positions, position)
        if not before or position - self._positions[before - 1] > REACH_LINES:
            return None
        at = self._positions[before - 1]
        if not self._columns[at]:
            return None
        if at not in self._made:
            self._made[at] = self._head(at)
        return self._made[at]

    def _head(self, at: int) -> Head:
        """The line with what stands right above it: title and unit stand there in a few short lines."""
        first = at
        while first > 0 and at - first < TITLE_LINES and self._may_be_title(first - 1):
            first -= 1
        title = " ".join(self._lines[line].strip() for line in range(first, at + 1) if self._lines[line].strip())
        for line in range(at, first - 1, -1):
            if (unit := _UNIT.search(self._lines[line])) and len(self._lines[line]) <= MAX_CHARACTERS:
                return Head(self._firsts.get(at, at), at, self._columns[at], title, " ".join(unit[1].split()), line)
        return Head(self._firsts.get(at, at), at, self._columns[at], title, "", 0)

    def _may_be_title(self, at: int) -> bool:
        line = self._lines[at].strip()
        is_short = len(line.split()) <= MAX_TITLE_WORDS and len(line) <= MAX_CHARACTERS
        return is_short and not line.endswith((".", ";")) and at not in self._columns


def _heads_otherwise(line: str) -> bool:
    """Whether a line of years heads columns of which some are not known: what stands below has no head above it."""
    if len(line) > MAX_CHARACTERS or line.rstrip().endswith((".", ";", ":", ",")):
        return False
    line = _BESIDE.sub(" ", line)
    if _PROSE.search(line):
        return False
    years = len(_YEAR.findall(line))
    return years > 1 and len(line.split()) <= MAX_OTHER_WORDS + years and not re.search(r"\d,\d{3}|\d\.\d", line)


def _stacked(lines: Sequence[str]) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """Heads whose dates stand one below the other, a word or a date a line: first and last line, and columns."""
    run: list[int] = []
    for at, line in enumerate([*lines, "end"]):
        if run and not line.strip() and at - run[-1] <= MAX_BLANK_LINES:
            continue
        if at < len(lines) and _FRAGMENT.match(line):
            run.append(at)
            continue
        if len(run) > 1 and (columns := columns_of(" ".join(lines[one].strip() for one in run))):
            yield run[0], run[-1], columns
        run = []


def columns_of(line: str) -> tuple[str, ...]:
    """The columns that a line of years heads, such as ("2018", "2017", "% change"); empty for any other line."""
    if len(line) > MAX_CHARACTERS or not _YEAR.search(line) or line.rstrip().endswith((".", ";", ":")):
        return ()
    line = _BESIDE.sub(" ", line)
    found = list(_COLUMN.finditer(line))
    years = sum(1 for match in found if _YEAR.search(match[0]))
    if years < 2 or line[found[-1].end() :].strip(" *()"):
        return ()
    rest = _MONTH_DAY.sub(" ", _COLUMN.sub(" ", line))
    between = (line[one.end() : other.start()] for one, other in pairwise(found))
    if re.search(r"\d", rest) or len(rest.split()) > MAX_OTHER_WORDS or any(_PROSE.search(gap) for gap in between):
        return ()
    return tuple(" ".join(match[0].split()) for match in found)
