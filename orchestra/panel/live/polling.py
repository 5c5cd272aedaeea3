"""Looking at the store from time to time, once for all who want to know."""

from __future__ import annotations

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from orchestra.errors import OrchestraError

log = logging.getLogger("orchestra.panel")

AGAIN_S = 2.0  # after the store failed


class Poller(ABC):
    """Looks as long as somebody watches, and rings the bells of those who do. Belongs to one event loop."""

    def __init__(self, on_idle: Callable[[], object] = lambda: None) -> None:
        self._bells: set[asyncio.Event] = set()
        self._task: asyncio.Task[None] | None = None
        self._on_idle = on_idle

    @abstractmethod
    async def look(self) -> float:
        """Take in what is new, and ring if there is any; seconds until the next look. May raise `OrchestraError`."""

    def ring(self) -> None:
        for bell in self._bells:
            bell.set()

    @contextmanager
    def watched(self, bell: asyncio.Event) -> Iterator[None]:
        """For as long as the block lasts `bell` is set whenever something is new."""
        self._bells.add(bell)
        if self._task is None:
            self._task = asyncio.create_task(self._poll())
        try:
            yield
        finally:
            self._bells.discard(bell)
            if not self._bells and self._task is not None:
                self._task.cancel()
                self._task = None
                self._on_idle()

    async def _poll(self) -> None:
        """A store that fails is asked again: it may be locked, or its server may be restarting."""
        is_failing = False
        while True:
            try:
                pause_s = await self.look()
                is_failing = False
            except OrchestraError as error:
                if not is_failing:
                    log.warning("the panel cannot read the store, and goes on trying: %s", error)
                is_failing, pause_s = True, AGAIN_S
            await asyncio.sleep(pause_s)
