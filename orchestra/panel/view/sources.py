"""Where an answer comes from: lines of a document, with those that are cited or were sent marked among others."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from orchestra.document import Citation, Document
from orchestra.errors import OrchestraError
from orchestra.panel.view.visible import visible
from orchestra.store.records import read

AROUND = 8
"""Lines that are shown before and after those that are meant."""
FARTHEST = 400
MOST_LINES = 800
"""Lines that are shown at once, over all excerpts."""

_KEY = re.compile(r"d[1-9][0-9]{0,6}")
_LONGEST_LINE = 4_000  # characters
_MOST_NAMED = 6  # ranges that are named in words
_SIGNS = {
    "verified": ("✓", "verified", "The lines state what the claim says."),
    "derived": ("≈", "derived", "The claim's numbers follow from those of the lines."),
    "unverified": ("?", "unverified", "The lines do not bear the claim out."),
}


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a document. `page` where the document has pages and this line is the first shown of one."""

    number: int
    text: str
    is_meant: bool
    page: int | None = None


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Lines that follow one another. `above` and `below` say how many stand between it and what is shown next."""

    lines: tuple[Line, ...]
    above: int
    below: int


@dataclass(frozen=True, slots=True)
class Judged:
    """A citation with its judgement as a sign, a word and a sentence. `claims` are what it was given for."""

    number: int
    first_line: int
    last_line: int
    page: int | None
    document: str
    sign: str
    word: str
    reason: str
    quote: str
    claims: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Source:
    """What is shown of a document: `name` and `places` ("lines 12–14, page 3"), and the lines, or why there are none.

    `left_off` says that more lines are meant than are shown at once. Of a citation: its judgement, how many citations
    there are, and the numbers of the one before it and the one behind it.
    """

    name: str
    places: str
    excerpts: tuple[Excerpt, ...] = ()
    left_off: bool = False
    error: OrchestraError | None = None
    judged: Judged | None = None
    position: int = 0
    count: int = 0
    previous: int | None = None
    next: int | None = None

    @property
    def above(self) -> int:
        """Lines that stand above the first that is shown."""
        return self.excerpts[0].above if self.excerpts else 0

    @property
    def below(self) -> int:
        return self.excerpts[-1].below if self.excerpts else 0

    def named(self, name: str) -> Source:
        return replace(self, name=visible(name))

    def with_citation(self, citations: Sequence[Citation], at: int) -> Source:
        """As the source of the citation `at` of these."""
        return replace(
            self,
            name=self.name or visible(citations[at].document),
            judged=judged(citations[at]),
            position=at + 1,
            count=len(citations),
            previous=citations[at - 1].number if at else None,
            next=citations[at + 1].number if at + 1 < len(citations) else None,
        )


def source_of(
    document: Document | None,
    ranges: Sequence[tuple[int, int]],
    *,
    before: int = AROUND,
    after: int = AROUND,
    error: OrchestraError | None = None,
) -> Source:
    """Lines of a document; without one, why."""
    if document is None:
        return Source("", _places(ranges, None), error=error)
    shown = excerpts(document, ranges, before=before, after=after)
    meant = sum(line.is_meant for excerpt in shown for line in excerpt.lines)
    wanted = sum(last - first + 1 for first, last in _joined(_clipped(document, ranges)))
    return Source(visible(document.name), _places(ranges, document), shown, meant < wanted, error)


def _places(ranges: Sequence[tuple[int, int]], document: Document | None) -> str:
    joined = _joined(ranges)
    lines = ", ".join(f"{first:,}" if first == last else f"{first:,}–{last:,}" for first, last in joined[:_MOST_NAMED])
    is_one = len(joined) == 1 and joined[0][0] == joined[0][1]
    named = f"line {lines}" if is_one else f"lines {lines}"
    named += " and others" if len(joined) > _MOST_NAMED else ""
    pages = sorted({page for span in joined for page in _pages(document, span)})
    if not pages:
        return named
    return f"page {pages[0]}, {named}" if len(pages) == 1 else f"pages {pages[0]}–{pages[-1]}, {named}"


def _pages(document: Document | None, span: tuple[int, int]) -> list[int]:
    if document is None or span[0] > document.line_count:
        return []
    return [page for line in (span[0], min(span[1], document.line_count)) if (page := document.page_of(line))]


def citations_of(result: Mapping[str, Any] | None, run_id: str) -> list[Citation]:
    """The citations of a run's result. `StoreDamaged` for what is none."""
    given = (result or {}).get("citations") or ()
    return [read(Citation, each, where=f"a citation of run {run_id}") for each in given]


def judged(citation: Citation) -> Judged:
    sign, word, sentence = _SIGNS[citation.status]
    reason = visible(citation.reason).strip()
    return Judged(
        number=citation.number,
        first_line=citation.first_line,
        last_line=citation.last_line,
        page=citation.page,
        document=visible(citation.document),
        sign=sign,
        word=word,
        reason=f"{reason[:1].upper()}{reason[1:].rstrip('.')}." if reason else sentence,
        quote=visible(citation.quote),
        claims=tuple(visible(claim) for claim in citation.claim.split("\n") if claim.strip()),
    )


def document_position(names: Sequence[str], key: str) -> int | None:
    """Which of a run's documents a key (`d2`, empty for the only one) or a name means; None for none of them."""
    if not key:
        return 0 if len(names) == 1 else None
    if _KEY.fullmatch(key) and len(names) > 1 and int(key[1:]) <= len(names):
        return int(key[1:]) - 1
    return names.index(key) if key in names else None


def excerpts(
    document: Document, ranges: Iterable[tuple[int, int]], *, before: int = AROUND, after: int = AROUND
) -> tuple[Excerpt, ...]:
    """The lines of `ranges` (from 1, inclusive), with those around them; what lies side by side is one excerpt.

    What is outside the document is left out, and so is what would be more than `MOST_LINES` lines.
    """
    meant = _joined(_clipped(document, ranges))
    windows = _joined((max(first - before, 1), min(last + after, document.line_count)) for first, last in meant)
    shown: list[list[Line]] = []
    room = MOST_LINES
    for first, last in windows:
        last = min(last, first + room - 1)
        if last < first:
            break
        room -= last - first + 1
        shown.append(_lines(document, first, last, meant))
    bounds = [
        0,
        *(number for lines in shown for number in (lines[0].number, lines[-1].number)),
        document.line_count + 1,
    ]
    gaps = [later - earlier - 1 for earlier, later in list(pairwise(bounds))[::2]]
    return tuple(Excerpt(tuple(lines), gaps[at], gaps[at + 1]) for at, lines in enumerate(shown))


def _clipped(document: Document, ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    return [(max(first, 1), min(last, document.line_count)) for first, last in ranges if first <= document.line_count]


def _joined(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """In order, those that touch or overlap as one."""
    joined: list[tuple[int, int]] = []
    for first, last in sorted(each for each in ranges if each[0] <= each[1]):
        if joined and first <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(last, joined[-1][1]))
        else:
            joined.append((first, last))
    return joined


def _lines(document: Document, first: int, last: int, meant: Sequence[tuple[int, int]]) -> list[Line]:
    lines: list[Line] = []
    page: int | None = None
    for number in range(first, last + 1):
        its_page = document.page_of(number)
        text = document.line(number)
        shown = text if len(text) <= _LONGEST_LINE else f"{text[:_LONGEST_LINE]} …"
        is_meant = any(start <= number <= end for start, end in meant)
        lines.append(Line(number, visible(shown), is_meant, its_page if its_page != page else None))
        page = its_page
    return lines
