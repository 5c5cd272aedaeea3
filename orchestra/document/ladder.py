"""The ladder's rungs: each looks a reference up in one way, and answers or leaves it to the next."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from orchestra.document.document import Document, DocumentSet
from orchestra.document.folding import Folded, agree, figures, fold, names_of
from orchestra.document.outline import Section
from orchestra.document.ranges import LineRange, clip
from orchestra.document.references import Id, read_id, read_lines, read_pages, read_paths

FUZZY_THRESHOLD = 90
"""The least rapidfuzz ratio (0..100) of two folded titles that are taken for one; their numbers must be equal."""

LEXICAL_COVERAGE = 0.6
"""The least share of a reference's words, weighted by rarity, that a text must hold to answer for it."""

_MOST_LEXICAL_HITS = 3
_NAMED_SECTIONS = 5

Rung = Literal["id", "lines", "title", "folded", "path", "fuzzy", "lexical", "unresolved"]
Scope = Sequence[tuple[str, Document]]
Found = list[tuple[str, Section]]


@dataclass(frozen=True, slots=True)
class Query:
    """A reference made ready: where to look for what."""

    text: str
    scope: Scope
    documents: DocumentSet


@dataclass(frozen=True, slots=True)
class Answer:
    rung: Rung
    ranges: tuple[LineRange, ...]
    sections: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def _by_id(query: Query) -> Answer | None:
    wanted = read_id(query.text)
    if not wanted or (wanted.rest and not wanted.lines and not _names_it(wanted, query.scope)):
        return None
    return _at_id(wanted, query)


def _by_front_id(query: Query) -> Answer | None:
    """An id before other words, when these lead nowhere, or the section of a part that is not there."""
    wanted = read_id(query.text)
    if not wanted:
        return None
    section = wanted.first.partition(".")[0]
    return _at_id(wanted, query, f"{wanted.first} has another title") or _at_id(
        Id(section, section, "", None), query, f"{section} has no such part"
    )


def _at_id(wanted: Id, query: Query, *notes: str) -> Answer | None:
    spans = [(key, span) for key, document in query.scope if (span := _span_of(wanted, document))]
    if not spans:
        return None
    ids = tuple(query.documents.qualify(key, wanted.first) for key, _ in spans)
    if len(ids) > 1:
        notes = (f"{wanted.first} is in {len(ids)} documents: {', '.join(ids)}", *notes)
    return Answer("id", tuple(LineRange(key, *span) for key, span in spans), ids, notes)


def _span_of(wanted: Id, document: Document) -> tuple[int, int] | None:
    """The lines of an id or of a range of ids; only those named after it, where they lie inside."""
    start, end = document.outline.get(wanted.first), document.outline.get(wanted.last)
    if not start or not end:
        return None
    first, last = min(start.first_line, end.first_line), max(start.last_line, end.last_line)
    if not wanted.lines:
        return first, last
    inner_first, inner_last = max(first, min(wanted.lines)), min(last, max(wanted.lines))
    return (inner_first, inner_last) if inner_first <= inner_last else (first, last)


def _names_it(wanted: Id, scope: Scope) -> bool:
    """Whether the words after an id are that section's title or path, as in a breadcrumb."""
    folded = fold(wanted.rest)
    for _, document in scope:
        section = document.outline.get(wanted.first.partition(".")[0])
        if isinstance(section, Section):
            return any(agree(folded, fold(title)) for title in (section.title, " > ".join(section.path)))
    return False


def _by_title(query: Query) -> Answer | None:
    if not query.text:
        return None
    return _sections("title", query, lambda section, _: query.text in names_of(section.title))


def _by_lines(query: Query) -> Answer | None:
    pair = read_lines(query.text)
    return lines_of(query.scope, query.documents, int(pair[0]), int(pair[1])) if pair else None


def _by_pages(query: Query) -> Answer | None:
    pages = read_pages(query.text)
    if not pages:
        return None
    paged = [(key, document) for key, document in query.scope if document.page_starts]
    if not paged:
        return Answer("unresolved", (), (), ("the document has no pages",))
    low, high = min(pages), max(pages)
    ranges: list[LineRange] = []
    for key, document in paged:
        ends = (*(start - 1 for start in document.page_starts[1:]), document.line_count)
        if high >= 1 and low <= len(ends):
            first, last = document.page_starts[max(low, 1) - 1], ends[min(high, len(ends)) - 1]
            ranges.append(LineRange(key, first, max(first, last)))
    if not ranges:
        counts = ", ".join(str(len(document.page_starts)) for _, document in paged)
        return Answer("unresolved", (), (), (f"page {low} lies outside the document, which has {counts}",))
    return Answer("lines", tuple(ranges), _holders(ranges, query.documents))


def _by_folded(query: Query) -> Answer | None:
    wanted = fold(query.text)
    if not wanted.full:
        return None
    same = _sections("folded", query, lambda _, names: any(name.full == wanted.full for name in names))
    if same or read_paths(query.text):  # "Item 7/Results" is a path, not a numbered title
        return same
    return (
        _sections("folded", query, lambda _, names: any(agree(wanted, name) for name in names))
        or _sections("folded", query, lambda _, names: any(_abbreviates(wanted, name) for name in names))
        or _sections(
            "folded",
            query,
            lambda _, names: bool(wanted.bare) and any(name.bare == wanted.bare for name in names),
            ("its numbering differs",),
        )
    )


def _abbreviates(wanted: Folded, name: Folded) -> bool:
    """ "Item 7" for "Item 7. Discussion and Analysis", or the front of a longer title with the same number."""
    if not wanted.number or (wanted.label, wanted.number) != (name.label, name.number):
        return False
    return not wanted.bare or not name.bare or f"{name.bare} ".startswith(f"{wanted.bare} ")


def _by_path(query: Query) -> Answer | None:
    for steps in read_paths(query.text):
        folded = [fold(step) for step in steps]
        answer = _on_path("path", query, folded, _same_step, _is_same) or _on_path("path", query, folded, _same_step)
        if answer:
            return answer
    text = query.text.casefold()
    named = {key for key, name, _ in query.documents.items() if text in (key or name, name.casefold())}
    ranges = tuple(LineRange(key, 1, document.line_count) for key, document in query.scope if key in named)
    return Answer("path", ranges, (), ("the whole document",)) if ranges else None


def _is_same(wanted: Folded, name: Folded) -> bool:
    return wanted.full == name.full


def _same_step(wanted: Folded, name: Folded) -> bool:
    return agree(wanted, name) or _abbreviates(wanted, name)


def _by_fuzzy(query: Query) -> Answer | None:
    if read_id(query.text):
        return None
    paths = read_paths(query.text)
    wanted = replace(fold(query.text), bare="") if paths else fold(query.text)  # a path's last step alone is too little
    scores = [_closeness(wanted, names) for _, document in query.scope for names in document.folded_titles]
    best = max(scores, default=0.0)
    if best >= FUZZY_THRESHOLD:
        return _sections("fuzzy", query, lambda _, names: _closeness(wanted, names) == best)
    for steps in paths:
        folded = [fold(step) for step in steps]
        answer = _on_path("fuzzy", query, folded, _is_close)
        if answer:
            return answer
    return None


def _is_close(wanted: Folded, name: Folded) -> bool:
    return _same_step(wanted, name) or _closeness(wanted, (name,)) > 0


def _closeness(wanted: Folded, names: Iterable[Folded]) -> float:
    """The best ratio of a reference and a section's names; 0 below the threshold or where their numbers differ."""
    from rapidfuzz.fuzz import ratio

    best = 0.0
    for name in names:
        pairs = [(wanted.full, name.full)]
        if not wanted.number or not name.number:
            pairs.append((wanted.bare, name.bare))
        for one, other in pairs:
            score = ratio(one, other, score_cutoff=FUZZY_THRESHOLD) if one and other else 0.0
            if score > best and figures(one) == figures(other):
                best = score
    return best


def _by_words(query: Query) -> Answer | None:
    if read_id(query.text) or not any(character.isalpha() for character in query.text):
        return None
    titled = [
        (key, document.outline.section(document.units[row].section))
        for key, document in query.scope
        for row in document.index.titled(query.text)
    ]
    sections = list(dict.fromkeys(titled))
    if 1 <= len(sections) <= _MOST_LEXICAL_HITS:
        return _all_of("lexical", sections, query.documents, ("its words stand in the title",))
    return _in_bodies(query)


def _in_bodies(query: Query) -> Answer | None:
    hits: list[tuple[float, float, int, int]] = []
    for place, (_, document) in enumerate(query.scope):
        for row, coverage, score in document.index.covering(query.text, LEXICAL_COVERAGE, _MOST_LEXICAL_HITS):
            hits.append((-coverage, -score, place, row))
    if not hits:
        return None
    hits.sort()
    best = [hit for hit in hits if hit[0] == hits[0][0] and hit[1] <= 0.8 * hits[0][1]][:_MOST_LEXICAL_HITS]
    found = [(place, query.scope[place][1].units[row]) for place, row in sorted(hit[2:] for hit in best)]
    return Answer(
        "lexical",
        tuple(LineRange(query.scope[place][0], unit.first_line, unit.last_line) for place, unit in found),
        tuple(query.documents.qualify(query.scope[place][0], unit.id) for place, unit in found),
        ("no title matches; its words stand here",),
    )


LADDER: tuple[Callable[[Query], Answer | None], ...] = (
    _by_id,
    _by_title,
    _by_lines,
    _by_pages,
    _by_folded,
    _by_path,
    _by_fuzzy,
    _by_words,
    _by_front_id,
)


def _sections(
    rung: Rung,
    query: Query,
    fits: Callable[[Section, tuple[Folded, ...]], bool],
    notes: tuple[str, ...] = (),
) -> Answer | None:
    """All titled sections in scope that fit, in document order."""
    found = [
        (key, section)
        for key, document in query.scope
        for section, names in zip(document.outline.sections, document.folded_titles, strict=True)
        if section.title and fits(section, names)
    ]
    return _all_of(rung, found, query.documents, notes)


def _on_path(
    rung: Rung,
    query: Query,
    steps: list[Folded],
    fits: Callable[[Folded, Folded], bool],
    fits_last: Callable[[Folded, Folded], bool] | None = None,
) -> Answer | None:
    """Sections whose title is the last step and whose ancestors hold the others in order.

    Those whose nearest ancestors are exactly the other steps go before those with more ancestors in between.
    """
    close: Found = []
    loose: Found = []
    for key, document in query.scope:
        for lineage, section in _lineages(document):
            if not section.title or not any((fits_last or fits)(steps[-1], name) for name in lineage[-1]):
                continue
            above = lineage[:-1]
            nearest = above[max(len(above) - len(steps) + 1, 0) :]
            if len(nearest) == len(steps) - 1 and _in_order(steps[:-1], nearest, fits):
                close.append((key, section))
            elif _in_order(steps[:-1], above, fits):
                loose.append((key, section))
    return _all_of(rung, close or loose, query.documents)


def _in_order(
    steps: Sequence[Folded], above: Sequence[tuple[Folded, ...]], fits: Callable[[Folded, Folded], bool]
) -> bool:
    rest = iter(above)
    return all(any(any(fits(step, name) for name in names) for names in rest) for step in steps)


def _lineages(document: Document) -> Iterator[tuple[list[tuple[Folded, ...]], Section]]:
    """The folded names of each section's ancestors and of itself, from the top."""
    open_: list[tuple[str, tuple[Folded, ...]]] = []
    for section, names in zip(document.outline.sections, document.folded_titles, strict=True):
        while open_ and open_[-1][0] != section.parent:
            open_.pop()
        open_.append((section.id, names))
        yield [each for _, each in open_], section


def _all_of(rung: Rung, found: Found, documents: DocumentSet, notes: tuple[str, ...] = ()) -> Answer | None:
    if not found:
        return None
    ids = tuple(documents.qualify(key, section.id) for key, section in found)
    if len(ids) > 1:
        shown = ", ".join(ids[:_NAMED_SECTIONS]) + (", ..." if len(ids) > _NAMED_SECTIONS else "")
        notes = (f"{len(ids)} sections match: {shown}", *notes)
    ranges = tuple(LineRange(key, section.first_line, section.last_line) for key, section in found)
    return Answer(rung, ranges, ids, notes)


def lines_of(scope: Scope, documents: DocumentSet, first: int, last: int) -> Answer:
    """Those lines of each document in scope, clipped."""
    ranges: list[LineRange] = []
    notes: list[str] = []
    for key, document in scope:
        clipped, said = clip(key, first, last, document.line_count)
        notes += [f"{key}: {note}" if key else note for note in said]
        if clipped:
            ranges.append(clipped)
    if len(ranges) > 1:
        notes.append(f"no document was named: taken from {', '.join(range_.key for range_ in ranges)}")
    return Answer("lines" if ranges else "unresolved", tuple(ranges), _holders(ranges, documents), tuple(notes))


def _holders(ranges: Iterable[LineRange], documents: DocumentSet) -> tuple[str, ...]:
    """The innermost section at the first line of each range."""
    return tuple(
        documents.qualify(range_.key, documents.find(range_.key).outline.at(range_.first).id) for range_ in ranges
    )
