"""Words as the engine compares them: stemmed, without stop words, with near-synonyms from `synonyms.txt`."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from orchestra.models.extractive.word_lists import IRREGULAR, STOP_WORDS

WORD = re.compile(r"[^\W_]+(?:[&'’.][^\W_]+)*", re.UNICODE)
_CAMEL = re.compile(r"[a-z][A-Z][a-z]")
_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
YEAR = re.compile(r"(?:19|20)\d\d")

_SUFFIXES = (("ment", 4), ("ing", 3), ("ed", 3), ("or", 4), ("er", 4), ("ee", 5), ("ly", 5))
_VOWELS = frozenset("aeiouy")


def words(text: str) -> list[str]:
    """The words and numbers of a text in lower case, possessives without their ending, identifiers in their parts."""
    found: list[str] = []
    for match in WORD.findall(text):
        if _CAMEL.search(match) or ("." in match and not match[0].isdigit()):
            found += [part.lower() for part in _PART.findall(match)]
        else:
            found.append(match.lower().replace("’", "'").removesuffix("'s").removesuffix("s'"))
    return found


@cache
def stem(word: str) -> str:
    """A word without its common English endings: audits, audited and auditor all become audit.

    Lighter than Porter's stemmer, and stronger on the words for people who do what a verb says.
    """
    word = IRREGULAR.get(word, word)
    if len(word) <= 3 or not word.isalpha():
        return word
    word = _singular(word)
    for suffix, least in _SUFFIXES:
        root = word.removesuffix(suffix)
        if root != word and len(root) >= least and _VOWELS & set(root):
            word = root[:-1] if len(root) > 3 and root[-1] == root[-2] and root[-1] not in "lsz" else root
    if word.endswith(("sion", "tion")) and len(word) > 5:
        word = word.removesuffix("ion")
    word = word.removesuffix("e") if len(word) > 3 else word
    return f"{word[:-1]}i" if word.endswith("y") else word


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return f"{word[:-3]}y"
    if word.endswith(("sses", "xes", "ches", "shes", "zes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def stems(text: str) -> list[str]:
    """The stems of a text in order, stop words left out."""
    return [stem(word) for word in words(text) if word not in STOP_WORDS]


def phrase(text: str) -> tuple[str, ...]:
    """The stems of a short phrase, stop words included, so that it can be looked for as it stands."""
    return tuple(stem(word) for word in words(text))


@cache
def synonym_groups() -> tuple[tuple[str, ...], ...]:
    """Groups of phrases that may stand for one another, as written in `synonyms.txt`."""
    source = Path(__file__).with_name("synonyms.txt").read_text(encoding="utf-8")
    lines = (line.partition("#")[0].strip() for line in source.splitlines())
    return tuple(tuple(member.strip() for member in line.split(",")) for line in lines if line)


@cache
def _stemmed_groups() -> tuple[tuple[tuple[str, ...], ...], ...]:
    return tuple(tuple(phrase(member) for member in group) for group in synonym_groups())


def synonyms_of(question: str) -> list[str]:
    """All phrases, as written, that may stand for a phrase of the question."""
    asked = phrase(question)
    pairs = zip(synonym_groups(), _stemmed_groups(), strict=True)
    return [member for group, stemmed in pairs if any(contains(asked, each) for each in stemmed) for member in group]


def contains(sequence: tuple[str, ...], part: tuple[str, ...]) -> bool:
    """Whether `part` stands in `sequence` without a gap."""
    if len(part) == 1:
        return part[0] in sequence
    return any(sequence[start : start + len(part)] == part for start in range(len(sequence) - len(part) + 1))


def alternatives(question: tuple[str, ...]) -> dict[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """For each phrase of the question that has synonyms: the other members of its groups."""
    found: dict[tuple[str, ...], tuple[tuple[str, ...], ...]] = {}
    for group in _stemmed_groups():
        for member in group:
            if contains(question, member):
                others = tuple(other for other in group if other != member)
                found[member] = (*found.get(member, ()), *others)
    return found
