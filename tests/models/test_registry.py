"""From names to models."""

from __future__ import annotations

import subprocess
import sys

import pytest

from orchestra.errors import InputInvalid, ModelAuth
from orchestra.models.anthropic import AnthropicModel
from orchestra.models.openai import OpenAIModel
from orchestra.models.registry import configured_models, default_spec, resolve_model

KEYS = {"ANTHROPIC_API_KEY": "planted-key-value", "OPENAI_API_KEY": "another-planted-key"}


class Canned:
    def complete(self, request: object) -> str:
        return "canned"


@pytest.mark.parametrize(
    ("environ", "spec"),
    [
        ({}, "builtin:extractive"),
        ({"ANTHROPIC_API_KEY": " "}, "builtin:extractive"),
        ({"OPENAI_BASE_URL": "http://localhost:8000/v1"}, "openai:gpt-6-sol"),
        ({"OPENAI_API_KEY": "k"}, "openai:gpt-6-sol"),
        (KEYS, "anthropic:claude-sonnet-5-5"),
        ({"ANTHROPIC_AUTH_TOKEN": "t"}, "anthropic:claude-sonnet-5-5"),
        ({**KEYS, "ORCHESTRA_MODEL": " ollama:llama3.2 "}, "ollama:llama3.2"),
    ],
)
def test_the_default_comes_from_the_environment(environ, spec):
    assert default_spec(environ) == spec


def test_none_means_the_default():
    assert resolve_model(None, environ=KEYS).name == "anthropic:claude-sonnet-5-5"


@pytest.mark.parametrize(
    ("spec", "kind", "model", "base_url"),
    [
        ("anthropic:claude-haiku-5-5", AnthropicModel, "claude-haiku-5-5", "https://api.anthropic.com"),
        ("openai:gpt-6-luna", OpenAIModel, "gpt-6-luna", "https://api.openai.com/v1"),
        ("ollama:llama3.2:1b", OpenAIModel, "llama3.2:1b", "http://localhost:11434/v1"),
    ],
)
def test_a_name_gives_its_providers_model(spec, kind, model, base_url):
    resolved = resolve_model(spec, environ=KEYS)

    assert isinstance(resolved, kind)
    assert (resolved.name, resolved.model, resolved.base_url) == (spec, model, base_url)


@pytest.mark.parametrize(
    ("spec", "variable", "written", "base_url"),
    [
        ("anthropic:m", "ANTHROPIC_BASE_URL", "https://gate.example/", "https://gate.example"),
        ("anthropic:m", "ANTHROPIC_BASE_URL", "https://gate.example/a/v1/", "https://gate.example/a"),
        ("anthropic:m", "ANTHROPIC_BASE_URL", "https://gate.example/v1/messages", "https://gate.example"),
        ("openai:m", "OPENAI_BASE_URL", "http://localhost:8000", "http://localhost:8000/v1"),
        ("openai:m", "OPENAI_BASE_URL", "http://localhost:8000/v1/", "http://localhost:8000/v1"),
        ("openai:m", "OPENAI_BASE_URL", "http://gate/api/paas/v4", "http://gate/api/paas/v4"),
        ("openai:m", "OPENAI_BASE_URL", "http://gate/v1/chat/completions", "http://gate/v1"),
        ("ollama:m", "OLLAMA_HOST", "0.0.0.0", "http://localhost:11434/v1"),
        ("ollama:m", "OLLAMA_HOST", "0.0.0.0:9999", "http://localhost:9999/v1"),
        ("ollama:m", "OLLAMA_HOST", ":9999", "http://localhost:9999/v1"),
        ("ollama:m", "OLLAMA_HOST", "gpu.lan", "http://gpu.lan:11434/v1"),
        ("ollama:m", "OLLAMA_HOST", "https://gpu.lan/ollama/", "https://gpu.lan/ollama/v1"),
        ("ollama:m", "OLLAMA_HOST", "http://gpu.lan:8080/v1", "http://gpu.lan:8080/v1"),
        ("ollama:m", "OLLAMA_HOST", "[::1]:9999", "http://[::1]:9999/v1"),
        ("ollama:m", "OLLAMA_HOST", "[::1]", "http://[::1]:11434/v1"),
    ],
)
def test_a_base_url_is_read_in_its_customary_forms(spec, variable, written, base_url):
    assert resolve_model(spec, environ={variable: written}).base_url == base_url


@pytest.mark.parametrize("written", ["localhost:8000", "ftp://host", "http://", "http://host:99999", "nonsense"])
def test_a_base_url_that_is_none_is_named_with_its_variable(written):
    with pytest.raises(InputInvalid, match="OPENAI_BASE_URL"):
        resolve_model("openai:m", environ={"OPENAI_BASE_URL": written})


@pytest.mark.parametrize(("spec", "variable"), [("anthropic:m", "ANTHROPIC_API_KEY"), ("openai:m", "OPENAI_API_KEY")])
def test_a_missing_key_names_its_variable(spec, variable):
    with pytest.raises(ModelAuth, match=variable):
        resolve_model(spec, environ={})


def test_other_servers_need_no_key():
    environ = {"OPENAI_BASE_URL": "http://localhost:8000/v1", "ANTHROPIC_BASE_URL": "http://localhost:8000"}

    assert resolve_model("openai:m", environ=environ)
    assert resolve_model("anthropic:m", environ=environ)
    assert resolve_model("ollama:m", environ={})


@pytest.mark.parametrize("spec", ["gemini:pro", "gpt-6-sol", "openai:", ":", "builtin:other", " "])
def test_a_name_of_no_provider_lists_the_providers(spec):
    with pytest.raises(InputInvalid, match="anthropic:NAME, openai:NAME, ollama:NAME, builtin:extractive"):
        resolve_model(spec, environ={})


@pytest.mark.parametrize(
    ("spec", "meant"), [("claude-sonnet-5-5", "anthropic:claude-sonnet-5-5"), ("gpt-6-sol", "openai:gpt-6-sol")]
)
def test_a_name_without_its_provider_is_guessed_at(spec, meant):
    with pytest.raises(InputInvalid, match=f"Did you mean '{meant}'"):
        resolve_model(spec, environ={})


def test_an_object_with_complete_passes():
    canned = Canned()

    assert resolve_model(canned) is canned


@pytest.mark.parametrize("candidate", [42, Canned, object()])
def test_anything_else_is_refused(candidate):
    with pytest.raises(InputInvalid, match=r"complete\(ModelRequest\)"):
        resolve_model(candidate)


def test_the_same_name_and_environment_give_the_same_model():
    assert resolve_model("openai:m", environ=KEYS) is resolve_model("openai:m", environ=dict(KEYS))
    assert resolve_model("openai:m", environ=KEYS) is not resolve_model("openai:m", environ={"OPENAI_API_KEY": "other"})


def test_models_made_anew_know_what_was_learnt_about_their_server():
    first = resolve_model("openai:m", environ={"OPENAI_API_KEY": "one"})
    second = resolve_model("openai:m", environ={"OPENAI_API_KEY": "two"})

    assert first._capabilities is second._capabilities


def test_each_provider_has_a_row():
    rows = {
        row.provider: row for row in configured_models({"OPENAI_API_KEY": "k", "ORCHESTRA_MODEL": "openai:gpt-6-luna"})
    }

    assert list(rows) == ["anthropic", "openai", "ollama", "builtin"]
    assert (rows["openai"].model, rows["openai"].has_key, rows["openai"].is_default) == (
        "openai:gpt-6-luna",
        True,
        True,
    )
    assert (rows["anthropic"].has_key, rows["anthropic"].note) == (False, "set ANTHROPIC_API_KEY")
    assert rows["ollama"].base_url == "http://localhost:11434/v1"
    assert [row.is_default for row in rows.values()] == [False, True, False, False]


def test_a_row_says_which_variable_is_wrong():
    rows = configured_models({"OLLAMA_HOST": "ftp://host"})

    assert "OLLAMA_HOST is no http or https URL" in rows[2].note


def test_a_row_shows_no_password_of_a_base_url():
    rows = configured_models(
        {"OPENAI_BASE_URL": "https://user:planted-key-value@gate.example/v1?key=planted-key-value"}
    )

    assert "planted-key-value" not in repr(rows)
    assert rows[1].base_url == "https://gate.example/v1"


@pytest.mark.parametrize(
    ("statement", "unwanted"),
    [
        ("import orchestra.models.registry as r; r.configured_models({})", ["httpx", "genai_prices", "httpcore"]),
        ("import orchestra.models.protocol", ["httpx", "pydantic_core", "genai_prices"]),
        ("from orchestra.models import resolve_model", ["httpx", "genai_prices"]),
    ],
)
def test_nothing_heavy_is_imported_before_it_is_used(statement, unwanted):
    check = f"{statement}\nimport sys\nprint([name for name in {unwanted} if name in sys.modules])"

    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"
