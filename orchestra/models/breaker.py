"""A circuit breaker: an endpoint that does nothing but fail is left alone for a while.

Closed, it counts failures in a row. After `failures` of them, over at least `over_s` seconds, it opens: calls are
refused at once. When it has been open long enough one call is let through as a probe; if that fails, it stays open
twice as long, and any response of the endpoint closes it.

What counts: no connection, a connection closed without an answer, and statuses that say that the server is ill (5xx
but 504). What does not: a call that is slow, a reply that is broken, and whatever is about the request or the key.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from orchestra.errors import ModelError, ModelOverloaded, ModelUnreachable

FAILURES = 5
OVER_S = 2.0
OPEN_S = 5.0
LONGEST_OPEN_S = 60.0
PROBE_S = 10.0
"""A probe that has no outcome by then does not keep the next one waiting."""


class Breaker:
    """Of one endpoint, for all threads. `clock` gives seconds."""

    def __init__(
        self,
        *,
        failures: int = FAILURES,
        over_s: float = OVER_S,
        open_s: float = OPEN_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._failures = failures
        self._over_s = over_s
        self._open_s = open_s
        self._clock = clock
        self.forget()

    def forget(self) -> None:
        """Start afresh, as after a fork."""
        self._lock = threading.Lock()
        self._close()

    def check(self, model: str) -> None:
        """Let a call through, or raise `ModelOverloaded` or `ModelUnreachable`, as the last failure was."""
        if self._opened_for_s is None:
            return
        with self._lock:
            now = self._clock()
            if self._opened_for_s is None or self._last is None:
                return
            if now < self._refuses_until:
                raise self._refusal(model, self._last, self._refuses_until - now)
            self._is_probed, self._refuses_until = True, now + PROBE_S

    def succeed(self) -> None:
        """The endpoint answered, whatever it said."""
        if self._in_a_row or self._opened_for_s is not None:
            with self._lock:
                self._close()

    def fail(self, error: ModelError) -> None:
        """The endpoint failed."""
        with self._lock:
            now = self._clock()
            self._in_a_row += 1
            self._last = error
            if self._in_a_row == 1:
                self._failing_since = now
            if self._is_probed and self._opened_for_s is not None:
                self._open(min(2 * self._opened_for_s, LONGEST_OPEN_S), now)
            elif self._opened_for_s is None and self._is_enough(now):
                self._open(self._open_s, now)

    def _is_enough(self, now: float) -> bool:
        return self._in_a_row >= self._failures and now - self._failing_since >= self._over_s

    def _open(self, seconds: float, now: float) -> None:
        self._opened_for_s, self._refuses_until, self._is_probed = seconds, now + seconds, False

    def _close(self) -> None:
        self._in_a_row = 0
        self._failing_since = 0.0
        self._last: ModelError | None = None
        self._opened_for_s: float | None = None
        self._refuses_until = 0.0
        self._is_probed = False

    def _refusal(self, model: str, last: ModelError, wait_s: float) -> ModelError:
        kind = ModelUnreachable if isinstance(last, ModelUnreachable) else ModelOverloaded
        return kind(
            f"{model} was not asked",
            cause=f"the endpoint failed {self._in_a_row} times in a row, the last time with: {last.what}",
            suggestion=f"It is tried again in {wait_s:.0f} s; check its server, or name another model in models=[...].",
            is_retryable=False,
            was_sent=False,
        )


def counts(error: ModelError) -> bool:
    """Whether an error says that the endpoint is ill."""
    if isinstance(error, ModelUnreachable):
        return error.is_retryable  # else it is our own side that lacks something
    return isinstance(error, ModelOverloaded) and error.details.get("status", 0) >= 500
