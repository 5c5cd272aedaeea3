"""Which prompt prefixes this process has sent, to explain the cache hits that were expected and did not come.

The memory tells when a call may go out, and what went wrong; no prompt depends on it.
"""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from orchestra.document import count_tokens
from orchestra.models.blocks import Block, DocumentBlock, SliceBlock
from orchestra.models.caching import TTL_S
from orchestra.models.protocol import ModelRequest, Usage

MOST_KEPT = 256  # prefixes
_PIECE_CHARACTERS = 4_096  # how exactly a change is located
_MOST_PIECES = 512


@dataclass(frozen=True, slots=True)
class Link:
    """One part of a prefix: what it is, where it stands, and the digests of its pieces."""

    kind: str
    place: str
    pieces: tuple[bytes, ...]
    digest: bytes


@dataclass(frozen=True, slots=True)
class Prefix:
    """What a prompt cache may hold of a request: everything up to the last block that is marked cacheable.

    `owner` is the model and the server whose cache it is; `key` the hash of all links, `tokens` counted here.
    """

    owner: str
    purpose: str
    links: tuple[Link, ...]
    key: bytes
    tokens: int


@dataclass(slots=True)
class _Entry:
    prefix: Prefix
    written_at: float
    used_at: float


def prefix_of(request: ModelRequest, owner: str) -> Prefix | None:
    """The cacheable prefix of a request; None when no block is marked."""
    last = max((at for at, block in enumerate(request.blocks) if block.cacheable), default=-1)
    if last < 0:
        return None
    blocks = request.blocks[: last + 1]
    links = (*_frame(request), *(_link(block.kind, f"block {at}", block.text) for at, block in enumerate(blocks, 1)))
    key = _digest(b"".join(link.digest for link in links) + owner.encode())
    return Prefix(owner, request.purpose, links, key, sum(map(_tokens, blocks)))


class Prefixes:
    """The prefixes that were sent, and when they were last of use. Bounded; thread-safe. `clock` gives seconds."""

    def __init__(
        self, *, clock: Callable[[], float] = time.monotonic, ttl_s: float = TTL_S, most: int = MOST_KEPT
    ) -> None:
        self.clock = clock
        self._ttl_s = ttl_s
        self._most = most
        self._entries: OrderedDict[bytes, _Entry] = OrderedDict()
        self._lock = threading.Lock()

    def is_warm(self, prefix: Prefix) -> bool:
        """Whether a provider is likely to hold the prefix still."""
        with self._lock:
            entry = self._entries.get(prefix.key)
            return entry is not None and self._is_kept(entry, self.clock())

    def finish(self, prefix: Prefix, began: float, usage: Usage, minimum_tokens: int) -> str:
        """Remember a call that has its reply. Why the hit that was expected did not come; "" if all is well.

        `began` is the clock's reading when the call went out. A usage that was estimated here says nothing.
        """
        if usage.is_estimated:
            return ""
        with self._lock:
            entry = self._entries.get(prefix.key)
            missed = "" if usage.cached_input_tokens else self._why(prefix, entry, began, minimum_tokens)
            self._remember(prefix, entry)
        return missed

    def _remember(self, prefix: Prefix, entry: _Entry | None) -> None:
        now = self.clock()
        if entry is None:
            self._entries[prefix.key] = _Entry(prefix, now, now)
            if len(self._entries) > self._most:
                self._entries.popitem(last=False)
            return
        entry.used_at = now
        self._entries.move_to_end(prefix.key)

    def _is_kept(self, entry: _Entry, now: float) -> bool:
        return now - entry.used_at <= self._ttl_s

    def _why(self, prefix: Prefix, entry: _Entry | None, began: float, minimum_tokens: int) -> str:
        if entry is None:
            is_long = prefix.tokens >= minimum_tokens
            return self._what_changed(prefix, began) if is_long else ""
        if prefix.tokens < minimum_tokens:
            return f"the prefix is too short: {prefix.tokens:,} tokens, and the cache holds {minimum_tokens:,} or more"
        if began < entry.written_at:
            return "it was sent before the entry existed: the first call with this prefix had no reply yet"
        idle_s = began - entry.used_at
        if idle_s > self._ttl_s:
            return f"the entry has expired: last used {idle_s:.0f} s before, and kept for {self._ttl_s:.0f} s"
        return "the reason is unknown: the same prefix was sent in time, and the provider says nothing"

    def _what_changed(self, prefix: Prefix, began: float) -> str:
        """Where a prefix differs from one that holds the same text, or an earlier state of the same document."""
        for entry in reversed(self._entries.values()):
            older = entry.prefix
            is_of_interest = (older.owner, older.purpose) == (prefix.owner, prefix.purpose)
            if is_of_interest and self._is_kept(entry, began) and _is_meant_to_be(older.links[-1], prefix.links[-1]):
                return f"the prefix changed at {_first_change(older.links, prefix.links)}"
        return ""


sent_prefixes = Prefixes()
"""Of this process: runs follow each other, and so do their cache entries."""


def _is_meant_to_be(older: Link, newer: Link) -> bool:
    """Whether two ends of a prefix are the same text, or two states of one document."""
    if older.digest == newer.digest:
        return True
    is_document = older.kind == newer.kind == DocumentBlock.kind
    return is_document and 2 * _same_pieces(older, newer) >= len(older.pieces)


def _first_change(older: tuple[Link, ...], newer: tuple[Link, ...]) -> str:
    for one, other in zip(older, newer, strict=False):
        if one.digest != other.digest:
            same = _same_pieces(one, other)
            where = f", after character {same * _PIECE_CHARACTERS:,}" if same else ""
            return f"{other.place} ({other.kind}{where})"
    return f"{newer[-1].place} ({newer[-1].kind})"


def _same_pieces(one: Link, other: Link) -> int:
    """How many pieces are the same from the beginning on."""
    pairs = enumerate(zip(one.pieces, other.pieces, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one.pieces), len(other.pieces)))


def _frame(request: ModelRequest) -> Iterator[Link]:
    """What a provider puts before the prompt: the tools, and the schema of the reply."""
    if request.tools:
        written = [[tool.name, tool.description, dict(tool.parameters)] for tool in request.tools]
        yield _link("tools", "the request", json.dumps(written, sort_keys=True))
    if request.schema is not None:
        yield _link("schema", "the request", json.dumps(request.schema, sort_keys=True, default=str))


def _link(kind: str, place: str, text: str) -> Link:
    content = text.encode("utf-8", "replace")
    pieces = tuple(_digest(piece.encode("utf-8", "replace"))[:8] for piece in _pieces(text))
    return Link(kind, place, pieces, _digest(kind.encode() + content))


def _pieces(text: str) -> Iterable[str]:
    last = min(len(text), _MOST_PIECES * _PIECE_CHARACTERS)
    return (text[at : at + _PIECE_CHARACTERS] for at in range(0, last, _PIECE_CHARACTERS))


def _digest(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=16).digest()


def _tokens(block: Block) -> int:
    if isinstance(block, DocumentBlock):
        return block.documents.tokens
    return block.slice.tokens if isinstance(block, SliceBlock) else count_tokens(block.text)
