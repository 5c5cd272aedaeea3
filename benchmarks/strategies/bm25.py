"""Retrieve, then read in document order (arXiv 2506.03989): the baseline to respect."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from benchmarks.strategies.asking import Asker
from benchmarks.strategies.pieces import Piece, pieces_of, plain_slice
from benchmarks.strategies.prompts import ANSWER
from benchmarks.strategies.strategy import Answered, Attempt
from orchestra.document import Document, Slice, count_tokens
from orchestra.models.blocks import Block, Instructions, SliceBlock, Task

if TYPE_CHECKING:
    import bm25s

DEFAULT_BUDGET = 8_000


def bm25(attempt: Attempt) -> Answered:
    """One call with the best pages that fit `budget_tokens`, prompt and all, in document order.

    Pages are ranked by bm25s with its defaults (Lucene's BM25, k1 1.5, b 0.75, English stop words) over PyStemmer's
    English stems. From the best on, each that still fits is taken.
    """
    asker = Asker(attempt.model, attempt.cancellation)
    return Answered(asker.ask(_prompt(attempt, attempt.budget_tokens or DEFAULT_BUDGET), "subtask"))


def ranked_pieces(document: Document, question: str) -> list[Piece]:
    """All pages or chunks, best first; equal scores in document order."""
    pieces = pieces_of(document)
    index = _index(document)
    stems = _stems(question)
    if index is None or not stems:
        return list(pieces)
    scores = index.get_scores(stems)
    order = sorted(range(len(pieces)), key=lambda row: (-float(scores[row]), row))
    return [pieces[row] for row in order]


def _prompt(attempt: Attempt, budget_tokens: int) -> list[Block]:
    """The blocks, which hold at most `budget_tokens`; never fewer than the first lines of the best page."""
    documents = attempt.document.alone
    ranked = ranked_pieces(attempt.document, attempt.question)
    left = budget_tokens - _tokens(_blocks(attempt, Slice((), 0, "")))
    chosen: list[Piece] = []
    for piece in ranked:
        if piece.tokens + 1 <= left:
            chosen.append(piece)
            left -= piece.tokens + 1
    blocks = _blocks(attempt, plain_slice(chosen, documents))
    while len(chosen) > 1 and _tokens(blocks) > budget_tokens:  # joining pieces can cost a token more than their sum
        chosen.pop()
        blocks = _blocks(attempt, plain_slice(chosen, documents))
    if chosen:
        return blocks
    return _blocks(attempt, plain_slice([_beginning(ranked[0], attempt.document, left)], documents))


def _blocks(attempt: Attempt, slice_: Slice) -> list[Block]:
    return [Instructions(ANSWER), SliceBlock(slice_, cacheable=False), Task(attempt.question)]


def _tokens(blocks: list[Block]) -> int:
    return sum(count_tokens(block.text) for block in blocks)


def _beginning(piece: Piece, document: Document, most_tokens: int) -> Piece:
    """The first lines of a piece that `most_tokens` hold; at least one."""
    first, last = piece.lines.first, piece.lines.last
    while last > first and Piece.of(document, first, last).tokens > most_tokens:
        last = first + (last - first) // 2
    return Piece.of(document, first, last)


@lru_cache(maxsize=64)
def _index(document: Document) -> bm25s.BM25 | None:
    """None where the text has no word that counts."""
    import bm25s

    words = [_stems(piece.text) for piece in pieces_of(document)]
    if not any(words):
        return None
    index = bm25s.BM25()
    index.index(words, show_progress=False)
    return index


def _stems(text: str) -> list[str]:
    import bm25s

    found: Any = bm25s.tokenize(text, stopwords="en", stemmer=_stemmer(), return_ids=False, show_progress=False)
    return found[0] if found else []


@lru_cache(maxsize=1)
def _stemmer() -> Any:
    import Stemmer

    return Stemmer.Stemmer("english")
