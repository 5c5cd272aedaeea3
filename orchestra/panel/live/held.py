"""The latest messages of a run, held once for all who watch, up to a bound."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from itertools import takewhile

from orchestra.panel.view.messages import Message

MOST_SENT_BYTES = 64_000  # at once


class Held:
    """All messages behind `floor` up to `last`; the oldest are let go, and `floor` rises."""

    def __init__(self, floor: int, most: int, most_bytes: int) -> None:
        self.floor = self.last = floor
        self._most, self._most_bytes = most, most_bytes
        self._messages: deque[Message] = deque()
        self._bytes = 0

    def add(self, messages: Iterable[Message]) -> None:
        """In order, all behind `last`."""
        for message in messages:
            self._messages.append(message)
            self._bytes += len(message.encoded)
            self.last = message.sequence
        while len(self._messages) > self._most or self._bytes > self._most_bytes:
            oldest = self._messages.popleft()
            self._bytes -= len(oldest.encoded)
            self.floor = oldest.sequence

    def behind(self, position: int) -> Sequence[Message] | None:
        """Those behind a position, in order; None where some of them are not held any more."""
        if position < self.floor:
            return None
        newest_first = takewhile(lambda message: message.sequence > position, reversed(self._messages))
        return tuple(newest_first)[::-1]


def portion(messages: Sequence[Message], most_bytes: int = MOST_SENT_BYTES) -> Sequence[Message]:
    """The first of them, as many as are sent at once: one at least."""
    total = 0
    for count, message in enumerate(messages):
        total += len(message.encoded)
        if count and total > most_bytes:
            return messages[:count]
    return messages
