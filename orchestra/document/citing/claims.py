"""What a citation mark stands for: the stretch of text before it."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter, itemgetter

from orchestra.document.citing.wording import stems
from orchestra.document.grammar import facts
from orchestra.document.grammar.text import mask, plain
from orchestra.document.marks import Mark
from orchestra.document.sentences import Span, blocks, sentences

_BULLET = re.compile(r"^(?:[-*+•>]\s+|#{1,6}\s+|\(?\d{1,3}[.)]\s+)+")
_SPACE_BEFORE = re.compile(r"\s+(?=[.,;:!?](?:\s|$))")
_FEW_WORDS = 3
_BETWEEN = " \t\n|.,;:!?)*_\"'”’"
_start_of = attrgetter("start")
_first_of, _last_of = itemgetter(0), itemgetter(1)


@dataclass(frozen=True, slots=True)
class Claim:
    """The words that one or more marks side by side stand for."""

    text: str
    marks: tuple[Mark, ...]


def claims(text: str, marks: Sequence[Mark]) -> Iterator[Claim]:
    """The claims of a text, in the order of their marks; every mark belongs to one.

    A claim runs from the end of the sentence before it, or of the mark before it, to its mark. A mark behind a full
    stop stands for the sentence that the stop ends; one with no words before it for the words that follow. Sentences
    end with their paragraph, list item or table row; a claim in a row begins with the row's first cell.
    """
    unmarked = mask(text, [(mark.start, mark.end) for mark in marks])
    for first, last in _with_words(unmarked):
        inside = marks[bisect_left(marks, first, key=_start_of) : bisect_left(marks, last, key=_start_of)]
        if inside:
            yield from _of_block(unmarked, first, last, inside)


def _with_words(text: str) -> list[Span]:
    """The blocks; one of nothing but marks belongs to the block above it."""
    joined: list[Span] = []
    for first, last in blocks(text):
        if joined and not text[first:last].strip(_BETWEEN + "\0"):
            first = joined.pop()[0]
        joined.append((first, last))
    return joined


def _of_block(text: str, first: int, last: int, marks: Sequence[Mark]) -> Iterator[Claim]:
    is_row = text.startswith("|", first)
    spans = [(first, last)] if is_row else list(sentences(text, first, last))
    label = text[first:last].split("|")[1].strip() if is_row and "|" in text[first + 1 : last] else ""
    position = first
    for group in _groups(text, marks):
        mark, after = group[0].start, group[-1].end
        words = text[max(position, _sentence_start(text, spans, mark)) : mark]
        rest = text[after : min(_sentence_end(spans, after), _next_mark(marks, after, last))]
        if _is_thin(words) and _says_something(rest) and (_is_inside(text, spans, mark) or not _says_something(words)):
            words = f"{words} {rest}"
        if is_row and label and position > first:
            words = f"{label} | {words}"
        position = after
        yield Claim(_clean(words), tuple(group))


def _groups(text: str, marks: Sequence[Mark]) -> Iterator[list[Mark]]:
    """Marks with nothing told between them share their claim."""
    group: list[Mark] = []
    for mark in marks:
        if group and _says_something(text[group[-1].end : mark.start]):
            yield group
            group = []
        group.append(mark)
    yield group


def _says_something(words: str) -> bool:
    return bool(words.strip(_BETWEEN + "\0")) and bool(stems(words) or len(facts(words)))


def _is_thin(words: str) -> bool:
    """Too little to be a claim by itself, as in "According to the report [L5], revenue rose"."""
    return len(stems(words)) < _FEW_WORDS and not len(facts(words))


def _sentence_start(text: str, spans: Sequence[Span], mark: int) -> int:
    """The start of the sentence that a mark stands in, or, where it leads that one, of the sentence before."""
    at = _sentence_at(spans, mark)
    return spans[at if _is_inside(text, spans, mark) else max(at - 1, 0)][0]


def _is_inside(text: str, spans: Sequence[Span], mark: int) -> bool:
    """Whether words of its own sentence stand before a mark."""
    return bool(text[spans[_sentence_at(spans, mark)][0] : mark].strip(" \0\n"))


def _sentence_at(spans: Sequence[Span], position: int) -> int:
    """The index of the last sentence that begins at or before a position; 0 if none does."""
    return max(bisect_right(spans, position, key=_first_of) - 1, 0)


def _sentence_end(spans: Sequence[Span], position: int) -> int:
    at = bisect_right(spans, position, key=_last_of)
    return spans[min(at, len(spans) - 1)][1]


def _next_mark(marks: Sequence[Mark], position: int, last: int) -> int:
    at = bisect_left(marks, position, key=_start_of)
    return marks[at].start if at < len(marks) else last


def _clean(words: str) -> str:
    """On one line, without marks, emphasis and the signs of a list or heading."""
    line = " ".join(plain(words.replace("\0", " ")).split())
    return _BULLET.sub("", _SPACE_BEFORE.sub("", line)).strip(" |,;")
