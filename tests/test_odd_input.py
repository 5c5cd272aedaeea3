"""What callers and models may hand over that is not what was asked for."""

from __future__ import annotations

import json
import os
from functools import partial
from pathlib import Path

import pytest
from models_for_tests import ScriptedModel, at, plan_of

import orchestra
from orchestra import Document, Result
from orchestra.errors import InputInvalid, PlanInvalid, SkillInvalid
from orchestra.models.protocol import ModelReply, Usage

# The models here are scripted to plan with the whole document in view.
orchestrate = partial(orchestra.orchestrate, strategy="full")

REPORT = "# Revenue\n\nRevenue was $40 million.\n\n# Costs\n\nCosts rose.\n"
ONE = plan_of({"context_pointers": at("Revenue")})
TWO = plan_of({"context_pointers": at("Revenue")}, {"context_pointers": at("Costs")})


def there_and_back(result):
    return Result.model_validate_json(result.model_dump_json())


@pytest.mark.parametrize(
    "reply",
    [
        ModelReply(None),
        ModelReply(b"bytes"),
        ModelReply("text", usage=None),
        ModelReply("text", usage=Usage(1.5, 2.5)),
        ModelReply("text", usage=Usage(-5, 0)),
    ],
)
def test_a_reply_of_wrong_types_fails_its_subtask_and_loses_nothing_else(reply):
    model = ScriptedModel(subtask=[reply, "Costs rose [L7]."], synthesis="Costs rose [L7].")

    result = orchestrate(REPORT, "What?", model=model, plan=TWO, max_workers=1)

    assert result.status == "partial"
    assert [subtask.status for subtask in result.subtasks] == ["failed", "completed"]
    assert result.errors[0].code == "MODEL_REPLY_INVALID"
    assert there_and_back(result).answer == result.answer


def test_half_a_character_in_a_reply_goes_to_json():
    result = orchestrate(REPORT, "What?", model=ScriptedModel(subtask="Revenue \ud800 [L3]"), plan=ONE)

    assert there_and_back(result).answer == result.answer


def test_half_a_character_in_an_exception_goes_to_json():
    result = orchestrate(REPORT, "What?", model=ScriptedModel(subtask=ValueError("\ud800")), plan=ONE)

    assert there_and_back(result).errors == result.errors


def test_half_a_character_in_the_data_goes_to_json():
    reply = '{"answer": "a", "data": {"note": "\\ud800"}}'
    model = ScriptedModel(subtask="Revenue [L3]", synthesis=reply)

    result = orchestrate(REPORT, "What?", model=model, plan=ONE, answer_schema={"type": "object"})

    assert there_and_back(result).data == result.data == {"note": "\ufffd"}


def test_data_that_is_no_json_is_refused():
    reply = ModelReply("text", data={"answer": "a", "data": {"note": object()}})
    model = ScriptedModel(subtask="Revenue [L3]", synthesis=reply)

    result = orchestrate(REPORT, "What?", model=model, plan=ONE, answer_schema={"type": "object"})

    assert result.errors[0].code == "ANSWER_INVALID"


def test_an_answer_of_null_is_empty():
    model = ScriptedModel(subtask="Revenue [L3]", synthesis={"answer": None, "data": {}})

    result = orchestrate(REPORT, "What?", model=model, plan=ONE, answer_schema={"type": "object"})

    assert result.answer == ""


def test_a_document_whose_name_is_no_text_goes_to_json(tmp_path):
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.md"))
    path.write_text(REPORT)

    result = orchestrate(path, "What?", model=ScriptedModel(subtask="Revenue [L3]"), plan=ONE)

    assert there_and_back(result).documents == result.documents


@pytest.mark.parametrize("context", [None, 5, b"# Revenue", {"a": "b"}, ["text", 5]])
def test_a_context_of_the_wrong_kind_is_said(context):
    with pytest.raises(InputInvalid, match="a document is given as"):
        orchestrate(context, "What?", model=ScriptedModel())


@pytest.mark.parametrize(
    "setting",
    [{"timeout_s": "5"}, {"timeout_s": True}, {"max_workers": True}, {"temperature": "hot"}, {"temperature": -1}],
)
def test_a_setting_of_the_wrong_kind_is_said(setting):
    with pytest.raises(InputInvalid, match=next(iter(setting))):
        orchestrate(REPORT, "What?", model=ScriptedModel(), plan=ONE, **setting)


@pytest.mark.parametrize("schema", [int, dict, True, "object", list[int]])
def test_an_answer_schema_of_the_wrong_kind_is_said(schema):
    with pytest.raises(InputInvalid, match="answer_schema"):
        orchestrate(REPORT, "What?", model=ScriptedModel(), plan=ONE, answer_schema=schema)


@pytest.mark.parametrize("skills", [5, ["critique"], {"mine": "half a character: \ud800"}])
def test_skills_of_the_wrong_kind_are_said(skills):
    with pytest.raises(SkillInvalid):
        orchestrate(REPORT, "What?", skills=skills, model=ScriptedModel(), plan=ONE)


def test_a_plan_file_nested_too_deeply_is_said(tmp_path):
    path = tmp_path / "plan.json"
    path.write_text("[" * 100_000)

    with pytest.raises(InputInvalid, match="could not be read"):
        orchestrate(REPORT, "What?", model=ScriptedModel(), plan=path)


def test_a_plan_file_may_begin_with_a_byte_order_mark(tmp_path):
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(ONE), encoding="utf-8-sig")

    result = orchestrate(REPORT, "What?", model=ScriptedModel(subtask="Revenue [L3]"), plan=str(path))

    assert result.status == "completed"


@pytest.mark.parametrize("opening", ['{"', "[x "])
def test_a_planner_that_sends_junk_without_end_is_refused_quickly(opening):
    model = ScriptedModel(plan=opening * 300_000)

    with pytest.raises(PlanInvalid):
        orchestrate(REPORT, "What?", model=model)


def test_a_document_s_name_is_text():
    assert Document.from_text("text", name="a\ud800").name == "a?"
