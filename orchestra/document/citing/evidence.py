"""Whether a source holds what a claim says: facts first, and words where a claim has no facts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from orchestra.document.citing.naming import NamesIn
from orchestra.document.grammar import Date, Facts, Name, Number, Quote, facts, quantities, spaced_numbers
from orchestra.document.grammar.agreement import leading_digits, leading_digits_that_fit, numbers_agree
from orchestra.document.grammar.dates import same_date
from orchestra.document.grammar.periods import declared_scales
from orchestra.document.grammar.polarity import signs_agree
from orchestra.document.grammar.quotes import is_quoted_from
from orchestra.document.grammar.text import fold, mask, plain
from orchestra.document.marks import mark_spans

__all__ = ["Facts", "Source", "facts", "missing", "unsupported"]

_ENDS = r"(?!\w|[.,][0-9]|\s?%)"


def unsupported(claim: str, source: str) -> tuple[str, ...]:
    """The facts of the claim that the source does not hold, as the claim writes them; empty when it holds all.

    A fact is held when the source states it in any of the forms that the fact rules know: see `Source`.
    """
    return tuple(fact.text for fact in missing(facts(claim), Source(source)))


def missing(claimed: Facts, source: Source) -> tuple[Number | Date | Quote | Name, ...]:
    """The facts that the source does not hold, in the order of the claim; a text that is named twice counts once."""
    scales = declared_scales(claimed.text)
    lost = chain(
        (number for number in claimed.numbers if not source.holds_number(number, claimed.text, scales)),
        (date for date in claimed.dates if not source.holds_date(date)),
        (quote for quote in claimed.quotes if not source.holds_quote(quote)),
        (name for name in claimed.names if not source.holds_name(name)),
    )
    by_text = {fact.text: fact for fact in sorted(lost, key=lambda fact: -fact.start)}
    return tuple(reversed(by_text.values()))


@dataclass(frozen=True)
class Source:
    """A text that claims are held against; what it states is found once, on first demand.

    `context` stands around the text without being cited itself: headings, a table's head, the document's name. It
    holds years, names, and the scale that a table is stated in, but no other number and no quote. `ordinary` are
    words that are no names although they open a sentence of the claim: see `ordinary_words`.
    """

    text: str
    context: str = ""
    ordinary: frozenset[str] = frozenset()

    @cached_property
    def plain(self) -> str:
        text = plain(self.text)
        return mask(text, mark_spans(text))

    @cached_property
    def folded(self) -> str:
        return fold(self.text)

    @cached_property
    def _quantities(self) -> tuple[tuple[Date, ...], tuple[Number, ...]]:
        dates, numbers = quantities(self.plain)
        return dates, numbers + spaced_numbers(self.plain)

    @property
    def numbers(self) -> tuple[Number, ...]:
        return self._quantities[1]

    @property
    def dates(self) -> tuple[Date, ...]:
        return self._quantities[0]

    @cached_property
    def _context_quantities(self) -> tuple[tuple[Date, ...], tuple[Number, ...]]:
        return quantities(plain(self.context))

    @cached_property
    def years(self) -> frozenset[int]:
        """Every year that the text or its context names, alone or in a date."""
        context_dates, context_numbers = self._context_quantities
        dates = chain(self.dates, context_dates)
        numbers = chain(self.numbers, context_numbers)
        bare = frozenset(int(number.value) for number in numbers if number.is_year)
        return bare.union(*(date.years for date in dates))

    @cached_property
    def scales(self) -> frozenset[int]:
        return declared_scales(self.plain) | declared_scales(plain(self.context))

    def holds_number(self, number: Number, claim_text: str, claim_scales: frozenset[int]) -> bool:
        """An equal number, or one that rounds to it, that goes the same way; a year also as part of a date."""
        if number.is_year and int(number.value) in self.years:
            return True
        if number.unit in ("quarter", "half"):
            return any(number.unit == other.unit and number.value == other.value for other in self._periods)
        return any(
            numbers_agree(number, claim_text, other, claim_scales, self.scales)
            and signs_agree(number, claim_text, other, self.plain)
            for digits in sorted(leading_digits_that_fit(number, claim_text) & self._by_leading_digits.keys())
            for other in self._by_leading_digits[digits]
        )

    @cached_property
    def _by_leading_digits(self) -> dict[int, list[Number]]:
        """The numbers by their first two digits, so that a long text need not be compared number by number."""
        found: dict[int, list[Number]] = {}
        for number in self.numbers:
            found.setdefault(leading_digits(number.value), []).append(number)
        return found

    @cached_property
    def _periods(self) -> tuple[Number, ...]:
        both = chain(self.numbers, self._context_quantities[1])
        return tuple(number for number in both if number.unit in ("quarter", "half"))

    def holds_date(self, date: Date) -> bool:
        """The same date, or one that says more."""
        return any(same_date(date, other, self.years) for other in chain(self.dates, self._context_quantities[0]))

    def holds_wording(self, claim: str) -> bool:
        """The claim word for word. One that begins with a number is not looked for: its sign could be left behind."""
        wording = fold(claim).rstrip(" .,;:!?")
        return wording[:1].isalpha() and re.search(rf"(?<!\w){re.escape(wording)}{_ENDS}", self.folded) is not None

    def holds_quote(self, quote: Quote) -> bool:
        """The quoted words, whatever their case, spacing and quotation marks."""
        return is_quoted_from(quote, self.folded)

    def holds_name(self, name: Name) -> bool:
        """Its words, its initials, or what its acronym stands for: see `NamesIn`."""
        return self._names.holds(name)

    @cached_property
    def _names(self) -> NamesIn:
        return NamesIn(f"{self.text}\n{self.context}", self.ordinary)
