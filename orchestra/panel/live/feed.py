"""Runs as they go on, for all who watch: one poller for each run that is watched, and one for the list of runs.

The store is the only source, so a run that another process works on is seen as well. Who watches keeps a position and
nothing else; whoever fell behind what is held reads from the store. All but `Feeds.nodes` and `Feeds.close` belongs to
the server's event loop.
"""

from __future__ import annotations

import asyncio
import hashlib
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass

from orchestra.errors import OrchestraError
from orchestra.panel.folded.replays import Replays
from orchestra.panel.live.held import Held, portion
from orchestra.panel.live.polling import AGAIN_S, Poller
from orchestra.panel.view.messages import Message, ended, hello, message_of, runs_changed
from orchestra.store import NodeRecord, Store

GONE = "removed"
"""The status of a run that is no longer in the store."""


@dataclass(frozen=True, slots=True)
class Measures:
    """Seconds from one look to the next: at a run that goes on (slower while nothing is heard of it), at one that is
    over (it may be resumed), at the list of runs. And how many messages are read at a time, and held.
    """

    quickest_s: float = 0.2
    slowest_s: float = 1.0
    at_rest_s: float = 2.0
    list_s: float = 1.0
    page: int = 200
    most_held: int = 2_000
    most_held_bytes: int = 1_000_000


class Feed(Poller):
    """One run. `end` is None while it goes on, then its status and its last sequence."""

    def __init__(self, store: Store, run_id: str, measures: Measures, on_idle: Callable[[], object]) -> None:
        super().__init__(on_idle)
        self.end: tuple[str, int] | None = None
        self._store = store
        self._measures = measures
        self._run_id = run_id
        self._held: Held | None = None
        self._reading = asyncio.Lock()
        self._pause_s = measures.quickest_s

    @property
    def is_gone(self) -> bool:
        return self.end is not None and self.end[0] == GONE

    def is_over(self, position: int) -> bool:
        """Whether the run has ended, and nothing of it stands behind a position."""
        return self.end is not None and (self.is_gone or position >= self.end[1])

    async def messages(self, position: int) -> Sequence[Message]:
        """The next ones behind a position, as many as are sent at once; none where there are none yet."""
        if self._held is None:
            return ()
        held = self._held.behind(position)
        if held is None:
            async with self._reading:
                held = await asyncio.to_thread(self._read, position)
        return portion(held)

    async def look(self) -> float:
        if self._held is None:
            last = await asyncio.to_thread(self._store.last_sequence, self._run_id)
            self._held = Held(last, self._measures.most_held, self._measures.most_held_bytes)
            self.ring()
        status = await asyncio.to_thread(self._store.run_status, self._run_id) or GONE
        fresh = await asyncio.to_thread(self._read, self._held.last)
        self._held.add(fresh)
        if len(fresh) == self._measures.page:
            self.ring()
            return 0.0
        end = None if status == "running" else (status, self._held.last)
        if fresh or end != self.end:
            self.end = end
            self.ring()
        return self._pause(is_quiet=not fresh)

    def _pause(self, *, is_quiet: bool) -> float:
        slowest_s = self._measures.slowest_s if self.end is None else self._measures.at_rest_s
        self._pause_s = min(self._pause_s * 1.25, slowest_s) if is_quiet else self._measures.quickest_s
        return self._pause_s

    def _read(self, position: int) -> list[Message]:
        page = self._store.events(self._run_id, position, self._measures.page)
        return [message_of(self._run_id, event) for event in page]


class ListOfRuns(Poller):
    """Sessions and runs, and how they stand. `mark` is another text whenever something is new; empty before a look."""

    def __init__(self, store: Store, pause_s: float) -> None:
        super().__init__()
        self.mark = ""
        self._store = store
        self._pause_s = pause_s

    async def look(self) -> float:
        mark = await asyncio.to_thread(mark_of, self._store)
        if mark != self.mark:
            self.mark = mark
            self.ring()
        return self._pause_s


def mark_of(store: Store) -> str:
    """How the lists of sessions and runs stand, as a short text."""
    return hashlib.sha256(repr(store.revision()).encode()).hexdigest()[:16]


class Feeds:
    """All that is watched in one store."""

    def __init__(self, store: Store, measures: Measures = Measures()) -> None:
        self._store = store
        self._measures = measures
        self._feeds: dict[str, Feed] = {}
        self._list = ListOfRuns(store, measures.list_s)
        self.replays = Replays(store)
        self._bells: dict[asyncio.Event, asyncio.AbstractEventLoop] = {}
        self._lock = threading.Lock()
        self._is_closed = False
        self.open_streams = 0

    @contextmanager
    def one_more_stream(self) -> Iterator[None]:
        """`open_streams` counts it for as long as the block lasts."""
        self.open_streams += 1
        try:
            yield
        finally:
            self.open_streams -= 1

    @property
    def watched(self) -> int:
        """How many runs are watched."""
        return len(self._feeds)

    def feed(self, run_id: str) -> Feed:
        """The one feed of a run, as long as somebody watches it."""
        found = self._feeds.get(run_id)
        if found is None:
            found = Feed(self._store, run_id, self._measures, lambda: self._feeds.pop(run_id, None))
            self._feeds[run_id] = found
        return found

    def nodes(self, run_id: str, at: int | None = None) -> list[NodeRecord]:
        """The nodes of a run in the order in which they began: as they are, or as of the event with sequence `at`.

        Blocks, and may be called from any thread.
        """
        return self._store.nodes(run_id) if at is None else self.replays.nodes(run_id, at)

    def close(self) -> None:
        """End all streams, from any thread."""
        with self._lock:
            self._is_closed = True
            bells = dict(self._bells)
        for bell, loop in bells.items():
            if not loop.is_closed():
                loop.call_soon_threadsafe(bell.set)

    async def stream(
        self, run_id: str = "", position: int = 0, *, shown: str = "", mark: str = ""
    ) -> AsyncIterator[bytes]:
        """What one watcher is sent: of a run, if one is named, all behind `position`; and that the list has changed.

        What he sees already is not told: that the run has ended with the status `shown`, and the list with that `mark`.
        Ends when the run is removed, or the feeds are closed.
        """
        bell = asyncio.Event()
        feed = self.feed(run_id) if run_id else None
        end_seen = (shown, position)
        with self._ringing(bell), self._list.watched(bell), feed.watched(bell) if feed else nullcontext():
            yield hello()
            while not self._is_closed:
                bell.clear()
                if self._list.mark not in ("", mark):
                    mark = self._list.mark
                    yield runs_changed()
                messages = await _readable(feed, position, bell) if feed else ()
                if messages:
                    position = messages[-1].sequence
                    yield b"".join(message.encoded for message in messages)
                elif feed and feed.end and feed.end != end_seen and feed.is_over(position):
                    end_seen = feed.end
                    yield ended(end_seen[0])
                elif feed and feed.is_gone:
                    return
                else:
                    await bell.wait()

    @contextmanager
    def _ringing(self, bell: asyncio.Event) -> Iterator[None]:
        with self._lock:
            self._bells[bell] = asyncio.get_running_loop()
        try:
            yield
        finally:
            with self._lock:
                del self._bells[bell]


async def _readable(feed: Feed, position: int, bell: asyncio.Event) -> Sequence[Message]:
    """What can be read now; where the store fails nothing, and the bell rings when to try again."""
    try:
        return await feed.messages(position)
    except OrchestraError:
        asyncio.get_running_loop().call_later(AGAIN_S, bell.set)
        return ()
