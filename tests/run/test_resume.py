"""Runs that go on: what is finished is replayed and counted once, and only the rest is done."""

from __future__ import annotations

import json

import pytest
from models_for_tests import AUDITOR, COSTS, REPORT, REVENUE, ScriptedModel, codes, plan_of
from pydantic import BaseModel

from orchestra import Skill, SkillLibrary, orchestrate, resume
from orchestra.document import Document
from orchestra.errors import (
    InputInvalid,
    ModelOverloaded,
    ModelRateLimited,
    ModelRefused,
    PlanInvalid,
    RunNotFound,
    SkillInvalid,
)
from orchestra.models.protocol import ModelReply, Usage
from orchestra.store import RunRecord, Store

TASK = "What was revenue, why did costs rise, and who audits?"
PLAN = plan_of({"context_pointers": REVENUE}, {"context_pointers": COSTS}, {"context_pointers": AUDITOR})


def a_model(**answers):
    return ScriptedModel(**{"plan": PLAN, "subtask": "So it says [L5].", "synthesis": "All of it [L5].", **answers})


def failing_at(words, error):
    def answer(request):
        return error if words in request.prompt else "So it says [L5]."

    return answer


def begun(store, model, **options):
    """A run that has ended, but of whose end nothing is on record."""
    result = orchestrate(REPORT, TASK, **{"model": model, "strategy": "full", "store": store, **options})
    store.end_run(result.run_id, "running")
    return result


def outcome(result):
    left_out = {"duration_ms", "run_id", "warnings", "subtasks", "layers", "layer_metrics"}
    return result.model_dump(exclude=left_out), [
        subtask.model_dump(exclude={"duration_ms"}) for subtask in result.subtasks
    ]


def test_a_run_that_had_finished_all_its_calls_makes_none_again(store):
    model = a_model()
    first = begun(store, model)
    sent = len(model.requests)

    again = resume(first.run_id, store=store, model=model)

    assert len(model.requests) == sent
    assert outcome(again) == outcome(first)
    assert codes(again) == codes(first)
    assert store.run(first.run_id).status == "completed"


def test_a_completed_run_gives_its_result_without_being_run(store):
    model = a_model()
    first = orchestrate(REPORT, TASK, model=model, strategy="full", store=store)
    events = []

    again = resume(first.run_id[:6], store=store, on_event=events.append)

    assert again.model_dump(mode="json") == first.model_dump(mode="json")
    assert events == []


def test_a_replay_is_told_and_its_answer_streams(store):
    first = begun(store, a_model())
    events = []

    resume(first.run_id, store=store, model=a_model(), on_event=events.append)

    replayed = [event.node_id for event in events if event.type == "effect-replayed"]
    assert sorted(replayed) == ["run/plan", *(f"run/subtask-{n}" for n in (1, 2, 3)), "run/synthesis"]
    assert {event.source for event in events if event.type == "effect-replayed"} == {"journal"}
    deltas = [event for event in events if event.type == "answer-delta"]
    assert "".join(delta.text for delta in deltas) == "All of it [L5]."
    assert {event.session_id for event in events} == {""}


def test_events_of_a_run_that_goes_on_count_on(store):
    first = begun(store, a_model())
    before = store.last_sequence(first.run_id)
    events = []

    resume(first.run_id, store=store, model=a_model(), on_event=events.append)

    assert events[0].sequence == before + 1
    kept = [event["sequence"] for event in store.events(first.run_id)]
    assert kept == sorted(set(kept))
    assert kept[-1] == events[-1].sequence


def test_only_what_failed_is_sent_again(store):
    overloaded = ModelOverloaded("too much", retry_after_s=0)
    model = a_model(subtask=failing_at("question 2", overloaded))
    first = orchestrate(REPORT, TASK, model=model, strategy="full", store=store, max_attempts=1)
    assert (first.status, store.run(first.run_id).status) == ("partial", "partial")
    second = a_model()

    again = resume(first.run_id, store=store, model=second)

    assert again.status == "completed"
    assert [request.purpose for request in second.requests] == ["subtask", "synthesis"]
    assert "question 2" in second.requests[0].prompt


def test_a_run_without_a_plan_is_planned_when_it_is_resumed(store):
    with pytest.raises(PlanInvalid):
        orchestrate(REPORT, TASK, model=a_model(plan="no plan"), strategy="full", store=store)
    (run,) = store.runs()
    assert (run.status, run.error["code"]) == ("failed", "PLAN_INVALID")

    with pytest.raises(PlanInvalid):  # what the planner said is on record
        resume(run.id, store=store, model=a_model())


def test_a_call_that_failed_once_and_then_came_through_is_not_sent_again(store):
    turns = [ModelRateLimited("slow down", retry_after_s=0), "So it says [L5]."]
    first = begun(store, a_model(subtask=turns), max_workers=1)
    model = a_model()

    again = resume(first.run_id, store=store, model=model)

    assert model.requests == []
    assert again.usage.calls == first.usage.calls


def test_a_subtask_that_was_done_again_as_a_whole_is_not_done_a_third_time(store):
    turns = ["", "So it says [L5]."]
    first = begun(store, a_model(subtask=turns), retries=1, max_workers=1)
    assert first.status == "completed"
    model = a_model()

    again = resume(first.run_id, store=store, model=model)

    assert model.requests == []
    assert again.answer == first.answer


def test_what_attempts_that_failed_have_cost_is_still_on_the_bill(store):
    billed = ModelOverloaded("cut off", retry_after_s=0, usage=Usage(50, output_tokens=5))
    first = begun(store, a_model(synthesis=[billed, "All of it [L5]."]))
    assert (first.usage.synthesis.calls, first.usage.synthesis.input_tokens) == (2, 150)

    again = resume(first.run_id, store=store, model=a_model())

    assert again.usage.model_dump() == first.usage.model_dump()


def test_a_run_that_goes_on_says_too_which_model_stood_in(store):
    busy, other = a_model(subtask=ModelOverloaded("busy")), a_model()
    other.name = "test:other"
    first = begun(store, None, models=[busy, other], strategy="direct", max_attempts=2)

    again = resume(first.run_id, store=store, models=[busy, other])

    assert codes(again) == codes(first) == ["MODEL_FELL_BACK"]
    assert again.usage == first.usage
    assert len(other.requests) == 1


def test_a_refusal_that_was_billed_is_not_paid_for_twice(store):
    refused = ModelRefused("no", usage=Usage(50, output_tokens=5))
    first = orchestrate(
        REPORT, TASK, model=a_model(subtask=failing_at("question 2", refused)), strategy="full", store=store
    )
    model = a_model()

    again = resume(first.run_id, store=store, model=model)

    assert model.requests == []
    assert outcome(again) == outcome(first)
    assert "MODEL_REFUSED" in [error.code for error in again.errors]


def test_a_replay_counts_towards_the_budget_once(store):
    first = begun(store, a_model(), max_tokens_total=40_000)

    again = resume(first.run_id, store=store, model=a_model())

    assert (again.status, again.usage.calls) == ("completed", first.usage.calls)


def test_the_settings_of_the_run_win_over_those_of_today(store, monkeypatch):
    first = begun(store, a_model(), max_tokens=777)
    monkeypatch.setenv("ORCHESTRA_MAX_TOKENS", "111")
    monkeypatch.setenv("ORCHESTRA_STRATEGY", "direct")
    store.abandon_call(first.run_id, "run/subtask-1", "model", "none")
    model = a_model()

    again = resume(first.run_id, store=store, model=model)

    assert (model.requests, again.fingerprint) == ([], first.fingerprint)


def test_modes_and_tiers_are_those_of_the_run(store, tmp_path):
    config = tmp_path / "orchestra.toml"
    config.write_text('[modes]\nquick = ["answer", "follow-up-questions"]\n[tiers]\nfast = "builtin:extractive"\n')
    model = a_model()
    first = begun(store, model, mode="quick", config=config)

    again = resume(first.run_id, store=store, model=model)

    assert [each.skill for each in again.layers] == ["follow-up-questions"]
    assert again.layers[0].usage == first.layers[0].usage
    assert again.usage == first.usage
    assert len(model.requests) == again.usage.calls - again.usage.layers.calls


def test_a_model_object_must_be_given_again(store):
    first = begun(store, a_model())

    with pytest.raises(InputInvalid, match=r"test:scripted.*object"):
        resume(first.run_id, store=store)


def test_a_model_that_was_not_named_stays_the_one_it_was(store, monkeypatch):
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL", "ORCHESTRA_MODEL"):
        monkeypatch.delenv(name, raising=False)
    first = begun(store, None, strategy="auto")
    monkeypatch.setenv("ORCHESTRA_MODEL", "openai:other")

    assert resume(first.run_id, store=store).models == first.models


def test_skills_documents_schema_and_plan_are_those_of_the_run(store, tmp_path):
    class Revenue(BaseModel):
        usd: int

    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "SKILL.md").write_text("---\nname: own\ndescription: Reads.\n---\nRead it.\n")
    skills = SkillLibrary.builtin().merged({"mine": "Look closely."}).merged(SkillLibrary.from_path(tmp_path / "own"))
    plan = plan_of({"context_pointers": REVENUE, "skill": "mine"}, {"context_pointers": COSTS, "skill": "own"})
    documents = [Document.from_text(REPORT, name="a.md"), Document.from_text(REPORT + "\f\nMore.\n", name="a.md")]
    options = {"model": a_model(synthesis={"answer": "x", "data": {"usd": 40}}), "strategy": "full", "store": store}
    first = orchestrate(documents, TASK, skills, plan=plan, answer_schema=Revenue, **options)
    store.end_run(first.run_id, "running")
    model = a_model()

    again = resume(first.run_id, store=store, model=model, answer_schema=Revenue)

    assert model.requests == []
    assert again.data == first.data == Revenue(usd=40)
    assert (
        (again.documents, again.fingerprint)
        == (first.documents, first.fingerprint)
        == (("a.md", "a.md (2)"), first.fingerprint)
    )
    assert resume(first.run_id, store=store).data == {"usd": 40}


def test_a_skill_with_code_must_be_given_again(store):
    def twice(value: int) -> int:
        return 2 * value

    skills = {"twice": Skill("twice", "Doubles.", "Double it.", function=twice)}
    first = orchestrate(REPORT, TASK, skills, a_model(), strategy="full", store=store)
    store.end_run(first.run_id, "running")

    with pytest.raises(SkillInvalid, match="twice"):
        resume(first.run_id, store=store, model=a_model())
    assert resume(first.run_id, store=store, model=a_model(), skills=skills).answer == first.answer


def test_a_run_of_another_version_says_so_and_goes_on(store):
    first = begun(store, a_model())
    record = store.run(first.run_id)
    fields = {name: getattr(record, name) for name in RunRecord.__slots__}
    store.begin_run(RunRecord(**{**fields, "version": "0.0.9"}))

    again = resume(first.run_id, store=store, model=a_model())

    assert codes(again) == ["VERSION_CHANGED"]
    assert again.answer == first.answer


def test_a_request_that_is_another_one_now_is_sent_anew_and_said(store):
    first = orchestrate(REPORT, TASK, {"critique": "Look."}, a_model(), strategy="full", store=store)
    store.end_run(first.run_id, "running")
    model = a_model()

    again = resume(first.run_id, store=store, model=model, skills={"critique": "Look twice."})

    changed = [notice.node_id for notice in again.warnings if notice.code == "REQUEST_CHANGED"]
    assert {"run/subtask-1", "run/subtask-2", "run/subtask-3"} <= set(changed)
    assert len(model.sent("subtask")) == 3


def test_a_call_that_was_under_way_is_named(store):
    first = begun(store, a_model())
    call = next(each for each in store.calls(first.run_id) if each.node_id == "run/synthesis")
    forget = "UPDATE calls SET payload = NULL, finished_at = NULL WHERE node_id = 'run/synthesis'"
    store.database.run(lambda connection: connection.exec_driver_sql(forget))
    model = a_model()

    again = resume(first.run_id, store=store, model=model)

    assert [(notice.code, notice.node_id) for notice in again.warnings] == [("CALL_REPEATED", "run/synthesis")]
    assert [request.fingerprint for request in model.requests] == [call.fingerprint]


def test_a_record_that_is_damaged_is_not_used(store):
    first = begun(store, a_model())
    call = next(each for each in store.calls(first.run_id) if each.node_id == "run/synthesis")
    store.finish_call(first.run_id, call.node_id, "model", call.fingerprint, 1, {"reply": "?"})
    model = a_model()

    again = resume(first.run_id, store=store, model=model)

    assert codes(again) == ["CALL_REPEATED"]
    assert len(model.requests) == 1


def test_a_run_that_is_not_there(store):
    with pytest.raises(RunNotFound):
        resume("nosuchrun", store=store)


def test_without_a_store_there_is_nothing_to_resume(monkeypatch):
    monkeypatch.delenv("ORCHESTRA_STORE", raising=False)

    with pytest.raises(InputInvalid, match="no store"):
        resume("anyrun")


def test_a_reply_that_json_cannot_hold_is_kept_without_its_data(store):
    plan = ModelReply(text=json.dumps(PLAN), data=PLAN | {"extra": float("nan")}, usage=Usage(10))
    first = begun(store, a_model(plan=plan))
    model = a_model()

    again = resume(first.run_id, store=store, model=model)

    assert model.requests == []
    assert again.answer == first.answer


def test_the_place_of_the_store_may_come_from_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("ORCHESTRA_STORE", str(tmp_path / "runs.db"))
    model = a_model()
    first = orchestrate(REPORT, TASK, model=model, strategy="full")

    assert resume(first.run_id).answer == first.answer
    orchestrate(REPORT, TASK, model=model, strategy="full", store=False)

    with Store.open(tmp_path / "runs.db") as store:
        assert len(store.runs()) == 1
