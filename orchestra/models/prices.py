"""What tokens cost, from the kept price list of `genai-prices`.

The list is imported when a price is first asked for: it takes a tenth of a second.
"""

from __future__ import annotations

import ipaddress
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from orchestra.models.protocol import Usage

if TYPE_CHECKING:
    from genai_prices.types import PriceCalculation

_FREE = ("builtin", "ollama")
_LISTED = ("anthropic", "openai")
_MILLION = 1_000_000


def price(model_name: str, usage: Usage, *, base_url: str = "") -> float | None:
    """What `usage` costs in US dollars; None where no price is known.

    `model_name` is an adapter's name ("anthropic:claude-sonnet-5-5") or a bare model id. What runs on this
    machine is 0 when its name says so (`builtin:`, `ollama:`), and unknown when only `base_url` does.
    """
    if model_name.partition(":")[0] in _FREE:
        return 0.0
    found = _look_up(model_name, usage, base_url)
    return None if found is None else float(found.total_price)


def cache_ratios(model_name: str, *, base_url: str = "") -> tuple[float, float] | None:
    """What a token costs that is written to, and read from, the prompt cache, over a plain one; None if unknown."""
    plain, written, read = (
        price(model_name, usage, base_url=base_url)
        for usage in (Usage(_MILLION), Usage(cache_write_tokens=_MILLION), Usage(cached_input_tokens=_MILLION))
    )
    return (written / plain, read / plain) if plain and written is not None and read is not None else None


def context_window(model_name: str, *, base_url: str = "") -> int | None:
    """Tokens that fit into one request and its reply; None where the list does not know the model."""
    if model_name.partition(":")[0] in _FREE:
        return None
    found = _look_up(model_name, Usage(), base_url)
    return None if found is None else found.model.context_window


def _look_up(model_name: str, usage: Usage, base_url: str) -> PriceCalculation | None:
    """By the list of the server at `base_url` where there is one, else by the provider's own."""
    if _is_local(base_url):
        return None
    import genai_prices

    prefix, _, rest = model_name.partition(":")
    provider, model = (prefix, rest) if prefix in _LISTED else (None, model_name)
    # There, as at OpenAI, the input holds the cached and the written tokens too.
    tokens = genai_prices.Usage(
        input_tokens=usage.total_input_tokens,
        cache_read_tokens=usage.cached_input_tokens,
        cache_write_tokens=usage.cache_write_tokens,
        output_tokens=usage.output_tokens,
    )
    if base_url:
        try:
            return genai_prices.calc_price(tokens, model, provider_api_url=base_url)
        except LookupError:
            pass
    try:
        return genai_prices.calc_price(tokens, model, provider_id=provider)
    except LookupError:
        return None


@lru_cache(maxsize=256)
def _is_local(base_url: str) -> bool:
    """Whether the URL's host is this machine or one of its private network."""
    if not base_url:
        return False
    host = urlsplit(base_url).hostname or ""
    try:
        return not ipaddress.ip_address(host).is_global
    except ValueError:
        return "." not in host or host.endswith((".local", ".internal", ".localhost"))
