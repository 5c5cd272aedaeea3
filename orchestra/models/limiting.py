"""How fast a key may be used at a server: learned from its responses, and kept to by every run of the process.

A `Gate` belongs to one provider, base URL and key. Who wants to call takes a `Ticket`, asks it how long to wait, waits
elsewhere, and starts. Nothing here blocks. For each model the gate keeps a bucket per metered thing: what is left
as the server last said, less what has gone out since, more what has flowed back. A ticket goes when its own need and
that of all tickets before it fit, so that a crowd goes out in order, spread over the time that the limit gives it.

A 429 holds everyone back until the server's `retry-after` is over; where it tells of no limits, calls go out one by
one from then on, closer together with each success. Until the first response of a model only a few calls are let out.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from orchestra.errors import ModelRateLimited
from orchestra.models.rate_headers import RateLimit, read_rate_limits

FIRST_CALLS = 8
"""How many calls may be under way before the first response says what is allowed, and how long that is waited for."""
FIRST_RESPONSE_S = 3.0
LONGEST_WAIT_S = 120.0
"""A call that would have to wait longer than that for itself alone fails instead."""
HOLD_S = 1.0
"""After a 429 that names no time."""

_LOOK_AGAIN_S = 0.05
_REORDER_S = 0.05  # calls that go out closer together may arrive in any order
_MARGIN_S = 0.002  # so that a wait that is over is over
_MINUTE_S = 60.0
_FIRST_INTERVAL_S, _LONGEST_INTERVAL_S, _SHORTEST_INTERVAL_S = 0.1, 5.0, 0.02
_EASING = 0.8


@dataclass(frozen=True, slots=True)
class Need:
    """What one call takes of the limits, estimated."""

    input_tokens: int = 0
    output_tokens: int = 0

    def of(self, metered: str) -> int:
        match metered:
            case "requests":
                return 1
            case "tokens":
                return self.input_tokens + self.output_tokens
            case "input-tokens":
                return self.input_tokens
            case _:
                return self.output_tokens


@dataclass(slots=True)
class _Bucket:
    """One limit as it was `seen_at`; full again at `full_at`, evenly until then, or `is_stepwise` all at once."""

    limit: int
    remaining: int
    seen_at: float
    full_at: float
    is_stepwise: bool = False

    def time_for(self, amount: float, now: float) -> float:
        """When `amount` can have gone out."""
        is_full = now >= self.full_at
        there, since = (self.limit, now) if is_full else (self.remaining, self.seen_at)
        missing = amount - there
        if missing <= 0:
            return since
        span = max(self.full_at - self.seen_at, 1e-3)
        if self.is_stepwise:
            refills = math.ceil(missing / self.limit)
            return now + refills * span if is_full else self.full_at + (refills - 1) * span
        a_second = (self.limit - self.remaining) / span if self.limit > self.remaining else self.limit / _MINUTE_S
        return since + missing / a_second


@dataclass(eq=False, slots=True)
class _Meter:
    """One model's limits, and the tickets of its calls in the order in which they came."""

    buckets: dict[str, _Bucket] = field(default_factory=dict[str, _Bucket])
    tickets: dict[Ticket, None] = field(default_factory=dict["Ticket", None])
    is_known: bool = False
    known_by: float = 0.0
    learned_from: float = 0.0
    interval_s: float = 0.0
    next_at: float = 0.0


class Ticket:
    """One attempt's place at a gate: it waits, it is started, it ends. `need` is asked for when a limit is known."""

    __slots__ = ("_estimate", "_gate", "_meter", "_need", "is_counted", "reason", "started_at")

    def __init__(self, gate: Gate, meter: _Meter, need: Callable[[], Need]) -> None:
        self._gate = gate
        self._meter = meter
        self._estimate = need
        self._need: Need | None = None
        self.started_at: float | None = None
        self.is_counted = False  # the server's own figures hold it already
        self.reason = ""

    def need(self, metered: str) -> int:
        if metered == "requests":
            return 1
        if self._need is None:
            self._need = self._estimate()
        return self._need.of(metered)

    def wait_s(self) -> float:
        """Seconds to wait before asking again; 0 when it may start. Raises `ModelRateLimited` for a hopeless wait."""
        return self._gate.wait_s(self, self._meter)

    def start(self) -> bool:
        """Go out now; False when there is something to wait for after all."""
        return self._gate.start(self, self._meter)

    def end(self) -> None:
        """The call is over, or not made. Idempotent."""
        self._gate.end(self, self._meter)


class Gate:
    """The limits of one key at one server. Thread-safe. `clock` gives seconds."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self.forget()

    def forget(self) -> None:
        """Start afresh, as after a fork."""
        self._meters: dict[str, _Meter] = {}
        self._held_until = 0.0
        self._lock = threading.Lock()

    def ticket(self, model: str, need: Callable[[], Need]) -> Ticket:
        """A place behind the calls of `model` that came before."""
        with self._lock:
            meter = self._meters.setdefault(model, _Meter())
            ticket = Ticket(self, meter, need)
            if not meter.is_known and not meter.tickets:
                meter.known_by = self.clock() + FIRST_RESPONSE_S
            meter.tickets[ticket] = None
        return ticket

    def learn(self, model: str, headers: Mapping[str, str], sent_at: float, *, is_refusal: bool = False) -> None:
        """Take in the headers of a response to a call that went out at `sent_at`; `is_refusal` for a 429."""
        limits = read_rate_limits(headers)
        with self._lock:
            meter = self._meters.setdefault(model, _Meter())
            meter.is_known = True
            if not is_refusal and meter.interval_s:
                eased = meter.interval_s * _EASING
                meter.interval_s = eased if eased >= _SHORTEST_INTERVAL_S else 0.0
            if not limits or sent_at < meter.learned_from:
                return
            meter.learned_from = sent_at
            now = self.clock()
            for limit in limits:
                earlier = meter.buckets.get(limit.metered)
                meter.buckets[limit.metered] = _bucket(limit, now, earlier, is_refusal=is_refusal)
            for ticket in meter.tickets:
                started_at = ticket.started_at
                ticket.is_counted |= started_at is not None and started_at <= sent_at - _REORDER_S

    def hold(self, model: str, seconds: float | None) -> None:
        """A 429 came, its headers learned before: let nobody out for so long; None where it names no time."""
        with self._lock:
            now = self.clock()
            meter = self._meters.setdefault(model, _Meter())
            is_explained = any(bucket.remaining == 0 for bucket in meter.buckets.values())
            if seconds is None:
                seconds = 0.0 if is_explained else HOLD_S
            self._held_until = max(self._held_until, now + seconds)
            if not meter.buckets:
                doubled = max(2 * meter.interval_s, _FIRST_INTERVAL_S)
                meter.interval_s = min(doubled, _LONGEST_INTERVAL_S)

    def wait_s(self, ticket: Ticket, meter: _Meter) -> float:
        with self._lock:
            return self._wait_s(ticket, meter, self.clock())

    def start(self, ticket: Ticket, meter: _Meter) -> bool:
        with self._lock:
            now = self.clock()
            if ticket.started_at is None and self._wait_s(ticket, meter, now) > 0:
                return False
            ticket.started_at = now
            meter.next_at = now + meter.interval_s
            return True

    def end(self, ticket: Ticket, meter: _Meter) -> None:
        with self._lock:
            meter.tickets.pop(ticket, None)

    def _wait_s(self, ticket: Ticket, meter: _Meter, now: float) -> float:
        held_s = self._held_until - now
        if held_s > LONGEST_WAIT_S:
            raise _hopeless(held_s)
        if held_s > 0:
            ticket.reason = "the server asked to be left alone for a while"
            return held_s + _MARGIN_S
        if not meter.is_known:
            return self._first_wait_s(ticket, meter, now)
        if not meter.buckets and not meter.interval_s:
            return 0.0
        waits = {metered: self._bucket_wait_s(ticket, meter, metered, now) for metered in meter.buckets}
        longest = max(waits, key=lambda metered: waits[metered], default="")
        if longest and waits[longest] > 0:
            ticket.reason = f"the limit of {longest.replace('-', ' ')} is used up"
            return waits[longest] + _MARGIN_S
        if meter.interval_s:
            waiting = _before(ticket, (each for each in meter.tickets if each.started_at is None))
            ticket.reason = "the server has refused calls that came too fast"
            return max(0.0, meter.next_at + waiting * meter.interval_s - now)
        return 0.0

    def _first_wait_s(self, ticket: Ticket, meter: _Meter, now: float) -> float:
        if now >= meter.known_by or _before(ticket, meter.tickets) < FIRST_CALLS:
            return 0.0
        ticket.reason = "the first response will say how much is allowed"
        return min(_LOOK_AGAIN_S, meter.known_by - now)

    def _bucket_wait_s(self, ticket: Ticket, meter: _Meter, metered: str, now: float) -> float:
        bucket = meter.buckets[metered]
        need = min(ticket.need(metered), bucket.limit)  # what is larger than the limit goes when the bucket is full
        alone_s = bucket.time_for(need, now) - now
        if alone_s > LONGEST_WAIT_S:
            raise _hopeless(alone_s)
        ahead = 0
        for other in meter.tickets:
            if other is ticket:
                break
            if not other.is_counted:
                ahead += min(other.need(metered), bucket.limit)
        return max(0.0, bucket.time_for(ahead + need, now) - now)


def _bucket(limit: RateLimit, now: float, earlier: _Bucket | None, *, is_refusal: bool) -> _Bucket:
    """What is learned of a limit. A refusal where the earlier figures promised room tells that it fills all at once."""
    missing = (limit.limit - limit.remaining) / limit.limit
    resets_in_s = missing * _MINUTE_S if limit.resets_in_s is None else limit.resets_in_s
    was_surprised = is_refusal and limit.remaining == 0 and earlier is not None
    is_stepwise = was_surprised or (earlier is not None and earlier.is_stepwise)
    return _Bucket(limit.limit, limit.remaining, now, now + resets_in_s, is_stepwise)


def _before(ticket: Ticket, tickets: Iterable[Ticket]) -> int:
    return next((at for at, each in enumerate(tickets) if each is ticket), 0)


def _hopeless(seconds: float) -> ModelRateLimited:
    return ModelRateLimited(
        "the call was not sent: its key is at a limit",
        cause=f"there is room again in {seconds:.0f} s, and nobody waits longer than {LONGEST_WAIT_S:.0f} s",
        is_retryable=False,
        was_sent=False,
    )
