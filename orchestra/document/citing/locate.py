"""The smallest lines that bear a claim out, found by code."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from orchestra.document.citing.columns import other_year
from orchestra.document.citing.evidence import Source, missing
from orchestra.document.citing.naming import NamesIn, ordinary_words
from orchestra.document.citing.targets import context_of
from orchestra.document.citing.wording import stems, wording_doubt
from orchestra.document.document import Document, DocumentSet
from orchestra.document.grammar import Facts, Name, Number, facts
from orchestra.document.grammar.words import NUMBER_WORDS
from orchestra.document.ranges import LineRange

MAX_WINDOW = 5  # lines
_MAX_PLACES = 400  # of one fact in one document
_MAX_CANDIDATES = 80  # lines that are judged, those first that share most words with the claim
_MAX_UNITS = 12  # passages of the lexical index
_SEPARATORS = r"[.,'’\u00a0\u2009\u202f ]?"
_WORD_OF = {value: word for word, value in NUMBER_WORDS.items()}


def locate(claim: str, documents: DocumentSet, within: Iterable[LineRange] | None = None) -> LineRange | None:
    """The smallest lines that hold every fact of a claim: one line, else at most five. None when there are none.

    Names, and the years of a table, may stand around the lines (see `context_of`), names also anywhere else in the
    document. A claim without facts is located by its words: at least `WORDING_SHARE` of them. Of equals the lines
    that share most words with the claim win, then the first. `within` limits the search to these ranges.
    """
    claimed, wanted = facts(claim), stems(claim)
    limits = None if within is None else tuple(within)
    found: list[tuple[int, int, LineRange]] = []
    for key, name, document in documents.items():
        spans = tuple((one.first, one.last) for one in limits if one.key == key) if limits is not None else None
        search = _Search(claimed, wanted, document, name, spans)
        for first, last in search.windows():
            shared = len(wanted & stems(document.lines(first, last)))
            found.append((last - first, -shared, LineRange(key, first, last)))
    return min(found, key=lambda entry: entry[:2])[2] if found else None  # of equals the one found first


@dataclass(frozen=True)
class _Search:
    """One claim in one document; `spans` are the lines that may be found, None for all."""

    claimed: Facts
    wanted: frozenset[str]
    document: Document
    name: str
    spans: tuple[tuple[int, int], ...] | None

    def windows(self) -> Iterator[tuple[int, int]]:
        """The windows that bear the claim out, none larger than one before it."""
        holds = self._holds if len(self.claimed) else self._shares_words
        limit = MAX_WINDOW
        for line in self._candidates():
            low, high = self._span_of(line)
            widest = max(low, line - limit + 1), min(high, line + limit - 1)
            if not holds(*widest):
                continue
            for size in range(1, limit + 1):
                firsts = range(max(widest[0], line - size + 1), min(line, widest[1] - size + 1) + 1)
                first = next((first for first in firsts if holds(first, first + size - 1)), None)
                if first is not None:
                    yield first, first + size - 1
                    limit = size
                    break

    def _candidates(self) -> list[int]:
        """Lines with the rarest fact and with the claim's words; at most `_MAX_CANDIDATES`, the likeliest."""
        lines = {line for line in self._lines_of_rarest() if self._is_allowed(line)}
        if not lines:
            lines = {line for line in self._lines_of_passages() if self._is_allowed(line)}
        shared = {line: len(self.wanted & stems(self.document.line(line))) for line in lines}
        return sorted(lines, key=lambda line: (-shared[line], line))[:_MAX_CANDIDATES]

    def _lines_of_rarest(self) -> list[int]:
        """The lines of the fact that stands in fewest of them, by a search of the text; none when no form is found."""
        hits = [self._lines_of(pattern) for pattern in _patterns(self.claimed)]
        return min(filter(None, hits), key=len, default=list[int]())

    def _lines_of(self, pattern: re.Pattern[str]) -> list[int]:
        matches = islice(pattern.finditer(self.document.text), _MAX_PLACES)
        return [self.document.line_at(match.start()) for match in matches]

    def _lines_of_passages(self) -> list[int]:
        """The lines of the passages that a lexical search for the claim finds."""
        units = self.document.units
        hits = self.document.index.search(self.claimed.text, _MAX_UNITS)
        found = (units[hit.row] for hit in hits)
        return [line for unit in found for line in range(unit.first_line, unit.last_line + 1)]

    def _is_allowed(self, line: int) -> bool:
        return self.spans is None or any(low <= line <= high for low, high in self.spans)

    def _span_of(self, line: int) -> tuple[int, int]:
        spans = self.spans or ((1, self.document.line_count),)
        return next((low, high) for low, high in spans if low <= line <= high)

    def _holds(self, first: int, last: int) -> bool:
        context = context_of(self.document, self.name, first, last)
        source = Source(self.document.lines(first, last), context, self._ordinary)
        lost = missing(self.claimed, source)
        if not all(isinstance(fact, Name) and self._names[fact.text] for fact in lost):
            return False
        return not other_year(self.claimed, [(self.document, first, last)], source.scales)

    def _shares_words(self, first: int, last: int) -> bool:
        return not wording_doubt(self.claimed.text, self.document.lines(first, last))

    @cached_property
    def _ordinary(self) -> frozenset[str]:
        return ordinary_words(self.claimed, [self.document.text])

    @cached_property
    def _names(self) -> dict[str, bool]:
        """Whether each name of the claim stands anywhere in the document."""
        text = self.document.text
        elsewhere = [name for name in self.claimed.names if name.text not in text]
        whole = NamesIn(text) if elsewhere else None
        return {name.text: whole is None or name not in elsewhere or whole.holds(name) for name in self.claimed.names}


def _patterns(claimed: Facts) -> list[re.Pattern[str]]:
    """What to search a text for: the digits of numbers, the years of dates, the first words of quotes, else names."""
    patterns = [_digits(number) for number in claimed.numbers if number.unit not in ("quarter", "half")]
    patterns += [re.compile(rf"(?<!\d){year}(?!\d)") for date in claimed.dates for year in sorted(date.years)]
    quoted = (piece.split()[:2] for quote in claimed.quotes for piece in quote.pieces[:1])
    patterns += [re.compile(r"\W+".join(map(re.escape, words)), re.IGNORECASE) for words in quoted if words]
    named = [] if patterns else [name.words[0] for name in claimed.names]
    return patterns + [re.compile(re.escape(word), re.IGNORECASE) for word in named]


def _digits(number: Number) -> re.Pattern[str]:
    """The digits of a number with any separators between, without the zeros that a scale would add."""
    digits = "".join(map(str, number.value.as_tuple().digits)).rstrip("0") or "0"
    pattern = rf"(?<![0-9]){_SEPARATORS.join(digits)}"
    word = _WORD_OF.get(int(number.value)) if number.value == int(number.value) and number.scale is None else None
    return re.compile(rf"{pattern}|\b{word}\b" if word else pattern, re.IGNORECASE)
