"""When a call must have ended, and what ends it sooner."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from orchestra.errors import ModelTimeout, RunCancelled


class Cancellation:
    """A switch that ends work from outside, once and for good. Thread-safe.

    Whoever blocks on behalf of the work registers, with `on_cancel`, how to be woken.
    """

    def __init__(self) -> None:
        self._is_cancelled = False
        self._wakers: dict[int, Callable[[], None]] = {}
        self._lock = threading.Lock()

    @property
    def is_cancelled(self) -> bool:
        return self._is_cancelled

    def cancel(self) -> None:
        """End the work: wake whoever blocks on its behalf. Idempotent."""
        with self._lock:
            self._is_cancelled = True
            wakers = list(self._wakers.values())
        for wake in wakers:
            wake()

    def on_cancel(self, wake: Callable[[], None]) -> Callable[[], None]:
        """Register `wake` (called at once if already cancelled); returns the call that unregisters it."""
        key = id(wake)
        with self._lock:
            self._wakers[key] = wake
            is_late = self._is_cancelled
        if is_late:
            wake()

        def unregister() -> None:
            with self._lock:
                self._wakers.pop(key, None)

        return unregister


class Deadline(Cancellation):
    """When a call must have ended, and the way to end it earlier.

    `seconds` counts from construction on the monotonic clock; None means no limit.
    """

    def __init__(self, seconds: float | None = None) -> None:
        super().__init__()
        self.seconds = seconds
        self._expires_at = None if seconds is None else time.monotonic() + seconds

    def remaining_s(self) -> float | None:
        """Seconds left, never negative; None without a limit."""
        return None if self._expires_at is None else max(0.0, self._expires_at - time.monotonic())

    def is_overdue(self, grace_s: float = 0.0) -> bool:
        """Whether the deadline passed more than `grace_s` seconds ago."""
        return self._expires_at is not None and time.monotonic() > self._expires_at + grace_s

    def check(self) -> None:
        """Raise `RunCancelled` or `ModelTimeout` when the call must not go on."""
        if self.is_cancelled:
            raise RunCancelled("the call was cancelled")
        if self._expires_at is not None and time.monotonic() >= self._expires_at:
            raise ModelTimeout(f"the call did not end within {self.seconds:g} s", is_retryable=False)
