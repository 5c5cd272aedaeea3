"""Titles as people write them from memory: case, whitespace, markup, numbering and punctuation folded."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_TAG = re.compile(r"<[^<>]*>")
_HASHES = re.compile(r"^\s*#{1,6}\s+|\s+#+\s*$")
_APOSTROPHE = re.compile(r"['’ʼ`´]")
_MARKS = re.compile(r"[\W_]+")
_LABEL = re.compile(
    r"(?P<label>part|chapter|item|section|article|note|appendix|annex|exhibit|schedule|book|figure|table|§+)[\s.]*"
    r"(?P<number>\d{1,4}(?:\.\d{1,4})*[a-z]?|[ivxlc]{1,7}|[a-z])(?!\w)"
)
_BARE_NUMBER = re.compile(
    r"(?P<number>\d{1,3}(?:\.\d{1,4})+[a-z]?|\d{1,3}|(?:[ivxlc]{1,7}|[a-z])(?=[.)]))(?:[.):]+|(?=[\s–—-])|$)"
    r"|\((?P<enclosed>\d{1,3}|[ivxlc]{1,7}|[a-z])\)"
)
_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}
_LONGEST = 2000
_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Folded:
    """A title's folded forms. `label` is "item" in "Item 7A. Risk", `number` "7a", `bare` "risk".

    `bare` of a title that is nothing but numbering is "".
    """

    full: str
    label: str
    number: str
    bare: str


def figures(text: str) -> list[str]:
    """The numbers in a title, sorted: titles that differ in them are different titles."""
    return sorted(_DIGITS.findall(text))


def names_of(title: str) -> tuple[str, ...]:
    """A title, and the titles that were joined into it where bookmarks lead to one line."""
    pieces = title.split(" / ")
    return (title, *pieces) if len(pieces) > 1 else (title,)


def fold(title: str) -> Folded:
    """The folded forms of a title."""
    text = unicodedata.normalize("NFKC", title[:_LONGEST])
    text = _HASHES.sub("", _TAG.sub(" ", _LINK.sub(r"\1", text)))
    text = _APOSTROPHE.sub("", text).casefold().replace("&", " and ").strip(' \t*_~"“”')
    label, number, rest = _numbering(text)
    bare = _words(rest)
    full = " ".join(part for part in (label, number, bare) if part)
    return Folded(full or title.strip(), label, number, bare)


def agree(one: Folded, other: Folded) -> bool:
    """Whether two titles are the same but for numbering that one of them leaves out, or for what it numbers."""
    if one.full == other.full:
        return True
    if one.number and other.number and (one.number != other.number or _differ(one.label, other.label)):
        return False
    if one.bare and other.bare:
        return one.bare == other.bare
    return bool(one.number) and one.number == other.number and one.label == other.label


def _differ(one: str, other: str) -> bool:
    return bool(one and other and one != other)


def _numbering(text: str) -> tuple[str, str, str]:
    """(label, number, the rest) of a case-folded title; Roman numbers after a label become Arabic."""
    found = _LABEL.match(text)
    if found:
        number = found["number"]
        if set(number) <= set(_ROMAN) and (len(number) > 1 or number in "ivx"):
            number = str(_arabic(number))
        return found["label"].replace("§§", "§"), number, text[found.end() :]
    found = _BARE_NUMBER.match(text)
    if not found:
        return "", "", text
    return "", found["number"] or found["enclosed"], text[found.end() :]


def _words(text: str) -> str:
    return " ".join(_MARKS.sub(" ", text).split())


def _arabic(roman: str) -> int:
    total, highest = 0, 0
    for letter in reversed(roman):
        value = _ROMAN[letter]
        total += value if value >= highest else -value
        highest = max(highest, value)
    return total
