"""How the steps of a composite go: by triggers, conditions, decomposers and data flows, and what a failure leaves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from models_for_tests import codes
from trees_for_tests import Heard, TreeModel, below, of, write_skill

from orchestra.errors import ModelRefused
from orchestra.pipeline import orchestrate, route
from orchestra.skills import SkillLibrary


def office(folder: Path, *subs: Any, code: dict[str, str] | None = None, **fields: Any) -> SkillLibrary:
    """A composite `office` of prompt skills, those in `code` of code instead."""
    place = write_skill(folder, "office", type="composite", sub_skills=list(subs), **fields)
    for sub in subs:
        name = sub if isinstance(sub, str) else sub["name"]
        below(place, name, code=(code or {}).get(name, ""))
    return SkillLibrary.from_path(folder)


def done(result: Any) -> dict[str, str]:
    return {step.skill: step.status for step in result.subtasks[0].steps}


def test_triggers_choose_steps_and_what_they_depend_on(tmp_path: Path):
    library = office(
        tmp_path,
        {"name": "sort", "triggers": ["sort"]},
        {"name": "answer", "triggers": ["reply"], "dependencies": ["sort"]},
        {"name": "archive", "triggers": ["archive"]},
        routing={"strategy": "parallel"},
    )
    model = TreeModel(sort="Sorted.", answer="Answered.")

    result = route("Reply to my mail", library, model)

    assert model.asked == ["sort", "answer", "wording"]
    assert done(result) == {"sort": "completed", "answer": "completed", "archive": "skipped"}
    assert result.route.success_rate == 1.0
    assert "archive" not in model.prompt("wording")


def test_a_step_keeps_its_number_when_others_are_left_out(tmp_path: Path):
    library = office(
        tmp_path,
        {"name": "weigh", "triggers": ["weigh"]},
        {"name": "sort", "triggers": ["sort"]},
        {"name": "answer", "triggers": ["reply"], "dependencies": ["sort"]},
        routing={"strategy": "sequential"},
        data_flow=["step_2.output.urgent → step_3.mails"],
        code={"sort": "def work():\n    return {'urgent': ['m1']}\n", "answer": "def work(mails):\n    return mails\n"},
    )
    answer = tmp_path / "office" / "sub_skills" / "answer" / "skill.yaml"
    answer.write_text(
        '{"name": "answer", "type": "code", "function": "skill.py:work", "parameters": {"required": ["mails"]}}'
    )
    library = SkillLibrary.from_path(tmp_path)

    result = route("Reply to my mail", library, TreeModel())

    assert [(step.name, step.output) for step in result.subtasks[0].steps if step.status == "completed"] == [
        ("step_2", {"urgent": ["m1"]}),
        ("step_3", ["m1"]),
    ]


@pytest.mark.parametrize(("urgent", "ran", "left"), [("True", "answer", "archive"), ("False", "archive", "answer")])
def test_a_condition_decides_over_an_output(tmp_path: Path, urgent: str, ran: str, left: str):
    library = office(
        tmp_path,
        "sort",
        "answer",
        "archive",
        routing={
            "strategy": "conditional",
            "conditions": [{"if": "step_1.output.urgent == true", "then": ["answer"]}, {"else": ["archive"]}],
        },
        code={"sort": f"def work():\n    return {{'urgent': {urgent}}}\n"},
    )
    model = TreeModel(answer="Answered.", archive="Archived.")

    result = route("Go through my mail", library, model)

    assert done(result) == {"sort": "completed", ran: "completed", left: "skipped"}
    assert result.route.success_rate == 1.0
    assert model.asked[0] == ran


def test_a_condition_that_cannot_be_decided_does_not_hold_and_the_run_says_so(tmp_path: Path):
    library = office(
        tmp_path,
        "sort",
        "answer",
        "archive",
        routing={
            "strategy": "conditional",
            "conditions": [{"if": "sort.output.urgent", "then": "answer"}, {"else": "archive"}],
        },
        code={"sort": "def work():\n    return {}\n"},
    )

    result = route("Go through my mail", library, TreeModel(archive="Archived."))

    assert done(result) == {"sort": "completed", "archive": "completed", "answer": "skipped"}
    assert "CONDITION_UNDECIDED" in codes(result)


def test_nothing_runs_by_a_condition_on_a_step_that_failed(tmp_path: Path):
    library = office(
        tmp_path,
        "look",
        "sort",
        "answer",
        "archive",
        routing={
            "strategy": "conditional",
            "conditions": [{"if": "sort.output.urgent", "then": ["answer"]}, {"else": ["archive"]}],
        },
    )

    result = route("Go through my mail", library, TreeModel(look="Seen.", sort=ModelRefused("no")))

    assert done(result) == {"look": "completed", "sort": "failed", "answer": "skipped", "archive": "skipped"}
    assert result.status == "partial"
    assert result.route.success_rate == 0.25
    assert len(result.route.partial_failures) == 3


def test_a_data_flow_by_name_reaches_a_step_of_a_branch(tmp_path: Path):
    office(
        tmp_path,
        "sort",
        "answer",
        routing={"strategy": "conditional", "conditions": [{"if": "true", "then": ["answer"]}]},
        data_flow={"sort.output.urgent": "answer.mails", "answer.output.drafts": "output.letters"},
        code={
            "sort": "def work():\n    return {'urgent': [1]}\n",
            "answer": "def work(mails):\n    return {'drafts': mails}\n",
        },
    )
    answer = tmp_path / "office" / "sub_skills" / "answer" / "skill.yaml"
    answer.write_text(
        '{"name": "answer", "type": "code", "function": "skill.py:work", "parameters": {"required": ["mails"]}}'
    )

    result = route("Go through my mail", SkillLibrary.from_path(tmp_path), TreeModel())

    assert result.subtasks[0].reply == '{"letters": [1]}'


@pytest.mark.parametrize(
    "conditions",
    [
        [{"if": "true", "then": ["nobody"]}],
        [{"if": "((", "then": ["answer"]}],
    ],
)
def test_a_branch_that_leads_nowhere_is_found_before_anything_is_sent(tmp_path: Path, conditions: list[Any]):
    library = office(tmp_path, "sort", "answer", routing={"strategy": "conditional", "conditions": conditions})
    model = TreeModel()

    result = route("Go through my mail", library, model)

    assert [error.code for error in result.errors] == ["SKILL_INVALID"]
    assert model.asked == []


def test_a_composite_without_a_strategy_asks_which_steps(tmp_path: Path):
    library = office(tmp_path, "sort", "answer", "archive")
    plan = {"execution_plan": [{"step": "1", "sub_skill": "Sort"}, {"step": "step_2", "sub_skill": "answer"}]}
    model = TreeModel(decomposition=plan, sort="Sorted.", answer="Answered.")

    result = route("Go through my mail", library, model)

    assert model.asked[0] == "decomposition"
    assert done(result) == {"sort": "completed", "answer": "completed", "archive": "skipped"}


@pytest.mark.parametrize(
    "nonsense",
    [
        "Sure, I can do that!",
        {"execution_plan": []},
        {"execution_plan": [{"step": 1, "sub_skill": "fly"}]},
        {"execution_plan": [{"step": 1, "sub_skill": "sort", "depends_on": [1]}]},
        {"execution_plan": [{"step": n, "sub_skill": "sort"} for n in range(1, 100)]},
        {
            "execution_plan": [{"step": 1, "sub_skill": "sort"}, {"step": 2, "sub_skill": "answer", "depends_on": [1]}],
            "data_flow": {"step_2.output": "step_1.mails"},
        },
        [1, 2],
    ],
)
def test_a_decomposer_that_names_nonsense_is_asked_once_more(tmp_path: Path, nonsense: Any):
    library = office(tmp_path, "sort", "answer")
    plan = {"execution_plan": [{"step": 1, "sub_skill": "sort"}]}
    model = TreeModel(decomposition=[nonsense, plan], sort="Sorted.")

    result = route("Go through my mail", library, model)

    assert model.asked == ["decomposition", "decomposition", "sort"]
    assert result.answer == "Sorted."
    assert "PLAN_ASKED_AGAIN" in codes(result)


def test_a_decomposer_that_will_not_be_helped_ends_its_skill(tmp_path: Path):
    model = TreeModel(decomposition="No.")

    result = route("Go through my mail", office(tmp_path, "sort", "answer"), model)

    assert result.status == "failed"
    assert [error.code for error in result.errors] == ["PLAN_INVALID"]


def test_a_decomposers_flow_to_nowhere_is_told_and_left_out(tmp_path: Path):
    plan = {"execution_plan": [{"step": 1, "sub_skill": "sort"}], "data_flow": {"step_9.output": "step_1.x", "a": "b"}}

    result = route("Go", office(tmp_path, "sort", "answer"), TreeModel(decomposition=plan, sort="Sorted."))

    assert codes(result).count("DATA_FLOW_IGNORED") == 2
    assert result.answer == "Sorted."


def test_independent_steps_go_on_and_dependants_are_skipped(tmp_path: Path):
    library = office(
        tmp_path,
        "look",
        {"name": "sort"},
        {"name": "answer", "dependencies": ["sort"]},
        {"name": "send", "dependencies": ["answer"]},
        "archive",
        routing={"strategy": "sequential"},
    )
    model = TreeModel(look="Seen.", sort=ModelRefused("no"), archive="Archived.")

    result = route("Go through my mail", library, model)

    assert done(result) == {
        "look": "completed",
        "sort": "failed",
        "answer": "skipped",
        "send": "skipped",
        "archive": "completed",
    }
    assert result.route.success_rate == 0.4
    assert result.route.partial_failures == (
        "step_1.step_2 sort: MODEL_REFUSED: no",
        "step_1.step_3 answer: DEPENDENCY_FAILED: answer was not started: step 2 failed",
        "step_1.step_4 send: DEPENDENCY_FAILED: send was not started: step 3 failed",
    )
    said = next(notice.message for notice in result.warnings if notice.code == "STEPS_NOT_DONE")
    assert said == "office: not done: step_2 sort, step_3 answer, step_4 send"


def test_without_parallel_work_one_step_ends_before_the_next_begins(tmp_path: Path):
    library = office(tmp_path, "a", "b", "c", routing={"strategy": "parallel"}, execution={"allow_parallel": False})
    model, heard = TreeModel(a="A", b="B", c="C"), Heard()

    route("Go", library, model, on_event=heard)

    assert model.asked[:3] == ["a", "b", "c"]
    assert '"a": "A"' in model.prompt("b")
    assert heard.finished[:3] == [f"run/subtask-1/step-{n}" for n in (1, 2, 3)]


def test_a_step_reads_what_it_waits_for_and_not_what_happens_to_have_ended(tmp_path: Path):
    library = office(
        tmp_path, "a", "b", {"name": "c", "dependencies": ["a"]}, {"name": "d", "dependencies": ["c"]},
        routing={"strategy": "parallel"},
    )  # fmt: skip
    model = TreeModel(a="from a", b="from b", c="from c", d="from d")

    route("Go", library, model)

    assert "from a" in model.prompt("c")
    assert "from b" not in model.prompt("c")
    assert "from a" in model.prompt("d")
    assert "from b" not in model.prompt("d")


def test_equal_calls_of_one_run_are_made_once(tmp_path: Path):
    write_skill(tmp_path, "grade", description="Grades.")
    for name in ("one", "two"):
        write_skill(tmp_path, name, type="composite", sub_skills=["grade"], routing={"strategy": "parallel"})
    intent = {"primary_skills": ["one", "two"], "execution_order": "parallel"}
    model, heard = TreeModel(intent=intent, grade="Good."), Heard()

    result = route("Grade it", SkillLibrary.from_path(tmp_path), model, on_event=heard)

    assert model.asked.count("grade") == 1
    assert [of(result, at, 0).output for at in (0, 1)] == ["Good.", "Good."]
    assert {"run/subtask-1/step-1", "run/subtask-2/step-1"} <= set(heard.finished)


def test_equal_calls_of_another_run_come_from_the_cache(tmp_path: Path):
    library = office(tmp_path / "skills", "sort", routing={"strategy": "parallel"})
    first, second = TreeModel(sort="Sorted."), TreeModel(sort="Sorted.")

    route("Go", library, first, store=tmp_path / "runs.db", cache=True)
    result = route("Go", library, second, store=tmp_path / "runs.db", cache=True)

    assert first.asked == ["sort"]
    assert second.asked == []
    assert result.answer == "Sorted."


def test_a_reply_that_does_not_fit_its_schema_is_asked_for_once_more(tmp_path: Path):
    output = {"type": "object", "properties": {"score": {"type": "integer"}}, "required": ["score"]}
    write_skill(tmp_path, "office", type="composite", sub_skills=["grade"], routing={"strategy": "sequential"})
    below(tmp_path / "office", "grade", output=output)
    library = SkillLibrary.from_path(tmp_path)
    mended, hopeless = TreeModel(grade=["good", {"score": 3}]), TreeModel(grade={"score": "good"})

    result, failed = route("Go", library, mended), route("Go", library, hopeless)

    assert of(result, 0, 0).output == {"score": 3}
    assert "OUTPUT_ASKED_AGAIN" in codes(result)
    assert hopeless.asked == ["grade", "grade"]
    assert [error.code for error in failed.errors] == ["OUTPUT_INVALID"]


def test_a_composite_whose_output_does_not_fit_keeps_its_steps_and_is_no_success(tmp_path: Path):
    place = write_skill(
        tmp_path, "office", type="composite", sub_skills=["inner", "look"], routing={"strategy": "parallel"}
    )
    inner = below(
        place,
        "inner",
        type="composite",
        sub_skills=["sort"],
        routing={"strategy": "parallel"},
        output={"type": "object"},
    )
    below(place, "look")
    below(inner, "sort")

    result = route("Go", SkillLibrary.from_path(tmp_path), TreeModel(sort="Sorted.", look="Seen."))

    assert of(result, 0, 0).error.code == "OUTPUT_INVALID"
    assert of(result, 0, 0, 0).output == "Sorted."
    assert result.route.success_rate == pytest.approx(2 / 3, abs=0.001)
    assert result.route.partial_failures[0].startswith("step_1.step_1 inner: OUTPUT_INVALID")


def test_a_composite_is_a_subtask_of_an_ordinary_plan_and_its_steps_see_its_slice(tmp_path: Path):
    library = office(tmp_path, "sort", "answer", routing={"strategy": "sequential"})
    report = "# Mail\n\nAda asks for a date.\n\n# Weather\n\nIt rains.\n"
    subtask = {
        "id": "1",
        "skill": "office",
        "task": "Go through the mail.",
        "context_pointers": {"sections": ["Mail"], "line_ranges": []},
    }
    model = TreeModel(sort="Ada first [L3].", answer="Dear Ada [L3].")

    result = orchestrate(report, "What about my mail?", library, model, plan={"subtasks": [subtask], "reasoning": ""})

    assert model.asked == ["sort", "answer"]
    assert "Ada asks" in model.prompt("sort")
    assert "It rains" not in model.prompt("sort")
    assert [step.skill for step in result.subtasks[0].steps] == ["sort", "answer"]


def test_a_huge_output_reaches_a_step_whole_as_a_parameter_and_cut_as_a_result(tmp_path: Path):
    library = office(
        tmp_path, "sort", "answer", routing={"strategy": "sequential"},
        code={"sort": "def work():\n    return {'text': 'word ' * 200_000, 'odd': '\\ud800'}\n"},
    )  # fmt: skip
    model = TreeModel(answer="Short.")

    result = route("Go", library, model)

    assert result.status == "completed"
    assert len(model.prompt("answer")) < 400_000
    assert "[cut: the first" in model.prompt("answer")
    assert of(result, 0, 0).output["odd"] == "\ufffd"
