"""Pointers: what a plan says to show, resolved to lines by the first rung of a fixed ladder that answers."""

from __future__ import annotations

from dataclasses import dataclass

from orchestra.document.document import DocumentSet
from orchestra.document.ladder import FUZZY_THRESHOLD, LADDER, Query, Rung, lines_of
from orchestra.document.ranges import LineRange, near, read_number
from orchestra.document.references import read_lines, readable

__all__ = ["FUZZY_THRESHOLD", "LineRange", "Resolution", "Rung", "resolve_lines", "resolve_section"]


@dataclass(frozen=True, slots=True)
class Resolution:
    """What a pointer came to. No ranges: unresolved, and `notes` say why.

    `pointer` is as it was written, `sections` are qualified ids ("s12", "d2:s12", "s12.3").
    """

    pointer: str
    ranges: tuple[LineRange, ...]
    rung: Rung
    sections: tuple[str, ...]
    notes: tuple[str, ...]


def resolve_section(reference: str, documents: DocumentSet) -> Resolution:
    """Find the lines that a section reference means, by the first rung of the ladder that answers.

    Rungs: section id, exact title, folded title, path, fuzzy (ratio >= 90), lexical. `L10-L20` and `page 12` are
    understood too; "d2:" or a document's name in front limits the search to it. A title that several sections bear
    means all of them. Never raises: what is not found is a `Resolution` with no ranges and the reason.
    """
    if not isinstance(reference, str):  # pyright: ignore[reportUnnecessaryIsInstance]  (a plan may hold anything)
        return Resolution("", (), "unresolved", (), (f"a {type(reference).__name__} is no section reference",))
    query = _scoped(readable(reference), documents)
    for rung in LADDER:
        answer = rung(query)
        if answer:
            return Resolution(reference, answer.ranges, answer.rung, answer.sections, answer.notes)
    return Resolution(reference, (), "unresolved", (), ("no section, path or text matches it",))


def resolve_lines(first: object, last: object, documents: DocumentSet, key: str | None = None) -> Resolution:
    """Turn a plan's line range into one that the document has: clipped, swapped if reversed, digits read.

    `key` is a document's key or name; without it, a range means those lines of every document. Never raises: what
    cannot be mended is a `Resolution` with no ranges and the reason.
    """
    if last is None and isinstance(first, str) and (pair := read_lines(readable(first))):
        first, last = pair
    start, start_note = read_number(first)
    end, end_note = read_number(last) if last is not None else (start, "")
    pointer = f"{_shown(first)}-{_shown(last)}" if last is not None else _shown(first)
    notes = [note for note in (start_note, end_note) if note]
    scope = [
        (own_key, document)
        for own_key, name, document in documents.items()
        if key is None or (isinstance(key, str) and key in (own_key, name))  # pyright: ignore[reportUnnecessaryIsInstance]
    ]
    if not scope:
        notes.append(f"no document {_shown(key)}")
    if start is None or end is None or not scope:
        return Resolution(pointer, (), "unresolved", (), tuple(notes))
    answer = lines_of(scope, documents, start, end)
    return Resolution(pointer, answer.ranges, answer.rung, answer.sections, (*notes, *answer.notes))


def _scoped(text: str, documents: DocumentSet) -> Query:
    """A reference without the document's key or name in front of it, which limits where to look."""
    everything = [(key, document) for key, _, document in documents.items()]
    if any(section.title == text for _, document in everything for section in document.outline.sections):
        return Query(text, everything, documents)
    for key, name, document in documents.items():
        for prefix in (key or "d1", name):
            rest = text[len(prefix) :].lstrip()
            if text.casefold().startswith(prefix.casefold()) and rest[:1] in tuple(":>/|") and rest[1:].strip():
                return Query(rest[1:].strip(), [(key, document)], documents)
    return Query(text, everything, documents)


def _shown(value: object) -> str:
    if isinstance(value, int):
        value = near(value)
    return str(value)[:80] if isinstance(value, (str, int, float)) else type(value).__name__
