"""The outline of a document as it is shown: headings within headings, with their lines or pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from orchestra.document import Document, Section
from orchestra.panel.view.visible import one_line

MOST_KEPT = 5_000
"""Headings of one document that are kept to be shown."""
SHOWN_AT_ONCE = 200

_LONGEST_TITLE = 160
_COUNTED = 400_000  # characters of a document whose sections' tokens are counted one by one


@dataclass(frozen=True, slots=True)
class Heading:
    """One heading: `depth` from 1, lines from 1 and inclusive, `page` where there are pages, `tokens` where counted."""

    title: str
    depth: int
    first_line: int
    last_line: int
    page: int | None = None
    tokens: int | None = None


@dataclass(frozen=True, slots=True)
class DocumentOutline:
    """What is shown of a document without its text. `headings` holds the first of `heading_count`."""

    name: str
    line_count: int
    page_count: int
    tokens: int
    is_exact: bool
    warnings: tuple[str, ...]
    headings: tuple[Heading, ...]
    heading_count: int


@dataclass(frozen=True, slots=True)
class Branch:
    """A heading with those below it."""

    heading: Heading
    branches: tuple[Branch, ...]


def outline_of(document: Document) -> DocumentOutline:
    """The outline of a document, its first `MOST_KEPT` headings."""
    sections = document.outline.sections
    counts = len(document.text) <= _COUNTED
    depths: dict[str, int] = {}
    headings: list[Heading] = []
    for section in sections[:MOST_KEPT]:
        depths[section.id] = depths.get(section.parent or "", 0) + 1
        tokens = document.outline.tokens(section.id) if counts else None
        headings.append(_heading(document, section, depths[section.id], tokens))
    return DocumentOutline(
        name=document.name,
        line_count=document.line_count,
        page_count=len(document.page_starts),
        tokens=document.size.tokens,
        is_exact=document.size.is_exact,
        warnings=tuple(one_line(warning, 300) for warning in document.warnings),
        headings=tuple(headings),
        heading_count=len(sections),
    )


def branches(headings: Sequence[Heading]) -> tuple[Branch, ...]:
    """The tree of headings that are given in the order of the document."""
    made, at = _level(headings, 0, 1)
    assert at == len(headings)
    return made


def _level(headings: Sequence[Heading], at: int, depth: int) -> tuple[tuple[Branch, ...], int]:
    """The headings from `at` on that lie at `depth` or, without one above them, deeper; and where they end."""
    made: list[Branch] = []
    while at < len(headings) and headings[at].depth >= depth:
        heading = headings[at]
        below, at = _level(headings, at + 1, heading.depth + 1)
        made.append(Branch(heading, below))
    return tuple(made), at


def _heading(document: Document, section: Section, depth: int, tokens: int | None) -> Heading:
    title = one_line(section.title, _LONGEST_TITLE) or "(before the first heading)"
    page = document.page_of(section.first_line)
    return Heading(title, depth, section.first_line, section.last_line, page, tokens)
