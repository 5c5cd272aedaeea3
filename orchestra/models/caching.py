"""What is known of the providers' prompt caches: how long a prefix must be, and how long it is kept.

A cache holds what stands at the beginning of a prompt, up to a mark (Anthropic) or as far as it is the same
(OpenAI). Source: the providers' guides on prompt caching.
"""

from __future__ import annotations

import re

TTL_S = 300.0
"""Since the last use: Anthropic's default, and the least that OpenAI promises (5 to 10 minutes, up to 24 hours)."""

_OPENAI_MINIMUM = 1_024
_OF_OPENAI = re.compile(r"(^|/)(gpt-\d|chatgpt-|o\d)")
_ANTHROPIC_MINIMA = (
    (re.compile(r"claude-3-haiku|claude-3-5-haiku|haiku-3"), 2_048),
    (re.compile(r"claude-3|(sonnet|opus)-4(?!\d)(?!-[2-9](?!\d))|sonnet-4-5"), 1_024),
    (re.compile(r"sonnet"), 2_048),
)
_ANTHROPIC_MOST = 4_096  # the newer Opus and Haiku, and whatever is not known


def anthropic_minimum(model: str) -> int:
    """Tokens of the shortest prefix that a Claude model's cache holds."""
    return next((least for named, least in _ANTHROPIC_MINIMA if named.search(model)), _ANTHROPIC_MOST)


def openai_minimum(model: str) -> int | None:
    """The same for OpenAI's models, whoever serves them; None for another model behind the same API."""
    return _OPENAI_MINIMUM if _OF_OPENAI.search(model) else None
