"""What an abbreviation stands for in a document: "selling, general and administrative (SG&A)".

The long form is found as by Schwartz and Hearst (2003): from right to left, each letter of the short form occurs in
the words before it, the first one at a word's beginning.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from orchestra.document.retrieval.scores import plain
from orchestra.document.retrieval.shelf import Shelf

_REACH = 120  # characters before the brackets
_MOST_PLACES = 24
_LETTERS = re.compile(r"[^\W_]")


def long_form(short: str, text: str) -> str:
    """The words that a text gives for an abbreviation that follows them in brackets; "" where it gives none."""
    defined = re.compile(rf"\(\s?[\"“'‘]?{re.escape(short)}[\"”'’]?\s?\)")
    forms = (_shortest(short, text[max(found.start() - _REACH, 0) : found.start()]) for found in defined.finditer(text))
    return next((form for form in forms if form), "")


def long_forms(shorts: Iterable[str], shelf: Shelf) -> tuple[str, ...]:
    """The long forms that the first places with each abbreviation give."""
    found = (_first(short, shelf) for short in shorts)
    return tuple(form for form in found if form)


def _first(short: str, shelf: Shelf) -> str:
    rows = sorted(shelf.frequencies(plain([short])))[:_MOST_PLACES]
    forms = (
        long_form(short, document.lines(place.first_line, place.last_line)) for document, place in map(shelf.at, rows)
    )
    return next((form for form in forms if form), "")


def _shortest(short: str, before: str) -> str:
    """The end of `before` that the letters of `short` fit, beginning with its first one."""
    at = len(before)
    letters = _LETTERS.findall(short.casefold())
    folded = before.casefold()
    for position in range(len(letters) - 1, -1, -1):
        at -= 1
        while at >= 0 and not (folded[at] == letters[position] and (position or not folded[at - 1 : at].isalnum())):
            at -= 1
        if at < 0:
            return ""
    return " ".join(before[at:].replace(",", " ").split())
