"""The requests of a run, rebuilt from its store: those that were sent, to the byte, and nothing is sent or written."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from models_for_tests import AUDITOR, COSTS, REPORT, REVENUE, plan_of
from rebuilt_for_tests import TASK, a_model, dump_of, every, hashes, look_up, sent_hashes
from trees_for_tests import write_skill

from orchestra import Cancellation, Skill, SkillLibrary, orchestrate, prompts_of, resume
from orchestra.errors import InputInvalid, ModelOverloaded, ModelRefused, RunNotFound
from orchestra.models.protocol import ModelReply, ModelRequest, ToolCall, Usage
from orchestra.store import Store

CAREFUL = {"careful": {"description": "Careful work.", "system_prompt": "Take care.", "needs_approval": True}}


@pytest.fixture
def place(tmp_path):
    return tmp_path / "runs.db"


# Runs in every state


def test_the_built_in_engine_s_requests_are_rebuilt(store):
    result = orchestrate(REPORT * 40, TASK, strategy="outline", store=store)

    prompts = prompts_of(result.run_id, store=store)

    assert {"run/plan", "run/subtask-1"} <= set(prompts)
    assert all(prompt.is_proved for prompt in every(prompts))
    assert "Miller & Stone" in "".join(prompt.messages[0].text for prompt in every(prompts))


def test_a_model_that_is_an_object_is_not_needed_and_its_cache_and_window_still_shape_the_requests(store):
    model = a_model()
    model.context_window, model.cache_minimum_tokens = 9_000, 40
    result = orchestrate(REPORT, TASK, model=model, strategy="full", store=store)

    prompts = prompts_of(result.run_id[:8], store=store)

    assert hashes(prompts) == sent_hashes(model)
    assert all(prompt.is_proved for prompt in every(prompts))


def test_what_a_failed_subtask_was_asked_is_proved_too(store):
    overloaded = ModelOverloaded("too much", retry_after_s=0)
    model = a_model(subtask=lambda request: overloaded if "question 2" in request.prompt else "So it says [L5].")
    result = orchestrate(REPORT, TASK, model=model, strategy="full", store=store, max_attempts=1)
    assert result.status == "partial"

    prompts = prompts_of(result.run_id, store=store)

    assert hashes(prompts) == sent_hashes(model)
    assert all(prompt.is_proved for prompt in every(prompts))
    assert "MODEL_OVERLOADED" in prompts["run/synthesis"][0].messages[0].text


def test_a_run_that_failed_shows_what_its_planner_was_asked(store):
    with pytest.raises(Exception, match="PLAN_INVALID"):
        orchestrate(REPORT, TASK, model=(model := a_model(plan="no plan")), strategy="full", store=store)
    (run,) = store.runs()

    prompts = prompts_of(run.id, store=store)

    assert [len(prompts["run/plan"]), list(prompts)] == [2, ["run/plan"]]
    assert all(prompt.is_proved for prompt in every(prompts))
    assert hashes(prompts) == sent_hashes(model)


def test_a_run_that_waits_shows_what_was_sent_before_and_asks_nobody(store):
    plan = plan_of({"skill": "careful", "context_pointers": COSTS}, {"context_pointers": REVENUE})
    model = a_model()
    result = orchestrate(REPORT, TASK, CAREFUL, model, plan=plan, store=store)
    asked = store.approvals(result.run_id)

    prompts = prompts_of(result.run_id, store=store)

    assert (result.status, list(prompts)) == ("waiting", ["run/subtask-2"])
    assert (hashes(prompts), store.approvals(result.run_id)) == (sent_hashes(model), asked)


def test_what_a_person_changed_stands_in_the_prompt_that_was_sent(store):
    plan = plan_of({"skill": "careful", "context_pointers": COSTS})
    result = orchestrate(REPORT, TASK, CAREFUL, (model := a_model()), plan=plan, store=store)
    (asked,) = store.approvals(result.run_id)
    edited = {"task": "Only tell of steel."}
    store.answer(result.run_id, asked.node_id, asked.digest, outcome="edited", edited=edited)
    resume(result.run_id, store=store, model=model, skills=CAREFUL)

    (prompt,) = prompts_of(result.run_id, store=store)["run/subtask-1"]

    assert prompt.is_proved
    assert "Only tell of steel." in prompt.messages[0].text


def test_a_run_under_way_shows_what_it_has_asked_so_far(store):
    is_asked, may_go_on = threading.Event(), threading.Event()

    def answer(request):
        if "question 2" in request.prompt:
            is_asked.set()
            may_go_on.wait(20)
        return "So it says [L5]."

    cancellation = Cancellation()
    with ThreadPoolExecutor(1) as pool:
        model = a_model(subtask=answer)
        options = {"model": model, "strategy": "full", "store": store, "max_workers": 1, "cancellation": cancellation}
        under_way = pool.submit(orchestrate, REPORT, TASK, **options)
        assert is_asked.wait(20)
        (run,) = store.runs()
        try:
            prompts = prompts_of(run.id, store=store)
        finally:
            may_go_on.set()
        ended = under_way.result(20)

    assert set(prompts) == {"run/plan", "run/subtask-1", "run/subtask-2"}
    assert all(prompt.is_proved for prompt in every(prompts))
    assert ended.status == "completed"


def test_several_are_rebuilt_at_once_from_one_store(store):
    models = [a_model(synthesis=f"All of it {number} [L5].") for number in range(4)]
    runs = [
        orchestrate(REPORT, f"{TASK} {at}", model=model, strategy="full", store=store)
        for at, model in enumerate(models)
    ]

    with ThreadPoolExecutor(4) as pool:
        rebuilt = list(pool.map(lambda run: prompts_of(run.run_id, store=store), runs))

    assert [hashes(prompts) for prompts in rebuilt] == [sent_hashes(model) for model in models]


def test_the_models_of_tiers_are_not_needed_either(store, tmp_path):
    config = tmp_path / "orchestra.toml"
    config.write_text('[modes]\nquick = ["answer", "follow-up-questions"]\n[tiers]\nfast = "builtin:extractive"\n')
    result = orchestrate(REPORT, TASK, model=a_model(), strategy="full", store=store, mode="quick", config=config)
    config.unlink()

    prompts = prompts_of(result.run_id, store=store)

    (beside,) = prompts["run/enhance-follow-up-questions"]
    assert (beside.model, beside.is_proved) == ("builtin:extractive", True)


def test_models_that_stand_in_are_not_needed_either(store):
    busy, other = a_model(subtask=ModelOverloaded("busy")), a_model()
    other.name = "test:other"
    result = orchestrate(REPORT, TASK, models=[busy, other], strategy="direct", max_attempts=2, store=store)
    assert result.status == "completed"

    prompts = prompts_of(result.run_id, store=store)

    assert hashes(prompts) == sent_hashes(other)
    assert all(prompt.is_proved for prompt in every(prompts))


def test_an_answer_that_did_not_fit_failed_its_subtask_and_the_others_were_joined(store):
    plan = plan_of(
        {"skill": "careful", "context_pointers": COSTS}, {"context_pointers": REVENUE}, {"context_pointers": AUDITOR}
    )
    result = orchestrate(REPORT, TASK, CAREFUL, (model := a_model()), plan=plan, store=store)
    (asked,) = store.approvals(result.run_id)
    store.answer(result.run_id, asked.node_id, asked.digest, outcome="edited", edited={"skill": "other"})
    again = resume(result.run_id, store=store, model=model, skills=CAREFUL)
    assert again.status == "partial"

    prompts = prompts_of(result.run_id, store=store)

    assert set(prompts) == {"run/subtask-2", "run/subtask-3", "run/synthesis"}
    assert all(prompt.is_proved for prompt in every(prompts))


def test_a_call_that_was_asked_in_vain_is_proved_and_is_asked_anew_by_a_run_that_goes_on(store):
    overloaded = ModelOverloaded("too much", retry_after_s=0)
    broken = a_model(subtask=lambda request: overloaded if "question 2" in request.prompt else "So it says [L5].")
    run_id = orchestrate(REPORT, TASK, model=broken, strategy="full", store=store, max_attempts=1).run_id
    assert [call.payload is None for call in store.calls(run_id)] == [False] * 4
    mended = a_model()

    result = resume(run_id, store=store, model=mended)
    prompts = prompts_of(run_id, store=store)

    told = [(notice.code, notice.node_id) for notice in result.warnings]
    assert (result.status, told) == ("completed", [("REQUEST_CHANGED", "run/synthesis")])
    assert [request.purpose for request in mended.requests] == ["subtask", "synthesis"]
    assert "question 2" in mended.requests[0].prompt
    assert sent_hashes(mended)[0] in hashes(prompts)
    assert all(prompt.is_proved for prompt in every(prompts))


# What cannot be proved


def test_after_a_change_of_its_skill_a_prompt_is_not_proved_and_what_follows_is(store, tmp_path):
    folder = write_skill(tmp_path, "reader", "Read with care.")
    plan = plan_of({"skill": "reader", "context_pointers": COSTS}, {"context_pointers": REVENUE})
    library = SkillLibrary.from_path(tmp_path)
    result = orchestrate(REPORT, TASK, library, (model := a_model()), plan=plan, strategy="full", store=store)
    (folder / "SKILL.md").write_text("---\nname: reader\ndescription: Does reader.\n---\nRead in haste.\n")

    prompts = prompts_of(result.run_id, store=store)

    proved = {prompt.node_id: prompt.is_proved for prompt in every(prompts)}
    assert proved == {"run/subtask-1": False, "run/subtask-2": True, "run/synthesis": True}
    assert "Read in haste." in prompts["run/subtask-1"][0].messages[0].text
    assert len(every(prompts)) == len(model.requests)


def test_skills_that_are_gone_are_left_out_and_the_rest_is_rebuilt(store, tmp_path):
    folder = write_skill(tmp_path, "reader", "Read with care.")
    plan = plan_of({"skill": "reader", "context_pointers": COSTS}, {"context_pointers": REVENUE})
    result = orchestrate(REPORT, TASK, SkillLibrary.from_path(tmp_path), a_model(), plan=plan, store=store)
    (folder / "SKILL.md").unlink()

    prompts = prompts_of(result.run_id, store=store)

    assert prompts["run/subtask-2"][0].is_proved
    assert not prompts["run/subtask-1"][0].is_proved


def test_code_skills_and_gates_are_not_run(store):
    ran = []

    def score(query: str = "") -> dict:
        ran.append("score")
        return {"score": 7}

    def permit(query: str = "") -> dict:
        ran.append("permit")
        return {"ok": True}

    skills = {
        "score": Skill("score", "Scores.", "Score.", function=score),
        "permit": Skill("permit", "Permits.", "Permit.", function=permit, layer="guarantee"),
    }
    plan = plan_of({"skill": "score", "context_pointers": COSTS}, {"context_pointers": REVENUE})
    result = orchestrate(REPORT, TASK, skills, (model := a_model()), plan=plan, strategy="full", store=store)
    assert result.status == "completed", result.errors
    done = list(ran)

    prompts = prompts_of(result.run_id, store=store)

    assert sorted(done) == ["permit", "score"]
    assert ran == done
    assert hashes(prompts) == sent_hashes(model)
    assert prompts["run/synthesis"][0].is_proved


def test_the_code_of_a_skill_in_a_folder_is_not_even_loaded(place, tmp_path):
    ran = tmp_path / "ran"
    code = f"open({str(ran)!r}, 'a').write('loaded ')\ndef work(query=''):\n    return {{'score': 7}}\n"
    write_skill(tmp_path / "skills", "score", code=code)
    plan = plan_of({"skill": "score", "context_pointers": COSTS}, {"context_pointers": REVENUE})
    script = tmp_path / "run.py"  # in a process of its own, for what a process has loaded it keeps
    script.write_text(
        "from models_for_tests import REPORT, ScriptedModel\n"
        "from orchestra import SkillLibrary, orchestrate\n"
        f"model = ScriptedModel(subtask='So it says [L5].', synthesis='All [L5].')\n"
        f"library = SkillLibrary.from_path({str(tmp_path / 'skills')!r})\n"
        f"result = orchestrate(REPORT, 'Tell.', library, model, plan={plan!r}, store={str(place)!r}, strategy='full')\n"
        "print(result.status, *sorted({each.fingerprint for each in model.requests}))\n"
    )
    paths = os.pathsep.join(str(each) for each in (Path(__file__).parents[1], Path(__file__).parents[2]))
    environment = {**os.environ, "PYTHONPATH": paths}
    done = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True, check=True)
    status, *sent = done.stdout.split()
    assert (status, ran.read_text()) == ("completed", "loaded ")

    with Store.open(place) as store:
        (run,) = store.runs()
        prompts = prompts_of(run.id, store=store)

    assert ran.read_text() == "loaded "
    assert (hashes(prompts), all(prompt.is_proved for prompt in every(prompts))) == (sent, True)


def test_subtasks_of_a_shared_call_that_failed_were_asked_alone(store):
    plan = plan_of({"context_pointers": COSTS}, {"context_pointers": COSTS})

    def answer(request: ModelRequest) -> object:
        is_shared = "question 1" in request.prompt and "question 2" in request.prompt
        return ModelRefused("not both") if is_shared else "So it says [L5]."

    result = orchestrate(
        REPORT, TASK, model=(model := a_model(subtask=answer)), plan=plan, strategy="full", store=store
    )
    assert "ASKED_ALONE" in [notice.code for notice in result.warnings]

    prompts = prompts_of(result.run_id, store=store)

    assert hashes(prompts) == sent_hashes(model)
    assert [prompt.is_proved for prompt in prompts["run/subtask-1"]] == [True, True]
    assert prompts["run/synthesis"][0].is_proved


@pytest.mark.parametrize("mode", ["standard", "eco", "deep-work"])
def test_layers_around_the_work_are_rebuilt_as_they_were(store, mode):
    def answer(request: ModelRequest) -> object:
        return {"critique": "Good.", "answer": "All of it [L5]."} if '"critique"' in request.prompt else "So [L5]."

    options = {"strategy": "full", "mode": mode, "store": store}
    orchestrate(REPORT, TASK, model=a_model(subtask=answer), **options)  # which leaves lessons

    result = orchestrate(REPORT, TASK, model=(model := a_model(subtask=answer)), **options)
    prompts = prompts_of(result.run_id, store=store)

    assert result.status == "completed"
    assert hashes(prompts) == sent_hashes(model)
    assert all(prompt.is_proved for prompt in every(prompts))


def test_what_a_tool_loop_asked_is_rebuilt_turn_by_turn(store):
    def answer(request: ModelRequest) -> object:
        if len(request.messages) >= 4:
            return "So it says [L5]."
        turn = len(request.messages) // 2
        call = ToolCall(f"c{turn}", "look_up", {"city": f"Brno {turn}"})
        return ModelReply("", Usage(9), tool_calls=(call,), stop_reason="tool_use")

    result = orchestrate(
        REPORT, TASK, model=(model := a_model(subtask=answer)), strategy="direct", store=store, tools=[look_up]
    )

    prompts = prompts_of(result.run_id, store=store)["run/subtask-1"]

    assert [prompt.fingerprint for prompt in prompts] == [request.fingerprint for request in model.requests]
    assert [len(prompt.messages) for prompt in prompts] == [1, 3, 5]


def test_a_run_that_is_not_there_and_a_store_that_is_not_named_are_said(store, monkeypatch):
    monkeypatch.delenv("ORCHESTRA_STORE", raising=False)

    with pytest.raises(RunNotFound):
        prompts_of("none", store=store)
    with pytest.raises(InputInvalid):
        prompts_of("none", store=False)


def test_rebuilding_ends_when_its_time_is_over(store, monkeypatch):
    result = orchestrate(REPORT, TASK, model=a_model(), strategy="full", store=store)
    monkeypatch.setattr("orchestra.run.rebuilding.LONGEST_S", -1.0)

    assert prompts_of(result.run_id, store=store) == {}


def test_nothing_is_written_and_no_lease_is_taken(place):
    with Store.open(place) as store:
        result = orchestrate(REPORT, TASK, model=a_model(), strategy="full", store=store)
        before = dump_of(place)
        assert store.lease(result.run_id, "somebody else", 60)
        held = dump_of(place)

        prompts_of(result.run_id, store=store)

        assert before[0]["leases"] + 1 == held[0]["leases"]
        assert dump_of(place) == held
