"""Text of a document as one line of a view: nothing in it can begin a line of its own."""

from __future__ import annotations

import re
from collections.abc import Iterable

CUT = "…"

# controls, zero-width and bidirectional marks, line and paragraph separators
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\uffff]+")
_MARKUP = re.compile(r"^(?:#{1,6}|>|[-*+])\s+")


def one_line(text: str) -> str:
    """`text` with every run of blanks, line breaks and control characters as one blank."""
    return " ".join(_UNSEEN.sub(" ", text).split())


def clipped(text: str, width: int) -> str:
    """At most `width` characters of a line: whole words where there are some, then the mark of a cut."""
    if len(text) <= width:
        return text
    head = text[: max(width - 1, 1)]
    words = head.rsplit(" ", 1)[0] if text[len(head)] != " " else head
    return (words if 2 * len(words) >= len(head) else head).rstrip(" ,;:-–—(") + CUT


def first_words(lines: Iterable[str], width: int) -> str:
    """The first line that holds letters or digits, without markup in front of it, clipped."""
    for line in lines:
        text = one_line(_MARKUP.sub("", line[: 8 * width].strip()))
        if any(character.isalnum() for character in text):
            return clipped(text, width)
    return ""


def joined(titles: Iterable[str], width: int) -> str:
    """Titles with "; " between them, as many as `width` characters hold; the first may take a third more, then is cut.

    Titles that are left out leave no mark: one on each entry would cost more than it tells.
    """
    text = ""
    for title in titles:
        if not text:
            text = clipped(title, width + width // 3)
        elif len(text) + len(title) + 2 <= width:
            text = f"{text}; {title}"
        else:
            break
    return text
