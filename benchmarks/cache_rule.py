"""What a provider's prompt cache would have done, where no provider said so.

Where usage was counted here, as for the built-in engine, nothing is known of a cache. Then this rule stands in, per
question, from a cold cache: the prompt up to a block marked cacheable, from 1,024 tokens, is written by the first call
that holds it and read by the calls after it; of several marks the longest that was written before is read, and what
follows up to the last mark is written. Calls count in the order in which they were made.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

from orchestra.document import count_tokens
from orchestra.models.blocks import DocumentBlock, SliceBlock
from orchestra.models.protocol import ModelRequest, Usage
from orchestra.planning.costs import FEWEST_CACHED_TOKENS


@dataclass(frozen=True, slots=True)
class Mark:
    """A place where the cache may cut: the hash of the prompt up to there, and its tokens."""

    hash: str
    tokens: int


def marks_of(request: ModelRequest) -> tuple[Mark, ...]:
    """The request's marks from 1,024 tokens, shortest first."""
    if not any(block.cacheable for block in request.blocks):
        return ()
    digest, tokens, marks = hashlib.sha256(), 0, list[Mark]()
    for block in request.blocks:
        text = block.text
        digest.update(f"{text}\x1e".encode())
        if isinstance(block, DocumentBlock):
            tokens += block.documents.tokens
        else:
            tokens += block.slice.tokens if isinstance(block, SliceBlock) else count_tokens(text)
        if block.cacheable and tokens >= FEWEST_CACHED_TOKENS:
            marks.append(Mark(digest.hexdigest(), tokens))
    return tuple(marks)


def with_cache(calls: Sequence[tuple[Usage, tuple[Mark, ...]]]) -> list[Usage]:
    """The usages, those that were counted here split into plain, written and read tokens by the rule."""
    written: set[str] = set()
    usages: list[Usage] = []
    for usage, marks in calls:
        usages.append(_split(usage, marks, written) if usage.is_estimated and marks else usage)
        written.update(mark.hash for mark in marks)
    return usages


def _split(usage: Usage, marks: tuple[Mark, ...], written: set[str]) -> Usage:
    total = usage.total_input_tokens
    read = min(total, max((mark.tokens for mark in marks if mark.hash in written), default=0))
    write = min(total, marks[-1].tokens) - read
    return replace(usage, input_tokens=total - read - write, cached_input_tokens=read, cache_write_tokens=max(0, write))
