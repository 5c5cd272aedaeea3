"""Runs as they go on, for all who watch: one poller for each run that is watched, and one for the list of runs.

The store is the only source, so a run that another process works on is seen as well. Who watches keeps a position and
nothing else; whoever fell behind what is held reads from the store. All but `Feeds.nodes` and `Feeds.close` belongs to
the server's event loop.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager, nullcontext

from orchestra.errors import OrchestraError, RunNotFound
from orchestra.panel.held import Held, portion
from orchestra.panel.polling import AGAIN_S, Poller
from orchestra.panel.replays import Replays
from orchestra.panel.view.messages import Message, ended, hello, message_of, runs_changed
from orchestra.store import NodeRecord, Store

QUICKEST_S = 0.2  # from one look at a run to the next
SLOWEST_S = 1.0  # while nothing is heard of it
AT_REST_S = 2.0  # when it is over: it may be resumed
LIST_S = 1.0  # from one look at the list of runs to the next
PAGE = 200  # events read at a time
GONE = "removed"
"""The status of a run that is no longer in the store."""


class Feed(Poller):
    """One run. `end` is None while it goes on, then its status and its last sequence."""

    def __init__(self, store: Store, run_id: str, on_idle: Callable[[], object] = lambda: None) -> None:
        super().__init__(on_idle)
        self.end: tuple[str, int] | None = None
        self._store = store
        self._run_id = run_id
        self._held: Held | None = None
        self._reading = asyncio.Lock()
        self._pause_s = QUICKEST_S

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
            self._held = Held(await asyncio.to_thread(self._store.last_sequence, self._run_id))
        status = await asyncio.to_thread(self._store.run_status, self._run_id) or GONE
        fresh = await asyncio.to_thread(self._read, self._held.last)
        self._held.add(fresh)
        if len(fresh) == PAGE:
            self.ring()
            return 0.0
        end = None if status == "running" else (status, self._held.last)
        if fresh or end != self.end:
            self.end = end
            self.ring()
        return self._pause(is_quiet=not fresh)

    def _pause(self, *, is_quiet: bool) -> float:
        slowest = SLOWEST_S if self.end is None else AT_REST_S
        self._pause_s = min(self._pause_s * 1.25, slowest) if is_quiet else QUICKEST_S
        return self._pause_s

    def _read(self, position: int) -> list[Message]:
        return [message_of(self._run_id, event) for event in self._store.events(self._run_id, position, PAGE)]


class ListOfRuns(Poller):
    """Sessions and runs, and how they stand. `changes` counts how often something was new; the first look is one."""

    def __init__(self, store: Store) -> None:
        super().__init__()
        self.changes = 0
        self._store = store
        self._seen: Hashable = None

    async def look(self) -> float:
        seen = await asyncio.to_thread(self._store.revision)
        if seen != self._seen:
            self._seen = seen
            self.changes += 1
            self.ring()
        return LIST_S


class Feeds:
    """All that is watched in one store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._feeds: dict[str, Feed] = {}
        self._list = ListOfRuns(store)
        self._replays = Replays(store)
        self._bells: dict[asyncio.Event, asyncio.AbstractEventLoop] = {}
        self._lock = threading.Lock()
        self._is_closed = False

    def feed(self, run_id: str) -> Feed:
        """The one feed of a run, as long as somebody watches it."""
        found = self._feeds.get(run_id)
        if found is None:
            found = self._feeds[run_id] = Feed(self._store, run_id, lambda: self._feeds.pop(run_id, None))
        return found

    def nodes(self, run_id: str, at: int | None = None) -> list[NodeRecord]:
        """The nodes of a run in the order in which they began: as they are, or as of the event with sequence `at`.

        Blocks, and may be called from any thread.
        """
        return self._store.nodes(run_id) if at is None else self._replays.nodes(run_id, at)

    def close(self) -> None:
        """End all streams, from any thread."""
        with self._lock:
            self._is_closed = True
            bells = dict(self._bells)
        for bell, loop in bells.items():
            if not loop.is_closed():
                loop.call_soon_threadsafe(bell.set)

    async def check(self, run_id: str) -> None:
        """Raise `RunNotFound` for a run that is not in the store."""
        if await asyncio.to_thread(self._store.run_status, run_id) is None:
            raise RunNotFound(f"run {run_id[:100]!r} is not in the store")

    async def stream(self, run_id: str = "", position: int = 0) -> AsyncIterator[bytes]:
        """What one watcher is sent: of a run, if one is named, all behind `position`; and that the list has changed.

        Ends when the run is removed, or the feeds are closed.
        """
        bell = asyncio.Event()
        feed = self.feed(run_id) if run_id else None
        list_seen, end_seen = 0, None
        with self._ringing(bell), self._list.watched(bell), feed.watched(bell) if feed else nullcontext():
            yield hello()
            while not self._is_closed:
                bell.clear()
                if self._list.changes != list_seen:
                    list_seen = self._list.changes
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
