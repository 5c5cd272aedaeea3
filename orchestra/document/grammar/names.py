"""Names: capitalised words, acronyms, and words with digits such as 10-K."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from orchestra.document.grammar.words import COMMON_CAPITALISED, CONNECTORS, LEGAL_FORMS

_TOKEN = re.compile(r"(?:[A-Z]\.){2,}|&|\w+(?:[&'’.‐‑-]\w+)*")
_POSSESSIVE = re.compile(r"['’]s?$")
_SENTENCE_START = re.compile(r"(?:^|[.!?:;|•\n])[\s*\-–—•>#\0]*$")
_TITLES = frozenset({"mr", "mrs", "ms", "dr", "prof", "st", "jr", "sr", "inc", "corp", "co", "ltd"})
_ACRONYM_LENGTH = 6
_MAX_WORDS = 20  # of one run; more of them are a heading in capitals
_AND_ONE_NAME = 2  # "and" with the one word of a second name, as in "Microsoft and Apple"


@dataclass(frozen=True, slots=True)
class Name:
    """A name as written, and its words that tell it from others.

    `opens_sentence`: its first word has its capital perhaps only from its place, as in "Strong demand".
    """

    text: str
    start: int
    end: int
    words: tuple[str, ...]
    opens_sentence: bool = False


@dataclass(frozen=True, slots=True)
class _Token:
    text: str
    start: int
    end: int
    opens_sentence: bool

    @property
    def folded(self) -> str:
        return _POSSESSIVE.sub("", self.text).strip(".").casefold()

    @property
    def is_capitalised(self) -> bool:
        return self.text[0].isupper() or self.is_special

    @property
    def is_special(self) -> bool:
        """An acronym, an inner capital, or capitals with digits: a name wherever it stands."""
        core = _POSSESSIVE.sub("", self.text)
        has_inner_capital = any(character.isupper() for character in core[1:])
        has_capital_and_digit = any(map(str.isupper, core)) and any(map(str.isdigit, core))
        return len(core) > 1 and (has_inner_capital or has_capital_and_digit)


def find_names(text: str) -> Iterator[Name]:
    """Runs of capitalised words; a sentence's first word alone only when it is an acronym or owns something."""
    run: list[_Token] = []
    for token in _tokens(text):
        if run and (len(run) == _MAX_WORDS or not _continues(run[-1], token, text)):
            yield from _name(run, text)
            run = []
        if token.is_capitalised or (run and token.folded in CONNECTORS):
            run.append(token)
        else:
            yield from _name(run, text)
            run = []
    yield from _name(run, text)


def _tokens(text: str) -> Iterator[_Token]:
    for match in _TOKEN.finditer(text):
        opens = _SENTENCE_START.search(text, max(0, match.start() - 6), match.start()) is not None
        yield _Token(match[0], match.start(), match.end(), opens)


def _continues(last: _Token, token: _Token, text: str) -> bool:
    gap = text[last.end : token.start]
    if gap.startswith("."):
        return last.folded in _TITLES or len(last.folded) == 1
    return gap.isspace() and gap.count("\n") < 2 and not _POSSESSIVE.search(last.text)


def _name(run: list[_Token], text: str) -> Iterator[Name]:
    """The names in a run: two on both sides of an "and", but one in "Securities and Exchange Commission"."""
    place = next((place for place, token in enumerate(run) if token.folded == "and"), None)
    before = [token for token in run[:place] if not _is_acronym(token)]
    if place is None or (len(before) == 1 and len(run) - place > _AND_ONE_NAME):
        yield from _one_name(run, text)
        return
    yield from _one_name(run[:place], text)
    yield from _name(run[place + 1 :], text)


def _one_name(run: list[_Token], text: str) -> Iterator[Name]:
    """A run without the common words and connectors at its ends, if anything telling is left."""
    opens = any(token.opens_sentence for token in run)
    while run and not _is_telling(run[0]):
        run = run[1:]
    while run and not _is_telling(run[-1]):
        run = run[:-1]
    words = tuple(_word(token) for token in run if _is_telling(token))
    is_sentence_opener = len(run) == 1 and run[0].opens_sentence
    if not words or (is_sentence_opener and not run[0].is_special and not _POSSESSIVE.search(run[0].text)):
        return
    yield Name(text[run[0].start : run[-1].end], run[0].start, run[-1].end, words, opens)


def _word(token: _Token) -> str:
    """Acronyms keep their capitals, for their case tells US from us; other words are folded."""
    core = _POSSESSIVE.sub("", token.text)
    return core.replace(".", "") if _is_acronym(token) else core.strip(".").replace("’", "'").casefold()


def _is_telling(token: _Token) -> bool:
    if token.folded in LEGAL_FORMS:
        return False
    is_common = len(token.folded) < 2 or token.folded in COMMON_CAPITALISED or token.folded in CONNECTORS
    return _is_acronym(token) or not is_common


def _is_acronym(token: _Token) -> bool:
    core = _POSSESSIVE.sub("", token.text).replace(".", "")
    return 2 <= len(core) <= _ACRONYM_LENGTH and core.isupper() and core.isalpha()
