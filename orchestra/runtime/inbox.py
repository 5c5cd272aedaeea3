"""What other threads give a run's own thread to do."""

from __future__ import annotations

import queue
from collections import deque
from collections.abc import Callable
from contextlib import suppress

SOON_S = 0.02

Action = Callable[[], None]


class Inbox:
    """Actions for one thread, done one by one by its `wait`; `post` and `post_soon` from any thread.

    Those of each kind are done in order of arrival, and one that came by `post` after what came before it by
    `post_soon`.
    """

    def __init__(self) -> None:
        self._posted: queue.SimpleQueue[Action] = queue.SimpleQueue()
        self._by_the_way: deque[Action] = deque()
        self._is_asleep = False

    def post(self, action: Action) -> None:
        """Have `action` done as soon as the thread waits."""
        self._posted.put(action)

    def post_soon(self, action: Action) -> None:
        """Have it done within `SOON_S`: a thread that is about to be woken anyway is not woken for this alone."""
        self._by_the_way.append(action)
        if self._is_asleep:
            self._posted.put(self._catch_up)

    def wait(self, seconds: float) -> bool:
        """Do what comes first within so many seconds. False when nothing was done."""
        action = None
        try:
            action = self._posted.get(timeout=min(seconds, SOON_S))
        except queue.Empty:
            self._is_asleep = True
            if not self._by_the_way and seconds > SOON_S:
                with suppress(queue.Empty):
                    action = self._posted.get(timeout=seconds - SOON_S)
            self._is_asleep = False
        is_behind = bool(self._by_the_way)
        self._catch_up()
        if action is not None:
            action()
        return is_behind or action is not None

    def _catch_up(self) -> None:
        """Do what is there by now; what comes meanwhile is not to keep the thread from all else."""
        for _ in range(len(self._by_the_way)):
            self._by_the_way.popleft()()
