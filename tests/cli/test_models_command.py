"""`orchestra models`."""

from __future__ import annotations

import json

import pytest


def test_every_provider_is_shown_and_the_default_is_marked(call) -> None:
    done = call("models")

    rows = [line.split() for line in done.stdout.splitlines()]
    assert (done.exit_code, done.stderr) == (0, "")
    assert [row[0].partition(":")[0] for row in rows] == ["anthropic", "openai", "ollama", "*"]
    assert rows[-1][1] == "builtin:extractive"


def test_json_says_which_variable_holds_the_key_and_never_the_key(call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "planted-key-value")

    done = call("models", "--json")

    row = json.loads(done.stdout)[0]
    assert (row["key_variable"], row["has_key"], row["is_default"]) == ("ANTHROPIC_API_KEY", True, True)
    assert "planted-key-value" not in done.stdout
