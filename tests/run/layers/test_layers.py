"""What stands around a task: gates that end a run, enhancements that never do, skills that work on the draft."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from models_for_tests import ScriptedModel

from orchestra.errors import GateFailed, InputInvalid, ModelOverloaded, SkillInvalid, UnexpectedFailure
from orchestra.models.deadline import Cancellation
from orchestra.models.protocol import ModelReply, ModelRequest, Usage
from orchestra.pipeline import make_plan, orchestrate, resume
from orchestra.result import LayerSkillReport, Result
from orchestra.run.layers import enhancing
from orchestra.runtime.events import Event, NodeUpdated
from orchestra.runtime.retry import RetryPolicy
from orchestra.skills import Skill, SkillLibrary
from orchestra.skills.code import CallSkill, CodeContext
from orchestra.skills.manifest import Manifest
from orchestra.store import Store

REPORT = "# Results\n\nRevenue was $40 million, said the Board of Directors (BOD).\n"
TASK = "What was revenue, and who said so? The BOD?"
ANSWER = "Revenue was $40 million [L3], said the BOD [L3]."


def with_skills(*skills: tuple[Skill, dict[str, Any]]) -> SkillLibrary:
    """A library of skills in memory with what their manifests say besides; the shipped gates are left out."""
    manifests = [
        Manifest(
            skill.name,
            skill.description,
            type="code" if skill.function else "prompt",
            **{"layer": skill.layer, "given": skill, "source": "custom", **fields},
        )
        for skill, fields in skills
    ]
    return SkillLibrary(manifests)


def code(name: str, function: Callable[..., Any], layer: str, **fields: Any) -> tuple[Skill, dict[str, Any]]:
    return Skill(name, f"Does {name}.", "-", layer=layer, function=function), fields


def answering(text: str = ANSWER, **others: Any) -> ScriptedModel:
    return ScriptedModel(**{"subtask": text, **others})


def run(library: SkillLibrary | None = None, model: ScriptedModel | None = None, **options: Any) -> Result:
    return orchestrate(REPORT, TASK, library, model or answering(), strategy="direct", **options)


def of(result: Result, skill: str) -> LayerSkillReport:
    return next(each for each in result.layers if each.skill == skill)


def test_a_gate_that_blocks_ends_the_run_before_anything_is_sent():
    model = answering()
    library = with_skills(code("calm", lambda: {"ok": False, "reason": "it is late"}, "guarantee"))

    with pytest.raises(GateFailed, match="calm: it is late"):
        run(library, model)

    assert model.requests == []


@pytest.mark.parametrize("function", [lambda: {"ok": False, "reason": "late"}, lambda: 1 / 0, lambda: "perhaps"])
def test_a_gate_that_does_not_block_degrades_the_run_which_says_so(function: Callable[[], Any]):
    result = run(with_skills(code("calm", function, "guarantee", blocks_on_failure=False)))

    assert result.status == "completed"
    assert of(result, "calm").status == "degraded"
    assert [notice.code for notice in result.warnings] == ["GATE_DEGRADED"]


def test_a_gate_that_cannot_tell_is_no_gate():
    library = with_skills(code("calm", lambda: {"maybe": True}, "guarantee"))

    with pytest.raises(GateFailed, match="neither yes nor no"):
        run(library)


def test_gates_run_in_the_order_of_their_dependencies_and_before_the_work():
    order: list[str] = []
    library = with_skills(
        code("second", lambda: order.append("second") or True, "guarantee", dependencies=("first",)),
        code("first", lambda: order.append("first") or True, "guarantee"),
    )
    model = answering(subtask=lambda request: order.append("work") or ANSWER)

    run(library, model)

    assert order == ["first", "second", "work"]


def test_eco_makes_no_call_for_an_enhancement_and_standard_does():
    eco, standard = answering(), answering()

    run(model=eco)
    result = run(model=standard, mode="standard")

    assert len(eco.requests) == 1
    assert len(standard.requests) == 2
    assert of(result, "follow-up-questions").status == "completed"
    assert result.layer_metrics["enhancement"].calls == 1
    assert result.layer_metrics["execution"].calls == 1
    assert result.usage.calls == 2
    assert result.usage.layers.input_tokens == result.layer_metrics["enhancement"].input_tokens


def test_the_savings_hold_the_task_s_own_work_to_other_ways_whatever_stands_around_it():
    alone, around = run(), run(mode="standard")

    assert around.usage.total_input_tokens > alone.usage.total_input_tokens
    assert around.savings.input_tokens == alone.savings.input_tokens
    assert around.savings.input_tokens == around.usage.subtasks.total_input_tokens


def test_the_shipped_enhancements_work_on_the_answer():
    result = run(mode="standard")

    assert of(result, "glossary").output == {
        "terms": [{"term": "BOD", "meaning": "Board of Directors", "document": "document", "line": 3}]
    }
    assert of(result, "citation-report").output == {"citations": 2, "uncited": []}


def test_an_enhancement_that_fails_costs_nothing_but_itself():
    result = run(with_skills(code("hint", lambda: 1 / 0, "enhancement")), mode="standard")

    assert result.status == "completed"
    assert result.errors == ()
    assert of(result, "hint").status == "failed"
    assert [notice.code for notice in result.warnings] == ["ENHANCEMENT_FAILED"]


def test_what_runs_beside_the_work_takes_nothing_off_its_time():
    is_answered = threading.Event()
    library = with_skills(code("beside", lambda: is_answered.wait(30), "enhancement"))

    def reply(request: ModelRequest) -> str:
        threading.Event().wait(0.2)
        is_answered.set()
        return ANSWER

    result = run(library, ScriptedModel(subtask=reply), mode="standard")

    metrics = result.layer_metrics
    assert metrics["execution"].duration_ms > metrics["enhancement"].duration_ms / 2


def test_one_that_waits_for_a_failed_enhancement_goes_on_without_it():
    seen: list[CodeContext] = []
    library = with_skills(
        code("broken", lambda: 1 / 0, "enhancement"),
        code("after", lambda context: seen.append(context) or "done", "enhancement", dependencies=("broken",)),
    )

    result = run(library, mode="standard")

    assert of(result, "after").output == "done"
    assert "broken" not in seen[0].earlier


def test_an_enhancement_holds_the_end_up_by_its_grace_period_at_most(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(enhancing, "GRACE_S", 0.05)
    released = threading.Event()
    library = with_skills(code("slow", lambda: released.wait(30), "enhancement"))

    try:
        result = run(library, mode="standard")
    finally:
        released.set()

    assert result.status == "completed"
    assert result.answer.startswith("Revenue was $40 million")
    assert of(result, "slow").status == "late"
    assert [notice.code for notice in result.warnings] == ["ENHANCEMENT_LATE"]


@pytest.mark.parametrize("needs", [(), ("answer",)])
def test_a_skill_after_the_answer_may_wait_for_an_enhancement_that_waits_for_the_answer(needs: tuple[str, ...]):
    seen: list[CodeContext] = []
    library = with_skills(
        code("hint", lambda context: seen.append(context) or "a hint", "enhancement", dependencies=needs),
        code(
            "revise",
            lambda context: {"answer": f"Revised by {context.earlier['hint']}."},
            "execution",
            dependencies=("answer", "hint"),
            applies="true",
        ),
    )

    result = run(library, mode="standard", max_tokens_total=100_000)

    assert result.answer == "Revised by a hint."
    assert seen[0].answer == (ANSWER if needs else "")


def test_a_skill_before_the_answer_may_wait_for_an_enhancement_where_a_budget_is_set():
    library = with_skills(
        code("hint", lambda: "a hint", "enhancement"),
        code("research", lambda context: context.earlier["hint"], "execution", dependencies=("hint",), applies="true"),
    )
    model = answering(synthesis="Joined [L3].")

    run(library, model, mode="standard", max_tokens_total=100_000)

    assert "a hint" in model.sent("synthesis")[0].prompt


def test_an_enhancement_sees_what_it_waits_for_and_not_what_happens_to_have_ended():
    seen: list[CodeContext] = []
    is_there = threading.Event()
    library = with_skills(
        code("quick", lambda: is_there.set() or "quick", "enhancement"),
        code("first", lambda: is_there.wait(30) and "first", "enhancement"),
        code("last", lambda context: seen.append(context) or "last", "enhancement", dependencies=("first", "answer")),
    )

    result = run(library, mode="standard")

    assert list(seen[0].earlier)[-2:] == ["first", "answer"]
    assert "quick" not in seen[0].earlier
    assert seen[0].answer == ANSWER
    assert [each.skill for each in result.layers if each.skill in ("quick", "first", "last")] == [
        "quick",
        "first",
        "last",
    ]


def test_enhancements_leave_the_work_a_worker():
    is_answered = threading.Event()
    library = with_skills(*(code(f"slow-{n}", lambda: is_answered.wait(30), "enhancement") for n in range(3)))
    was_held_up: list[bool] = []

    def second(request: ModelRequest) -> str:
        was_held_up.append(is_answered.is_set())
        is_answered.set()
        return ANSWER

    steps = [
        {"id": "1", "skill": "critique", "task": "a"},
        {"id": "2", "skill": "critique", "task": "b", "depends_on": ["1"]},
    ]
    model = ScriptedModel(subtask=[ANSWER, second], synthesis=ANSWER)
    result = run(library, model, mode="standard", max_workers=2, plan={"subtasks": steps, "reasoning": ""}, timeout_s=5)

    assert was_held_up[0] is False
    assert result.status == "completed"


def test_every_node_of_a_run_with_enhancements_ends(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(enhancing, "GRACE_S", 0.05)
    released = threading.Event()
    events: list[Event] = []

    try:
        run(
            with_skills(code("slow", lambda: released.wait(30), "enhancement")), mode="standard", on_event=events.append
        )
    finally:
        released.set()

    last = {event.node_id: event.status for event in events if isinstance(event, NodeUpdated)}
    assert last.pop("run/enhance-slow") == "cancelled"
    assert set(last.values()) <= {"completed", "cancelled"}


def test_an_execution_skill_before_the_answer_gives_it_what_it_found():
    library = with_skills(code("research", lambda: "The peer made $30 million.", "execution", applies="true"))
    model = answering(synthesis="Revenue was $40 million [L3], the peer's $30 million.")

    result = run(library, model)

    assert "The peer made $30 million." in model.sent("synthesis")[0].prompt
    assert "the peer's" in result.answer


def reflecting(critique: str, answer: str) -> ScriptedModel:
    def reply(request: ModelRequest) -> str:
        is_reflecting = "Judge the draft" in request.prompt
        return json.dumps({"critique": critique, "answer": answer}) if is_reflecting else ANSWER

    return ScriptedModel(subtask=reply)


def test_deep_work_critiques_the_draft_once_and_revises_it_once():
    model = reflecting("It does not say who said so.", "Revenue was $40 million, said the Board of Directors [L3].")
    library = SkillLibrary.builtin()

    result = run(library, model, mode="deep-work")

    asked = [request.prompt for request in model.requests if "Judge the draft" in request.prompt]
    assert len(asked) == 1
    assert ANSWER in asked[0]
    assert result.answer == "Revenue was $40 million, said the Board of Directors [1]."
    assert result.citations[0].first_line == 3


def test_an_answer_with_data_is_revised_too_and_the_run_says_that_its_data_are_not():
    def reply(request: ModelRequest) -> str:
        is_reflecting = "Judge the draft" in request.prompt
        revision = {"critique": "short", "answer": "Revised [L3]."}
        return json.dumps(revision if is_reflecting else {"answer": ANSWER, "data": {"usd": 40}})

    result = run(
        SkillLibrary.builtin(), ScriptedModel(subtask=reply), mode="deep-work", answer_schema={"type": "object"}
    )

    assert result.answer.startswith("Revised")
    assert result.data == {"usd": 40}
    assert [notice.code for notice in result.warnings] == ["DATA_NOT_REVISED"]


def test_no_plan_is_asked_for_behind_a_gate_that_blocks():
    model = ScriptedModel(plan={})

    with pytest.raises(GateFailed, match="it is late"):
        make_plan(
            REPORT, TASK, with_skills(code("calm", lambda: {"ok": False, "reason": "it is late"}, "guarantee")), model
        )

    assert model.requests == []


def test_a_draft_that_stands_is_left_as_it_is():
    result = run(SkillLibrary.builtin(), reflecting("", ""), mode="deep-work")

    assert result.answer.startswith("Revenue was $40 million [1]")


def test_an_execution_skill_is_tried_three_times_and_then_the_draft_stands():
    model = ScriptedModel(
        subtask=lambda request: ModelOverloaded("busy") if "Judge the draft" in request.prompt else ANSWER
    )

    result = run(SkillLibrary.builtin(), model, mode="deep-work", max_attempts=3)

    tried = [request for request in model.requests if "Judge the draft" in request.prompt]
    assert len(tried) == 3
    assert result.status == "partial"
    assert result.answer.startswith("Revenue was $40 million")
    assert [error.code for error in result.errors] == ["MODEL_OVERLOADED"]


def counted(failures: int) -> tuple[list[int], Callable[[], dict[str, str]]]:
    """A function that fails so often, and the list that its calls are counted in."""
    calls: list[int] = []

    def work() -> dict[str, str]:
        calls.append(1)
        if len(calls) <= failures:
            raise RuntimeError("not yet")
        return {"answer": "Revised [L3]."}

    return calls, work


AFTER = {"dependencies": ("answer",), "applies": "true"}


@pytest.fixture
def no_backoff(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RetryPolicy, "backoff_s", lambda *_: 0.0)


@pytest.mark.usefixtures("no_backoff")
@pytest.mark.parametrize("retry_on_failure", [0, 2])
def test_code_of_the_execution_layer_is_tried_three_times_in_all(retry_on_failure: int):
    calls, work = counted(2)
    failed, never = counted(9)
    library = with_skills(code("revise", work, "execution", **AFTER))
    hopeless = with_skills(code("revise", never, "execution", **AFTER))
    options = {"mode": "standard", "retry_on_failure": retry_on_failure, "max_attempts": 9}

    revised, stands = run(library, **options), run(hopeless, **options)

    assert (len(calls), len(failed)) == (3, 3)
    assert revised.answer.startswith("Revised")
    assert stands.answer.startswith("Revenue was $40 million")


@pytest.mark.usefixtures("no_backoff")
def test_what_comes_after_a_skill_that_blocks_is_not_done_and_after_another_one_is():
    for blocks, status in ((True, "skipped"), (False, "completed")):
        library = with_skills(
            code("first", counted(9)[1], "execution", blocks_on_failure=blocks, **AFTER),
            code("second", counted(0)[1], "execution", dependencies=("answer", "first"), applies="true"),
        )

        result = run(library, mode="standard")

        assert result.status == "partial"
        assert of(result, "first").status == ("failed" if blocks else "degraded")
        assert of(result, "second").status == status


@pytest.mark.usefixtures("no_backoff")
def test_a_skill_before_the_answer_that_does_not_block_is_left_out():
    library = with_skills(code("research", counted(9)[1], "execution", applies="true", blocks_on_failure=False))

    result = run(library)

    assert result.status == "partial"
    assert result.answer.startswith("Revenue was $40 million")


@pytest.mark.usefixtures("no_backoff")
def test_a_run_that_a_skill_before_the_answer_has_ended_can_be_resumed(tmp_path: Path):
    calls, work = counted(3)
    library = with_skills(code("research", work, "execution", applies="true"))
    model = answering(synthesis="Joined [L3].")

    with Store.open(tmp_path / "runs.db") as store:
        with pytest.raises(UnexpectedFailure):
            run(library, model, store=store)
        result = resume(store.runs()[0].id, store=store, model=model, skills=library)

    assert len(calls) == 4
    assert result.answer.startswith("Joined")


def test_cancelling_a_revision_leaves_the_draft():
    cancellation = Cancellation()
    model = ScriptedModel(
        subtask=lambda request: cancellation.cancel() or "{}" if "Judge the draft" in request.prompt else ANSWER
    )

    result = run(SkillLibrary.builtin(), model, mode="deep-work", cancellation=cancellation)

    assert result.answer.startswith("Revenue was $40 million")
    assert "CANCELLED" in [error.code for error in result.errors]


def test_each_layer_has_its_nodes():
    events: list[Event] = []

    run(SkillLibrary.builtin(), reflecting("", ""), mode="deep-work", on_event=events.append)

    ended = {
        event.node_id: event.kind for event in events if isinstance(event, NodeUpdated) and event.status == "completed"
    }
    assert {"run/gate-document-readable": "guarantee", "run/work-reflect": "execution"}.items() <= ended.items()
    assert ended["run/enhance-glossary"] == "enhancement"


def test_a_gate_of_ours_says_only_how_it_ended():
    events: list[Event] = []

    result = run(SkillLibrary.builtin(), on_event=events.append)

    told = [event for event in events if isinstance(event, NodeUpdated) and event.node_id.startswith("run/gate-")]
    assert [(event.skill_name, event.status) for event in told] == [
        (each.skill, "completed") for each in result.layers if each.layer == "guarantee"
    ]
    assert len(told) == 3
    assert all(event.timing and event.timing["duration_ms"] is not None for event in told)


def test_a_gate_of_ours_that_fails_is_on_record(tmp_path: Path):
    with Store.open(tmp_path / "runs.db") as store:
        with pytest.raises(GateFailed):
            orchestrate("\ue000" * 400, TASK, model=answering(), strategy="direct", store=store)

        [kept] = store.runs()
        nodes = {node.node_id: node for node in store.nodes(kept.id)}
    assert nodes["run/gate-document-readable"].status == "failed"
    assert "cannot be read" in str(nodes["run/gate-document-readable"].error)


def test_a_mode_of_ones_own_stands_in_the_configuration(tmp_path: Path):
    config = tmp_path / "orchestra.toml"
    config.write_text('[modes]\ncareful = ["document-readable", "answer", "citation-report"]\n')

    result = run(mode="careful", config=config)

    assert [each.skill for each in result.layers] == ["document-readable", "citation-report"]
    with pytest.raises(InputInvalid, match="there is no mode 'careful'"):
        run(mode="careful")


def test_tiers_say_which_model_works_in_which_layer(tmp_path: Path):
    config = tmp_path / "orchestra.toml"
    config.write_text('[tiers]\nfast = "builtin:extractive"\n')
    model = answering()

    result = run(model=model, mode="standard", config=config)

    assert len(model.requests) == 1
    assert of(result, "follow-up-questions").usage.model == "builtin:extractive"
    assert result.usage.subtasks.model == "test:scripted"


@pytest.mark.parametrize(("line", "said"), [("fast = 3", "fast = 3"), ('cheap = "x:y"', "cheap")])
def test_a_tier_that_is_none_is_refused(tmp_path: Path, line: str, said: str):
    config = tmp_path / "orchestra.toml"
    config.write_text(f"[tiers]\n{line}\n")

    with pytest.raises(InputInvalid, match=said):
        run(config=config)


def test_a_condition_that_cannot_be_read_is_told_before_anything_is_sent():
    model = answering()
    library = with_skills(code("odd", lambda: True, "guarantee", applies="size("))

    with pytest.raises(SkillInvalid, match="cannot be read"):
        run(library, model)

    assert model.requests == []


def test_lessons_of_one_run_are_there_for_the_next_one_on_the_same_document(tmp_path: Path):
    store = f"sqlite:///{tmp_path / 'runs.db'}"

    run(mode="standard", store=store)
    later = orchestrate(REPORT, "Who spoke?", None, answering(), strategy="direct", mode="standard", store=store)
    elsewhere = orchestrate("Another text.\n", TASK, None, answering(), strategy="direct", mode="standard", store=store)

    assert of(later, "lessons").output["earlier"] == [{"task": TASK, "places": ["L3"]}]
    assert of(elsewhere, "lessons").output["earlier"] == []


def test_a_document_that_is_no_text_does_not_pass_the_gate():
    with pytest.raises(GateFailed, match="document-readable"):
        orchestrate("\ufffd" * 500, TASK, None, answering(), strategy="direct")


def test_a_file_that_the_task_names_and_nobody_gave_is_told():
    result = orchestrate(REPORT, "What does 10-K.pdf say of revenue?", None, answering(), strategy="direct")

    assert "10-K.pdf" in of(result, "task-answerable").reason
    assert result.status == "completed"


def test_a_prompt_can_be_a_gate():
    skill = Skill(
        "polite",
        "Holds that the task is polite.",
        "Is the task polite?",
        layer="guarantee",
        output={"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]},
    )
    model = ScriptedModel(
        subtask=lambda request: (
            ModelReply('{"ok": false, "reason": "rude"}', Usage(5, output_tokens=5))
            if "polite" in request.prompt
            else ANSWER
        )
    )

    with pytest.raises(GateFailed, match="polite: rude"):
        run(with_skills((skill, {"output": skill.output})), model)


def test_a_run_that_goes_on_has_the_lessons_that_it_began_with(tmp_path: Path):
    seen: list[list[Any]] = []

    def learn(context: CodeContext) -> Any:
        seen.append(list(context.lessons))
        said = yield CallSkill("think", {"known": len(context.lessons)})
        return {"keep": [*context.lessons, {"said": said}]}

    think = Manifest("think", "Thinks.", given=Skill("think", "Thinks.", "Think."), source="custom")
    library = with_skills(code("learn", learn, "enhancement", dependencies=("answer",), children=(think,)))
    model = answering()
    with Store.open(tmp_path / "runs.db") as store:
        first = run(library, model, mode="standard", store=store)
        store.end_run(first.run_id, "running")
        sent = len(model.requests)

        again = resume(first.run_id, store=store, model=model, skills=library)

    assert of(first, "learn").status == "completed"
    assert seen == [[], []]
    assert len(model.requests) == sent
    assert of(again, "learn").output == of(first, "learn").output
