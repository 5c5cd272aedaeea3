"""Slices: the text that line ranges stand for, each passage under its path and lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from orchestra.document.document import Document, DocumentSet
from orchestra.document.long_lines import shortened
from orchestra.document.outline import Section
from orchestra.document.ranges import LineRange
from orchestra.document.tokens import count_tokens

NUMBER_EVERY = 5
MOST_KEPT = 64  # slices that a set of documents remembers
LONGEST_TITLE = 160  # characters of a breadcrumb's title: a paragraph marked as a heading would stand in every one
_SAME = "…"
_BREADCRUMB_TOKENS = 40  # about what the breadcrumb and line numbers of a unit cost


@dataclass(frozen=True, slots=True)
class Passage:
    """Neighbouring lines of one document. `section` is the innermost section, or the part, at the first line.

    Of a line of more than 100,000 characters, `text` has the beginning and the end.
    """

    key: str
    document: str
    path: tuple[str, ...]
    section: str
    first_line: int
    last_line: int
    text: str
    pages: tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class Slice:
    """What a subtask may see. `text` is the passages as a model reads them, `tokens` counts it."""

    passages: tuple[Passage, ...]
    tokens: int
    text: str

    @property
    def line_ranges(self) -> tuple[LineRange, ...]:
        return tuple(LineRange(passage.key, passage.first_line, passage.last_line) for passage in self.passages)


def cut(ranges: Iterable[LineRange], documents: DocumentSet) -> Slice:
    """The union of `ranges` in document order, no line twice; ranges that touch become one passage.

    Ranges are clipped to their documents; KeyError for a key that the set does not have.
    """
    wanted = tuple(union(ranges, documents))
    kept = documents.kept_slices.get(wanted)
    if kept is None:
        if len(documents.kept_slices) >= MOST_KEPT:
            documents.kept_slices.clear()
        kept = documents.kept_slices[wanted] = _cut(wanted, documents)
    return kept


def _cut(ranges: Iterable[LineRange], documents: DocumentSet) -> Slice:
    passages = [
        _passage(LineRange(wanted.key, first, last), documents)
        for wanted in ranges
        for first, last in _split(documents.find(wanted.key), wanted.first, wanted.last)
    ]
    text = "\n\n".join(_rendered(passages, is_one_of_many=len(documents) > 1))
    return Slice(tuple(passages), count_tokens(text), text)


def whole(documents: DocumentSet) -> Slice:
    """Every line of every document."""
    return cut((LineRange(key, 1, document.line_count) for key, _, document in documents.items()), documents)


def best_parts(query: str, documents: DocumentSet, budget_tokens: int) -> Slice:
    """The pages or units that serve a query best, as many as `budget_tokens` has room for, in document order.

    Where none holds any of its words, the beginning of the documents. Empty when not even one fits.
    """
    from orchestra.document.retrieval import find

    hits = find(query, documents, most_places=budget_tokens // _BREADCRUMB_TOKENS + 1, most_lines=0)
    order = [hit.place.lines for hit in hits.places] or [
        LineRange(key, unit.first_line, unit.last_line)
        for key, _, document in documents.items()
        for unit in document.units
    ]
    chosen: list[LineRange] = []
    left = budget_tokens
    for lines in order:
        cost = count_tokens(documents.find(lines.key).lines(lines.first, lines.last)) + _BREADCRUMB_TOKENS
        if cost <= left:
            chosen.append(lines)
            left -= cost
        if left < _BREADCRUMB_TOKENS:
            break
    best = cut(chosen, documents)
    while chosen and best.tokens > budget_tokens:  # line numbers cost tokens too
        chosen.pop()
        best = cut(chosen, documents)
    return best


def union(ranges: Iterable[LineRange], documents: DocumentSet) -> Iterator[LineRange]:
    """Sorted by document and line, clipped, overlapping and adjacent ones joined."""
    order = {key: position for position, key in enumerate(documents.keys)}
    clipped = sorted(
        (order[range_.key], max(range_.first, 1), min(range_.last, documents.find(range_.key).line_count))
        for range_ in ranges
    )
    current: tuple[int, int, int] | None = None
    for position, first, last in clipped:
        if first > last:
            continue
        if current is None:
            current = (position, first, last)
        elif position == current[0] and first <= current[2] + 1:
            current = (position, current[1], max(last, current[2]))
        else:
            yield LineRange(documents.keys[current[0]], current[1], current[2])
            current = (position, first, last)
    if current is not None:
        yield LineRange(documents.keys[current[0]], current[1], current[2])


def _split(document: Document, first: int, last: int) -> Iterator[tuple[int, int]]:
    """A new passage where a section begins that is no part of the one before: no breadcrumb covers foreign lines."""
    end = document.outline.at(first).last_line
    while end < last:
        yield first, end
        first = end + 1
        end = document.outline.at(first).last_line
    yield first, last


def _passage(lines: LineRange, documents: DocumentSet) -> Passage:
    document = documents.find(lines.key)
    section = document.outline.at(lines.first)
    first_page, last_page = document.page_of(lines.first), document.page_of(lines.last)
    return Passage(
        key=lines.key,
        document=documents.name_of(lines.key),
        path=section.path,
        section=_id_at(lines.first, section, document),
        first_line=lines.first,
        last_line=lines.last,
        text=shortened(document.lines(lines.first, lines.last)),
        pages=None if first_page is None or last_page is None else (first_page, last_page),
    )


def _id_at(line: int, section: Section, document: Document) -> str:
    """The section that holds a line, or the part that begins there within it."""
    if line == section.first_line:
        return section.id
    parts = document.outline.parts(section.id)
    return next((part.id for part in parts if part.first_line == line), section.id)


def _rendered(passages: Iterable[Passage], *, is_one_of_many: bool) -> Iterator[str]:
    """Each passage under its breadcrumb, with the numbers a model needs to cite lines."""
    before: tuple[str, ...] = ()
    for passage in passages:
        prefix = f"{passage.key}:" if is_one_of_many else ""
        path = (passage.document, *_parents(passage)) if is_one_of_many else _parents(passage)
        crumbs = [
            f"{prefix}{passage.section}",
            " > ".join(map(_shortened, _continued(path, before))),
            f"{prefix}L{passage.first_line}-L{passage.last_line}",
            _pages(passage.pages),
        ]
        head = " | ".join(crumb for crumb in crumbs if crumb)
        yield f"[{head}]\n{_numbered(passage.text, passage.first_line)}".rstrip("\n")
        before = path


def _parents(passage: Passage) -> tuple[str, ...]:
    """The path, without the title that the passage itself begins with."""
    title = passage.path[-1] if passage.path else ""
    first = passage.text.split("\n", 1)[0]
    return passage.path[:-1] if title and first.strip("# \t") == title else passage.path


def _shortened(title: str) -> str:
    return title if len(title) <= LONGEST_TITLE else f"{title[: LONGEST_TITLE - 1].rstrip()}…"


def _continued(path: tuple[str, ...], before: tuple[str, ...]) -> tuple[str, ...]:
    """A path that goes on from the one before it, which then need not be repeated."""
    return (_SAME, *path[len(before) :]) if before and path[: len(before)] == before else path


def _pages(pages: tuple[int, int] | None) -> str:
    if pages is None:
        return ""
    first, last = pages
    return f"p. {first}" if first == last else f"p. {first}-{last}"


def _numbered(text: str, first_line: int) -> str:
    """`N| ` before the first line of each block and each fifth line of a long one; blank runs become one line."""
    lines = text.split("\n")
    blanks = [at for at, line in enumerate(lines) if not line or line.isspace()]
    blocks: list[str] = []
    start = 0
    for end in (*blanks, len(lines)):
        if start < end:
            for at in range(start, end, NUMBER_EVERY):
                lines[at] = f"{first_line + at}| {lines[at]}"
            blocks.append("\n".join(lines[start:end]))
        start = end + 1
    return "\n\n".join(blocks)
