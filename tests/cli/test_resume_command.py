"""`orchestra resume`, and what `orchestra run` keeps."""

from __future__ import annotations

import json

import pytest

from orchestra.store import Store

TASK = "Who audits the company, and what was revenue?"


def kept(path):
    with Store.open(path) as store:
        return store.runs()


def test_a_run_is_kept_and_given_again_by_its_short_id(call, report, tmp_path):
    place = tmp_path / "runs.db"
    first = call("run", report, TASK, "--store", place, "--json", "--quiet")

    run_id = json.loads(first.stdout)["run_id"]
    again = call("resume", run_id[:7], "--store", place, "--json", "--quiet")

    assert again.exit_code == 0
    assert json.loads(again.stdout) == json.loads(first.stdout)


def test_a_run_that_was_interrupted_goes_on(call, report, tmp_path):
    place = tmp_path / "runs.db"
    first = json.loads(call("run", report, TASK, "--store", place, "--json", "--quiet").stdout)
    with Store.open(place) as store:
        store.end_run(first["run_id"], "running")
    report.unlink()

    again = call("resume", first["run_id"], "--store", place)

    assert again.exit_code == 0
    assert first["answer"].splitlines()[0] in again.stdout
    assert "all succeeded" in again.stderr


def test_without_a_word_a_run_is_kept_in_the_state_folder(call, report):
    call("run", report, TASK, "--quiet")

    listed = call("runs", "--json")

    assert [run["task"] for run in json.loads(listed.stdout)] == [TASK]


def test_no_store_writes_nothing(call, report, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("ORCHESTRA_STORE", str(tmp_path / "named.db"))

    done = call("run", report, TASK, "--no-store", "--quiet")

    assert done.exit_code == 0
    assert [path.name for path in tmp_path.iterdir()] == ["report.md"]


def test_a_session_carries_its_tasks_on(call, report, tmp_path):
    place = tmp_path / "runs.db"
    call("run", report, "What was revenue in 2025?", "--store", place, "--session", "talk", "--quiet")

    done = call("run", report, "And in 2024?", "--store", place, "--session", "talk", "--quiet")

    assert "371 million" in done.stdout
    assert {run.session_id for run in kept(place)} == {"talk"}


@pytest.mark.parametrize("spelt", ["--cache", "--cache=3600"])
def test_the_cache_is_used_when_it_is_asked_for(call, report, tmp_path, spelt):
    place = tmp_path / "runs.db"
    first = json.loads(call("run", spelt, report, TASK, "--store", place, "--json", "--quiet").stdout)

    again = json.loads(call("run", spelt, report, TASK, "--store", place, "--json", "--quiet").stdout)

    assert again["answer"] == first["answer"]
    assert {phase["calls"] for phase in again["usage"].values()} == {0}
    assert again["run_id"] != first["run_id"]


@pytest.mark.parametrize("wrong", ["--cache=soon", "--cache=0", "--cache=nan"])
def test_a_cache_age_that_is_none_is_a_usage_error(call, report, wrong):
    assert call("run", wrong, report, TASK).exit_code == 2


def test_no_store_excludes_what_needs_one(call, report):
    done = call("run", report, TASK, "--no-store", "--cache")

    assert (done.exit_code, "--no-store excludes" in done.stderr) == (2, True)


def test_a_run_that_does_not_exist_is_said_to_be_missing(call, report, tmp_path):
    place = tmp_path / "runs.db"
    call("run", report, TASK, "--store", place, "--quiet")

    done = call("resume", "nosuch", "--store", place)

    assert (done.exit_code, "RUN_NOT_FOUND" in done.stderr) == (1, True)


def test_a_store_that_cannot_be_used_costs_the_run_nothing_but_the_record(call, report, tmp_path):
    place = tmp_path / "runs.db"
    place.write_text("this is no database, but the notes of somebody")

    done = call("run", report, TASK, "--store", place, "--json")

    assert done.exit_code == 0
    assert "STORE_LOST" in [notice["code"] for notice in json.loads(done.stdout)["warnings"]]
    assert place.read_text().startswith("this is no database")
