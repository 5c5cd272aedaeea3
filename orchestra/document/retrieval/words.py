"""Words of tasks and vocabularies, folded so that case and plurals do not tell them apart."""

from __future__ import annotations

import re

Words = tuple[str, ...]

_WORD = re.compile(r"[^\W_]+")
_FEWEST_LETTERS = 3


def words_of(text: str) -> list[str]:
    """The words and numbers of a text in lower case; a number's thousands are joined: "1,577" is 1577."""
    return [word.lower() for word in _WORD.findall(_THOUSANDS.sub("", text))]


_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}\b)")


def folded(text: str) -> Words:
    """The words of a text without the endings of their plurals, to compare phrases by."""
    return tuple(map(singular, words_of(text)))


def singular(word: str) -> str:
    """A word without the ending of an English plural."""
    if len(word) <= _FEWEST_LETTERS or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    return f"{word[:-3]}y" if word.endswith("ies") else word[:-1]
