"""Trees of skills at work: the node trees, and how few calls they take."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from models_for_tests import ScriptedModel

from orchestra.errors import ModelRefused
from orchestra.models.protocol import ModelReply, ModelRequest, Usage
from orchestra.pipeline import orchestrate, route
from orchestra.runtime.events import Event, NodeUpdated
from orchestra.skills import SkillLibrary


def write_skill(folder: Path, name: str, body: str = "Do it.", **fields: Any) -> Path:
    """A folder with SKILL.md and skill.yaml."""
    place = folder / name
    place.mkdir(parents=True)
    description = fields.pop("description", f"Does {name}.")
    (place / "SKILL.md").write_text(f"---\nname: {name}\ndescription: {description}\n---\n{body}\n")
    if fields:
        (place / "skill.yaml").write_text(json.dumps({"name": name, **fields}))
    return place


@pytest.fixture
def mail(tmp_path: Path) -> SkillLibrary:
    """The design's first example: a classifier, then a responder that takes what it found urgent."""
    output = {"type": "object", "properties": {"urgent": {"type": "array"}}, "required": ["urgent"]}
    place = write_skill(
        tmp_path,
        "email-workflow",
        type="composite",
        sub_skills=[
            {"name": "email_classifier", "triggers": ["organize", "classify"]},
            {"name": "email_responder", "triggers": ["reply"], "dependencies": ["email_classifier"]},
        ],
        routing={"strategy": "sequential"},
        data_flow=["step_1.output.urgent → step_2.email_list"],
    )
    write_skill(place / "sub_skills", "email-classifier", "Classify.", output=output)
    write_skill(place / "sub_skills", "email-responder", "Reply.", parameters={"required": ["email_list"]})
    return SkillLibrary.from_path(tmp_path)


def by_skill(**answers: Any) -> ScriptedModel:
    """A model that answers a step by its skill's prompt."""

    def answer(request: ModelRequest) -> Any:
        text = next(reply for prompt, reply in answers.items() if f"\n{prompt}." in f"\n{request.prompt}")
        if isinstance(text, BaseException):
            raise text
        return ModelReply(text if isinstance(text, str) else json.dumps(text), Usage(10, output_tokens=5))

    wording = {"summary": "Done.", "user_message": "All done.", "next_actions": ["Send them"]}
    return ScriptedModel(subtask=answer, synthesis=wording)


def test_a_sequence_with_a_data_flow_needs_no_call_but_its_steps_and_its_words(mail: SkillLibrary):
    model = by_skill(Classify={"urgent": ["m1", "m2"]}, Reply="Drafted two replies.")
    events: list[Event] = []

    result = orchestrate(
        "Mailbox", "Organize my inbox and reply to urgent emails", mail, model, strategy="route", on_event=events.append
    )

    assert result.status == "completed"
    assert result.answer == "All done."
    assert [request.purpose for request in model.requests] == ["subtask", "subtask", "synthesis"]
    assert '{"email_list": ["m1", "m2"]}' in model.requests[1].prompt
    assert result.route is not None
    assert (result.route.success_rate, result.route.partial_failures) == (1.0, ())
    updates = (event for event in events if isinstance(event, NodeUpdated) and event.kind != "guarantee")
    nodes = {event.node_id: event.skill_name for event in updates}
    assert nodes == {
        "run/subtask-1": "email-workflow",
        "run/subtask-1/step-1": "email-classifier",
        "run/subtask-1/step-2": "email-responder",
        "run/synthesis": "",
    }


def test_a_route_needs_no_documents(mail: SkillLibrary):
    model = by_skill(Classify={"urgent": []}, Reply="Nothing to do.")

    result = route("Organize my inbox and reply to urgent emails", mail, model)

    assert result.status == "completed"
    assert result.documents == ()
    assert len(model.requests) == 3


def test_a_step_that_fails_leaves_the_others_and_the_numbers_say_so(mail: SkillLibrary):
    model = by_skill(Classify={"urgent": ["m1"]}, Reply=ModelRefused("no"))

    result = route("Organize my inbox and reply to urgent emails", mail, model)

    assert result.status == "partial"
    assert result.route is not None
    assert result.route.success_rate == 0.5
    assert result.route.partial_failures == ("step_1.step_2 email-responder: MODEL_REFUSED: no",)
    assert "m1" in result.answer
