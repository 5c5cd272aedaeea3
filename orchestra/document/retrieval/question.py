"""A task made ready for retrieval: its parts, their terms and what reports have to offer for them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from orchestra.document.retrieval.asking import ASKING, MOVEMENTS
from orchestra.document.retrieval.scores import plain
from orchestra.document.retrieval.vocabulary import Need, Vocabulary
from orchestra.document.retrieval.words import Words, folded, singular, words_of
from orchestra.document.search import STOP_WORDS

MOST_TERMS = 64
MOST_PARTS = 8
MOST_SIZE = 20_000  # characters of a task that are read

_OWNER_SHARE = 0.2  # of a word that names the document
_STATEMENT_SHARE = 0.3  # of a word that names a statement, which is a need by itself
_MOVEMENT_SHARE = 0.5
_PAIR_SHARE = 0.5  # of words that stand side by side
_LONGEST_PHRASE = 8
_LETTERED = 3  # letters of what may be printed "U.S."

# They say how to answer, not what about.
_ASIDES = re.compile(
    r"\((?:formerly|previously|also|f/?k/?a|a/?k/?a)\b[^)]*\)"
    r"|\bif\b[^.?!;]{0,80}\b(?:not|n't)\b[^.?!;]{0,40}\b(?:useful|relevant|meaningful|applicable|appropriate)\b[^.?!]*"
    r"|\b(?:standpoint|perspective|point of view|role) of\b[^.?!:,;]*"
    r"|\b(?:assume|imagine|pretend|suppose) (?:that )?you(?: are|'re)?\b[^.?!:,;]*"
    r"|\byou are an?\b[^.?!:,;]*",
    re.IGNORECASE,
)
_ENDS = re.compile(r"(?<=[?;])\s+|\n+|(?<=[.!])\s+(?=[A-Z(\d])|\s(?=\(?\d{1,2}[.)]\s)")
_ASKS = (
    r"(?:(?:also|then)\s+)?(?:what|who|whom|whose|which|where|when|why|how|list|explain|describe|summari[sz]e|compare|find"
    r"|identify|calculate|compute|discuss|assess|analy[sz]e|evaluate|review|name)\b"
)
_COMMAND = re.compile(rf"(?:\W|\d)*{_ASKS}", re.IGNORECASE)
_AND = re.compile(rf"[,;]?\s+and\s+(?={_ASKS})", re.IGNORECASE)
_COMMA = re.compile(rf",\s+(?={_ASKS})", re.IGNORECASE)
_YEAR = re.compile(r"(?:fy|cy)?'?((?:19|20)\d\d)|(?:fy|cy)'?(\d\d)", re.IGNORECASE)
_QUARTER = re.compile(r"q([1-4])|([1-4])q", re.IGNORECASE)
_ABBREVIATION = re.compile(r"\b[A-Z]{1,4}&[A-Z]{1,4}\b|\b[A-Z]{2,6}\b")
_QUARTERS = {"1": "first", "2": "second", "3": "third", "4": "fourth"}


@dataclass(frozen=True, slots=True)
class Term:
    """Phrases any of which counts as the term, each its words joined by spaces; `weight` before rarity.

    `is_specific` is a word that no report term of the vocabulary stands for: it has to be met as it is.
    """

    phrases: tuple[str, ...]
    weight: float
    is_specific: bool = False


@dataclass(frozen=True, slots=True)
class Question:
    """One part of a task. `statements` are those that it names, `needs` what its terms ask for.

    `abbreviations` are the words in capitals, for which a document may give long forms.
    """

    terms: tuple[Term, ...]
    statements: tuple[str, ...]
    needs: tuple[Need, ...]
    abbreviations: tuple[str, ...] = ()


def parts_of(task: str) -> int:
    """How many questions and commands a task holds, 1 at least."""
    return max(1, len(_parts(_ASIDES.sub(" ", task[:MOST_SIZE]))))


def read_task(task: str, vocabulary: Vocabulary, names: Collection[str] = ()) -> tuple[Question, ...]:
    """The parts of a task that can be searched for, in order; `names` are words that name the documents."""
    text = task[:MOST_SIZE]
    statements = _statements(folded(text), vocabulary)
    parts = [_question(part, vocabulary, frozenset(names)) for part in _parts(_ASIDES.sub(" ", text))]
    parts = [part for part in parts if part.terms][:MOST_PARTS]
    if not parts:
        return ()
    if len(parts) == 1:
        return (replace(parts[0], statements=statements),)
    return tuple(parts)


def with_long_forms(question: Question, forms: Iterable[str]) -> Question:
    """The question with what its abbreviations stand for as terms of their own."""
    return replace(question, terms=(*question.terms, *(Term(tuple(plain([form])), 1.0) for form in forms)))


def _parts(text: str) -> list[str]:
    """Questions and commands by themselves; other sentences go with the one before, or the first one after."""
    parts: list[str] = []
    waiting = ""
    for sentence in (piece for each in _ENDS.split(text) for piece in _enumerated(each)):
        if not sentence.strip():
            continue
        if "?" in sentence or _COMMAND.match(sentence):
            parts.append(f"{waiting} {sentence}")
            waiting = ""
        elif parts:
            parts[-1] = f"{parts[-1]} {sentence}"
        else:
            waiting = f"{waiting} {sentence}"
    return parts or [waiting]


def _enumerated(sentence: str) -> list[str]:
    """The questions of "what is A, how is B, and who is C?"; a comma alone may begin a relative clause."""
    pieces = _AND.split(sentence)
    if len(pieces) == 1 or not _COMMAND.match(sentence):
        return pieces
    return [each for piece in pieces for each in _COMMA.split(piece)]


def _question(text: str, vocabulary: Vocabulary, names: frozenset[str]) -> Question:
    words = folded(text)
    asked = list(_matches(words, vocabulary.asked))
    needs = [need for phrase in asked for need in vocabulary.asked[phrase]]
    statements = _statements(words, vocabulary)
    named = {word for phrase in _matches(words, vocabulary.named) for word in phrase}
    known = {word for phrase in asked for word in phrase}
    terms = tuple(_terms(text, names, frozenset(named), known))[:MOST_TERMS]
    shorts = dict.fromkeys(short for short in _ABBREVIATION.findall(text) if short.lower() not in ASKING | names)
    return Question(terms, statements, tuple(dict.fromkeys(needs)), () if text.isupper() else tuple(shorts))


def _statements(words: Words, vocabulary: Vocabulary) -> tuple[str, ...]:
    return tuple(dict.fromkeys(vocabulary.named[phrase] for phrase in _matches(words, vocabulary.named)))


def _matches(words: Words, phrases: Collection[Words]) -> Iterator[Words]:
    """The phrases that occur among words, the longest at each place, none within another."""
    position = 0
    while position < len(words):
        sizes = range(min(_LONGEST_PHRASE, len(words) - position), 0, -1)
        found = next((words[position : position + n] for n in sizes if words[position : position + n] in phrases), None)
        if found:
            yield found
        position += len(found) if found else 1


def _terms(text: str, names: frozenset[str], named: frozenset[str], known: Collection[str]) -> Iterator[Term]:
    """Words, years and quarters, then the words that stand side by side."""
    weights: dict[str, float] = {}
    for word in words_of(text):
        weights.setdefault(word, _weight(word, names, named))
    for word, weight in weights.items():
        if weight:
            is_specific = singular(word) not in known and word not in names and not _is_time(word)
            yield Term(_forms(word), weight, is_specific)
    for short in dict.fromkeys(_ABBREVIATION.findall(text)):
        if "&" in short:
            yield Term((short.lower().replace("&", " "),), 1.0)
        elif len(short) <= _LETTERED and short.lower() in STOP_WORDS:  # "US" is no pronoun
            yield Term((" ".join(short.lower()), short.lower()), 1.0, is_specific=True)
    pairs = dict.fromkeys(pairwise(words_of(text)))
    for one, other in pairs:
        if _is_label(other) and weights[one]:
            yield Term((f"{one} {other}",), weights[one])
        weight = min(weights[one], weights[other])
        if weight and not (_is_time(one) or _is_time(other)):
            yield Term((f"{one} {other}",), weight * _PAIR_SHARE)


def _weight(word: str, names: frozenset[str], named: frozenset[str]) -> float:
    if word in STOP_WORDS or word in ASKING or singular(word) in ASKING:
        return 0.0
    if _is_time(word):
        return 1.0
    if len(word) == 1 or _is_label(word):
        return 0.0
    if word in names:
        return _OWNER_SHARE
    if singular(word) in named:
        return _STATEMENT_SHARE
    return _MOVEMENT_SHARE if word in MOVEMENTS else 1.0


def _is_label(word: str) -> bool:
    """A short number says little alone, and all with the word before it: "note 12", "type 41"."""
    return word.isdecimal() and len(word) < 4


def _is_time(word: str) -> bool:
    return bool(_YEAR.fullmatch(word) or _QUARTER.fullmatch(word))


def _forms(word: str) -> tuple[str, ...]:
    """What a word, year, quarter or number may look like in print."""
    year = _YEAR.fullmatch(word)
    if year:
        full = year[1] or f"20{year[2]}"
        return (full, f"fy{full}", f"fy{full[2:]}")
    quarter = _QUARTER.fullmatch(word)
    if quarter:
        number = quarter[1] or quarter[2]
        return (f"q{number}", f"{_QUARTERS[number]} quarter", f"{number}q")
    if word.isdecimal() and len(word) > 3:
        return (word, f"{int(word):,}".replace(",", " "))
    return (word,)
