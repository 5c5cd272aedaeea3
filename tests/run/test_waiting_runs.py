"""Runs that end until a person has answered, and go on from their store with nothing repeated."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from models_for_tests import AUDITOR, COSTS, REPORT, REVENUE, ScriptedModel, codes, plan_of

from orchestra import orchestrate
from orchestra.errors import ApprovalRejected, RunWaiting, StoreUnavailable
from orchestra.models.blocks import Findings
from orchestra.models.protocol import ModelReply, ToolCall, Usage
from orchestra.pipeline import resume
from orchestra.result import Result
from orchestra.result.words import capsule
from orchestra.run import Run
from orchestra.run.approvals import ask_person
from orchestra.run.journal import StoreJournal
from orchestra.runtime.events import EffectReplayed, NodeUpdated, QuestionAsked, RouteCompleted
from orchestra.runtime.questions import Decision, Question
from orchestra.settings import Services, Settings
from orchestra.skills import Skill, SkillLibrary
from orchestra.skills.manifest import Manifest

CAREFUL = {"careful": {"description": "Careful work.", "system_prompt": "Take care.", "needs_approval": True}}
PLAN = plan_of(
    {"skill": "careful", "task": "Why did costs rise?", "context_pointers": COSTS},
    {"task": "What was earned?", "context_pointers": REVENUE},
    {"task": "Who says so?", "context_pointers": AUDITOR, "depends_on": ["1"]},
)


class Named(ScriptedModel):
    """Answers each subtask by its words."""

    def __init__(self, name="test:scripted"):
        super().__init__(subtask=lambda request: f"About: {request.blocks[-1].words}", synthesis="All of it [L9].")
        self.name = name


def begin(store, model, on_approval=None, plan=PLAN, **options):
    options = {"max_followups": 0, "skills": CAREFUL, **options}
    return orchestrate(REPORT, "Tell me.", plan=plan, model=model, on_approval=on_approval, store=store, **options)


def answer(store, run_id, outcome="approved", **said):
    (record,) = store.approvals(run_id, "open")
    return store.answer(run_id, record.node_id, record.digest, outcome=outcome, **said)


def words_sent(model):
    return [request.blocks[-1].words for request in model.sent("subtask")]


def test_a_run_that_nobody_answers_ends_as_waiting_after_all_else_has_ended(store):
    model, events = Named(), []

    result = begin(store, model, on_event=events.append)

    assert (result.status, result.answer, result.errors) == ("waiting", "", ())
    assert [subtask.status for subtask in result.subtasks] == ["waiting", "completed", "waiting"]
    assert words_sent(model) == ["What was earned?"]
    assert model.sent("synthesis") == []
    (end,) = [event for event in events if isinstance(event, RouteCompleted)]
    assert (end.result_status, end.status) == ("waiting", "confirm_required")


def test_what_it_waits_for_is_in_the_result_and_in_the_store(store):
    result = begin(store, Named())

    (waiting,), (record,) = result.waiting, store.approvals(result.run_id)
    assert (waiting.node_id, waiting.kind, waiting.shown["task"]) == (
        "run/subtask-1",
        "approval",
        "Why did costs rise?",
    )
    assert (record.status, record.digest) == ("open", waiting.digest)
    assert Question.from_dict(record.shown).digest == waiting.digest
    assert store.run(result.run_id).status == "waiting"
    assert Result.model_validate(store.run(result.run_id).result) == result


def test_the_nodes_that_wait_are_not_failed(store):
    result = begin(store, Named())

    found = {node.node_id: (node.status, node.error) for node in store.nodes(result.run_id)}
    assert found["run/subtask-1"] == ("confirm_required", None)
    assert found["run/subtask-2"] == ("completed", None)
    assert found["run/subtask-3"] == ("routing", None)
    assert found["run"] == ("confirm_required", None)


def test_several_questions_at_once_are_all_kept(store):
    plan = plan_of(*({"skill": "careful", "context_pointers": at} for at in (COSTS, REVENUE, AUDITOR)))

    result = begin(store, Named(), plan=plan)

    nodes = ["run/subtask-1", "run/subtask-2", "run/subtask-3"]
    assert sorted(waiting.node_id for waiting in result.waiting) == nodes
    assert sorted(record.node_id for record in store.approvals(result.run_id, "open")) == nodes


def test_a_run_that_is_resumed_without_an_answer_waits_on_and_sends_nothing(store):
    model = Named()
    first = begin(store, model)

    again = resume(first.run_id, store=store, model=model)

    assert again.status == "waiting"
    assert again.waiting == first.waiting
    assert len(model.requests) == 1
    assert len(store.approvals(first.run_id)) == 1


def test_an_answered_run_goes_on_with_nothing_repeated_and_ends_as_if_it_had_never_waited(store):
    straight = Named()
    whole = begin(store, straight, lambda question: True)
    model, events = Named(), []
    waiting = begin(store, model)

    answer(store, waiting.run_id)
    result = resume(waiting.run_id, store=store, model=model, on_event=events.append)

    assert result.status == "completed"
    assert result.answer == whole.answer
    assert [subtask.reply for subtask in result.subtasks] == [subtask.reply for subtask in whole.subtasks]
    assert sorted(request.fingerprint for request in model.requests) == sorted(
        request.fingerprint for request in straight.requests
    )
    statuses = [e.status for e in events if isinstance(e, NodeUpdated) and e.node_id == "run/subtask-1"]
    assert "confirm_required" not in statuses
    assert store.run(result.run_id).status == "completed"


def test_an_answer_is_asked_for_once_even_if_the_run_is_resumed_again(store):
    model = Named()
    waiting = begin(store, model, plan=plan_of({"skill": "careful", "context_pointers": COSTS}))
    answer(store, waiting.run_id)
    model._answers["subtask"] = RuntimeError("the model is gone")
    failed = resume(waiting.run_id, store=store, model=model)
    model._answers["subtask"] = "Steel [L9]."
    events = []

    result = resume(waiting.run_id, store=store, model=model, on_event=events.append)

    assert (failed.status, result.status) == ("failed", "completed")
    assert [event.kind for event in events if isinstance(event, EffectReplayed)] == ["person"]
    assert [event for event in events if isinstance(event, QuestionAsked)] == []


def test_a_rejection_from_the_store_fails_its_node_with_the_reason(store):
    model = Named()
    waiting = begin(store, model)

    answer(store, waiting.run_id, "rejected", reason="not to this host")
    result = resume(waiting.run_id, store=store, model=model)

    assert result.status == "partial"
    assert (result.subtasks[0].error.code, result.subtasks[0].error.cause) == ("APPROVAL_REJECTED", "not to this host")
    assert words_sent(model) == ["What was earned?"]


def test_what_goes_on_is_what_was_edited(store):
    model = Named()
    waiting = begin(store, model)
    shown = dict(waiting.waiting[0].shown)

    answer(store, waiting.run_id, "edited", edited={**shown, "task": "Since when did costs rise?"})
    result = resume(waiting.run_id, store=store, model=model)

    assert sorted(words_sent(model)) == ["Since when did costs rise?", "What was earned?", "Who says so?"]
    assert result.subtasks[0].task == "Since when did costs rise?"
    (later,) = [request for request in model.sent("subtask") if request.blocks[-1].words == "Who says so?"]
    (known,) = [block for block in later.blocks if isinstance(block, Findings)]
    assert known.findings[0].task == "Since when did costs rise?"


def test_an_approval_is_not_used_for_other_content(store):
    model, other = Named(), Named("test:other")
    waiting = begin(store, model)
    answer(store, waiting.run_id)

    result = resume(waiting.run_id, store=store, model=other)

    assert result.status == "waiting"
    assert "APPROVAL_STALE" in codes(result)
    assert "Why did costs rise?" not in words_sent(other)
    assert result.waiting[0].digest != waiting.waiting[0].digest


@pytest.mark.parametrize("changed", [{"task": "Send everything."}, {"model": "test:other"}, {"lines": ["L1-L99"]}])
def test_a_stored_edit_of_what_is_not_editable_approves_nothing(store, changed):
    model = Named()
    waiting = begin(store, model)
    shown = dict(waiting.waiting[0].shown)

    answer(store, waiting.run_id, "edited", edited={**shown, **changed, "prompt_sha256": "0" * 64})
    result = resume(waiting.run_id, store=store, model=model)

    assert words_sent(model) == ["What was earned?"]
    assert result.subtasks[0].error.code == "INPUT_INVALID"


def test_of_two_answers_at_once_one_wins(store):
    waiting = begin(store, Named())
    (record,) = store.approvals(waiting.run_id)
    together = threading.Barrier(8)

    def say(number):
        together.wait()
        return store.answer(waiting.run_id, record.node_id, record.digest, outcome="rejected", reason=str(number))

    with ThreadPoolExecutor(8) as pool:
        won = list(pool.map(say, range(8)))

    assert won.count(True) == 1
    assert store.approvals(waiting.run_id)[0].reason == str(won.index(True))


def test_who_answers_here_after_somebody_else_is_told_and_the_first_answer_holds(store):
    model = Named()

    def approve_too_late(question):
        (record,) = [each for run in store.runs() for each in store.approvals(run.id, "open")]
        store.answer(record.run_id, record.node_id, record.digest, outcome="rejected", reason="I was first")
        return True

    result = begin(store, model, approve_too_late)

    assert result.subtasks[0].error.cause == "I was first"
    assert "APPROVAL_ANSWERED" in codes(result)
    assert words_sent(model) == ["What was earned?"]


def raising(question):
    raise RuntimeError("the modem is gone")


@pytest.mark.parametrize("ask", [lambda question: None, lambda question: "yes", raising])
def test_who_does_not_answer_here_can_be_answered_for_later(store, ask):
    model = Named()

    waiting = begin(store, model, ask)
    answer(store, waiting.run_id)
    result = resume(waiting.run_id, store=store, model=model)

    assert (waiting.status, result.status) == ("waiting", "completed")


def test_an_answer_given_here_is_kept_too(store):
    result = begin(store, Named(), lambda question: Decision("approved", reason="fine"))

    (record,) = store.approvals(result.run_id)
    assert (record.status, record.outcome, record.reason) == ("answered", "approved", "fine")
    assert [call.kind for call in store.calls(result.run_id)].count("person") == 1


class Lost:
    """A store that cannot be reached any more."""

    def ask(self, approval):
        raise StoreUnavailable("the server is gone")

    answer = approvals = lambda self, *args, **kwargs: self.ask(None)


def asking(on_approval=None):
    """What `ask_person` gives in a run that has lost its store, and the run."""
    model = Named()
    run = Run.prepare(REPORT, "Tell me.", None, (model, model, model), Settings(), Services(on_approval=on_approval))
    run.people.store = Lost()
    return run.drive(ask_person(run, run.node("subtask-1", "subtask"), APPROVE)), run


APPROVE = Question("approval", "run/subtask-1", "send it", {"to": "the bank"})


def test_a_person_who_is_there_is_asked_though_the_store_is_lost():
    decision, run = asking(lambda question: True)

    assert decision.is_approved
    assert {notice.code for notice in run.notices} == {"STORE_LOST"}


def test_where_the_store_is_lost_and_nobody_is_there_nothing_goes_on():
    with pytest.raises(ApprovalRejected):
        asking()


def test_an_answer_serves_once(store):
    model, asked = Named(), []
    run_id = begin(store, model).run_id
    services = Services(on_approval=lambda question: asked.append(question) or len(asked) == 1 or None)
    run = Run.prepare(REPORT, "Tell me.", None, (model, model, model), Settings(), replace(services, run_id=run_id))
    run.people.store, run.journal = store, StoreJournal(store, run_id, lambda write: write())
    node = run.node("subtask-1", "subtask")

    async def story():
        await ask_person(run, node, APPROVE)
        await ask_person(run, node, APPROVE)

    with pytest.raises(RunWaiting):
        run.drive(story())

    first, second = (record for record in store.approvals(run_id) if record.title == "send it")
    assert (first.status, second.status) == ("answered", "open")
    assert first.digest == APPROVE.digest
    assert second.digest == replace(APPROVE, asking=2).digest


BESIDE = {
    **CAREFUL,
    "remarks": {"description": "Remarks.", "system_prompt": "Remark.", "layer": "enhancement", "needs_approval": True},
}


def test_a_run_does_not_wait_for_an_enhancement(store):
    plan = plan_of({"task": "What was earned?", "context_pointers": REVENUE})

    result = begin(store, Named(), plan=plan, skills=BESIDE, mode="standard")

    assert result.status == "completed"
    assert "ENHANCEMENT_FAILED" in codes(result)
    assert store.approvals(result.run_id) == []


def test_an_enhancement_can_be_approved_by_who_is_there(store):
    plan = plan_of({"task": "What was earned?", "context_pointers": REVENUE})
    asked = []

    result = begin(
        store,
        Named(),
        lambda question: asked.append(question.node_id) or True,
        plan=plan,
        skills=BESIDE,
        mode="standard",
    )

    assert asked == ["run/enhance-remarks"]
    assert "ENHANCEMENT_FAILED" not in codes(result)


def test_what_several_tools_of_one_turn_ask_is_answered_one_by_one(store):
    def turn(request):
        if request.messages:
            return " ".join(each.text for message in request.messages for each in message.tool_results)
        calls = (
            ToolCall("1", "ask_user", {"question": "Which year?"}),
            ToolCall("2", "request_approval", {"what": "Send a letter"}),
        )
        return ModelReply("", Usage(100, output_tokens=10), tool_calls=calls, stop_reason="tool_use")

    skills = {
        "asker": {"description": "Asks.", "system_prompt": "Ask.", "allowed_tools": ["ask_user", "request_approval"]}
    }
    plan = plan_of({"skill": "asker", "task": "Ask.", "context_pointers": COSTS})
    model = ScriptedModel(subtask=turn)
    first = begin(store, model, plan=plan, skills=skills)
    words, letter = sorted(store.approvals(first.run_id), key=lambda record: record.node_id)

    store.answer(first.run_id, words.node_id, words.digest, outcome="answered", text="2025")
    second = resume(first.run_id, store=store, model=model)
    store.answer(first.run_id, letter.node_id, letter.digest, outcome="approved")
    last = resume(first.run_id, store=store, model=model)

    assert [waiting.kind for waiting in first.waiting] == ["ask_user", "approval"]
    assert [waiting.node_id for waiting in second.waiting] == ["run/subtask-1/tool-2"]
    assert last.answer == "2025 Approved."
    assert len(model.requests) == 2


def asking_first(layer):
    """A library with a skill that needs approval before anything is planned."""
    skill = Skill("first", "Asks.", "-", layer=layer, function=lambda: {"ok": True}, needs_approval=True)
    return SkillLibrary(
        [Manifest("first", "Asks.", type="code", layer=layer, given=skill, source="custom", applies="true")]
    )


@pytest.mark.parametrize(("layer", "node"), [("guarantee", "run/gate-first"), ("execution", "run/work-first")])
def test_a_run_that_waits_before_there_is_a_plan_has_a_result_and_goes_on(store, layer, node):
    model, events, skills = Named(), [], asking_first(layer)
    options = {"skills": skills, "plan": plan_of({"task": "What was earned?", "context_pointers": REVENUE})}

    first = begin(store, model, on_event=events.append, **options)

    assert (first.status, first.answer, first.plan, first.subtasks, first.errors) == ("waiting", "", None, (), ())
    assert [(asked.node_id, asked.title) for asked in first.waiting] == [(node, "Run the skill first?")]
    assert [(layer.skill, layer.status) for layer in first.layers if layer.skill == "first"] == [("first", "waiting")]
    assert model.requests == []
    assert (store.run(first.run_id).status, store.run(first.run_id).error) == ("waiting", None)
    assert Result.model_validate(store.run(first.run_id).result) == first
    assert [event.status for event in events if isinstance(event, RouteCompleted)] == ["confirm_required"]

    answer(store, first.run_id)
    last = resume(first.run_id, store=store, model=model, skills=skills)

    assert last.status == "completed"
    assert len(last.plan.subtasks) == 1
    assert next(each.output for each in last.layers if each.skill == "first") == {"ok": True}


def test_what_stands_beside_the_work_ends_while_a_skill_before_the_answer_waits(store):
    beside = Skill("beside", "Beside.", "-", layer="enhancement", function=lambda: "done")
    known = Manifest("beside", "Beside.", type="code", layer="enhancement", given=beside, source="custom")
    library = SkillLibrary([*asking_first("execution").manifests.values(), known])

    result = begin(store, Named(), skills=library, mode="standard")

    assert result.status == "waiting"
    assert [each.output for each in result.layers if each.skill == "beside"] == ["done"]


def test_what_a_gate_waits_for_is_said_in_the_words_of_a_run_without_a_plan(store):
    result = begin(store, Named(), skills=asking_first("guarantee"))

    assert capsule(result).partition(" · ")[2] == "waiting · 0 tokens in"
