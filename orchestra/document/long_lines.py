"""A text that has hardly any line ends is given some: without lines nothing in it could be pointed at.

A text whose lines mean something is left as it is, however long one of them may be: a prompt shows the ends of that.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

LONGEST_LINE = 100_000  # characters; of a longer one a prompt shows the ends
LONGEST_KEPT = 10_000  # a text is divided when nearly all of it stands in longer lines: each would fill a slice
_OTHER_SHARE = 0.1
_SHOWN_FRONT, _SHOWN_END = 2_000, 500
_BATCH = 4_096
# a sentence's end, else white space or a comma, else anywhere
_PIECE = re.compile(
    r"[^\n]{1,400}(?:(?:[.!?;]['\"”’)\]]*(?=\s)|[。！？；])[ \t]?|\Z)"
    r"|[^\n]{1,400}(?:[ \t]|(?<=[,;>}\]]))"
    r"|[^\n]{400}"
)


def with_lines(text: str) -> tuple[str, tuple[str, ...]]:
    """The text, and a warning where its longest lines were divided into lines of about 400 characters.

    Line ends are added, in place of the white space at a cut where there is some.
    """
    long_lines = list(_long_lines(text, LONGEST_KEPT))
    if not long_lines or len(text) - sum(end - start for start, end in long_lines) > _OTHER_SHARE * len(text):
        return text, ()
    longest = max(end - start for start, end in long_lines)
    warning = (
        f"the text has hardly any line ends: its longest line, of {longest:,} characters, was divided,"
        " at the ends of sentences where it has some; line numbers count the lines so made"
    )
    return "".join(_divided(text, long_lines)), (warning,)


def shortened(text: str) -> str:
    """Lines as a prompt may show them: of one that is too long for any, its beginning and its end."""
    long_lines = list(_long_lines(text, LONGEST_LINE))
    if not long_lines:
        return text
    pieces: list[str] = []
    position = 0
    for start, end in long_lines:
        left_out = end - start - _SHOWN_FRONT - _SHOWN_END
        pieces += [text[position : start + _SHOWN_FRONT], f" [... {left_out:,} characters left out ...] "]
        position = end - _SHOWN_END
    return "".join((*pieces, text[position:]))


def _long_lines(text: str, longest: int) -> Iterator[tuple[int, int]]:
    """Offsets of the lines of more than `longest` characters, found in steps of that length."""
    start = 0
    while len(text) - start > longest:
        line_end = text.rfind("\n", start, start + longest + 1)
        if line_end < 0:
            line_end = text.find("\n", start + longest)
            line_end = line_end if line_end >= 0 else len(text)
            yield start, line_end
        start = line_end + 1


def _divided(text: str, long_lines: list[tuple[int, int]]) -> Iterator[str]:
    """The text in few strings, so that to join them takes little more than the text itself."""
    position = 0
    for start, end in long_lines:
        yield text[position:start]
        pieces = (piece.group().rstrip() for piece in _PIECE.finditer(text, start, end))
        is_first = True
        while batch := list(islice(pieces, _BATCH)):
            yield "\n".join(batch) if is_first else "\n" + "\n".join(batch)
            is_first = False
        position = end
    yield text[position:]
