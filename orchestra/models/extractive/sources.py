"""Where statements come from: the units of documents that a question may be about, or the passages of a slice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from orchestra.document import Document, DocumentSet, Slice, Unit
from orchestra.models.extractive.heads import REACH_LINES
from orchestra.models.extractive.statements import Statement, read
from orchestra.models.extractive.vocabulary import stems, synonyms_of

CANDIDATE_UNITS = 400
SUBTREE_UNITS = 80
MAX_QUERY_WORDS = 100


@dataclass(frozen=True, slots=True)
class Place:
    """A unit of one of the documents: what a plan can point at."""

    key: str
    unit: Unit
    path: tuple[str, ...]


class Library:
    """The statements of a document set, read unit by unit when a question needs them. One per call."""

    def __init__(self, documents: DocumentSet) -> None:
        self.documents = documents
        self._read: dict[tuple[str, str], list[Statement]] = {}

    @property
    def texts(self) -> list[str]:
        return [document.text for document in self.documents]

    def candidates(self, question: str) -> list[Place]:
        """The units that share words with the question, or stand under a heading that it names, in document order."""
        query = " ".join([*question.split()[:MAX_QUERY_WORDS], *synonyms_of(question)][: 2 * MAX_QUERY_WORDS])
        asked = set(stems(question))
        places: list[Place] = []
        for key, _, document in self.documents.items():
            rows = {hit.row for hit in document.index.search(query, CANDIDATE_UNITS)}
            rows |= set(_under_named(document, asked))
            places += [self._place(key, document, document.units[row]) for row in sorted(rows)]
        return places

    def paths(self) -> Iterator[tuple[str, ...]]:
        """The paths of all sections below the top of a document."""
        for document in self.documents:
            yield from (section.path for section in document.outline.sections if len(section.path) > 1)

    def under(self, paths: Sequence[tuple[str, ...]]) -> list[Place]:
        """All units of the sections with these paths, section by section in the order given."""
        found: list[Place] = []
        for path in paths:
            for key, _, document in self.documents.items():
                places = (self._place(key, document, unit) for unit in document.units)
                found += [place for place in places if place.path[: len(path)] == path]
        return found

    def statements(self, place: Place) -> list[Statement]:
        """The statements of a unit, without its heading."""
        known = self._read.get((place.key, place.unit.id))
        if known is None:
            lines = self.documents.find(place.key).lines(place.unit.first_line, place.unit.last_line).split("\n")
            skip = _heading_lines(lines, place.path[-1] if place.path else "")
            is_paged = bool(self.documents.find(place.key).page_starts)
            known = read(lines[skip:], place.unit.first_line + skip, place.key, place.path, is_paged=is_paged)
            self._read[place.key, place.unit.id] = known
        return known

    def _place(self, key: str, document: Document, unit: Unit) -> Place:
        return Place(key, unit, document.outline.section(unit.section).path)


def passages(slices: Iterable[Slice]) -> Iterator[Statement]:
    """The statements of slices in document order. A table may go on from one passage into the next."""
    before: list[str] = []
    end = ("", 0)
    shown = [passage for slice_ in slices for passage in slice_.passages]
    for passage in sorted(shown, key=lambda passage: (len(passage.key), passage.key, passage.first_line)):
        lines, is_paged = passage.text.split("\n"), passage.pages is not None
        before = before[-REACH_LINES:] if is_paged and end == (passage.key, passage.first_line - 1) else []
        yield from read(lines, passage.first_line, passage.key, passage.path, is_paged=is_paged, before=before)
        before, end = [*before, *lines], (passage.key, passage.last_line)


def _under_named(document: Document, asked: set[str]) -> Iterator[int]:
    """Rows of the units below headings all of whose words the question has."""
    named = [s for s in document.outline.sections if s.title and (title := set(stems(s.title))) and title <= asked]
    if not named:
        return
    found = 0
    for row, unit in enumerate(document.units):
        if found < SUBTREE_UNITS and any(s.first_line <= unit.first_line <= s.last_line for s in named):
            found += 1
            yield row


def _heading_lines(lines: list[str], title: str) -> int:
    """How many of a unit's first lines are its heading: one, more if it is underlined, none for a later part."""
    if not title or not lines:
        return 0
    if lines[0].lstrip().startswith("#"):
        return 1
    for number, line in enumerate(lines[1:4], start=1):
        mark = line.strip()
        if (mark and set(mark) <= {"="}) or (len(mark) > 1 and set(mark) <= {"-"}):
            return number + 1
    return 1 if stems(lines[0]) == stems(title) else 0
