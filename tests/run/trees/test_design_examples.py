"""The three examples of the design, to the node: what runs, in which order, and how few calls it takes."""

from __future__ import annotations

from pathlib import Path

import pytest
from trees_for_tests import Heard, TreeModel, below, write_skill

from orchestra.pipeline import route
from orchestra.skills import SkillLibrary

NAIVE_SIMPLE = ("router", "decomposer", "resolver 1", "resolver 2", "synthesizer")
NAIVE_NESTED = (
    "router",
    "decomposer of email_workflow",
    "resolver 1",
    "resolver 2",
    "decomposer of email_responder",
    "resolver 2.1",
    "resolver 2.2",
    "synthesizer",
)
NAIVE_PARALLEL = ("router", "synthesizer")
"""What the five levels of the source would ask beside its executions: a router, a decomposer for each composite, a
resolver for each of its steps, and a synthesizer."""


@pytest.fixture
def mail(tmp_path: Path) -> SkillLibrary:
    """The design's `email_workflow`: a classifier, and a responder that has two parts of its own."""
    urgent = {"type": "object", "properties": {"urgent": {"type": "array"}}, "required": ["urgent"]}
    workflow = write_skill(
        tmp_path,
        "email_workflow",
        type="composite",
        sub_skills=[
            {"name": "email_classifier", "triggers": ["categorize", "classify", "organize"]},
            {
                "name": "email_responder",
                "triggers": ["reply", "respond", "answer"],
                "dependencies": ["email_classifier"],
            },
        ],
        routing={"strategy": "sequential", "max_depth": 3},
        execution={"allow_parallel": False, "timeout_per_skill": 30, "retry_on_failure": 2},
        data_flow=["step_1.output.urgent → step_2.email_list"],
    )
    below(
        workflow,
        "email_classifier",
        parameters={"properties": {"priority_threshold": {"enum": ["low", "high"], "default": "high"}}},
        output=urgent,
    )
    below(workflow, "email_responder", parameters={"required": ["email_list", "tone"]})
    return SkillLibrary.from_path(tmp_path)


@pytest.fixture
def nested_mail(tmp_path: Path, mail: SkillLibrary) -> SkillLibrary:
    """The same, with a responder that has two parts of its own and leaves the choice to a model."""
    responder = tmp_path / "email_workflow" / "sub_skills" / "email_responder"
    (responder / "skill.yaml").write_text(
        '{"name": "email_responder", "type": "composite", "sub_skills": [{"name": "tone_analyzer", "triggers": '
        '["analyze", "detect"]}, {"name": "draft_generator", "triggers": ["write", "compose"]}]}'
    )
    below(responder, "tone_analyzer")
    below(responder, "draft_generator", parameters={"required": ["email_list", "tone"]})
    return SkillLibrary.from_path(tmp_path)


def test_a_simple_composite(mail: SkillLibrary):
    model = TreeModel(
        email_classifier={"urgent": ["m1@x.org", "m2@x.org"]},
        email_responder="Drafted two replies.",
        resolution={"parameters": {"tone": "professional"}, "confidence": 0.9, "missing_required": []},
    )
    heard = Heard()

    result = route("Organize my inbox and reply to urgent emails", mail, model, on_event=heard)

    assert heard.tree == {
        "run/subtask-1": "email-workflow",
        "run/subtask-1/step-1": "email-classifier",
        "run/subtask-1/step-2": "email-responder",
        "run/subtask-1/step-2/parameters": "email-responder",
        "run/synthesis": "",
    }
    assert model.asked == ["email-classifier", "resolution", "email-responder", "wording"]
    assert 2 * len(model.levels) <= len(NAIVE_SIMPLE)
    assert '{"priority_threshold": "high"}' in model.prompt("email-classifier")
    assert '{"email_list": ["m1@x.org", "m2@x.org"], "tone": "professional"}' in model.prompt("email-responder")
    assert (result.status, result.answer) == ("completed", "All done.")


def test_a_composite_within_a_composite(nested_mail: SkillLibrary):
    model = TreeModel(
        decomposition={
            "execution_plan": [
                {"step": 1, "sub_skill": "tone_analyzer", "trigger_reason": "tone first"},
                {"step": 2, "sub_skill": "draft_generator", "depends_on": [1], "parameters_needed": ["tone"]},
            ],
            "data_flow": {"step_1_output": "feeds into step_2.tone"},
        },
        email_classifier={"urgent": ["m1@x.org"]},
        tone_analyzer="calm",
        draft_generator="Dear customer.",
        resolution={"parameters": {"email_list": ["m1@x.org"]}, "confidence": 0.9, "missing_required": []},
    )
    heard = Heard()

    result = route("Draft professional replies to urgent customer emails", nested_mail, model, on_event=heard)

    assert heard.tree == {
        "run/subtask-1": "email-workflow",
        "run/subtask-1/step-1": "email-classifier",
        "run/subtask-1/step-2": "email-responder",
        "run/subtask-1/step-2/steps": "email-responder",
        "run/subtask-1/step-2/step-1": "tone-analyzer",
        "run/subtask-1/step-2/step-2": "draft-generator",
        "run/subtask-1/step-2/step-2/parameters": "draft-generator",
        "run/synthesis": "",
    }
    executions = [subject for subject in model.asked if subject not in model.LEVELS]
    assert executions == ["email-classifier", "tone-analyzer", "draft-generator"]
    assert model.levels == ["decomposition", "resolution", "wording"]
    assert 2 * len(model.levels) <= len(NAIVE_NESTED)
    assert '"tone": "calm"' in model.prompt("draft-generator")
    assert [(step.skill, len(step.steps)) for step in result.subtasks[0].steps] == [
        ("email-classifier", 0),
        ("email-responder", 2),
    ]


def test_two_skills_side_by_side(tmp_path: Path):
    write_skill(tmp_path, "note_summarizer", triggers=["summarize", "notes"])
    write_skill(tmp_path, "calendar_scheduler", triggers=["schedule", "calendar"])
    write_skill(tmp_path, "translator", triggers=["translate"])
    model = TreeModel(note_summarizer="Three decisions.", calendar_scheduler="Tuesday at ten.")
    heard = Heard()

    result = route(
        "Summarize my meeting notes and schedule follow-up meetings",
        SkillLibrary.from_path(tmp_path),
        model,
        on_event=heard,
    )

    assert heard.tree == {
        "run/subtask-1": "note-summarizer",
        "run/subtask-2": "calendar-scheduler",
        "run/synthesis": "",
    }
    assert [subtask.depends_on for subtask in result.subtasks] == [(), ()]
    assert model.levels == ["wording"]
    assert 2 * len(model.levels) <= len(NAIVE_PARALLEL)
    assert [(each.skill, each.reply) for each in result.subtasks] == [
        ("note-summarizer", "Three decisions."),
        ("calendar-scheduler", "Tuesday at ten."),
    ]


@pytest.mark.parametrize(
    "query",
    [
        "Summarize my notes and then schedule what they name",
        "Summarize the notes, schedule, and tell me a joke",
        "Find a date",
    ],
)
def test_a_router_is_asked_where_parts_lean_on_one_another_or_name_nothing(tmp_path: Path, query: str):
    write_skill(tmp_path, "note_summarizer", triggers=["summarize"])
    write_skill(tmp_path, "calendar_scheduler", triggers=["schedule"])
    intent = {"primary_skills": ["note_summarizer", "calendar_scheduler"], "execution_order": "sequential"}
    model = TreeModel(intent=intent, note_summarizer="Three decisions.", calendar_scheduler="Tuesday.")

    result = route(query, SkillLibrary.from_path(tmp_path), model)

    assert model.asked == ["intent", "note-summarizer", "calendar-scheduler", "wording"]
    assert [subtask.depends_on for subtask in result.subtasks] == [(), ("1",)]
    assert "Three decisions." in model.prompt("calendar-scheduler")


def test_a_router_is_shown_no_more_of_a_large_library_than_fits(tmp_path: Path):
    for number in range(300):
        write_skill(tmp_path, f"filler-{number}", description=f"Does some work of kind {number} that nobody asks for.")
    write_skill(tmp_path, "beekeeper", description="Looks after bees and hives.")
    model = TreeModel(intent={"primary_skills": ["beekeeper"]}, beekeeper="Buzz.")

    result = route("Look after the hives", SkillLibrary.from_path(tmp_path), model)

    assert result.answer == "Buzz."
    assert "beekeeper" in model.prompt("intent")
    assert model.prompt("intent").count("filler-") < 150
