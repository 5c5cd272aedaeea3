"""Facts of a text: its numbers, dates, quotes and names."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

from orchestra.document.grammar.dates import Date, find_dates
from orchestra.document.grammar.names import Name, find_names
from orchestra.document.grammar.numbers import Number, any_of, find_numbers
from orchestra.document.grammar.periods import find_periods
from orchestra.document.grammar.quotes import Quote, find_quotes
from orchestra.document.grammar.text import mask, plain
from orchestra.document.grammar.words import DISCOURSE_NOUNS, PLACE_WORDS
from orchestra.document.marks import mark_spans

__all__ = ["Date", "Facts", "Name", "Number", "Quote", "facts", "quantities"]

_CODE = re.compile(r"`(?=[^`]*[^\W\d_])([^`\"\n]+)`")  # a span of code is a quote
_URL = re.compile(r"\b(?:https?://|www\.)\S+")
_LIST_MARKS = re.compile(
    r"^[ \t]*(?:[-*+•][ \t]+)?(?:\(?[0-9]{1,3}[.)]|\(?[a-z][.)])(?=[ \t])|(?<![\w$€£(])\([0-9]{1,2}\)(?=\s+[A-Za-z])",
    re.MULTILINE,
)
_PLACES = re.compile(
    rf"(?<!\w)(?:(?:{any_of(PLACE_WORDS)})\.?\s+#?|§+\s?|#)"
    r"[0-9]{1,4}[A-Za-z]?(?:[.-][0-9]+)*(?:\([a-z0-9]{1,3}\))*(?![\w%]|[.,][0-9]|\s*(?:%|per|million|billion|thousand))",
    re.IGNORECASE,
)
_WORD_AFTER = re.compile(r"\s+(\w+)")
_SPACED_DIGITS = re.compile(r"(?<![\w.,])[0-9]{1,3}(?: [0-9]{3})+(?![\w.,])")


@dataclass(frozen=True, slots=True)
class Facts:
    """What a claim says that code can look up. `text` is the claim that the offsets of the facts count in."""

    text: str
    numbers: tuple[Number, ...]
    dates: tuple[Date, ...]
    quotes: tuple[Quote, ...]
    names: tuple[Name, ...]

    def __len__(self) -> int:
        return len(self.numbers) + len(self.dates) + len(self.quotes) + len(self.names)


@lru_cache(maxsize=256)  # a claim is read for its judgement, for its year and for its quote
def facts(text: str) -> Facts:
    """The facts that a claim states.

    A quoted string is one fact, whatever stands in it; digits of a date are no numbers. No facts are citation
    marks, list numbers, addresses, numbers that name a place ("Note 5", "page 12") and counts of the claim's own
    points ("two reasons").
    """
    text = plain(_CODE.sub(r'"\1"', text))
    text = mask(text, mark_spans(text))
    quotes = tuple(find_quotes(text))
    noise = [match.span() for pattern in (_URL, _LIST_MARKS, _PLACES) for match in pattern.finditer(text)]
    unquoted = mask(text, noise + [(quote.start, quote.end) for quote in quotes])
    dates, numbers = quantities(unquoted)
    numbers = tuple(number for number in numbers if _is_stated(number, unquoted))
    names = tuple(find_names(_without(unquoted, (*dates, *numbers))))
    return Facts(text, numbers, dates, quotes, names)


@lru_cache(maxsize=256)  # the same cited lines are read for each claim about them
def quantities(text: str) -> tuple[tuple[Date, ...], tuple[Number, ...]]:
    """Every date and every number of a plain text, each in the order of the text."""
    dates = tuple(sorted(find_dates(text), key=lambda date: date.start))
    rest = _without(text, dates)
    periods = tuple(find_periods(rest))
    numbers = [*periods, *find_numbers(_without(rest, periods))]
    return dates, tuple(sorted(numbers, key=lambda number: (number.start, number.value)))


def spaced_numbers(text: str) -> tuple[Number, ...]:
    """Digits in groups of three with plain spaces between, read as one number; in a table they are often several."""
    return tuple(
        Number(match[0], match.start(), match.end(), Decimal(match[0].replace(" ", "")), is_cell=True)
        for match in _SPACED_DIGITS.finditer(text)
    )


def _without(text: str, found: tuple[Date | Number | Quote, ...]) -> str:
    return mask(text, [(one.start, one.end) for one in found])


def _is_stated(number: Number, text: str) -> bool:
    """Not an ordinal, and not a spelt-out count of the claim's own points."""
    if number.unit == "ordinal":
        return False
    after = _WORD_AFTER.match(text, number.end)
    return not (number.text.isalpha() and after and after[1].lower() in DISCOURSE_NOUNS)
