"""Skills that a person approves, in one process: what he is asked, what his answer does, and what no answer does."""

from __future__ import annotations

import asyncio
import threading

import pytest
from models_for_tests import AUDITOR, COSTS, REPORT, REVENUE, ScriptedModel, codes, plan_of

from orchestra import orchestrate, orchestrate_async
from orchestra.errors import ApprovalRejected, SkillInvalid
from orchestra.models.deadline import Cancellation
from orchestra.models.protocol import ModelReply, ToolCall, Usage
from orchestra.runtime.events import NodeUpdated, QuestionAnswered, QuestionAsked
from orchestra.runtime.questions import AtOnce, Decision

CAREFUL = {"careful": {"description": "Careful work.", "system_prompt": "Take care.", "needs_approval": True}}
ONE = plan_of({"skill": "careful", "task": "Why did costs rise?", "context_pointers": COSTS})
THREE = plan_of(
    {"skill": "careful", "task": "Why did costs rise?", "context_pointers": COSTS},
    {"task": "What was earned?", "context_pointers": REVENUE},
    {"task": "Who says so?", "context_pointers": AUDITOR, "depends_on": ["1"]},
)


def answering():
    return ScriptedModel(subtask="Steel became dearer [L9].", synthesis="Steel [L9].")


def run(plan, model, on_approval=None, **options):
    options = {"max_followups": 0, "skills": CAREFUL, **options}
    return orchestrate(REPORT, "Tell me.", plan=plan, model=model, on_approval=on_approval, **options)


def statuses(events, node_id):
    return [event.status for event in events if isinstance(event, NodeUpdated) and event.node_id == node_id]


def of_type(events, kind):
    return [event for event in events if isinstance(event, kind)]


def test_nothing_is_sent_before_the_person_has_approved():
    model, sent_before = answering(), []

    def approve(question):
        sent_before.append(len(model.requests))
        return True

    result = run(ONE, model, approve)

    assert sent_before == [0]
    assert len(model.requests) == 1
    assert result.status == "completed"
    assert result.answer == "Steel became dearer [1]."


def test_the_person_sees_who_is_sent_what():
    model, asked = answering(), []

    run(ONE, model, lambda question: asked.append(question) or True)

    (question,) = asked
    assert (question.kind, question.node_id, question.title) == ("approval", "run/subtask-1", "send subtask 1")
    assert question.shown["skill"] == "careful"
    assert question.shown["task"] == "Why did costs rise?"
    assert question.shown["lines"] == ["L7-L10"]
    assert question.shown["model"] == "test:scripted"
    assert question.shown["prompt_sha256"] == model.requests[0].fingerprint


def test_the_person_sees_the_tools_and_who_may_stand_in():
    model, other, asked = answering(), answering(), []
    other.name = "test:other"

    def count_words(text: str) -> int:
        """The number of words."""
        return len(text.split())

    run(ONE, None, lambda question: asked.append(question) or True, tools=[count_words], models=[model, other])

    assert asked[0].shown["tools"] == ["count_words"]
    assert asked[0].shown["or"] == ["test:other"]
    assert asked[0].shown["prompt_sha256"] == model.requests[0].fingerprint


def test_the_node_waits_for_the_person_and_then_goes_on():
    events = []

    run(ONE, answering(), lambda question: True, on_event=events.append)

    assert statuses(events, "run/subtask-1") == ["routing", "confirm_required", "executing", "completed"]
    (asked,), (answered,) = of_type(events, QuestionAsked), of_type(events, QuestionAnswered)
    assert asked.digest == answered.digest
    assert answered.outcome == "approved"


def test_a_rejection_fails_its_node_with_the_reason_and_the_others_go_on():
    model = answering()

    result = run(THREE, model, lambda question: Decision("rejected", reason="not to this host"))

    first, second, third = result.subtasks
    assert (first.error.code, first.error.cause) == ("APPROVAL_REJECTED", "not to this host")
    assert (second.status, third.error.code) == ("completed", "DEPENDENCY_FAILED")
    assert result.status == "partial"
    assert [request.blocks[-1].words for request in model.sent("subtask")] == ["What was earned?"]


def test_what_runs_is_what_the_person_edited():
    model = answering()

    result = run(ONE, model, lambda question: Decision("edited", {"task": "Since when did costs rise?"}))

    assert model.requests[0].blocks[-1].words == "Since when did costs rise?"
    assert result.subtasks[0].task == "Since when did costs rise?"
    assert codes(result) == ["TASK_EDITED"]


@pytest.mark.parametrize(
    "edit", [{"model": "other:model"}, {"lines": ["L1-L99"]}, {"task": ""}, {"prompt_sha256": "0"}]
)
def test_an_edit_of_what_cannot_be_edited_approves_nothing(edit):
    model = answering()

    result = run(ONE, model, lambda question: Decision("edited", edit))

    assert model.requests == []
    assert result.subtasks[0].error.code == "APPROVAL_REJECTED"


def raising(question):
    raise RuntimeError("the modem is gone")


@pytest.mark.parametrize(
    "answer", ["yes", 1, 0, object(), [True], {"outcome": "yes"}, Decision("answered", text="yes")]
)
def test_nonsense_approves_nothing(answer):
    model = answering()

    result = run(ONE, model, lambda question: answer)

    assert model.requests == []
    assert result.subtasks[0].error.code == "APPROVAL_REJECTED"
    assert codes(result) == ["APPROVAL_UNANSWERED"]


def test_a_callback_that_raises_approves_nothing():
    model = answering()

    result = run(ONE, model, raising)

    assert model.requests == []
    assert "the modem is gone" in result.subtasks[0].error.cause


def test_a_callback_that_changes_the_question_does_not_change_what_is_sent():
    model, events = answering(), []

    def rewrite(question):
        question.shown["task"] = "Send everything."
        return True

    run(ONE, model, rewrite, on_event=events.append)

    (asked,), (answered,) = of_type(events, QuestionAsked), of_type(events, QuestionAnswered)
    assert answered.digest == asked.digest
    assert model.requests[0].blocks[-1].words == "Why did costs rise?"


@pytest.mark.parametrize("ask", [None, lambda question: None])
def test_where_nobody_answers_and_there_is_no_store_the_node_fails(ask):
    model = answering()

    result = run(THREE, model, ask)

    assert [subtask.status for subtask in result.subtasks] == ["failed", "completed", "failed"]
    assert result.subtasks[0].error.code == ApprovalRejected.code
    assert len(model.sent("subtask")) == 1


def test_a_slow_person_holds_no_worker_and_no_deadline():
    others_done, model = threading.Event(), answering()

    def wait_for_the_others(question):
        assert others_done.wait(10)
        return True

    def on_event(event):
        if isinstance(event, NodeUpdated) and (event.node_id, event.status) == ("run/subtask-2", "completed"):
            others_done.set()

    result = run(THREE, model, wait_for_the_others, on_event=on_event, max_workers=1, timeout_s=0.5)

    assert others_done.is_set()
    assert result.status == "completed"


def test_people_are_asked_one_at_a_time():
    at_once, most, waiting, all_wait = [], [], [], threading.Event()

    def approve(question):
        at_once.append(question)
        assert all_wait.wait(10)
        most.append(len(at_once))
        at_once.remove(question)
        return True

    def on_event(event):
        waiting.extend(of_type([event], QuestionAsked))
        if len(waiting) == 3:
            all_wait.set()

    plan = plan_of(*({"skill": "careful", "context_pointers": at} for at in (COSTS, REVENUE, AUDITOR)))

    result = run(plan, answering(), approve, on_event=on_event)

    assert most == [1, 1, 1]
    assert result.status == "completed"


def test_who_can_be_asked_at_once_answers_in_any_order():
    asked, answers = [], {"run/subtask-1": threading.Event(), "run/subtask-2": threading.Event()}

    def approve(question):
        asked.append(question.node_id)
        return answers[question.node_id].wait(10)

    def on_event(event):
        for waiting in of_type([event], QuestionAsked):
            if waiting.node_id == "run/subtask-2":
                answers["run/subtask-2"].set()
        for answered in of_type([event], QuestionAnswered):
            ended.append(answered.node_id)
            answers["run/subtask-1"].set()

    ended = []
    plan = plan_of(*({"skill": "careful", "context_pointers": at} for at in (COSTS, REVENUE)))

    result = run(plan, answering(), AtOnce(approve), on_event=on_event)

    assert sorted(asked) == ["run/subtask-1", "run/subtask-2"]
    assert ended == ["run/subtask-2", "run/subtask-1"]
    assert result.status == "completed"


def test_subtasks_that_a_person_approves_do_not_share_a_call():
    plan = plan_of(*({"skill": "careful", "task": task, "context_pointers": COSTS} for task in ("Why?", "Since when?")))
    model = answering()

    run(plan, model, lambda question: question.shown["task"] == "Why?")

    assert [request.blocks[-1].words for request in model.sent("subtask")] == ["Why?"]


def test_the_built_in_engine_tells_readers_in_words_what_a_rejection_left_out():
    plan = plan_of({"task": "What was revenue?", "context_pointers": REVENUE}, {"skill": "careful", "task": "Why?"})

    result = orchestrate(
        REPORT, "Tell me.", CAREFUL, "builtin:extractive", plan=plan, on_approval=lambda question: False
    )

    assert result.status == "partial"
    assert "### Why?\n\nMissing: no reply (APPROVAL_REJECTED)" in result.answer
    assert "INSUFFICIENT" not in result.answer


def test_a_follow_up_over_further_lines_needs_an_approval_of_its_own():
    model = ScriptedModel(subtask=["INSUFFICIENT: the year", "In 2025 [L5]."], synthesis="")
    asked = []

    result = run(ONE, model, lambda question: asked.append(question) or len(asked) == 1, max_followups=1)

    assert [question.title for question in asked] == ["send subtask 1", "send further lines for subtask 1"]
    assert len(model.sent("subtask")) == 1
    assert "FOLLOWUP_FAILED" in codes(result)


def test_cancelling_a_run_does_not_wait_for_the_person():
    cancellation, released = Cancellation(), threading.Event()

    def cancel_and_wait(question):
        cancellation.cancel()
        released.wait(30)
        return True

    model = answering()
    result = run(ONE, model, cancel_and_wait, cancellation=cancellation)
    released.set()

    assert result.subtasks[0].status == "cancelled"
    assert model.requests == []


def test_a_skill_says_whether_it_needs_approval_by_true_or_false():
    with pytest.raises(SkillInvalid):
        run(ONE, answering(), skills={"careful": {**CAREFUL["careful"], "needs_approval": "perhaps"}})


def test_an_asyncio_caller_can_ask_on_his_loop():
    async def approve(question):
        await asyncio.sleep(0)
        return Decision("edited", {"task": "Since when?"})

    async def main():
        return await orchestrate_async(REPORT, "Tell me.", CAREFUL, model, plan=ONE, on_approval=approve)

    model = answering()
    result = asyncio.run(main())

    assert result.status == "completed"
    assert model.requests[0].blocks[-1].words == "Since when?"


def test_cancelling_an_asyncio_caller_stops_asking():
    model = answering()

    async def main():
        is_asked, is_over = asyncio.Event(), asyncio.Event()

        async def wait_for_ever(question):
            is_asked.set()
            try:
                await asyncio.Event().wait()
            finally:
                is_over.set()

        run = asyncio.create_task(
            orchestrate_async(REPORT, "Tell me.", CAREFUL, model, plan=ONE, on_approval=wait_for_ever)
        )
        await is_asked.wait()
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
        return await asyncio.wait_for(is_over.wait(), 10)

    assert asyncio.run(main())
    assert model.requests == []


def test_a_skill_that_needs_approval_is_not_loaded_into_another_one():
    def turn(request):
        if request.messages:
            return request.messages[-1].tool_results[0].text
        call = ToolCall("1", "load_skill", {"name": "careful"})
        return ModelReply("", Usage(100, output_tokens=10), tool_calls=(call,), stop_reason="tool_use")

    loader = {"description": "Loads.", "system_prompt": "Load.", "allowed_tools": ["load_skill"]}
    plan = plan_of({"skill": "loader", "context_pointers": COSTS})

    result = run(plan, ScriptedModel(subtask=turn), skills={**CAREFUL, "loader": loader}, tools=["load_skill"])

    assert "TOOL_FAILED" in result.answer
    assert "Take care." not in result.answer
