"""Whether a text holds a name: its words, its initials, or what an acronym stands for."""

from __future__ import annotations

import re
from collections.abc import Iterable

from orchestra.document.grammar import Facts, Name
from orchestra.document.grammar.text import plain
from orchestra.document.grammar.words import ABBREVIATIONS

_CONNECTING = r"(?:(?:of|and|the|for|&|on|de)\s+)*"
_LONG_ACRONYM = 4  # letters; shorter ones are told from words by their capitals alone


class NamesIn:
    """A text that names are looked for in. Words in `ordinary` need not stand in it where they open a sentence."""

    def __init__(self, text: str, ordinary: frozenset[str] = frozenset()) -> None:
        self._text = plain(text).replace("’", "'")
        self._folded = self._text.casefold()
        self._ordinary = ordinary
        self._known: dict[str, bool] = {}

    def holds(self, name: Name) -> bool:
        """Every word of the name, anywhere; or its initials; an acronym also spelt out."""
        ordinary = self._ordinary if name.opens_sentence else frozenset[str]()
        if all(word in ordinary or self._holds_word(word) for word in name.words):
            return True
        initials = "".join(word[0] for word in name.words).upper()
        return len(name.words) > 1 and self._holds_acronym(initials)

    def _holds_word(self, word: str) -> bool:
        if word not in self._known:
            self._known[word] = self._find(word)
        return self._known[word]

    def _find(self, word: str) -> bool:
        folded = word.casefold()
        if any(long_form in self._folded for long_form in ABBREVIATIONS.get(folded, ())):
            return True
        if word.isupper() and word.isalpha():
            is_spelt_out = re.search(_spelt_out(word), self._text) is not None
            is_long = len(word) >= _LONG_ACRONYM
            return is_spelt_out or self._holds_acronym(word) or (is_long and has_word(self._folded, folded))
        parts = [part for part in folded.split("-") if part]
        return has_word(self._folded, folded) or all(has_word(self._folded, part) for part in parts)

    def _holds_acronym(self, acronym: str) -> bool:
        """Whether it occurs in capitals, with or without points."""
        letters = r"\.?".join(re.escape(letter) for letter in acronym)
        return re.search(rf"(?<!\w){letters}(?![A-Z0-9])", self._text) is not None


def ordinary_words(claimed: Facts, texts: Iterable[str]) -> frozenset[str]:
    """The words of names that open a sentence which these texts write small, too: "Strong", but not "Smith"."""
    words = {word for name in claimed.names if name.opens_sentence for word in name.words if word.islower()}
    return frozenset(word for text in texts for word in words if has_word(text, word)) if words else frozenset()


def has_word(text: str, word: str) -> bool:
    """Whether a word occurs with no letter or digit beside it."""
    position = text.find(word)
    while position >= 0:
        end = position + len(word)
        before = text[position - 1] if position else " "
        if not before.isalnum() and not text[end : end + 1].isalnum():
            return True
        position = text.find(word, position + 1)
    return False


def _spelt_out(acronym: str) -> str:
    """A pattern for capitalised words with these initials."""
    return r"\b" + rf"[\w']*[\s-]+{_CONNECTING}".join(acronym) + r"\w"
