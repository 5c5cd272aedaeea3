"""The lines of a text, found by offset: no list of strings is kept."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right

_NEWLINE = re.compile("\n")


class Lines:
    """1-indexed lines of a text whose line ends are LF. A final newline starts no further line.

    Holds the text and one offset a line.
    """

    __slots__ = ("_starts", "count", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        starts = array("I" if len(text) < 2**32 else "Q", [0])
        starts.extend(match.end() for match in _NEWLINE.finditer(text))
        if starts[-1] == len(text):
            starts.pop()
        self.count = len(starts)
        starts.append(len(text))
        self._starts = starts

    def start(self, number: int) -> int:
        """Offset of the first character of a line; `count + 1` gives the end of the text."""
        return self._starts[number - 1]

    def number_at(self, offset: int) -> int:
        """The line that holds the character at `offset`."""
        return min(bisect_right(self._starts, offset), self.count)

    def line(self, number: int) -> str:
        """A line without its line end."""
        return self.text[self._starts[number - 1] : self._starts[number]].removesuffix("\n")

    def span(self, first: int, last: int) -> str:
        """Lines first..last joined by LF, without the last line end; clipped, "" when nothing is left."""
        first, last = max(first, 1), min(last, self.count)
        if first > last:
            return ""
        return self.text[self._starts[first - 1] : self._starts[last]].removesuffix("\n")
