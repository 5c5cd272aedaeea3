"""The view of one task over one set of documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from orchestra.document.document import DocumentSet
from orchestra.document.ranges import LineRange
from orchestra.document.retrieval import Hits, find
from orchestra.document.tokens import count_tokens


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

    `look` names sections or pages that the planner asked to see closer: the budget goes to them.
    """
    hits = find(task, documents)
    lines = [f"{hit.place.id} L{hit.place.first_line}-L{hit.place.last_line}" for hit in hits.places]
    while lines and count_tokens("\n".join(lines)) > budget_tokens:
        lines.pop()
    text = "\n".join(lines)
    return OutlineView(documents, hits, text, count_tokens(text), ())
