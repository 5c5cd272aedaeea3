"""The index of a document's places: which of them hold a phrase, in which field, and how often."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

from orchestra.document.document import Document
from orchestra.document.retrieval.hits import places_of
from orchestra.document.search import LexicalIndex
from orchestra.document.titles import is_numeric_row, is_prose, without_stray_letter

FIELDS = ("title", "path", "heads", "body")
TEXT = {"title": 2.0, "path": 1.0, "heads": 1.0, "body": 1.0}  # what stands in a title counts in the body, too
TITLES = {"title": 2.0, "path": 1.0, "heads": 1.0}

_TOP_LINES = 6
_TOP_WORDS = 14


def index_places(document: Document) -> LexicalIndex:
    """An index with a row for each place: titles at its top, its section's path, headings within it, its text."""
    return LexicalIndex(_rows(document), FIELDS)


def _rows(document: Document) -> Iterator[tuple[str, ...]]:
    outline = document.outline
    starts = [section.first_line for section in outline.sections]
    for place in places_of("", document):
        body = document.lines(place.first_line, place.last_line)
        inside = outline.sections[bisect_left(starts, place.first_line) : bisect_left(starts, place.last_line + 1)]
        titles = [section.title for section in inside]
        if not document.page_starts:
            path = outline.at(place.first_line).path
            yield "".join(path[-1:]), " ".join(path[:-1]), "\n".join(titles[1:]), body
            continue
        is_new = inside and inside[0].first_line <= place.first_line + _TOP_LINES  # not still under what is before it
        path = inside[0].path[:-1] if is_new else outline.at(place.first_line).path if starts else ()
        top = _top(document, place.first_line, place.last_line)
        yield "\n".join(top), " ".join(path), "\n".join(titles), body


def _top(document: Document, first: int, last: int) -> Iterator[str]:
    """The title-like lines among the first few of a page."""
    seen = 0
    for number in range(first, last + 1):
        text = without_stray_letter(document.line(number).strip())
        if not text or number in document.running_heads:
            continue
        if len(text.split()) <= _TOP_WORDS and not is_numeric_row(text) and not (is_prose(text) and text[-1] in ".,;"):
            yield text
        seen += 1
        if seen == _TOP_LINES:
            return
