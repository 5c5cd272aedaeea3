"""What a run does when something fails, is cancelled, or was never right."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
from models_for_tests import COSTS, REPORT, REVENUE, ScriptedModel, codes, plan_of

import orchestra
from orchestra import Cancellation, Document, Finding, synthesize
from orchestra.errors import (
    ContextTooLong,
    DocumentUnreadable,
    InputInvalid,
    ModelAuth,
    ModelOverloaded,
    PlanInvalid,
    RunCancelled,
    SkillInvalid,
    UnexpectedFailure,
)
from orchestra.models.protocol import ModelReply, Usage
from orchestra.runtime.events import NodeUpdated, RouteFailed

# The models here are scripted to plan with the whole document in view.
make_plan = partial(orchestra.make_plan, strategy="full")
orchestrate = partial(orchestra.orchestrate, strategy="full")
orchestrate_async = partial(orchestra.orchestrate_async, strategy="full")


def test_a_failed_subtask_leaves_the_others_and_is_named_to_the_synthesis():
    model = ScriptedModel(
        plan=plan_of({"task": "broken", "context_pointers": COSTS}, {"task": "fine", "context_pointers": REVENUE}),
        subtask=lambda request: ModelAuth("no key") if "broken" in request.prompt else "Revenue rose [L5].",
        synthesis="Revenue rose [L5]; the rest is missing.",
    )

    result = orchestrate(REPORT, "Both?", model=model)

    assert result.status == "partial"
    assert [(s.status, s.error and s.error.code) for s in result.subtasks] == [
        ("failed", "MODEL_AUTH"),
        ("completed", None),
    ]
    assert "<missing>\nQuestion: broken" in model.sent("synthesis")[0].prompt


def test_a_run_in_which_every_subtask_fails_has_failed():
    model = ScriptedModel(plan=plan_of({"context_pointers": COSTS}), subtask=ModelAuth("no key"))
    events = []

    result = orchestrate(REPORT, "Why?", model=model, on_event=events.append)

    assert result.status == "failed"
    assert result.answer == ""
    assert [error.code for error in result.errors] == ["MODEL_AUTH"]
    assert isinstance(events[-1], RouteFailed)


def test_a_failed_synthesis_leaves_the_findings_as_the_answer():
    model = ScriptedModel(
        plan=plan_of({"task": "one", "context_pointers": COSTS}, {"task": "two", "context_pointers": REVENUE}),
        subtask="It is so [L5].",
        synthesis=ModelAuth("no key"),
    )

    result = orchestrate(REPORT, "Both?", model=model)

    assert result.status == "partial"
    assert "**one**\nIt is so" in result.answer
    assert [error.code for error in result.errors] == ["MODEL_AUTH"]


def test_an_invalid_plan_is_asked_for_once_more_with_the_reason():
    model = ScriptedModel(plan=["I would rather not.", plan_of({"context_pointers": COSTS})], subtask="x [L9]")

    result = orchestrate(REPORT, "Why?", model=model)

    assert result.status == "completed"
    assert (result.usage.plan.calls, result.usage.plan.input_tokens) == (2, 200)
    assert "PLAN_ASKED_AGAIN" in codes(result)
    said, told = model.sent("plan")[1].messages
    assert said.text == "I would rather not."
    assert "no JSON" in told.text


def test_a_plan_that_stays_invalid_is_an_error_with_the_reply_in_it():
    model = ScriptedModel(plan="I would rather not.")
    events = []

    with pytest.raises(PlanInvalid) as caught:
        orchestrate(REPORT, "Why?", model=model, on_event=events.append)

    assert caught.value.details["raw"] == "I would rather not."
    assert isinstance(events[-1], RouteFailed)
    assert len(model.requests) == 2


def test_a_retryable_failure_is_tried_again_up_to_the_cap():
    model = ScriptedModel(plan=ModelOverloaded("busy", retry_after_s=0.001))

    with pytest.raises(ModelOverloaded):
        orchestrate(REPORT, "Why?", model=model, max_attempts=2)

    assert len(model.requests) == 2


def test_a_defect_in_judging_citations_does_not_cost_the_answer(monkeypatch):
    def broken(text, documents):
        raise RuntimeError("defect")

    monkeypatch.setattr("orchestra.reporting.cite", broken)
    model = ScriptedModel(plan=plan_of({"context_pointers": COSTS}), subtask="Steel [L9].")

    result = orchestrate(REPORT, "Why?", model=model)

    assert result.answer == "Steel [L9]."
    assert "CITATIONS_UNJUDGED" in codes(result)


def test_a_reply_that_was_cut_off_is_kept_and_the_result_is_partial():
    cut = ModelReply("Costs rose [L9] because", usage=Usage(5, output_tokens=5), stop_reason="max_tokens")
    model = ScriptedModel(plan=plan_of({"context_pointers": COSTS}), subtask=cut)

    result = orchestrate(REPORT, "Why?", model=model)

    assert result.status == "partial"
    assert result.answer.startswith("Costs rose")
    assert result.errors[0].code == "OUTPUT_TRUNCATED"


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (ModelReply(" ", usage=Usage(5), stop_reason="max_tokens"), "OUTPUT_TRUNCATED"),
        (ModelReply("", usage=Usage(5)), "MODEL_REPLY_INVALID"),
        ("no reply object", "MODEL_REPLY_INVALID"),
        (ZeroDivisionError("defect"), "UNEXPECTED"),
    ],
)
def test_a_reply_that_is_none_fails_the_subtask(reply, code):
    class Broken(ScriptedModel):
        def complete(self, request):
            if request.purpose == "plan" or isinstance(reply, Exception | ModelReply):
                return super().complete(request)
            return reply

    model = Broken(plan=plan_of({"context_pointers": COSTS}), subtask=reply)

    result = orchestrate(REPORT, "Why?", model=model)

    assert result.status == "failed"
    assert result.subtasks[0].error.code == code


def test_a_document_that_the_planner_cannot_hold_is_refused_before_anything_is_sent():
    model = ScriptedModel()
    model.context_window = 120_000

    with pytest.raises(ContextTooLong, match="120,000"):
        orchestrate("word " * 130_000, "Why?", model=model)

    assert model.requests == []


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"task": "  "}, InputInvalid),
        ({"context": "   "}, DocumentUnreadable),
        ({"context": []}, DocumentUnreadable),
        ({"max_workers": 0}, InputInvalid),
        ({"timeout_s": -1}, InputInvalid),
        ({"on_unresolved": "maybe"}, InputInvalid),
        ({"model": "nobody:model"}, InputInvalid),
        ({"plan": "no/such/file.json"}, InputInvalid),
        ({"answer_schema": {"type": 7}}, InputInvalid),
        ({"answer_schema": {"$ref": "#/$defs/Missing"}}, InputInvalid),
        ({"answer_schema": {"properties": {"a": {"$ref": "http://127.0.0.1:9/x.json"}}}}, InputInvalid),
        ({"answer_schema": {"properties": {"a": {"$ref": "#"}}}}, InputInvalid),
        ({"skills": {"x": {"description": "no prompt"}}}, SkillInvalid),
    ],
)
def test_bad_input_is_refused_before_anything_is_sent(arguments, error):
    model = ScriptedModel()

    with pytest.raises(error):
        orchestrate(**{"context": REPORT, "task": "Why?", "model": model, **arguments})

    assert model.requests == []


def test_many_runs_at_once_do_not_mix():
    document = Document.from_text(REPORT)

    def one(number):
        model = ScriptedModel(
            plan=plan_of({"task": f"only {number}", "context_pointers": COSTS}),
            subtask=lambda request: f"{request.blocks[-1].words} [L9]",
        )
        return orchestrate(document, f"task {number}", model=model).answer

    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(one, range(64)))

    assert [answer.split(" [")[0] for answer in answers] == [f"only {number}" for number in range(64)]


def test_cancelling_gives_what_is_finished():
    cancellation, finished = Cancellation(), threading.Event()

    def reply(request):
        if "first one" in request.prompt:
            return "kept [L9]"
        woken = threading.Event()
        request.deadline.on_cancel(woken.set)
        assert finished.wait(5)
        cancellation.cancel()
        assert woken.wait(5)
        return "too late"

    def listen(event):
        if isinstance(event, NodeUpdated) and (event.node_id, event.status) == ("run/subtask-1", "completed"):
            finished.set()

    model = ScriptedModel(
        plan=plan_of({"task": "first one", "context_pointers": COSTS}, {"task": "second", "context_pointers": REVENUE}),
        subtask=reply,
    )

    result = orchestrate(REPORT, "Both?", model=model, cancellation=cancellation, on_event=listen)

    assert result.status == "partial"
    assert [subtask.status for subtask in result.subtasks] == ["completed", "cancelled"]
    assert result.answer == "kept [1?]"


def test_a_run_cancelled_while_it_plans_has_nothing_to_give():
    cancellation = Cancellation()
    cancellation.cancel()

    with pytest.raises(RunCancelled):
        orchestrate(REPORT, "Why?", model=ScriptedModel(), cancellation=cancellation)


def test_cancelling_the_awaiting_task_cancels_the_run():
    started, woken = threading.Event(), threading.Event()

    def hang(request):
        request.deadline.on_cancel(woken.set)
        started.set()
        woken.wait(10)
        return "too late"

    async def main():
        task = asyncio.create_task(orchestrate_async(REPORT, "Why?", model=ScriptedModel(plan=hang)))
        await asyncio.to_thread(started.wait, 5)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return await asyncio.to_thread(woken.wait, 5)

    assert asyncio.run(main()) is True


def test_a_cancellation_that_serves_many_runs_keeps_none_of_them():
    cancellation = Cancellation()
    model = ScriptedModel(subtask="Costs rose [L9].")

    orchestrate(REPORT, "Why?", model=model, plan=plan_of({"context_pointers": COSTS}), cancellation=cancellation)

    assert cancellation._wakers == {}


def test_a_defect_of_our_own_ends_the_run_with_an_event(monkeypatch):
    def broken(run, plan, assignments, findings, draft):
        raise RuntimeError("defect")

    monkeypatch.setattr("orchestra.pipeline.report", broken)
    model, events = ScriptedModel(plan=plan_of({"context_pointers": COSTS}), subtask="x [L9]"), []

    with pytest.raises(UnexpectedFailure, match="defect"):
        orchestrate(REPORT, "Why?", model=model, on_event=events.append)

    assert isinstance(events[-1], RouteFailed)
    assert events[-1].error["code"] == "UNEXPECTED"


def test_planning_alone_says_that_it_failed():
    events = []

    with pytest.raises(ModelAuth):
        make_plan(REPORT, "Why?", model=ScriptedModel(plan=ModelAuth("no key")), on_event=events.append)

    assert isinstance(events[-1], RouteFailed)


def test_a_schema_that_is_none_is_refused_before_anything_happens():
    events = []

    with pytest.raises(InputInvalid):
        orchestrate(REPORT, "Why?", model=ScriptedModel(), answer_schema={"type": 5}, on_event=events.append)
    with pytest.raises(InputInvalid):
        synthesize(REPORT, "Why?", [Finding("1", "t", "x")], model=ScriptedModel(), answer_schema={"type": 5})

    assert events == []
