"""What a run logs, who hears it, and what is never in it."""

from __future__ import annotations

import json
import logging
import subprocess
import sys

import pytest
from models_for_tests import AUDITOR, COSTS, REPORT, ScriptedModel, plan_of

from orchestra import orchestrate
from orchestra.errors import ModelBadRequest, ModelOverloaded
from orchestra.runtime.logs import FIELDS, JsonFormatter, log_listener, logged_id

MARK = "zebra"  # stands in every text that must not be logged
STANDARD = set(vars(logging.makeLogRecord({}))) | {"message", "asctime"}


class Kept(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)


@pytest.fixture
def kept():
    handler, log = Kept(), logging.getLogger("orchestra")
    log.addHandler(handler)
    level = log.level
    log.setLevel(logging.DEBUG)
    yield handler.records
    log.setLevel(level)
    log.removeHandler(handler)


def run(**answers):
    model = ScriptedModel(
        plan=plan_of({"context_pointers": COSTS}, {"context_pointers": AUDITOR, "task": f"{MARK}?"}, reasoning=MARK),
        synthesis=f"It is {MARK} [L9].",
        **answers,
    )
    return orchestrate(f"{REPORT}\nThe {MARK}.", f"Is it {MARK}?", model=model, strategy="full")


def test_a_run_is_told_from_start_to_end_with_its_id_and_tokens(kept):
    result = run(subtask="Steel [L9].")

    by_event = {record.event: record for record in kept if record.name == "orchestra.run"}
    assert {record.run_id for record in by_event.values()} == {result.run_id}
    assert by_event["skill-route-started"].models["plan"] == "test:scripted"
    assert (by_event["plan-ready"].delegated, by_event["plan-ready"].self_answered) == (2, 0)
    assert by_event["skill-route-completed"].status == "completed"
    ended = [record for record in kept if getattr(record, "status", "") == "completed" and record.node_id != "run"]
    finished = [record for record in ended if not record.node_id.startswith("run/gate-")]
    assert {record.node_id for record in finished} == {"run/plan", "run/subtask-1", "run/subtask-2", "run/synthesis"}
    assert all(record.input_tokens == 100 for record in finished)


def test_what_fails_is_a_warning_with_its_code(kept):
    run(subtask=[ModelOverloaded(f"{MARK} busy", retry_after_s=0.0), ModelBadRequest(f"{MARK} refused"), "Steel [L9]."])

    warnings = [(record.event, record.code) for record in kept if record.levelno == logging.WARNING]
    assert ("retry-scheduled", "MODEL_OVERLOADED") in warnings
    assert ("skill-route-node-updated", "MODEL_BAD_REQUEST") in warnings
    assert ("skill-route-completed", "MODEL_BAD_REQUEST") in warnings


@pytest.mark.parametrize(
    "subtask",
    [f"The {MARK} [L9].", f"INSUFFICIENT: {MARK}", ModelBadRequest(f"{MARK}"), ValueError(MARK), [f"{MARK}", ""]],
)
def test_no_text_of_anybody_is_in_any_record(kept, subtask):
    model = ScriptedModel(
        plan=plan_of({"context_pointers": COSTS, "id": f"the {MARK}", "skill": MARK}, {"context_pointers": AUDITOR}),
        subtask=subtask,
        synthesis=f"It is {MARK} [L9].",
    )

    orchestrate(f"{REPORT}\nThe {MARK}.", f"Is it {MARK}?", {MARK.upper(): f"Be a {MARK}."}, model, strategy="full")

    written = [JsonFormatter().format(record) for record in kept]
    assert len(written) > 5
    in_skills = [json.loads(line).get("skill", "") for line in written]
    assert MARK not in "".join(
        line.replace(f'"skill": "{skill}"', "") for line, skill in zip(written, in_skills, strict=True)
    )


def test_a_record_carries_no_other_fields_than_those_that_are_named(kept):
    run(subtask=[ModelOverloaded("busy", retry_after_s=0.0), "Steel [L9]."])

    assert {name for record in kept for name in vars(record)} - STANDARD <= set(FIELDS)


def test_a_line_of_json_holds_time_level_and_fields_and_no_message_of_an_exception():
    try:
        raise ValueError(MARK)
    except ValueError:
        record = logging.makeLogRecord(
            {"name": "orchestra", "levelno": 30, "levelname": "WARNING", "msg": "a\nb", "exc_info": sys.exc_info(),
             "created": 0.25, "msecs": 250.0, "node_id": "run/plan"}
        )  # fmt: skip

    text = JsonFormatter().format(record)
    line = json.loads(text)

    assert "\n" not in text
    assert (line["time"], line["level"], line["message"]) == ("1970-01-01T00:00:00.250Z", "warning", "a\nb")
    assert (line["node_id"], line["exception"]) == ("run/plan", "ValueError")
    assert MARK not in text


def test_an_id_that_is_a_text_is_logged_as_a_digest():
    assert logged_id("run/subtask-2/tool-1") == "run/subtask-2/tool-1"
    odd = logged_id(f"run/subtask-The {MARK}/\ud800")
    assert odd.startswith("run/~")
    assert MARK not in odd
    assert odd != logged_id("run/subtask-The other")


def test_nobody_is_told_where_no_handler_would_hear_it():
    program = (
        "import logging, orchestra.runtime.logs as logs\n"
        "assert logs.log_listener() is None\n"
        "logging.getLogger('orchestra').warning('not shown')\n"
        "logging.basicConfig(level=logging.CRITICAL + 1)\n"
        "assert logs.log_listener() is None\n"
        "logging.getLogger().setLevel(logging.INFO)\n"
        "assert logs.log_listener() is not None\n"
        "logging.getLogger('orchestra').propagate = False\n"
        "assert logs.log_listener() is None\n"
    )

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (0, "")


def test_who_only_listens_to_the_log_does_not_make_calls_stream(kept):
    seen = []
    model = ScriptedModel(subtask=lambda request: seen.append(request.on_delta) or "Steel [L9].")

    orchestrate(REPORT, "Why?", model=model, strategy="direct")

    assert log_listener() is not None
    assert seen == [None]
