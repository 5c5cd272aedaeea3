"""The command ends when its answer is there, whatever a worker that was left behind still does."""

from __future__ import annotations

import json

import pytest

from orchestra.store import Store

HANGING = "import threading\n\n\ndef wait() -> dict:\n    threading.Event().wait(600)\n    return {}\n"


@pytest.fixture
def skills(tmp_path):
    """Folders with a skill of a layer that never comes back, by layer."""
    for layer in ("enhancement", "guarantee"):
        _write(tmp_path / layer / "waits", layer)
    return tmp_path


def _write(folder, layer):
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text("---\nname: waits\ndescription: Waits for what never comes.\n---\nCode.\n")
    (folder / "skill.yaml").write_text(f"type: code\nfunction: waits.py:wait\nlayer: {layer}\n")
    (folder / "waits.py").write_text(HANGING)


def test_a_worker_that_does_not_come_back_does_not_hold_up_the_shell(spawn, report, skills, tmp_path):
    place, log = tmp_path / "runs.db", tmp_path / "log.jsonl"
    options = ("--mode", "standard", "--store", place, "--log-json", log)

    done = spawn("run", report, "Who is the auditor?", "--skills", skills / "enhancement", "--json", *options)

    assert (done.returncode, "Traceback" in done.stderr) == (0, False)
    result = json.loads(done.stdout)
    assert "Harrow Pike" in result["answer"]
    assert "ENHANCEMENT_LATE" in [warning["code"] for warning in result["warnings"]]
    assert json.loads(log.read_text().splitlines()[-1])
    with Store.open(place) as store:
        assert [run.status for run in store.runs()] == ["completed"]
    assert not (tmp_path / "runs.db-wal").exists()


def test_nor_does_it_change_the_exit_code_of_a_run_that_failed(spawn, report, skills):
    done = spawn("run", report, "Who is the auditor?", "--skills", skills / "guarantee", "--timeout", 1, "--no-store")

    assert (done.returncode, done.stdout) == (1, "")
    assert "GATE_FAILED: waits: " in done.stderr
