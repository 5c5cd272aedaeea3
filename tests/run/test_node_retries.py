"""A subtask that fails is done again as a whole, within one cap on attempts."""

from __future__ import annotations

import threading

import pytest
from models_for_tests import COSTS, REPORT, REVENUE, ScriptedModel, plan_of

from orchestra import orchestrate
from orchestra.errors import (
    ModelAuth,
    ModelBadRequest,
    ModelOverloaded,
    ModelReplyInvalid,
    ModelTimeout,
)
from orchestra.models.protocol import ModelReply, Usage
from orchestra.runtime.events import RetryScheduled
from orchestra.skills import Skill

ONE = plan_of({"context_pointers": COSTS})
GOOD = "Steel became dearer [L9]."


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch):
    monkeypatch.setattr("orchestra.runtime.retry.RetryPolicy.backoff_s", lambda *_: 0.001)


def run(model, plan=ONE, **options):
    return orchestrate(REPORT, "Why?", model=model, plan=plan, **{"max_followups": 0, **options})


@pytest.mark.parametrize(
    "failure",
    [ModelReplyInvalid("broken", is_retryable=False), ModelTimeout("slow", is_retryable=False), ModelReply(" ")],
)
def test_a_subtask_that_failed_is_done_again(failure):
    model, events = ScriptedModel(subtask=[failure, GOOD]), []

    result = run(model, retries=1, on_event=events.append)

    assert result.status == "completed"
    assert result.subtasks[0].reply == GOOD
    assert [event.node_id for event in events if isinstance(event, RetryScheduled)] == ["run/subtask-1"]


def test_by_default_it_is_not():
    model = ScriptedModel(subtask=[ModelReplyInvalid("broken", is_retryable=False), GOOD])

    assert run(model).status == "failed"


def test_a_call_that_hangs_is_left_and_the_subtask_done_again():
    release, calls = threading.Event(), []

    def hang_once(request):
        calls.append(1)
        if len(calls) == 1:
            release.wait(20)
        return GOOD

    result = run(ScriptedModel(subtask=hang_once), retries=1, timeout_s=0.05)
    release.set()

    assert result.status == "completed"
    assert len(calls) == 2


@pytest.mark.parametrize("failure", [ModelAuth("no key"), ModelBadRequest("400"), ValueError("a defect")])
def test_what_will_fail_again_is_not_done_again(failure):
    model = ScriptedModel(subtask=[failure, GOOD])

    result = run(model, retries=2)

    assert result.status == "failed"
    assert len(model.sent("subtask")) == 1


@pytest.mark.parametrize(("max_attempts", "retries", "sent"), [(1, 2, 1), (2, 2, 2), (3, 2, 3), (9, 2, 3), (9, 0, 1)])
def test_one_cap_holds_the_attempts_of_a_node(max_attempts, retries, sent):
    model = ScriptedModel(subtask=ModelReplyInvalid("broken", is_retryable=False))

    result = run(model, max_attempts=max_attempts, retries=retries)

    assert result.subtasks[0].error.code == "MODEL_REPLY_INVALID"
    assert len(model.sent("subtask")) == sent


def test_a_reply_that_is_of_no_use_counts_as_an_attempt():
    model = ScriptedModel(subtask=ModelReply(" "))

    run(model, max_attempts=2, retries=2)

    assert len(model.sent("subtask")) == 2


@pytest.mark.parametrize("max_attempts", [1, 2, 3, 5])
def test_retries_of_calls_and_of_the_node_share_the_cap(max_attempts):
    model = ScriptedModel(subtask=ModelOverloaded("529", retry_after_s=0.001))

    run(model, max_attempts=max_attempts, retries=2)

    assert len(model.sent("subtask")) == max_attempts


def test_retries_of_a_skill_go_before_those_of_the_run():
    model = ScriptedModel(subtask=ModelReplyInvalid("broken", is_retryable=False))
    skills = {"own": Skill("own", "Has its own.", "Answer.", retries=2)}

    run(model, plan_of({"context_pointers": COSTS, "skill": "own"}), skills=skills, max_attempts=9)

    assert len(model.sent("subtask")) == 3


def test_a_merged_call_that_cannot_be_used_is_followed_by_one_call_for_each():
    plan = plan_of({"context_pointers": COSTS}, {"context_pointers": COSTS})
    model = ScriptedModel(subtask=[ModelReplyInvalid("broken", is_retryable=False), ModelReply(" "), GOOD])

    result = run(model, plan, retries=1, max_workers=1)

    assert [subtask.status for subtask in result.subtasks] == ["completed", "completed"]


def test_what_had_finished_is_kept_and_all_failures_are_on_the_bill():
    billed = ModelReplyInvalid("empty", usage=Usage(80, output_tokens=40), is_retryable=False)
    plan = plan_of({"context_pointers": COSTS}, {"context_pointers": REVENUE})
    model = ScriptedModel(subtask=[billed, GOOD, GOOD], synthesis="Joined [L9].")

    result = run(model, plan, retries=1, max_workers=1)

    assert result.status == "completed"
    assert result.usage.subtasks.calls == 3
    assert result.usage.subtasks.output_tokens == 60
