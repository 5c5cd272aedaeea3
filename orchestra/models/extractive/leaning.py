"""A task that leans on the one before it ("and in 2024?"), put so that it can be understood alone."""

from __future__ import annotations

import re
from collections.abc import Sequence

from orchestra.models.extractive.vocabulary import YEAR, words
from orchestra.models.extractive.word_lists import STOP_WORDS

_FEWEST_WORDS = 2  # that carry meaning: a task with fewer leans
_MOST_WORDS = 3  # in a longer one, a pronoun means something of its own
_OPENING = re.compile(r"\s*(?:and|or|but|then|so|also|what about|how about|same)\b", re.IGNORECASE)
_POINTING = re.compile(
    r"\b(?:it|its|they|their|them|this|these|those|that|he|she|his|her|former|latter|same)\b", re.IGNORECASE
)
_LEADING = frozenset({"and", "or", "but", "then", "so", "also", "what", "how", "about", "why", "same"})


def standing_alone(task: str, earlier: Sequence[str]) -> str:
    """`task` with what it leaves to the tasks before it, the last of which it follows. Deterministic.

    One that only names other years gets the question before it with these; another one that leans has it beside it.
    """
    said = ""
    for each in (*earlier, task):
        said = _after(each, said) if said else each
    return said


def _after(task: str, before: str) -> str:
    meant = [word for word in words(task) if word not in STOP_WORDS and word not in _LEADING]
    years = [word for word in meant if YEAR.fullmatch(word)]
    rest = [word for word in meant if word not in years]
    if years and not rest and YEAR.search(before):
        return _with_years(before, years)
    is_pointing = len(meant) <= _MOST_WORDS and _POINTING.search(task) is not None
    if len(meant) >= _FEWEST_WORDS and not is_pointing and not _OPENING.match(task):
        return task
    end = "?" if task.rstrip().endswith("?") else ""
    return f"{task.rstrip().removesuffix('?')} ({before.strip().rstrip('?.')}){end}"


def _with_years(question: str, years: Sequence[str]) -> str:
    """The question with its years replaced: the first by all of the new ones, the others dropped with it."""
    found = list(YEAR.finditer(question))
    return f"{question[: found[0].start()]}{' and '.join(years)}{question[found[-1].end() :]}"
