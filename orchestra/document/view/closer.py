"""What a planner asked to see closer: the text of those places if it fits, else what lies within them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from orchestra.document.document import DocumentSet
from orchestra.document.pointers import Resolution, resolve_section
from orchestra.document.ranges import LineRange
from orchestra.document.retrieval import Hits, Place, find, places_of
from orchestra.document.search import terms_of
from orchestra.document.tokens import count_tokens
from orchestra.document.view.listing import lines_of, listing
from orchestra.document.view.matches import Row, best_lines, row
from orchestra.document.view.order import within
from orchestra.document.view.tree import Path, Tree
from orchestra.document.view.wording import clipped, first_words, joined, one_line

MOST_LOOKS = 8
_MOST_CHARACTERS = 40  # a token; a text that is longer than so many for each token of its share is not tried whole
_WIDTHS = (100, 60, 36)
_LINES_SHARE = 0.5
_FEWEST_ENTRY_TOKENS = 5
_FIRST_LINES = 12
_RICH = 6
_SURE_RUNGS = ("id", "lines", "title", "folded", "path")


def closer(tree: Tree, task: str, look: Sequence[str], budget_tokens: int) -> list[Row]:
    """Rows of at most about `budget_tokens` tokens for the places that `look` names; unknown ones are reported.

    The budget is shared evenly; what one place leaves, the next ones have.
    """
    wanted = list(dict.fromkeys(look))[:MOST_LOOKS]
    rows: list[Row] = []
    left = budget_tokens
    for at, reference in enumerate(wanted):
        found = _of_one(tree, task, reference, left // (len(wanted) - at))
        left -= _tokens(found)
        rows += found
    return [Row("Closer:"), *rows, Row("Outline:")] if rows else []


def looked_at(tree: Tree, reference: str) -> tuple[LineRange, ...]:
    """The lines that a look at one place shows, whole or in part; () for what is not there."""
    found = resolve_section(reference, tree.documents)
    return found.ranges[:1] if found.rung in _SURE_RUNGS else ()


def _of_one(tree: Tree, task: str, reference: str, budget_tokens: int) -> list[Row]:
    name = clipped(one_line(reference[:200]), 40)
    found = resolve_section(reference, tree.documents)
    if not looked_at(tree, reference):
        return [Row(f"{name}: there is no such id")]
    lines = found.ranges[0]
    whole = [Row(f"{name}, whole:"), *_text_of(tree.documents, lines, budget_tokens)]
    if len(whole) > 1 and _tokens(whole) <= budget_tokens:
        return whole
    hits = find(task, tree.documents, exclude=tuple(_others(tree.documents, lines)))
    left = budget_tokens - 10
    matching = [hit for hit in hits.lines if hit.place.key == lines.key and lines.first <= hit.line <= lines.last]
    best = best_lines(tree.documents, matching, task, int(_LINES_SHARE * left))
    left -= _tokens(best)
    entries = _entries(tree, hits, _path_of(tree, found), lines, left)
    beginning = [] if entries else _beginning(tree.documents, lines, task, left, best)
    return [Row(f"{name}, in part:"), *entries, *best, *beginning]


def _text_of(documents: DocumentSet, lines: LineRange, budget_tokens: int) -> Iterator[Row]:
    """The whole text, each line numbered, so that none can be taken for an entry; nothing where it is far too long."""
    document = documents.find(lines.key)
    if len(document.lines(lines.first, lines.last)) > _MOST_CHARACTERS * budget_tokens:
        return
    for number in range(lines.first, lines.last + 1):
        if document.line(number).strip():
            yield row(document, lines.key, number, ())


def _entries(tree: Tree, hits: Hits, path: Path | None, lines: LineRange, budget_tokens: int) -> list[Row]:
    """The places within, with their first words if these fit, else their outline; [] for a single place."""
    document = tree.documents.find(lines.key)
    places = [place for place in places_of(lines.key, document) if _overlaps(place, lines)]
    if len(places) < 2:
        return []
    if len(places) * _FEWEST_ENTRY_TOKENS <= budget_tokens:
        for width in _WIDTHS:
            entries = [Row(_entry(tree, place, width)) for place in places]
            if _tokens(entries) <= budget_tokens:
                return entries
    if path is None:
        return []
    order = within(tree, path, hits, max(budget_tokens, 0) // _FEWEST_ENTRY_TOKENS)
    rich = [tree.path_of(hit.place) for hit in hits.places[:_RICH]]
    return [Row(text) for text in listing(tree, order, rich, budget_tokens, path)]


def _path_of(tree: Tree, found: Resolution) -> Path | None:
    """The entry of a section; None for a page, and where several were asked for together."""
    lines = found.ranges[0]
    if found.rung in ("lines", "path") or tree.documents.find(lines.key).page_starts:
        return None
    own_id = found.sections[0].removeprefix(f"{lines.key}:")
    path = tree.path_of(Place(lines.key, own_id, 0, lines.first, lines.last))
    is_it = path != tree.tops[0] and tree.entry(path).last_line == lines.last
    return path if is_it else None


def _beginning(documents: DocumentSet, lines: LineRange, task: str, budget_tokens: int, best: list[Row]) -> list[Row]:
    """As many lines from the front as fit, those left out that stand among the best."""
    document, terms = documents.find(lines.key), terms_of(task)
    shown = {each.shown for each in best}
    rows: list[Row] = []
    for number in range(lines.first, lines.last + 1):
        each = row(document, lines.key, number, terms)
        if each.shown in shown or not document.line(number).strip():
            continue
        budget_tokens -= count_tokens(each.text + "\n")
        if budget_tokens < 0:
            break
        rows.append(each)
    return rows


def _entry(tree: Tree, place: Place, width: int) -> str:
    """A place by its titles and the first words of its text."""
    path = tree.path_of(place)
    entry, document = tree.entry(path), tree.document(path)
    titles = joined(tree.titles(path), width) if entry.kind != "part" else ""
    first = place.first_line + (1 if titles and entry.kind == "section" else 0)
    last = min(place.last_line, first + _FIRST_LINES)
    opening = first_words((document.line(number) for number in range(first, last + 1)), width)
    words = " | ".join(dict.fromkeys(each for each in (titles, opening) if each))
    size = tree.size_of(document, place.first_line, place.last_line)
    return f" {entry.id} {lines_of(place.first_line, place.last_line)} {size}t {words}".rstrip()


def _overlaps(place: Place, lines: LineRange) -> bool:
    return place.first_line <= lines.last and place.last_line >= lines.first


def _others(documents: DocumentSet, lines: LineRange) -> Iterator[LineRange]:
    """Everything but these lines."""
    for key, _, document in documents.items():
        if key != lines.key:
            yield LineRange(key, 1, document.line_count)
    ends = ((1, lines.first - 1), (lines.last + 1, documents.find(lines.key).line_count))
    yield from (LineRange(lines.key, start, end) for start, end in ends if start <= end)


def _tokens(rows: Iterable[Row]) -> int:
    return count_tokens("\n".join(row.text for row in rows))
