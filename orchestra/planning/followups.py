"""When a slice did not hold the answer: which lines are shown next, what is sent, and how two replies become one.

All of it is code, and what is sent is the cheapest that can serve: lines that the subtask has not read, the heads of
tables that go on in them, and its earlier reply if that found anything. The first slice is not sent again: what of it
bears on the task is in that reply, with its lines, because the rules ask for it before the INSUFFICIENT line.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from orchestra.document import DocumentSet, LineRange, Slice, count_tokens, cut
from orchestra.document.citing.columns import head_of
from orchestra.document.retrieval import Place, find, places_of
from orchestra.document.slices import union
from orchestra.models.blocks import Finding, Instructions
from orchestra.models.protocol import ModelRequest
from orchestra.planning.assemble import Assignment
from orchestra.planning.insufficient import missing_in, shortfall
from orchestra.planning.prompt_files import prompt
from orchestra.planning.sharing import without

__all__ = ["FOLLOWUP_TOKENS", "followup_request", "merged", "missing_in", "widened", "with_heads"]

FOLLOWUP_TOKENS = 4_000  # what the further passages of one follow-up may take
NEIGHBOURS_SHARE = 0.35  # of them, as long as other places have use for the rest
_LEAST_TOKENS = 20  # less room holds no passage


def widened(
    assignment: Assignment,
    missing: str,
    documents: DocumentSet,
    *,
    budget_tokens: int = FOLLOWUP_TOKENS,
    read: Sequence[LineRange] = (),
) -> Slice:
    """Lines that a subtask has not read and that may hold what is missing, in document order; empty when none fit.

    First the neighbours of its slice's passages (what is unread of the place before and of the place after; those
    that the words speak for before the others, up to a share of the budget), then the best other places, then the
    rest of the neighbours. `read` are lines that it was shown beside its slice. The words searched for are the
    subtask's and the missing ones together: "the figure for 2017" alone finds nothing of use. Never more than
    `budget_tokens`. Deterministic.
    """
    seen = tuple(union((*assignment.slice.line_ranges, *read), documents))
    hits = find(f"{assignment.subtask.task}\n{missing}", documents, exclude=seen).places
    ranks = {hit.place: rank for rank, hit in enumerate(hits)}
    beside = sorted(_neighbours(assignment.slice, documents, seen), key=lambda place: ranks.get(place, len(ranks)))
    nearest = _unread(beside, documents, seen)
    best = _unread(ranks, documents, seen)
    taken = _taken(nearest, documents, (), round(budget_tokens * NEIGHBOURS_SHARE))
    taken = _taken(best, documents, taken, budget_tokens)
    return cut(_taken(nearest, documents, taken, budget_tokens), documents)


def with_heads(slice_: Slice, documents: DocumentSet, *, budget_tokens: int = FOLLOWUP_TOKENS) -> Slice:
    """The slice with the heads of the tables that it goes on with, though they stand above it, read or not.

    A table that runs over a page's end shows rows whose columns and scale were named on the page before. The same
    slice where there is no such table, or no room within `budget_tokens`.
    """
    heads = [
        LineRange(lines.key, line, line)
        for lines in slice_.line_ranges
        for line in head_of(documents.find(lines.key), lines.first, lines.last)
        if not any(_holds(other, lines.key, line) for other in slice_.line_ranges)
    ]
    fuller = cut((*slice_.line_ranges, *heads), documents)
    return fuller if fuller.tokens <= budget_tokens else slice_


def followup_request(
    assignment: Assignment,
    further: Slice,
    found: str,
    *,
    max_tokens: int = 2048,
    temperature: float | None = None,
    findings: Sequence[Finding] = (),
) -> ModelRequest:
    """The subtask once more, over `further` in place of its slice.

    `found` is what the earlier reply holds beside what it lacks: it goes with the findings, under the subtask's own
    question, and the model is told to give the whole answer anew. Where it is empty, nothing recalls the first call.
    """
    earlier = [Finding(assignment.subtask.id, assignment.subtask.task, found)] if found else []
    request = replace(assignment, slice=further).request(
        max_tokens=max_tokens, temperature=temperature, findings=[*findings, *earlier]
    )
    *blocks, task = (replace(block, cacheable=False) for block in request.blocks)  # nobody reads these lines again
    again = [Instructions(prompt("followup"))] if found else []
    return replace(request, blocks=(*blocks, *again, task))


def merged(earlier: str, later: str) -> str:
    """One finding from the reply before a follow-up and the reply to it.

    The later one holds the whole answer, so it stands; unless it found nothing and the earlier one did.
    """
    before, after = shortfall(earlier), shortfall(later)
    found_before = earlier if before is None else before.found
    return earlier if found_before and after is not None and not after.found else later


def _neighbours(slice_: Slice, documents: DocumentSet, seen: Sequence[LineRange]) -> Iterator[Place]:
    """The place after each passage, then the one before it: where the nearest line stands that has text."""
    keys = dict.fromkeys(passage.key for passage in slice_.passages)
    places_in = {key: list(places_of(key, documents.find(key))) for key in keys}
    firsts_in = {key: [place.first_line for place in places] for key, places in places_in.items()}
    for passage in slice_.passages:
        document, places, firsts = documents.find(passage.key), places_in[passage.key], firsts_in[passage.key]
        after, before = range(passage.last_line + 1, document.line_count + 1), range(passage.first_line - 1, 0, -1)
        for side in (after, before):
            line = next((number for number in side if document.line(number).strip()), None)
            if line is not None and not any(_holds(lines, passage.key, line) for lines in seen):
                yield places[max(bisect_right(firsts, line) - 1, 0)]


def _unread(places: Iterable[Place], documents: DocumentSet, seen: Sequence[LineRange]) -> list[LineRange]:
    """The lines of places that were not read, blank stretches left out, in the order of the places."""
    return [
        piece
        for piece in without((place.lines for place in places), seen)
        if documents.find(piece.key).lines(piece.first, piece.last).strip()
    ]


def _taken(
    pieces: Iterable[LineRange], documents: DocumentSet, taken: Sequence[LineRange], budget_tokens: int
) -> tuple[LineRange, ...]:
    """`taken`, and of `pieces` in their order each that still fits, counted as it will be read."""
    taken, used = tuple(taken), cut(taken, documents).tokens
    for piece in pieces:
        if budget_tokens - used < _LEAST_TOKENS:
            break
        text = documents.find(piece.key).lines(piece.first, piece.last)
        if piece in taken or count_tokens(text) > budget_tokens - used:
            continue
        more = cut((*taken, piece), documents)
        if more.tokens <= budget_tokens:
            taken, used = (*taken, piece), more.tokens
    return taken


def _holds(lines: LineRange, key: str, line: int) -> bool:
    return lines.key == key and lines.first <= line <= lines.last
