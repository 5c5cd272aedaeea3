"""A model that notes what it was asked and what that took."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, replace
from typing import Any

from benchmarks.cache_rule import Mark, marks_of
from benchmarks.store import is_replay
from orchestra.document import LineRange, count_tokens
from orchestra.models.blocks import DocumentBlock, OutlineBlock, SliceBlock
from orchestra.models.protocol import Model, ModelReply, ModelRequest, Usage


@dataclass(frozen=True, slots=True)
class Call:
    """One answered call. `lines` stood whole in its prompt; `marks` are kept where the cache rule may be needed.

    `usage` is the provider's; `sent_tokens` are the prompt's as counted here, so that budgets of all models compare.
    """

    purpose: str
    fingerprint: str
    usage: Usage
    sent_tokens: int
    seconds: float
    lines: tuple[LineRange, ...]
    marks: tuple[Mark, ...] = ()
    is_replayed: bool = False


class RecordingModel:
    """Passes requests on to `model`, and keeps a `Call` for each reply, in the order of the requests.

    Whatever else is asked of it (`name`, `context_window`, `notice`, `base_url`) is the model's own. A call that
    raises leaves no trace. Thread-safe.
    """

    def __init__(self, model: Model) -> None:
        self._model = model
        self._calls: dict[int, Call] = {}
        self._started = 0
        self._lock = threading.Lock()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    @property
    def calls(self) -> tuple[Call, ...]:
        with self._lock:
            return tuple(self._calls[number] for number in sorted(self._calls))

    def complete(self, request: ModelRequest) -> ModelReply:
        with self._lock:
            self._started += 1
            number = self._started
        start = time.perf_counter()
        reply = self._model.complete(request)
        seconds = time.perf_counter() - start
        usage = _usage(request, reply)
        call = Call(
            request.purpose,
            request.fingerprint,
            usage,
            usage.total_input_tokens if usage.is_estimated else prompt_tokens(request),
            seconds,
            shown_lines(request),
            marks_of(request) if usage.is_estimated else (),
            is_replay(reply),
        )
        with self._lock:
            self._calls[number] = call
        return replace(reply, usage=usage)


def shown_lines(request: ModelRequest) -> tuple[LineRange, ...]:
    """The document lines that stand whole in a request, sorted and joined."""
    ranges: list[LineRange] = []
    for block in request.blocks:
        if isinstance(block, DocumentBlock):
            ranges += [LineRange(key, 1, document.line_count) for key, _, document in block.documents.items()]
        elif isinstance(block, SliceBlock):
            ranges += block.slice.line_ranges
        elif isinstance(block, OutlineBlock):
            ranges += block.view.shown
    return _joined(ranges)


def prompt_tokens(request: ModelRequest) -> int:
    """Tokens of all blocks and turns, fences included; a document's are counted once for all requests."""
    blocks = sum(
        block.documents.tokens if isinstance(block, DocumentBlock) else count_tokens(block.text)
        for block in request.blocks
    )
    return blocks + sum(count_tokens(message.text) for message in request.messages)


def _joined(ranges: list[LineRange]) -> tuple[LineRange, ...]:
    joined: list[LineRange] = []
    for each in sorted(ranges, key=lambda range_: (range_.key, range_.first, range_.last)):
        last = joined[-1] if joined else None
        if last is not None and last.key == each.key and each.first <= last.last + 1:
            joined[-1] = LineRange(last.key, last.first, max(last.last, each.last))
        else:
            joined.append(each)
    return tuple(joined)


def _usage(request: ModelRequest, reply: ModelReply) -> Usage:
    """The reply's, or a count made here where the model reports none."""
    if reply.usage.total_input_tokens or reply.usage.output_tokens:
        return reply.usage
    return Usage(prompt_tokens(request), output_tokens=count_tokens(reply.text), is_estimated=True)
