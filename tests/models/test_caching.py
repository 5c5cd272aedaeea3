"""What is known of the providers' prompt caches."""

from __future__ import annotations

import pytest

from orchestra.models import resolve_model
from orchestra.models.anthropic import AnthropicModel
from orchestra.models.caching import anthropic_minimum, openai_minimum
from orchestra.models.openai import OpenAIModel
from orchestra.models.prices import cache_ratios
from orchestra.runtime.calls import cache_minimum


@pytest.mark.parametrize(
    ("model", "tokens"),
    [
        ("claude-3-haiku-20240307", 2_048),
        ("claude-3-5-haiku-latest", 2_048),
        ("claude-3-7-sonnet-20250219", 1_024),
        ("claude-sonnet-4-20250514", 1_024),
        ("claude-sonnet-4-5-20250929", 1_024),
        ("claude-sonnet-4-6", 2_048),
        ("claude-opus-4-1-20250805", 1_024),
        ("claude-opus-4-5", 4_096),
        ("claude-haiku-4-5", 4_096),
        ("claude-opus-5-5", 4_096),
        ("anthropic/claude-something-new", 4_096),
    ],
)
def test_the_shortest_prefix_that_a_claude_model_keeps(model, tokens):
    assert anthropic_minimum(model) == tokens
    assert AnthropicModel(model).cache_minimum_tokens == tokens


@pytest.mark.parametrize("model", ["gpt-4o", "gpt-6-sol", "o3", "openai/gpt-5"])
def test_openai_s_models_keep_a_prefix_of_1024_tokens(model):
    assert openai_minimum(model) == 1_024
    assert OpenAIModel(model).cache_minimum_tokens == 1_024


@pytest.mark.parametrize("model", ["gpt-oss:20b", "llama3.2", "m"])
def test_other_models_behind_the_same_api_are_not_known_to_have_a_cache(model):
    assert OpenAIModel(model).cache_minimum_tokens is None


def test_a_model_that_says_nothing_of_a_cache_has_none():
    class Bare:
        def complete(self, request):
            raise NotImplementedError

    assert cache_minimum(Bare()) is None
    assert cache_minimum(resolve_model("builtin:extractive")) is None


@pytest.mark.parametrize(
    ("model", "ratios"),
    [("anthropic:claude-sonnet-5-5", (1.25, 0.05)), ("openai:gpt-4o", (1.0, 0.5)), ("nobody:knows", None)],
)
def test_what_a_cached_token_costs_over_a_plain_one(model, ratios):
    assert cache_ratios(model) == (None if ratios is None else pytest.approx(ratios))
