"""Server-sent events out of byte chunks, as the WHATWG specification describes them (HTML, section 9.2).

Works on bytes: a line end never falls inside a UTF-8 character, so characters split over chunks come
together by themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

_BOM = b"\xef\xbb\xbf"


class ServerEvent(NamedTuple):
    """`name` is "" where the stream gives none; `payload` is the data lines joined by a line feed."""

    name: str
    payload: bytes


def events(chunks: Iterable[bytes]) -> Iterator[ServerEvent]:
    """Each event as soon as its blank line has arrived.

    An event that the stream's end cuts off is given too: whether it is whole shows when it is parsed.
    """
    buffer = bytearray()
    searched = 0
    is_start = True
    for chunk in _with_line_feeds(chunks):
        buffer += chunk
        if is_start:
            if len(buffer) < len(_BOM):
                continue
            buffer, is_start = buffer.removeprefix(_BOM), False
        start = 0
        while (end := buffer.find(b"\n\n", searched)) >= 0:
            if event := _event(bytes(buffer[start:end])):
                yield event
            start = searched = end + 2
        del buffer[:start]
        searched = max(0, len(buffer) - 1)
    if event := _event(bytes(buffer)):
        yield event


def _with_line_feeds(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The chunks with CR and CRLF made LF, also where a CRLF is split over two chunks."""
    is_after_return = False
    for chunk in chunks:
        if is_after_return and chunk:
            chunk, is_after_return = chunk.removeprefix(b"\n"), False
        if b"\r" in chunk:
            is_after_return = chunk.endswith(b"\r")
            chunk = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        yield chunk


def _event(block: bytes) -> ServerEvent | None:
    """The event of the lines up to a blank one; None when they hold no data (comments, keep-alives)."""
    name = b""
    payload: list[bytes] = []
    for line in block.split(b"\n"):
        field, _, value = line.partition(b":")
        if field == b"data":
            payload.append(value.removeprefix(b" "))
        elif field == b"event":
            name = value.removeprefix(b" ")
    if not payload:
        return None
    return ServerEvent(name.decode("utf-8", "replace"), b"\n".join(payload))
