"""What a view lists: documents, under them pages or sections, under sections parts and subsections.

An entry is addressed by its path, the positions of its ancestors and of itself among their siblings: paths sort in
document order, and a path's front is its parent. Nothing is made before it is asked for.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import cast

from orchestra.document.document import Document, DocumentSet
from orchestra.document.outline import Part, Section
from orchestra.document.retrieval import Place
from orchestra.document.tokens import count_tokens
from orchestra.document.view.page_titles import PageTitles
from orchestra.document.view.wording import first_words, one_line

Path = tuple[int, ...]

LONGEST_TITLE = 240  # characters
COUNTED_CHARACTERS = 20_000  # the tokens of a longer text are estimated
_FIRST_LINES = 12
_NEAR = 50  # siblings to each side among which a title is told apart


@dataclass(frozen=True, slots=True)
class Entry:
    """A document, a page, a section or a part. `id` is qualified ("d2:p61"); lines are 1-indexed and inclusive."""

    key: str
    id: str
    kind: str
    first_line: int
    last_line: int


class Tree:
    """The entries of a set of documents."""

    def __init__(self, documents: DocumentSet) -> None:
        self.documents = documents
        self._members: dict[Path, Sequence[Document | Section | Part | int]] = {}
        self._entries: dict[Path, Entry] = {}
        self._titles: dict[Path, tuple[str, ...]] = {}
        self._sizes: dict[Path, str] = {}
        self._pages: dict[str, PageTitles] = {}

    @cached_property
    def tops(self) -> tuple[Path, ...]:
        """The path of each document: () for the only one."""
        return ((),) if len(self.documents) == 1 else tuple((at,) for at in range(len(self.documents)))

    def document(self, path: Path) -> Document:
        return self.documents[path[0] if len(self.documents) > 1 else 0]

    def entry(self, path: Path) -> Entry:
        if path not in self._entries:
            self._entries[path] = self._made(path)
        return self._entries[path]

    def count(self, path: Path) -> int:
        """How many entries lie directly under one."""
        return len(self._below(path))

    def path_of(self, place: Place) -> Path:
        """Where a place of retrieval stands."""
        top = self.tops[self.documents.keys.index(place.key)]
        document = self.documents.find(place.key)
        if document.page_starts:
            return (*top, place.row)
        sections = [document.outline.section(place.id.partition(".")[0])]
        while sections[0].parent is not None:
            sections.insert(0, document.outline.section(sections[0].parent))
        path = top
        lineage = [(section.id, section.first_line) for section in sections]
        for own_id, first in (*lineage, (place.id, place.first_line)):
            at = self._position(path, own_id, first)
            path = path if at is None else (*path, at)  # a lone section is not listed, its parts stand in its place
        return path

    def rank(self, path: Path) -> int:
        """How high a page stands: the level of the highest section that begins on it, 9 where none does."""
        return self._titles_of_pages(self.entry(path).key).level(path[-1])

    def is_named(self, path: Path) -> bool:
        """Whether an entry has a title: all have but some pages, which go on with what a page before them began."""
        entry = self.entry(path)
        return entry.kind != "page" or self._titles_of_pages(entry.key).is_named(path[-1])

    def titles(self, path: Path) -> tuple[str, ...]:
        """What an entry is called: one title, several on a page, first words where there is none; () on a page."""
        if path not in self._titles:
            self._titles[path] = tuple(self._named(path))
        return self._titles[path]

    def opening(self, path: Path, width: int) -> str:
        """The first words of an entry's text."""
        entry, document = self.entry(path), self.document(path)
        last = min(entry.last_line, entry.first_line + _FIRST_LINES)
        return first_words((document.line(number) for number in range(entry.first_line, last + 1)), width)

    def size(self, path: Path) -> str:
        """Tokens of an entry, as "340"; "~12000" where they are estimated, "" where it is empty."""
        if path not in self._sizes:
            self._sizes[path] = self._measured(path)
        return self._sizes[path]

    def _below(self, path: Path) -> Sequence[Document | Section | Part | int]:
        if path not in self._members:
            self._members[path] = self._found_below(path)
        return self._members[path]

    def _found_below(self, path: Path) -> Sequence[Document | Section | Part | int]:
        if len(self.documents) > 1 and not path:
            return self.documents
        document = self.document(path)
        outline = document.outline
        if len(path) > len(self.tops[0]):
            member = self._below(path[:-1])[path[-1]]
            if not isinstance(member, Section):
                return ()
            return (*outline.parts(member.id), *(outline.section(child) for child in member.children))
        if document.page_starts:
            return range(len(document.page_starts))
        only = outline.roots[0] if len(outline.roots) == 1 else None
        return (only and only.kind == "start" and outline.parts(only.id)) or outline.roots

    def _made(self, path: Path) -> Entry:
        member = self._below(path[:-1])[path[-1]]
        key = self.documents.keys[path[0]] if len(self.documents) > 1 else ""
        if isinstance(member, Document):
            return Entry(key, key, "document", 1, member.line_count)
        if isinstance(member, int):
            starts = self.document(path).page_starts
            last = starts[member + 1] - 1 if member + 1 < len(starts) else self.document(path).line_count
            return Entry(key, self.documents.qualify(key, f"p{member + 1}"), "page", starts[member], last)
        kind = "section" if isinstance(member, Section) else "part"
        return Entry(key, self.documents.qualify(key, member.id), kind, member.first_line, member.last_line)

    def _position(self, path: Path, own_id: str, first_line: int) -> int | None:
        members = self._below(path)
        at = bisect_left(members, first_line, key=lambda member: cast("Section | Part", member).first_line)
        found = members[at] if at < len(members) else None
        return at if isinstance(found, Section | Part) and found.id == own_id else None

    def _named(self, path: Path) -> tuple[str, ...]:
        entry = self.entry(path)
        if entry.kind == "document":
            return (one_line(self.documents.name_of(entry.key))[:LONGEST_TITLE],)
        if entry.kind == "page":
            return self._titles_of_pages(entry.key).of(path[-1])
        if entry.kind == "section":
            title = one_line(self._section(path).title[:LONGEST_TITLE])
            if title:
                return (title + self._difference(path, title),)
        opening = self.opening(path, LONGEST_TITLE)
        return (opening,) if opening else ()

    def _titles_of_pages(self, key: str) -> PageTitles:
        if key not in self._pages:
            self._pages[key] = PageTitles(self.documents.find(key))
        return self._pages[key]

    def _difference(self, path: Path, title: str) -> str:
        """First words after a title that a sibling bears too; nothing else tells the two apart."""
        document, section = self.document(path), self._below(path[:-1])[path[-1]]
        own = self._section(path).title
        first = max(path[-1] - _NEAR, 0)
        twins = [
            other
            for other in self._below(path[:-1])[first : path[-1] + _NEAR]
            if isinstance(other, Section) and other is not section and other.title == own
        ]
        if not twins or not isinstance(section, Section):
            return ""
        last = min(section.last_line, section.first_line + _FIRST_LINES)
        words = first_words((document.line(number) for number in range(section.first_line + 1, last + 1)), 40)
        return f" ({words})" if words else ""

    def size_of(self, document: Document, first: int, last: int) -> str:
        """Tokens of some lines: counted where they are few, else estimated from the document's usual size."""
        text = document.lines(first, last)
        if len(text) <= COUNTED_CHARACTERS:
            return str(count_tokens(text))
        return f"~{_rounded(len(text) * document.size.tokens / max(len(document.text), 1))}"

    def extent(self, path: Path) -> str:
        """How long a document is."""
        document = self.document(path)
        return f"{len(document.page_starts)} pages" if document.page_starts else f"{document.line_count} lines"

    def _measured(self, path: Path) -> str:
        entry, document = self.entry(path), self.document(path)
        is_titled = entry.kind == "section" and bool(self._section(path).title)
        first = entry.first_line + is_titled
        near = min(first + _FIRST_LINES, entry.last_line)  # most sections say something soon
        if document.lines(first, near).strip() or document.lines(near + 1, entry.last_line).strip():
            return self.size_of(document, entry.first_line, entry.last_line)
        return ""

    def _section(self, path: Path) -> Section:
        return cast("Section", self._below(path[:-1])[path[-1]])


def _rounded(number: float) -> int:
    """To two digits."""
    digits = len(str(round(number)))
    return int(round(number, 2 - digits)) if digits > 2 else round(number)
