"""Where the values of a step come from, who is asked for the rest, and what happens when nobody can be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from models_for_tests import codes
from trees_for_tests import TreeModel, below, of, write_skill

from orchestra.errors import InputInvalid
from orchestra.pipeline import orchestrate, resume, route
from orchestra.skills import SkillLibrary
from orchestra.skills.trees.parameters import Parameters

ECHO = "def work(**values):\n    return values\n"


def one_step(folder: Path, takes: dict[str, Any], **fields: Any) -> SkillLibrary:
    place = write_skill(folder, "office", type="composite", sub_skills=["send", "look"], **fields)
    below(place, "send", code=ECHO, parameters=takes)
    below(place, "look", code="def work():\n    return 'Seen.'\n")
    return SkillLibrary.from_path(folder)


FIXED = {"routing": {"strategy": "parallel"}}
TO = {"properties": {"to": {"type": "string"}, "tone": {"enum": ["formal", "warm"]}}, "required": ["to"]}


def found(**values: Any) -> dict[str, Any]:
    return {"parameters": values, "confidence": 0.9, "missing_required": []}


def test_what_code_can_bind_is_asked_of_nobody(tmp_path: Path):
    library = one_step(tmp_path, {"required": ["to"], "defaults": {"tone": "warm"}}, **FIXED)
    model = TreeModel()

    result = route('Send it {"to": "ada@x.org"}', library, model)

    assert of(result, 0, 0).output == {"to": "ada@x.org", "tone": "warm"}
    assert model.levels == ["wording"]


def test_a_resolver_is_asked_once_for_what_remains(tmp_path: Path):
    model = TreeModel(resolution=found(to="ada@x.org", tone="shrill", extra=1))

    result = route("Send it to Ada", one_step(tmp_path, {**TO, "required": ["to", "tone"]}, **FIXED), model)

    assert model.asked == ["resolution"]
    assert of(result, 0, 0).error.code == "MISSING_PARAMETERS"
    assert "'shrill' is not one of" in of(result, 0, 0).error.cause
    assert of(result, 0, 1).output == "Seen."
    assert result.status == "partial"


@pytest.mark.parametrize("answer", ["ada@x.org", '{"to": "ada@x.org"}', "to: ada@x.org", "- to = ada@x.org "])
def test_a_person_is_asked_for_what_is_missing(tmp_path: Path, answer: str):
    questions = []

    def on_approval(question):
        questions.append(question)
        return answer

    asked = {"parameters": {}, "confidence": 0.2, "missing_required": ["to"], "clarifying_question": "To whom?"}
    library = one_step(tmp_path, TO, **FIXED)

    result = route("Send it", library, TreeModel(resolution=asked), on_approval=on_approval)

    assert [(question.title, question.shown["missing"]) for question in questions] == [("To whom?", ["to"])]
    assert of(result, 0, 0).output == {"to": "ada@x.org"}


@pytest.mark.parametrize(
    ("schema", "answer", "value"),
    [
        ({"type": "integer"}, " 5 ", 5),
        ({"type": "string"}, "5", "5"),
        ({"type": "array"}, "a, b", ["a", "b"]),
        ({"type": "array"}, '["a"]', ["a"]),
        ({"type": "boolean"}, "true", True),
        ({}, "Note: soon", "Note: soon"),
    ],
)
def test_a_persons_words_become_what_the_schema_says(tmp_path: Path, schema: dict[str, Any], answer: str, value: Any):
    library = one_step(tmp_path, {"properties": {"it": schema}, "required": ["it"]}, **FIXED)

    result = route("Go", library, TreeModel(resolution={"confidence": 0}), on_approval=lambda question: answer)

    assert of(result, 0, 0).output == {"it": value}


def test_a_person_confirms_what_is_doubtful(tmp_path: Path):
    doubtful = {"parameters": {"to": "ada@x.org"}, "confidence": 0.4, "missing_required": []}
    library = one_step(tmp_path, TO, **FIXED)

    confirmed = route("Send it", library, TreeModel(resolution=doubtful), on_approval=lambda question: "Yes.")
    corrected = route("Send it", library, TreeModel(resolution=doubtful), on_approval=lambda question: "bob@x.org")
    unasked = route("Send it", library, TreeModel(resolution=doubtful))

    assert of(confirmed, 0, 0).output == {"to": "ada@x.org"}
    assert of(corrected, 0, 0).output == {"to": "bob@x.org"}
    assert of(unasked, 0, 0).error.code == "MISSING_PARAMETERS"


def test_a_doubtful_value_that_can_be_done_without_is_left_out(tmp_path: Path):
    plan = {"execution_plan": [{"step": 1, "sub_skill": "send", "parameters_needed": ["tone"]}]}
    doubtful = {"parameters": {"tone": "warm"}, "confidence": 0.4}

    result = route('Go {"to": "ada"}', one_step(tmp_path, TO), TreeModel(decomposition=plan, resolution=doubtful))

    assert of(result, 0, 0).output == {"to": "ada"}
    assert "PARAMETERS_UNSURE" in codes(result)


def test_only_dependants_stop_where_values_are_missing(tmp_path: Path):
    place = write_skill(
        tmp_path,
        "office",
        type="composite",
        sub_skills=["look", "send", {"name": "file", "dependencies": ["send"]}],
        routing={"strategy": "sequential"},
    )
    below(place, "look", code="def work():\n    return 'Seen.'\n")
    below(place, "send", code=ECHO, parameters={"required": ["to"]})
    below(place, "file", code=ECHO)

    result = route("Go", SkillLibrary.from_path(tmp_path), TreeModel(resolution={"confidence": 0.1}))

    steps = {step.skill: (step.status, step.error.code if step.error else "") for step in result.subtasks[0].steps}
    assert steps == {
        "look": ("completed", ""),
        "send": ("failed", "MISSING_PARAMETERS"),
        "file": ("skipped", "DEPENDENCY_FAILED"),
    }


def test_values_of_a_composite_are_those_of_its_steps(tmp_path: Path):
    library = one_step(tmp_path, TO, parameters={"required": ["to"]}, **FIXED)

    result = route('Send it {"to": "ada"}', library, TreeModel())

    assert of(result, 0, 0).output == {"to": "ada"}


def test_a_schema_in_a_file_is_bound_too(tmp_path: Path):
    place = write_skill(tmp_path, "office", type="composite", sub_skills=["send"], **FIXED)
    send = below(place, "send", code=ECHO, parameters="schemas/in.json")
    (send / "schemas").mkdir()
    (send / "schemas" / "in.json").write_text(
        '{"properties": {"tone": {"$ref": "#/$defs/t"}}, "required": ["tone"], "$defs": {"t": {"enum": ["warm"]}}}'
    )

    result = route('Go {"tone": "warm"}', SkillLibrary.from_path(tmp_path), TreeModel())

    assert of(result, 0, 0).output == {"tone": "warm"}


def test_a_question_waits_in_a_store_and_nothing_is_paid_twice(tmp_path: Path):
    library = one_step(tmp_path / "skills", TO, **FIXED)
    model = TreeModel(resolution={"confidence": 0, "clarifying_question": "To whom?"})
    waiting = route("Send it", library, model, store=tmp_path / "runs.db")

    result = resume(
        waiting.run_id, store=tmp_path / "runs.db", model=model, skills=library, on_approval=lambda question: "ada"
    )

    assert waiting.status == "waiting"
    assert [(step.skill, step.status) for step in waiting.subtasks[0].steps] == [
        ("send", "waiting"),
        ("look", "completed"),
    ]
    assert of(result, 0, 0).output == {"to": "ada"}
    assert model.asked == ["resolution", "wording"]


@pytest.mark.parametrize(
    "declared",
    [
        {"properties": ["a"]},
        {"properties": {"a": "string"}},
        {"required": {"a": 1}},
        {"optional": 5},
        {"defaults": [1]},
    ],
)
def test_parameters_that_make_no_sense_are_refused(declared: dict[str, Any]):
    with pytest.raises(Exception, match="parameter") as raised:
        Parameters.of(declared)

    assert raised.value.code == "SKILL_INVALID"


def test_a_lone_surrogate_in_a_query_harms_nothing(tmp_path: Path):
    library = one_step(tmp_path, TO, **FIXED)

    result = route('Go {"to": "\\ud800"}', library, TreeModel())

    assert of(result, 0, 0).output == {"to": "\ufffd"}


def test_no_query_is_refused(tmp_path: Path):
    with pytest.raises(InputInvalid):
        orchestrate("text", " ", one_step(tmp_path, TO, **FIXED), TreeModel(), strategy="route")
