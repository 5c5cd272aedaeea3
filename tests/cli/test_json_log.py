"""`orchestra run --log-json`."""

from __future__ import annotations

import json
import logging

TASK = "Who is the auditor?"


def test_each_line_of_the_file_is_json_and_later_runs_are_appended(call, report, tmp_path):
    place = tmp_path / "run.log"

    for _ in range(2):
        assert call("run", report, TASK, "--log-json", place).exit_code == 0

    lines = [json.loads(line) for line in place.read_text(encoding="utf-8").splitlines()]
    assert [line["message"] for line in lines].count("run completed") == 2
    assert len({line["run_id"] for line in lines}) == 2
    assert "Harrow" not in place.read_text(encoding="utf-8")


def test_standard_error_holds_nothing_but_json_by_a_dash(call, report):
    done = call("run", report, TASK, "--log-json", "-")

    assert "Harrow Pike" in done.stdout
    assert {json.loads(line)["level"] for line in done.stderr.splitlines()} == {"info"}


def test_logging_is_as_it_was_afterwards(call, report, tmp_path):
    log = logging.getLogger("orchestra")
    before = (log.level, list(log.handlers))

    call("run", report, TASK, "--log-json", tmp_path / "run.log")

    assert (log.level, log.handlers) == before


def test_a_full_disk_costs_the_log_and_not_the_run(call, report):
    done = call("run", report, TASK, "--log-json", "/dev/full", "--quiet")

    assert done.exit_code == 0
    assert "Harrow Pike" in done.stdout
    assert done.stderr == "warning: the log is not written any more: [Errno 28] No space left on device\n"


def test_a_place_that_cannot_be_written_is_an_error_before_anything_is_sent(call, report, tmp_path):
    done = call("run", report, TASK, "--log-json", tmp_path / "none" / "run.log")

    assert (done.exit_code, done.stdout) == (1, "")
    assert len(done.stderr.splitlines()) == 2
