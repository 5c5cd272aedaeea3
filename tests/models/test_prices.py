"""What tokens cost, against the published table."""

from __future__ import annotations

import pytest

from orchestra.models.prices import context_window, price
from orchestra.models.protocol import Usage

MILLION = 1_000_000


@pytest.mark.parametrize(
    ("model", "fresh", "output", "cached", "written", "window"),
    [
        ("anthropic:claude-sonnet-5-5", 2.00, 10.00, 0.10, 2.50, 1_000_000),
        ("anthropic:claude-opus-5-5", 4.00, 20.00, 0.20, 5.00, 1_000_000),
        ("anthropic:claude-haiku-5-5", 0.50, 0.50, 0.05, 0.625, 1_000_000),
        ("claude-sonnet-4-6", 3.00, 15.00, 0.30, 3.75, 1_000_000),
        ("openai:gpt-6-sol", 4.00, 10.00, 0.40, 5.00, 1_050_000),
        ("gpt-6-luna", 0.20, 0.50, 0.02, 0.25, 1_050_000),
    ],
)
def test_each_kind_of_token_has_its_price(model, fresh, output, cached, written, window):
    assert price(model, Usage(input_tokens=MILLION)) == pytest.approx(fresh)
    assert price(model, Usage(output_tokens=MILLION)) == pytest.approx(output)
    assert price(model, Usage(cached_input_tokens=MILLION)) == pytest.approx(cached)
    assert price(model, Usage(cache_write_tokens=MILLION)) == pytest.approx(written)
    assert context_window(model) == window


def test_the_kinds_add_up():
    usage = Usage(input_tokens=MILLION, cached_input_tokens=MILLION, cache_write_tokens=MILLION, output_tokens=MILLION)

    assert price("anthropic:claude-sonnet-5-5", usage) == pytest.approx(2.00 + 0.10 + 2.50 + 10.00)


@pytest.mark.parametrize("model", ["builtin:extractive", "ollama:llama3.2", "ollama:llama3.2:1b"])
def test_what_runs_here_is_free(model):
    assert price(model, Usage(input_tokens=MILLION)) == 0.0
    assert context_window(model) is None


@pytest.mark.parametrize(
    "base_url",
    ["http://localhost:8000/v1", "http://127.0.0.1:1/v1", "http://10.0.0.3/v1", "http://gpu/v1", "http://gpu.local/v1"],
)
def test_a_server_of_ones_own_has_no_known_price(base_url):
    assert price("openai:gpt-6-sol", Usage(input_tokens=MILLION), base_url=base_url) is None
    assert context_window("openai:gpt-6-sol", base_url=base_url) is None


@pytest.mark.parametrize("model", ["openai:unheard-of", "anthropic:gpt-6-sol", "unheard-of", ""])
def test_an_unknown_model_has_no_known_price(model):
    assert price(model, Usage(input_tokens=MILLION)) is None


def test_a_gateway_that_the_list_does_not_know_costs_what_its_provider_does():
    usage = Usage(input_tokens=MILLION)

    assert price("openai:gpt-6-luna", usage, base_url="https://gate.example/v1") == pytest.approx(0.20)
    assert price("openai:gpt-6-luna", usage, base_url="https://api.openai.com/v1") == pytest.approx(0.20)
