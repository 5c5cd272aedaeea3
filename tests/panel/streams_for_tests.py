"""Watching streams of server-sent events as a browser does."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from orchestra.panel.live.feed import Feeds
from orchestra.panel.view.messages import position


@dataclass(frozen=True)
class Received:
    event: str = ""
    id: str = ""
    told: dict[str, Any] = field(default_factory=dict)
    retry: str = ""


def parsed(lines: Iterable[str]) -> Iterator[Received]:
    """The messages of a stream, line by line, by the rules of the format; comments are left out."""
    fields: dict[str, str] = {}
    for line in lines:
        name, _, value = line.partition(":")
        if line and name:
            fields[name] = value.removeprefix(" ")
        elif not line and fields:
            yield Received(
                fields.get("event", ""),
                fields.get("id", ""),
                json.loads(fields.get("data", "{}")),
                fields.get("retry", ""),
            )
            fields = {}


class Watcher:
    """Keeps what it got, and the last id, with which it goes on wherever it connects next."""

    def __init__(self, run_id: str, after: int = 0) -> None:
        self.run_id = run_id
        self.after = after
        self.last_id = ""
        self.got: list[Received] = []
        self._stream: AsyncIterator[bytes] | None = None

    @property
    def sequences(self) -> list[int]:
        return [each.told["seq"] for each in self.got if each.event == "run"]

    @property
    def text(self) -> str:
        return "".join(each.told.get("text", "") for each in self.got if each.event == "run")

    def connect(self, feeds: Feeds) -> None:
        self._stream = feeds.stream(self.run_id, position(self.run_id, str(self.after), self.last_id))

    async def take(self, timeout_s: float = 0.05) -> bool:
        """One more portion, if one comes in time; the stream is lost otherwise, as with a connection."""
        assert self._stream is not None
        try:
            chunk = await asyncio.wait_for(anext(self._stream), timeout_s)
        except (TimeoutError, StopAsyncIteration):
            self._stream = None
            return False
        for message in parsed(chunk.decode().split("\r\n")):
            self.got.append(message)
            self.last_id = message.id or self.last_id
        return True

    async def lose(self) -> None:
        if self._stream is not None:
            await self._stream.aclose()
        self._stream = None

    @property
    def is_connected(self) -> bool:
        return self._stream is not None
