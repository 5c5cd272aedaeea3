"""What a run may spend: held before each call, so that no call is made that could pass it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from orchestra.errors import BudgetExceeded
from orchestra.runtime.scheduler import Milestone, Scheduler

_SMALLEST_USD = 1e-9  # sums of prices are not exact


@dataclass(frozen=True, slots=True)
class Amount:
    """Tokens of all kinds together, and US dollars."""

    tokens: int = 0
    cost_usd: float = 0.0

    def __add__(self, other: Amount) -> Amount:
        return Amount(self.tokens + other.tokens, self.cost_usd + other.cost_usd)

    def __sub__(self, other: Amount) -> Amount:
        return Amount(self.tokens - other.tokens, self.cost_usd - other.cost_usd)


NOTHING = Amount()


class Budget:
    """A run's limits, and what is spent and reserved of them. Used from the run's own thread only.

    Calls are admitted in the order in which they ask. One that does not fit waits for those under way, which mostly
    take less than they reserved; so what is admitted does not depend on who answers first.
    """

    def __init__(self, *, max_tokens: int | None = None, max_cost_usd: float | None = None) -> None:
        self.max_tokens = max_tokens
        self.max_cost_usd = max_cost_usd
        self.spent = NOTHING
        self.reserved = NOTHING
        self.scale = 1.0
        self._open = 0
        self._last_turn: Milestone | None = None
        self._settled: Milestone | None = None

    @property
    def is_limited(self) -> bool:
        return self.max_tokens is not None or self.max_cost_usd is not None

    async def reserve(self, scheduler: Scheduler, name: str, need: Callable[[], Amount]) -> Reservation:
        """Room for a call that may take up to `need()`. Raises `BudgetExceeded` when there will be none."""
        if not self.is_limited:
            return Reservation(self, NOTHING)
        before, mine = self._last_turn, Milestone()
        self._last_turn = mine
        try:
            if before is not None:
                await scheduler.join([before])
            while not self.has_room_for(amount := need()):
                if not self._open:
                    raise self.exceeded(name, amount)
                self._settled = Milestone()
                await scheduler.join([self._settled])
            self.reserved += amount
            self._open += 1
            return Reservation(self, amount)
        finally:
            mine.reach()

    def has_room_for(self, more: Amount) -> bool:
        """Whether all that is spent and reserved, and this, stays within the limits."""
        total = self.spent + self.reserved + more
        fits_tokens = self.max_tokens is None or total.tokens <= self.max_tokens
        return fits_tokens and (self.max_cost_usd is None or total.cost_usd <= self.max_cost_usd + _SMALLEST_USD)

    def learn(self, counted: int, reported: int) -> None:
        """Take in how a provider counts an input. `scale` is the most by which one went beyond the count made here;
        the first call goes out before it is known.
        """
        if counted:
            self.scale = max(self.scale, reported / counted)

    def exceeded(self, name: str, need: Amount, *, cause: str = "") -> BudgetExceeded:
        """The error for a call that is not made."""
        spent: list[str] = []
        of: list[str] = []
        if self.max_tokens is not None:
            spent.append(f"{self.spent.tokens:,} of {self.max_tokens:,} tokens")
            of.append(f"{need.tokens:,} tokens")
        if self.max_cost_usd is not None:
            spent.append(f"${self.spent.cost_usd:.6f} of ${self.max_cost_usd:.6f}")
            of.append(f"${need.cost_usd:.6f}")
        return BudgetExceeded(
            f"{name} was not sent: it may take up to {' and '.join(of)}; spent so far are {' and '.join(spent)}",
            cause=cause,
        )

    def close(self, reservation: Amount) -> None:
        self.reserved -= reservation
        self._open -= 1
        if self._settled is not None:
            self._settled.reach()


class Reservation:
    """Room for one call, its repeated attempts included."""

    def __init__(self, budget: Budget, amount: Amount) -> None:
        self._budget = budget
        self.amount = amount
        self._is_open = amount is not NOTHING

    def spend(self, actual: Amount) -> None:
        """What an attempt really took; the room stays for the next one."""
        self._budget.spent += actual

    @property
    def has_room(self) -> bool:
        """Whether another attempt fits."""
        return self._budget.has_room_for(NOTHING)

    def release(self) -> None:
        """Give the room back. Idempotent."""
        if self._is_open:
            self._is_open = False
            self._budget.close(self.amount)
