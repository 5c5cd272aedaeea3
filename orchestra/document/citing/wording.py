"""How much of a claim's wording a source shares: the measure for claims that state no facts."""

from __future__ import annotations

import re
from functools import lru_cache

from orchestra.document.grammar.text import plain
from orchestra.document.grammar.words import DECREASE, FUNCTION_WORDS, INCREASE, NEGATIONS
from orchestra.document.sentences import sentences

# Three of five content words: paraphrase keeps more, another subject shares less. See the cases in the tests.
WORDING_SHARE = 0.6

_WORD = re.compile(r"[^\W\d_][\w'’-]*")
_ENDINGS = ("ization", "isation", "ational", "ations", "ation", "ments", "ment", "ingly", "ings", "ing", "ities", "ity",
            "edly", "ers", "er", "ors", "or", "ies", "ied", "ed", "es", "ly", "al", "s", "e", "y")  # fmt: skip
_MIN_STEM = 4
_MIN_WORD = 3


@lru_cache(maxsize=256)  # claim and lines are compared more than once
def stems(text: str) -> frozenset[str]:
    """The content words of a text, lower case, without common endings."""
    words = (word.lower().replace("’", "'").removesuffix("'s") for word in _WORD.findall(plain(text)))
    return frozenset(_stem(word) for word in words if len(word) >= _MIN_WORD and word not in FUNCTION_WORDS)


def _stem(word: str) -> str:
    """A light stem: one ending off, as long as four letters remain; "policies" and "policy" meet."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _MIN_STEM:
            return word[: -len(ending)]
    return word


def wording_doubt(claim: str, source: str) -> str:
    """Why the wording of a claim is not borne out by the source; "" when it is.

    It is when at least `WORDING_SHARE` of its content words occur there, and the sentence that shares most of them
    neither denies what the claim affirms nor rises where the claim falls.
    """
    wanted = stems(claim)
    if not wanted:
        return "the claim states nothing that can be looked up"
    absent = wanted - stems(source)
    if 1 - len(absent) / len(wanted) < WORDING_SHARE:
        return f"the lines share {len(wanted) - len(absent)} of the claim's {len(wanted)} words"
    nearest = max(
        (source[start:end] for start, end in sentences(source)), key=lambda text: len(wanted & stems(text)), default=""
    )
    return _contradiction(claim, nearest)


def _contradiction(claim: str, nearest: str) -> str:
    ours, theirs = _words(claim), _words(nearest)
    if bool(ours & NEGATIONS) != bool(theirs & NEGATIONS):
        return "one of claim and lines says that it is not so"
    if _goes_only(ours, INCREASE, DECREASE) and _goes_only(theirs, DECREASE, INCREASE):
        return "the claim tells of a rise, the lines of a fall"
    if _goes_only(ours, DECREASE, INCREASE) and _goes_only(theirs, INCREASE, DECREASE):
        return "the claim tells of a fall, the lines of a rise"
    return ""


def _words(text: str) -> frozenset[str]:
    return frozenset(word.lower().replace("’", "'") for word in _WORD.findall(text))


def _goes_only(words: frozenset[str], one: frozenset[str], other: frozenset[str]) -> bool:
    return bool(words & one) and not words & other
