"""The lines of a few places as a table that phrases can be looked up in."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

from orchestra.document.document import Document
from orchestra.document.retrieval.hits import Place
from orchestra.document.search import LexicalIndex
from orchestra.document.titles import is_contents_row, is_prose, without_stray_letter

_FIGURE = re.compile(r"[$€£¥]?\s?\(?[$€£¥]?\d[\d,.]*\)?\s?[%x]?\s*\|?\s*$|\d[\d,.]*\)?%?\s+[-–—]+$")
_ALIKE = 0.8  # of the lines of two places are the same
_INTRO_REACH = 12  # lines
_ROW_END = 40  # characters in which a row's last figure stands
_LONGEST_LINE = 2000  # characters of a line that are looked at


@dataclass(frozen=True, slots=True)
class Line:
    """A line with text: the number of its place, its own, and what it is: text, a row with figures, or of contents.

    `intro` is the position of the line before it that announces it, or its table's heads; -1 where there is none.
    """

    place: int
    number: int
    text: str
    is_row: bool
    is_contents: bool
    intro: int


class LineTable:
    """The lines with text of some places, in order."""

    def __init__(self, places: Iterable[tuple[int, Document, Place]]) -> None:
        self.lines: list[Line] = []
        shown: list[tuple[str]] = []
        for row, document, place in places:
            above, intro = "", -1
            for number in range(place.first_line, place.last_line + 1):
                text = without_stray_letter(document.line(number)[:_LONGEST_LINE].strip())
                if not text or number in document.running_heads:
                    continue
                is_contents = is_contents_row(text)
                is_row = not is_contents and _is_row(text)
                if len(self.lines) - intro > _INTRO_REACH:
                    intro = -1
                self.lines.append(Line(row, number, text, is_row, is_contents, intro))
                if not is_row and text.endswith((":", "|")):
                    intro = len(self.lines) - 1
                shown.append((f"{above}\n{text}" if is_row and text[:1].islower() else text,))
                above = "" if is_row else text
        self._index = LexicalIndex(shown, ("body",))
        self._found: dict[str, frozenset[int]] = {}

    def holders(self, phrases: Iterable[str]) -> frozenset[int]:
        """Positions in `lines` of those that hold one of some phrases."""
        found: frozenset[int] = frozenset()
        for phrase in phrases:
            if phrase not in self._found:
                self._found[phrase] = frozenset(self._index.frequencies(phrase, {"body": 1.0}))
            found |= self._found[phrase]
        return found

    def labelled(self, labels: Iterable[str]) -> dict[int, int]:
        """For each place, how many of some labels stand on its rows with figures."""
        counts: dict[int, int] = {}
        for label in labels:
            for place in {self.lines[at].place for at in self.holders([label]) if self.lines[at].is_row}:
                counts[place] = counts.get(place, 0) + 1
        return counts

    def alike(self) -> dict[int, frozenset[int]]:
        """For each place, those that print nearly the same lines."""
        texts: dict[int, set[str]] = {}
        for line in self.lines:
            texts.setdefault(line.place, set()).add(line.text)
        return {
            place: frozenset(
                other
                for other, there in texts.items()
                if other != place and len(own & there) >= _ALIKE * max(len(own), len(there))
            )
            for place, own in texts.items()
        }

    def rarity(self, holders: int) -> float:
        return math.log1p((len(self.lines) - holders + 0.5) / (holders + 0.5))


def _is_row(text: str) -> bool:
    return bool(_FIGURE.search(text[-_ROW_END:])) and not is_prose(text)
