"""`orchestra runs show RUN --prompt NODE`: what a node sent, rebuilt and proved."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from models_for_tests import REPORT, ScriptedModel

from orchestra import orchestrate

HOSTILE = "Who audits\x1b[31m the company?"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "runs.db"


@pytest.fixture
def model() -> ScriptedModel:
    return ScriptedModel(subtask="Miller & Stone LLP [L13].")


@pytest.fixture
def run_id(place: Path, model: ScriptedModel) -> str:
    return orchestrate(REPORT, HOSTILE, model=model, strategy="direct", store=place).run_id


@pytest.mark.parametrize("node", ["run/subtask-1", "subtask-1"])
def test_the_prompt_of_a_node_is_printed_as_it_was_sent(call: Any, place: Path, run_id: str, model: Any, node: str):
    done = call("runs", "show", run_id[:8], "--prompt", node, "--store", place)

    (sent,) = model.requests
    assert (done.exit_code, done.stderr) == (0, "")
    assert f"sha-256    {sent.fingerprint}\n           proved by its hash\n" in done.stdout
    assert f"\n--- system\n{sent.blocks[0].text}\n" in done.stdout
    assert done.stdout.endswith("Task: Who audits the company?\n")
    assert "\x1b" not in done.stdout


def test_the_prompt_of_a_node_is_there_as_json(call: Any, place: Path, run_id: str, model: Any):
    (prompt,) = json.loads(call("runs", "show", run_id, "--prompt", "subtask-1", "--json", "--store", place).stdout)

    assert (prompt["fingerprint"], prompt["is_proved"]) == (model.requests[0].fingerprint, True)
    assert [message["role"] for message in prompt["messages"]] == ["user"]


def test_a_node_that_sent_nothing_is_said_with_those_that_did(call: Any, place: Path, run_id: str):
    done = call("runs", "show", run_id, "--prompt", "run/plan", "--store", place)

    assert (done.exit_code, done.stdout) == (2, "")
    assert "requests were sent by run/subtask-1" in done.stderr
