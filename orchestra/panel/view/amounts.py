"""Tokens and price of nodes, alone and together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_INPUTS = ("input_tokens", "cached_input_tokens", "cache_write_tokens")


@dataclass(frozen=True, slots=True)
class Amount:
    """`tokens_in` are plain, cached and cache-write tokens together, `cached` those read from a cache.

    `cost_usd` is what is known of the price; `unpriced` counts the nodes whose price is not.
    """

    tokens_in: int = 0
    cached: int = 0
    tokens_out: int = 0
    cost_usd: float = 0.0
    unpriced: int = 0

    @property
    def tokens(self) -> int:
        return self.tokens_in + self.tokens_out

    @property
    def is_empty(self) -> bool:
        """Whether no model was called."""
        return not self.tokens and not self.cost_usd and not self.unpriced

    def __add__(self, other: Amount) -> Amount:
        if other.is_empty:
            return self
        if self.is_empty:
            return other
        return Amount(
            self.tokens_in + other.tokens_in,
            self.cached + other.cached,
            self.tokens_out + other.tokens_out,
            self.cost_usd + other.cost_usd,
            self.unpriced + other.unpriced,
        )


NOTHING = Amount()


def amount_of(usage: Mapping[str, Any] | None, cost_usd: float | None) -> Amount:
    """What a node's `usage` says; `cost_usd` is None where its price is not known."""
    if not usage:
        return NOTHING
    tokens_in, tokens_out = sum(token_count(usage, name) for name in _INPUTS), token_count(usage, "output_tokens")
    if not tokens_in and not tokens_out:
        return NOTHING
    cached = token_count(usage, "cached_input_tokens")
    return Amount(tokens_in, cached, tokens_out, cost_usd or 0.0, int(cost_usd is None))


def token_count(usage: Mapping[str, Any], name: str) -> int:
    """0 for what is no count of tokens."""
    count = usage.get(name)
    return count if isinstance(count, int) and not isinstance(count, bool) and count > 0 else 0


def compact(count: int) -> str:
    """`12,345`; from a hundred thousand on `697k`, from ten million on `12.3M`."""
    if count < 100_000:
        return f"{count:,}"
    return f"{count / 1000:,.0f}k" if count < 10_000_000 else f"{count / 1_000_000:,.1f}M"
