"""Where a mark leads: lines of a document, with what stands around them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from orchestra.document.citing.columns import head_of
from orchestra.document.document import Document, DocumentSet
from orchestra.document.marks import Mark
from orchestra.document.ranges import LineRange

_KEY = re.compile(r"d\d+")


@dataclass(frozen=True, slots=True)
class Target:
    """The lines that one range of a mark means. `document` is None where there is none of that name.

    `lines` is clipped to the document; `doubt` says why nothing of the range lies in it.
    """

    document: Document | None
    name: str
    lines: LineRange
    doubt: str = ""

    @property
    def text(self) -> str:
        return self.document.lines(self.lines.first, self.lines.last) if self.document else ""

    @property
    def context(self) -> str:
        """What stands around the lines: see `context_of`."""
        return context_of(self.document, self.name, self.lines.first, self.lines.last) if self.document else ""


def context_of(document: Document, name: str, first: int, last: int) -> str:
    """The document's name, the titles above the lines, and the head of the table that they are in."""
    head = [document.line(number) for number in head_of(document, first, last)]
    return "\n".join([name.replace("_", " "), *document.outline.at(first).path, *head])


def targets_of(mark: Mark, documents: DocumentSet) -> Iterator[Target]:
    """The targets of a mark, each once, in the order in which it names them."""
    sections = tuple(_section_lines(key, section, documents) for key, section in mark.sections)
    for line_range in dict.fromkeys(mark.ranges + sections):
        yield _target(line_range, documents)


def _section_lines(key: str, section: str, documents: DocumentSet) -> LineRange:
    place = _find(key, documents)
    found = documents[place].outline.get(section) if place is not None else None
    return LineRange(key, found.first_line, found.last_line) if found else LineRange(key, 0, 0)


def _target(line_range: LineRange, documents: DocumentSet) -> Target:
    place = _find(line_range.key, documents)
    if place is None:
        which = f"there is no document {line_range.key}" if line_range.key else "the mark does not say which document"
        return Target(None, line_range.key, line_range, which)
    document, name = documents[place], documents.names[place]
    count = document.line_count
    first, last = (min(max(line, 1), count) for line in (line_range.first, line_range.last))
    is_outside = line_range.first > count or line_range.last < 1
    doubt = f"{name} ends at L{count}" if is_outside else ""
    return Target(document, name, LineRange(documents.keys[place], first, last), doubt)


def _find(key: str, documents: DocumentSet) -> int | None:
    """The place of a document by key or name; an only document also goes by no key, by "d1" and by other names."""
    for place, (own_key, name, _) in enumerate(documents.items()):
        if key in (own_key, name):
            return place
    is_only = len(documents) == 1 and (key == "d1" or not _KEY.fullmatch(key))
    return 0 if is_only else None
