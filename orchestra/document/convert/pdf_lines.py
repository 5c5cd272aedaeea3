"""Lines of print to lines of text: stray characters, paragraphs by their spacing, hyphens at line ends."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

LINE_END_HYPHEN = "\ufffe"  # how PDFium marks a hyphen that ended a line, which it has joined to the next

_PARAGRAPH_PITCH = 1.35  # times the page's usual distance between lines
_BACKWARDS_PITCH = 0.5  # times that distance, upwards: a new column or frame

_ROW_END = re.compile(r"(?:(?:^|\s)[$(]*\d[\d,.]*[)%]*|\s[-\u2013\u2014]){2,}\s*$")
_SPACES = re.compile(r"\s+")
_HYPHENATED = re.compile(rf"(?<!\w)(\w*){LINE_END_HYPHEN}(\w*)")
_WORD = re.compile(r"\w+(?:-\w+)*")

_BULLETS = "\uf0b7\uf0a7\uf0d8\uf076\uf0fc"
_OPEN_BOXES, _CROSSED_BOXES = "\uf06f\uf0a8", "\uf078\uf0fe"
_LIGATURES = dict(
    zip("\ufb00\ufb01\ufb02\ufb03\ufb04\ufb05\ufb06", ("ff", "fi", "fl", "ffi", "ffl", "st", "st"), strict=True)
)
_REPLACED = str.maketrans(
    {
        **dict.fromkeys((chr(code) for code in range(32) if chr(code) not in "\t\n\r\f\v"), None),
        **dict.fromkeys("\x7f\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff", None),
        **dict.fromkeys(_BULLETS, "\u2022"),
        **dict.fromkeys(_OPEN_BOXES, "\u2610"),
        **dict.fromkeys(_CROSSED_BOXES, "\u2612"),
        **_LIGATURES,
    }
)


@dataclass(frozen=True, slots=True)
class Row:
    """A line of print, and the heights in points of the base lines of its first and its last character."""

    text: str
    first_y: float
    last_y: float


def tidy(line: str) -> str:
    """A line without what only print needs: ligatures, symbol-font bullets, controls, runs of spaces."""
    return _SPACES.sub(" ", line.translate(_REPLACED)).strip()


def paragraphs(rows: Sequence[Row]) -> Iterator[str]:
    """The lines, with a blank one wherever the distance to the line before is wider than usual, or upwards."""
    pitches = [above.last_y - below.first_y for above, below in pairwise(rows)]
    # The lower quartile: on a page of short paragraphs the median would be the distance between those.
    steps = sorted(pitch for pitch in pitches if pitch > 2)
    usual = steps[len(steps) // 4] if steps else 0.0
    above = ""
    for row, pitch in zip(rows, chain((0.0,), pitches), strict=False):
        # Rows of numbers are often set apart, and still are one table.
        is_in_table = _ROW_END.search(above) and _ROW_END.search(row.text)
        is_apart = pitch > usual * _PARAGRAPH_PITCH and not is_in_table
        if usual and (is_apart or pitch < -usual * _BACKWARDS_PITCH):
            yield ""
        yield row.text
        above = row.text


def join_hyphens(text: str) -> str:
    """Words that were parted at a line's end, whole again.

    The document itself decides: the hyphen goes when the word occurs without it and not with it, stays when the
    word occurs with it or both halves are words by themselves, and goes otherwise.
    """
    if LINE_END_HYPHEN not in text:
        return text
    words = set(_WORD.findall(_HYPHENATED.sub(" ", text).lower()))

    def join(match: re.Match[str]) -> str:
        before, after = match.groups()
        if not before or not after or not after[0].isalpha():
            return f"{before}-{after}"
        plain, hyphened = (before + after).lower(), f"{before}-{after}".lower()
        halves_are_words = before.lower() in words and after.lower() in words and plain not in words
        keeps_hyphen = hyphened in words or halves_are_words or not after[0].islower()
        return f"{before}-{after}" if keeps_hyphen else before + after

    return _HYPHENATED.sub(join, text).replace(LINE_END_HYPHEN, "-")
