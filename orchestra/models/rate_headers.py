"""What a response's headers say about the rate limits of its key, in both providers' spellings.

Anthropic: `anthropic-ratelimit-{requests,tokens,input-tokens,output-tokens}-{limit,remaining,reset}`, resets in
RFC 3339. OpenAI: `x-ratelimit-{limit,remaining,reset}-{requests,tokens}`, resets as `6m0s` or `20ms`.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

METERED = ("requests", "tokens", "input-tokens", "output-tokens")
LONGEST_RESET_S = 31 * 86_400.0

_UNITS_S = {"d": 86_400.0, "h": 3_600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
_STEP = re.compile(r"(\d+(?:\.\d*)?)(ms|us|µs|ns|d|h|m|s)")
_FIRST_EPOCH = 1e9  # a number above it is a moment in unix seconds, one above 1e12 in milliseconds


@dataclass(frozen=True, slots=True)
class RateLimit:
    """One limit: how much of what is metered (one of `METERED`) is left of how much.

    `resets_in_s`: seconds until all of it is there again; None where the server does not say.
    """

    metered: str
    limit: int
    remaining: int
    resets_in_s: float | None = None


def read_rate_limits(headers: Mapping[str, str]) -> tuple[RateLimit, ...]:
    """The limits that a response tells of; what cannot be read is left out. Never raises."""
    if not any("ratelimit" in name for name in headers):
        return ()
    found = (_read(headers, metered) for metered in METERED)
    return tuple(limit for limit in found if limit is not None)


def seconds_until(reset: str, *, now: float | None = None) -> float | None:
    """Seconds from `now` (unix; None: this moment) to a reset written as a duration, a moment, or a bare number."""
    text = reset.strip()
    steps = _STEP.findall(text)
    if steps and "".join(number + unit for number, unit in steps) == text:
        return _bounded(sum(float(number) * _UNITS_S[unit] for number, unit in steps))
    now = time.time() if now is None else now
    try:
        number = float(text)
    except ValueError:
        return _until_moment(text, now)
    if not math.isfinite(number):
        return None
    if number > _FIRST_EPOCH:
        return _bounded(number / (1000 if number > _FIRST_EPOCH * 1000 else 1) - now)
    return _bounded(number)


def _read(headers: Mapping[str, str], metered: str) -> RateLimit | None:
    for spelling in (f"anthropic-ratelimit-{metered}-{{}}", f"x-ratelimit-{{}}-{metered}"):
        remaining = _count(headers.get(spelling.format("remaining")))
        if remaining is not None:
            limit = _count(headers.get(spelling.format("limit")))
            reset = headers.get(spelling.format("reset"))
            resets_in_s = seconds_until(reset) if reset else None
            return RateLimit(metered, max(limit or 0, remaining, 1), remaining, resets_in_s)
    return None


def _until_moment(text: str, now: float) -> float | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return _bounded(moment.timestamp() - now)


def _bounded(seconds: float) -> float:
    return min(max(0.0, seconds), LONGEST_RESET_S)


def _count(text: str | None) -> int | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    return max(0, int(number)) if math.isfinite(number) else None
