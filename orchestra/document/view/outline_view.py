"""The view of one task over one set of documents."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from orchestra.document.document import DocumentSet
from orchestra.document.ranges import LineRange
from orchestra.document.retrieval import Hits, LineHit, find
from orchestra.document.tokens import count_tokens
from orchestra.document.view.closer import closer, looked_at
from orchestra.document.view.listing import listing
from orchestra.document.view.matches import Row, best_lines
from orchestra.document.view.order import by_importance
from orchestra.document.view.tree import Tree
from orchestra.document.view.wording import clipped, one_line

LINES_SHARE = 0.42  # of the budget, for lines that match
LOOK_SHARE = 0.75  # of the budget, for what the planner asked to see closer
_FEWEST_ENTRY_TOKENS = 5
_SHARE_OF_TEXT = 6  # at most one token of so many of the text
_FEWEST_TOKENS = 700  # a view may have them, whatever the length of the text
_RICH = 12  # places whose titles stand longer
_BEST_IDS = 15
_FEWEST_IDS = 5
_LEAST_SHARE = 0.1  # of the best place's score, for a place after the first few
_TOKENS_AN_ID = 40  # of the budget


@dataclass(frozen=True, slots=True)
class OutlineView:
    """`text` is what the planner reads, `tokens` counts it, `shown` are the document's lines that stand in it whole."""

    documents: DocumentSet
    hits: Hits
    text: str
    tokens: int
    shown: tuple[LineRange, ...]


def outline_view(
    documents: DocumentSet, task: str, budget_tokens: int = 3_000, *, look: Sequence[str] = ()
) -> OutlineView:
    """The outline of `documents` as far as `task` needs it, in at most `budget_tokens` tokens.

    First the documents' pages or sections, those with nothing to tell collapsed; then the lines that match the task
    best, under the id of their place; then the best ids. `look` names sections or pages that the planner asked to see
    closer: they stand first, whole or as far as three quarters of the budget go, or are said to be unknown; the outline
    after them is the shorter for it.
    Of a text of less than six times the budget, less is shown: a sixth.
    """
    hits = find(task, documents)
    tree = Tree(documents)
    budget_tokens = min(budget_tokens, _enough(documents))
    first = closer(tree, task, look, int(LOOK_SHARE * budget_tokens)) if look else []
    left = min(budget_tokens - _tokens(first), budget_tokens // 3 if first else budget_tokens)
    seen = [lines for reference in look for lines in looked_at(tree, reference)]
    rows = _cut_to([*first, *_overview(tree, hits, task, left, seen)], budget_tokens)
    text = _text(rows)
    return OutlineView(documents, hits, text, count_tokens(text), _shown(rows))


def _enough(documents: DocumentSet) -> int:
    """Of a short text no more than a share is shown: the outline is there to spare its reader the rest."""
    return max(_FEWEST_TOKENS, sum(document.size.tokens for document in documents) // _SHARE_OF_TEXT)


def _overview(tree: Tree, hits: Hits, task: str, budget_tokens: int, skip: Sequence[LineRange]) -> list[Row]:
    """Entries, lines and ids. What one of them leaves of its share, the other gets."""
    head = [Row(_head(tree))]
    ids = _ids(tree, hits, min(_BEST_IDS, budget_tokens // _TOKENS_AN_ID))
    left = budget_tokens - _tokens([*head, *ids]) - 12  # headings of the blocks
    order = by_importance(tree, hits, task, max(left, 0) // _FEWEST_ENTRY_TOKENS)
    places = [tree.path_of(hit.place) for hit in hits.places[:_RICH]]
    rich = {*places, *(path for path in order[:_RICH] if tree.entry(path).kind == "document")}
    matching = _led_by_the_best_place(hits)
    lines = best_lines(tree.documents, matching, task, int(LINES_SHARE * left), skip)
    entries = [Row(line) for line in listing(tree, order, rich, left - _tokens(lines))]
    more = best_lines(tree.documents, matching, task, left - _tokens(entries), skip)
    lines = more if len(more) > len(lines) else lines
    return [*head, *entries, *([Row("Lines:"), *lines] if lines else []), *ids]


def _led_by_the_best_place(hits: Hits) -> list[LineHit]:
    """The best lines after the first of the best place: an id alone does not show why it is the best."""
    first = next((hit for hit in hits.lines if hit.place == hits.places[0].place), None) if hits.places else None
    if first is None:
        return list(hits.lines)
    return [replace(first, score=hits.lines[0].score), *(hit for hit in hits.lines if hit is not first)]


def _head(tree: Tree) -> str:
    """What the documents are; a page's usual size, which no entry repeats."""
    documents = tree.documents
    if len(documents) > 1:
        return f"{len(documents)} documents{_page_size(tree)}"
    return f"Document: {clipped(one_line(documents.names[0][:200]), 80)}, {tree.extent(())}{_page_size(tree)}"


def _page_size(tree: Tree) -> str:
    paged = [document for document in tree.documents if document.page_starts]
    pages = sum(len(document.page_starts) for document in paged)
    if not pages:
        return ""
    tokens = sum(document.size.tokens for document in paged)
    return f", about {round(tokens / pages)}t a page"


def _ids(tree: Tree, hits: Hits, most: int) -> list[Row]:
    """The ids of the best places, those left out that hardly speak for the task."""
    good = [
        tree.documents.qualify(hit.place.key, hit.place.id)
        for at, hit in enumerate(hits.places[:most])
        if at < _FEWEST_IDS or hit.score >= _LEAST_SHARE * hits.places[0].score
    ]
    return [Row(f"Best: {' '.join(good)}")] if good else []


def _cut_to(rows: list[Row], budget_tokens: int) -> list[Row]:
    """The rows, the last before the ids left out until they keep within the budget."""
    low, high = 0, len(rows)
    while low < high:
        middle = (low + high + 1) // 2
        if _tokens(rows[:middle]) <= budget_tokens:
            low = middle
        else:
            high = middle - 1
    while low and _tokens(rows[:low]) > budget_tokens:  # tokens of a front need not grow with it
        low -= 1
    return rows[:low]


def _text(rows: Iterable[Row]) -> str:
    return "\n".join(row.text for row in rows)


def _tokens(rows: Iterable[Row]) -> int:
    return count_tokens(_text(rows))


def _shown(rows: Iterable[Row]) -> tuple[LineRange, ...]:
    return tuple(sorted({row.shown for row in rows if row.shown}, key=lambda lines: (lines.key, lines.first)))
