"""A scheduler that makes no call: what a run did is taken from its record, and it stops where the record ends."""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from orchestra.errors import OrchestraError
from orchestra.runtime.effects import Milestone
from orchestra.runtime.events import EventStream
from orchestra.runtime.node import Node
from orchestra.runtime.scheduler import Scheduler

T = TypeVar("T")


class RecordEnded(Exception):
    """Nothing more of the run is on record, or its time is over."""


class Outcome(NamedTuple):
    """What a call came to: `value`, unless it `error`ed, or is not known to have ended."""

    is_known: bool = False
    value: Any = None
    error: OrchestraError | None = None


class ReplayingScheduler(Scheduler):
    """Drives a run's coroutines on one thread, without workers and without waiting, for `limit_s` seconds at most.

    `came_to(node, is_of_model)` says what a call for a node came to; one that is not known to have ended never does
    here. Pauses take no time, in their order. `run` raises `RecordEnded` when nothing can go on.
    """

    def __init__(self, stream: EventStream, came_to: Callable[[Node, bool], Outcome], *, limit_s: float) -> None:
        super().__init__(stream)
        self._came_to = came_to
        self._ends_at = time.monotonic() + limit_s

    async def call(self, function: Callable[..., T], *, node: Node, retry: object = None, **_: Any) -> T:
        outcome = self._came_to(node, retry is not None)
        if not outcome.is_known:
            await self.join([Milestone()])
        if outcome.error is not None:
            raise outcome.error
        return outcome.value

    async def call_apart(self, function: Callable[[], T]) -> T:
        return function()

    def _advance(self) -> None:
        while self._ready:
            if time.monotonic() > self._ends_at:
                raise RecordEnded
            self._step(*self._ready.popleft())
        if not self._jobs:
            return
        if not self._inbox.wait(0.0):
            if not self._timers:
                raise RecordEnded
            heapq.heappop(self._timers)[2]()
