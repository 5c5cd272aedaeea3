"""The outline of a text: sections that nest, cover every line, and divide into parts."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from orchestra.document.heading import Heading
from orchestra.document.lines import Lines
from orchestra.document.tokens import count_tokens

SectionKind = Literal["heading", "cue", "start"]


@dataclass(frozen=True, slots=True)
class Section:
    """A heading's region, or a cue's, or the text before the first heading. Lines are 1-indexed, inclusive.

    The own text is `first_line..body_last_line`; the section runs on through its subsections to `last_line`.
    """

    id: str
    title: str
    level: int
    path: tuple[str, ...]
    first_line: int
    last_line: int
    body_last_line: int
    parent: str | None
    children: tuple[str, ...]
    kind: SectionKind


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of an own text that is too long to be shown as a whole."""

    id: str
    section: str
    first_line: int
    last_line: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Unit:
    """The smallest thing that is searched for or sent: a section's own text, or one of its parts."""

    id: str
    section: str
    first_line: int
    last_line: int


class Outline:
    """Sections in document order. Roots cover the text, children lie inside parents, own texts overlap nowhere.

    Parts and token counts are made on first demand and kept. Thread-safe: what is made twice is equal.
    """

    def __init__(self, lines: Lines, headings: Iterable[Heading]) -> None:
        self._lines = lines
        self.sections: tuple[Section, ...] = tuple(_nest(tuple(headings), lines.count))
        self._first_lines = [section.first_line for section in self.sections]
        self._offset = 0 if self.sections and self.sections[0].id == "s0" else 1
        self._parts: dict[str, tuple[Part, ...]] = {}
        self._tokens: dict[str, int] = {}

    @classmethod
    def build(
        cls,
        lines: Lines,
        *,
        page_starts: tuple[int, ...] = (),
        is_markdown: bool = True,
        bookmarks: tuple[tuple[int, str, int], ...] = (),
    ) -> Outline:
        """From bookmarks where there are some, else headings if it can be markdown, else cues."""
        from orchestra.document.cues import find_cues, from_bookmarks
        from orchestra.document.headings import harvest

        if bookmarks:
            return cls(lines, from_bookmarks(bookmarks, lines.count))
        headings = harvest(lines.text) if is_markdown else ()
        return cls(lines, headings or find_cues(lines, page_starts))

    @property
    def headings(self) -> tuple[Heading, ...]:
        """What the sections begin with: `Outline(lines, headings)` is the same outline again."""
        return tuple(
            Heading(section.title, section.level, section.first_line, section.kind)
            for section in self.sections
            if section.kind != "start"
        )

    @cached_property
    def roots(self) -> tuple[Section, ...]:
        """Sections that lie in no other."""
        return tuple(section for section in self.sections if section.parent is None)

    def section(self, section_id: str) -> Section:
        """By id; KeyError when there is none."""
        number = section_id[1:]
        if section_id[:1] == "s" and number.isascii() and number.isdecimal():
            position = int(number) - self._offset
            if 0 <= position < len(self.sections) and self.sections[position].id == section_id:
                return self.sections[position]
        raise KeyError(section_id)

    def get(self, ref: str) -> Section | Part | None:
        """A section ("s12") or a part ("s12.3") by id; None when there is none."""
        section_id = ref.partition(".")[0]
        try:
            section = self.section(section_id)
        except KeyError:
            return None
        if section_id == ref:
            return section
        return next((part for part in self.parts(section_id) if part.id == ref), None)

    def parts(self, section_id: str) -> tuple[Part, ...]:
        """The parts of a section's own text; empty when it is short. KeyError without such a section."""
        from orchestra.document.parts import divide

        if section_id not in self._parts:
            section = self.section(section_id)
            pieces = divide(self._lines, section.first_line, section.body_last_line)
            self._parts[section_id] = tuple(
                Part(f"{section_id}.{number}", section_id, first, last, tokens)
                for number, (first, last, tokens) in enumerate(pieces, start=1)
            )
        return self._parts[section_id]

    def units(self) -> Iterator[Unit]:
        """Own texts, long ones by their parts, in document order: together every line once."""
        for section in self.sections:
            parts = self.parts(section.id)
            if not parts:
                yield Unit(section.id, section.id, section.first_line, section.body_last_line)
            for part in parts:
                yield Unit(part.id, section.id, part.first_line, part.last_line)

    def tokens(self, section_id: str) -> int:
        """Tokens of the whole section, subsections included. KeyError without such a section."""
        if section_id not in self._tokens:
            section = self.section(section_id)
            self._tokens[section_id] = count_tokens(self._lines.span(section.first_line, section.last_line))
        return self._tokens[section_id]

    def at(self, line: int) -> Section:
        """The innermost section that holds the line; lines outside the text count as its nearest one."""
        if not self.sections:
            raise LookupError("an empty text has no sections")
        return self.sections[max(bisect_right(self._first_lines, line) - 1, 0)]


def _nest(headings: tuple[Heading, ...], line_count: int) -> Iterable[Section]:
    """Sections from headings in document order; the text before the first one becomes `s0`."""
    if not line_count:
        return
    first = headings[0].line if headings else line_count + 1
    if first > 1:
        yield Section("s0", "", 1, (), 1, first - 1, first - 1, None, (), "start")
    last_lines = _last_lines(headings, line_count)
    parents = _parents(headings)
    children: list[list[str]] = [[] for _ in headings]
    for position, parent in enumerate(parents):
        if parent >= 0:
            children[parent].append(f"s{position + 1}")
    paths: list[tuple[str, ...]] = []
    for position, (heading, parent) in enumerate(zip(headings, parents, strict=True)):
        paths.append((*(paths[parent] if parent >= 0 else ()), heading.title))
        following = headings[position + 1].line if position + 1 < len(headings) else line_count + 1
        yield Section(
            id=f"s{position + 1}",
            title=heading.title,
            level=heading.level,
            path=paths[position],
            first_line=heading.line,
            last_line=last_lines[position],
            body_last_line=following - 1,
            parent=f"s{parent + 1}" if parent >= 0 else None,
            children=tuple(children[position]),
            kind=heading.kind,
        )


def _parents(headings: tuple[Heading, ...]) -> list[int]:
    """Position of the nearest earlier heading of a higher level, -1 at the top."""
    parents: list[int] = []
    open_: list[int] = []
    for position, heading in enumerate(headings):
        while open_ and headings[open_[-1]].level >= heading.level:
            open_.pop()
        parents.append(open_[-1] if open_ else -1)
        open_.append(position)
    return parents


def _last_lines(headings: tuple[Heading, ...], line_count: int) -> list[int]:
    """The line before the next heading of equal or higher level, else the last one."""
    last_lines = [line_count] * len(headings)
    open_: list[int] = []
    for position, heading in enumerate(headings):
        while open_ and headings[open_[-1]].level >= heading.level:
            last_lines[open_.pop()] = heading.line - 1
        open_.append(position)
    return last_lines
