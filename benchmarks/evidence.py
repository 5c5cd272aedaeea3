"""What must have been read to answer a question, and whether it was.

A question has gold items. An item is covered when one prompt held every line of one of its alternatives; two
prompts with half a page each do not make a page. A question's evidence is recalled when all its items are covered,
by whichever prompts. Blank lines need not have been shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from orchestra.document import Document, LineRange
from orchestra.errors import InputInvalid


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines `first` to `last`, from 1, inclusive."""

    first: int
    last: int

    def ranges(self, document: Document) -> tuple[LineRange, ...]:
        if not 1 <= self.first <= self.last <= document.line_count:
            raise InputInvalid(
                f"there are no lines {self.first}-{self.last} in {document.name}",
                cause=f"it has {document.line_count} lines",
            )
        return (LineRange("", self.first, self.last),)


@dataclass(frozen=True, slots=True)
class Page:
    """A page, counted from 1 as the file has them, whatever number is printed on it."""

    number: int

    def ranges(self, document: Document) -> tuple[LineRange, ...]:
        starts = (*document.page_starts, document.line_count + 1)
        if not 1 <= self.number < len(starts):
            raise InputInvalid(
                f"there is no page {self.number} in {document.name}", cause=f"it has {len(starts) - 1} pages"
            )
        return (LineRange("", starts[self.number - 1], starts[self.number] - 1),)


@dataclass(frozen=True, slots=True)
class Quote:
    """A text of the document, white space aside. Where it occurs more than once, any one place will do."""

    text: str

    def ranges(self, document: Document) -> tuple[LineRange, ...]:
        words = self.text.split()
        found = re.finditer(r"\s+".join(map(re.escape, words)), document.text) if words else ()
        ranges = tuple(
            LineRange("", document.line_at(match.start()), document.line_at(match.end() - 1)) for match in found
        )
        if not ranges:
            raise InputInvalid(f"the quote {self.text[:60]!r} is not in {document.name}")
        return ranges


@dataclass(frozen=True, slots=True)
class Heading:
    """A section with all that is below it, by its titles from the top: "Business > Properties"."""

    path: str

    def ranges(self, document: Document) -> tuple[LineRange, ...]:
        ranges = tuple(
            LineRange("", section.first_line, section.last_line)
            for section in document.outline.sections
            if self.path in (" > ".join(section.path), " > ".join(section.path[1:]))
        )
        if not ranges:
            raise InputInvalid(f"there is no section {self.path!r} in {document.name}")
        return ranges


@dataclass(frozen=True, slots=True)
class AnyOf:
    """Several places that say the same."""

    items: tuple[Lines | Page | Quote | Heading, ...]

    def ranges(self, document: Document) -> tuple[LineRange, ...]:
        return tuple(each for item in self.items for each in item.ranges(document))


Evidence: TypeAlias = Lines | Page | Quote | Heading | AnyOf


@dataclass(frozen=True, slots=True)
class Gold:
    """One item: the lines of each alternative, blank ones left out."""

    alternatives: tuple[frozenset[int], ...]

    @classmethod
    def of(cls, evidence: Evidence, document: Document) -> Gold:
        return cls(tuple(_lines(each, document) for each in evidence.ranges(document)))

    def is_covered_by(self, shown: Sequence[LineRange]) -> bool:
        """Whether the lines of one prompt hold one alternative whole."""
        return any(
            all(any(each.first <= line <= each.last for each in shown) for line in lines) for lines in self.alternatives
        )


def _lines(wanted: LineRange, document: Document) -> frozenset[int]:
    every = range(wanted.first, wanted.last + 1)
    return frozenset(line for line in every if document.line(line).strip()) or frozenset(every)


def is_recalled(gold: Sequence[Gold], prompts: Iterable[Sequence[LineRange]]) -> bool:
    """Whether each gold item stood wholly in some prompt."""
    shown = list(prompts)
    return all(any(item.is_covered_by(lines) for lines in shown) for item in gold)
