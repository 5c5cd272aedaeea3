"""What baselines read: pages or chunks of a document, as plain text without line numbers or section marks.

That is the cheapest honest rendering, so a baseline pays for nothing that only our own prompts need.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from orchestra.document import Document, DocumentSet, LineRange, Slice, count_tokens, cut

CHUNK_TOKENS = 1_000  # of a document without pages


@dataclass(frozen=True, slots=True)
class Piece:
    """Neighbouring lines, the text that a model reads for them, and its tokens."""

    lines: LineRange
    text: str
    tokens: int

    @classmethod
    def of(cls, document: Document, first: int, last: int, label: str = "") -> Piece:
        text = f"{label}{document.lines(first, last)}"
        return cls(LineRange("", first, last), text, count_tokens(text))


@lru_cache(maxsize=64)
def pieces_of(document: Document) -> tuple[Piece, ...]:
    """The pages of a document under their numbers; chunks of up to 1,000 tokens where it has no pages."""
    if not document.page_starts:
        return chunks_of(document, CHUNK_TOKENS)
    starts = pairwise((*document.page_starts, document.line_count + 1))
    return tuple(
        Piece.of(document, first, following - 1, f"[page {number}]\n")
        for number, (first, following) in enumerate(starts, start=1)
    )


@lru_cache(maxsize=64)
def chunks_of(document: Document, most_tokens: int) -> tuple[Piece, ...]:
    """The whole document in chunks, cut between paragraphs where a chunk has such a place, else between lines.

    A line longer than `most_tokens` is a chunk of its own.
    """
    return tuple(Piece.of(document, first, last) for first, last in _chunks(document, most_tokens))


def _chunks(document: Document, most_tokens: int) -> Iterator[tuple[int, int]]:
    start, tokens, gap = 1, 0, 0
    line = 1
    while line <= document.line_count:
        text = document.line(line)
        cost = count_tokens(text) + 1
        if tokens + cost > most_tokens and line > start:
            end = gap if gap > start else line - 1
            yield start, end
            start, line, tokens, gap = end + 1, end + 1, 0, 0
            continue
        tokens += cost
        gap = gap if text.strip() else line
        line += 1
    if start <= document.line_count:
        yield start, document.line_count


def plain_slice(pieces: Sequence[Piece], documents: DocumentSet) -> Slice:
    """A slice whose text is the pieces as they are, in document order."""
    ordered = sorted(pieces, key=lambda piece: piece.lines.first)
    text = "\n\n".join(piece.text for piece in ordered)
    return Slice(cut([piece.lines for piece in ordered], documents).passages, count_tokens(text), text)


@lru_cache(maxsize=64)
def whole_text(document: Document) -> Slice:
    """Everything, as one plain slice."""
    return Slice(cut([LineRange("", 1, document.line_count)], document.alone).passages, document.tokens, document.text)
