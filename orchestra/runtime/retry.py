"""Whether a failed call is tried again, and when: tenacity decides, the scheduler waits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from orchestra.errors import ModelError

if TYPE_CHECKING:
    from tenacity import RetryCallState

LONGEST_OBEYED_WAIT_S = 120.0


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """At most `max_attempts` calls in all; waits grow from `first_wait_s`, doubling with jitter up to `longest_wait_s`.

    A server's own `retry_after_s` is obeyed up to two minutes; a longer one ends the trying. `may_go_on` is told of
    every attempt that failed and whether another would follow, and decides if it may.
    """

    max_attempts: int = 3
    first_wait_s: float = 0.5
    longest_wait_s: float = 8.0
    may_go_on: Callable[[BaseException, bool], bool] | None = None

    def delay_before_next(self, error: BaseException, attempt: int) -> float | None:
        """Seconds to wait before attempt `attempt + 1`, or None when there is to be none."""
        delay = self._delay(error, attempt)
        return delay if self.may_go_on is None or self.may_go_on(error, delay is not None) else None

    def _delay(self, error: BaseException, attempt: int) -> float | None:
        if not (isinstance(error, ModelError) and error.is_retryable):
            return None
        import tenacity

        state = _failed_state(error, attempt)
        if tenacity.stop_after_attempt(self.max_attempts)(state):
            return None
        if error.retry_after_s is not None:
            return error.retry_after_s if error.retry_after_s <= LONGEST_OBEYED_WAIT_S else None
        return self.backoff_s(attempt, error)

    def backoff_s(self, attempt: int, error: BaseException) -> float:
        """Seconds to wait after attempt `attempt`, where the server does not say."""
        import tenacity

        wait = tenacity.wait_exponential(multiplier=self.first_wait_s) + tenacity.wait_random(0, self.first_wait_s / 2)
        return min(float(wait(_failed_state(error, attempt))), self.longest_wait_s)


def _failed_state(error: BaseException, attempt: int) -> RetryCallState:
    import tenacity

    state = tenacity.RetryCallState(tenacity.Retrying(), fn=None, args=(), kwargs={})
    state.attempt_number = attempt
    state.set_exception((type(error), error, error.__traceback__))
    return state
