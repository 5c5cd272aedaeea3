"""Whether a source holds what a claim says: facts first, and words where a claim has no facts."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain

from orchestra.document.grammar import Date, Facts, Name, Number, Quote, facts, quantities, spaced_numbers
from orchestra.document.grammar.agreement import numbers_agree
from orchestra.document.grammar.dates import same_date
from orchestra.document.grammar.periods import declared_scales
from orchestra.document.grammar.polarity import signs_agree
from orchestra.document.grammar.quotes import is_quoted_from
from orchestra.document.grammar.text import fold, plain

__all__ = ["Facts", "Source", "facts", "missing", "unsupported"]

_CONNECTING = r"(?:(?:of|and|the|for|&|on|de)\s+)*"


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
    holds years, names, and the scale that a table is stated in, but no other number and no quote.
    """

    text: str
    context: str = ""
    _names: dict[str, bool] = field(default_factory=dict[str, bool], compare=False, repr=False)

    @cached_property
    def plain(self) -> str:
        return plain(self.text)

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

    @cached_property
    def _name_text(self) -> str:
        return plain(f"{self.text}\n{self.context}").replace("’", "'")

    @cached_property
    def _folded_name_text(self) -> str:
        return self._name_text.casefold()

    def holds_number(self, number: Number, claim_text: str, claim_scales: frozenset[int]) -> bool:
        """An equal number, or one that rounds to it, that goes the same way; a year also as part of a date."""
        if number.is_year and int(number.value) in self.years:
            return True
        if number.unit in ("quarter", "half"):
            return any(number.unit == other.unit and number.value == other.value for other in self._periods)
        return any(
            numbers_agree(number, claim_text, other, claim_scales, self.scales)
            and signs_agree(number, claim_text, other, self.plain)
            for other in self.numbers
        )

    @cached_property
    def _periods(self) -> tuple[Number, ...]:
        both = chain(self.numbers, self._context_quantities[1])
        return tuple(number for number in both if number.unit in ("quarter", "half"))

    def holds_date(self, date: Date) -> bool:
        """The same date, or one that says more."""
        return any(same_date(date, other, self.years) for other in chain(self.dates, self._context_quantities[0]))

    def holds_quote(self, quote: Quote) -> bool:
        """The quoted words, whatever their case, spacing and quotation marks."""
        return is_quoted_from(quote, self.folded)

    def holds_name(self, name: Name) -> bool:
        """Every word of the name, anywhere; or its initials; an acronym also spelt out."""
        if all(self._holds_word(word) for word in name.words):
            return True
        initials = "".join(word[0] for word in name.words).upper()
        return len(name.words) > 1 and self._occurs(initials)

    def _holds_word(self, word: str) -> bool:
        if word not in self._names:
            self._names[word] = self._finds_word(word)
        return self._names[word]

    def _finds_word(self, word: str) -> bool:
        if not word.isupper() or not word.isalpha():
            return _has_word(self._folded_name_text, word) or (
                "-" in word and all(_has_word(self._folded_name_text, part) for part in word.split("-") if part)
            )
        if self._occurs(word) or re.search(_spelt_out(word), self._name_text):
            return True
        return len(word) > 3 and _has_word(self._folded_name_text, word.casefold())

    def _occurs(self, acronym: str) -> bool:
        """Whether an acronym occurs in capitals, with or without points."""
        letters = r"\.?".join(re.escape(letter) for letter in acronym)
        return re.search(rf"(?<!\w){letters}(?![A-Z0-9])", self._name_text) is not None


def _spelt_out(acronym: str) -> str:
    """A pattern for capitalised words with these initials."""
    return r"\b" + rf"[\w'-]*[\s-]+{_CONNECTING}".join(acronym) + r"\w"


def _has_word(folded: str, word: str) -> bool:
    """Whether a word occurs with no letter or digit beside it."""
    position = folded.find(word)
    while position >= 0:
        end = position + len(word)
        before = folded[position - 1] if position else " "
        if not before.isalnum() and not folded[end : end + 1].isalnum():
            return True
        position = folded.find(word, position + 1)
    return False
