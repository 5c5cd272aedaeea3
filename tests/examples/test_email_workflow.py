"""The mailbox is sorted by rules, and replies are drafted: without a model, and with one."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from models_for_tests import ScriptedModel

from orchestra.pipeline import route
from orchestra.result import Result
from orchestra.runtime.events import Event, NodeUpdated
from orchestra.skills import SkillLibrary

QUERY = "Organize my inbox and reply to the urgent mail"
URGENT = [
    "URGENT: water in the server room",
    "Second reminder: invoice 20417 is overdue",
    "Waited three hours for nothing",
    "Delivery of 240 doses: confirmation needed by tomorrow",
]


def outputs(result: Result) -> dict[str, Any]:
    """What each step gave, by skill."""
    found: dict[str, Any] = {}
    steps = list(result.subtasks[0].steps)
    while steps:
        step = steps.pop()
        found[step.skill] = step.output
        steps.extend(step.steps)
    return found


def mail(text: str, subject: str = "A mail", sender: str = "Ann <ann@x.example>", day: str = "2026-03-02") -> str:
    return f"- From: {sender}\n- Date: {day}\n- Subject: {subject}\n\n{text}\n"


def sorted_mails(text: str, query: str = "Sort my inbox") -> dict[str, Any]:
    return outputs(route(query, context=text))["email-classifier"]


def test_the_mailbox_is_sorted_and_answered_without_a_model_and_every_citation_holds(mailbox: Path) -> None:
    events: list[Event] = []

    result = route(QUERY, context=mailbox, on_event=events.append)

    assert (result.status, result.errors) == ("completed", ())
    found = outputs(result)
    assert [each["subject"] for each in found["email-classifier"]["urgent"]] == URGENT
    kinds = {"to-answer": 3, "to-read": 1, "suspicious": 1, "notification": 1, "newsletter": 2}
    assert found["email-classifier"]["counts"] == {"total": 12, "urgent": 4, "other": 8, **kinds}
    assert [draft["subject"] for draft in found["draft-generator"]["drafts"]] == [f"Re: {each}" for each in URGENT]
    assert {draft["written_by"] for draft in found["draft-generator"]["drafts"]} == {"template"}
    assert "Templates, which no model wrote" in result.answer
    assert {citation.status for citation in result.citations} == {"verified"}
    assert len(result.citations) == 12
    updates = (event for event in events if isinstance(event, NodeUpdated) and event.kind != "guarantee")
    assert {event.node_id: event.skill_name for event in updates} == {
        "run/subtask-1": "email-workflow",
        "run/subtask-1/step-1": "email-classifier",
        "run/subtask-1/step-2": "email-responder",
        "run/subtask-1/step-2/step-1": "tone-analyser",
        "run/subtask-1/step-2/step-2": "draft-generator",
    }


def test_the_command_prints_the_mails_with_their_lines(orchestra, mailbox: Path) -> None:
    done = orchestra("route", QUERY, mailbox, "--no-store")

    assert done.returncode == 0, done.stderr
    assert (
        "- URGENT: water in the server room (Tomas Reyes, 2026-03-12 07:42) [1]. Points: 8 (+3 the subject says"
        in done.stdout
    )
    assert "[1] mailbox.md L5-L18 verified" in done.stdout
    assert "unverified" not in done.stdout
    assert "1 skill · 3 steps" in done.stderr


@pytest.mark.parametrize(
    ("query", "skills"),
    [
        ("Organize my inbox", {"email-classifier"}),
        ("Answer the urgent mails", {"email-classifier", "email-responder", "tone-analyser", "draft-generator"}),
        ("Go through my mailbox", {"email-classifier", "email-responder", "tone-analyser", "draft-generator"}),
    ],
)
def test_only_what_the_query_needs_is_done(query: str, skills: set[str], mailbox: Path) -> None:
    result = route(query, context=mailbox)

    assert result.status == "completed"
    assert {skill for skill, output in outputs(result).items() if output is not None} == skills


def test_a_threshold_in_the_query_decides_what_is_urgent(mailbox: Path) -> None:
    result = route('Organize my inbox {"priority_threshold": "high"}', context=mailbox)

    assert [each["subject"] for each in outputs(result)["email-classifier"]["urgent"]] == URGENT[:1]


def test_a_model_in_use_writes_the_drafts_and_what_it_leaves_out_stays_a_labelled_template(mailbox: Path) -> None:
    model = ScriptedModel(
        subtask={
            "drafts": [
                {"id": "L5-L18", "body": "Hello Tomas, [approve it, or not]."},
                {"id": "L1-L999", "body": "To nobody."},
            ]
        }
    )

    result = route(QUERY, None, model, context=mailbox)

    drafts = outputs(result)["draft-generator"]["drafts"]
    assert result.status == "completed"
    assert [draft["written_by"] for draft in drafts] == ["test:scripted", "template", "template", "template"]
    assert drafts[0]["body"] == "Hello Tomas, [approve it, or not]."
    assert "Written by test:scripted" in result.answer
    assert "3 of them are templates" in result.answer
    assert "To nobody." not in result.answer
    assert [request.purpose for request in model.requests] == ["subtask"]
    assert "water in the server room" in model.requests[0].prompt


def test_drafts_that_fail_leave_the_sorted_mails(mailbox: Path) -> None:
    result = route(QUERY, None, ScriptedModel(subtask="no JSON", synthesis="{}"), context=mailbox)

    assert result.status == "partial"
    assert "## Urgent" in result.answer
    assert "draft-generator" in result.answer


@pytest.mark.parametrize(
    ("text", "category"),
    [
        (mail("The server is down. Can you help today?", "URGENT"), "urgent"),
        (mail("Please pay by March 3. Your account is overdue."), "urgent"),
        (mail("Please pay by March 4. Your account is overdue."), "urgent"),
        (mail("Please pay by March 5. Your account is overdue."), "to-answer"),
        (mail("Please pay by March 30. It is not much."), "to-answer"),
        (mail("Please pay by 2026-03-03, it is overdue."), "urgent"),
        (mail("Could you look at it, no rush?"), "to-answer"),
        (mail("All is well."), "to-read"),
        (mail("Urgent: today only! Unsubscribe here.", "URGENT"), "newsletter"),
        (mail("The disk is down.", "URGENT", "no-reply@x.example"), "notification"),
        (mail("Verify your password at http://x.example now, or else.", "URGENT: today"), "suspicious"),
        (mail("Die Heizung ist ausgefallen, bitte kommen Sie sofort!", "Dringend"), "to-read"),
        (mail("", "", "x"), "to-read"),
    ],
)
def test_a_mail_is_where_its_words_put_it(text: str, category: str) -> None:
    found = sorted_mails(text)

    assert [each["category"] for each in [*found["urgent"], *found["other"]]] == [category]


def test_mails_are_found_in_other_languages_and_other_forms() -> None:
    text = (
        "**Von:** Hans Müller <hans@x.example>\n**Betreff:** Heizung\n**Datum:** Mon, 2 Mar 2026 08:14:00 +0100\n\nKalt.\n"
        "\n---\n\n> From: a@b.example\n> Subject: Hi\n> Date: no day at all\n\nText: with a colon.\nFrom: here on it is text.\n"
    )

    found = sorted_mails(text)

    assert [(each["sender"], each["subject"], each["lines"]) for each in found["other"]] == [
        ("Hans Müller <hans@x.example>", "Heizung", "[L1-L5]"),
        ("a@b.example", "Hi", "[L9-L14]"),
    ]


def test_several_mailboxes_are_cited_by_document(mailbox: Path, tmp_path: Path) -> None:
    shutil.copy(mailbox, tmp_path / "second.md")

    result = route(QUERY, context=[mailbox, tmp_path / "second.md"])

    assert {citation.status for citation in result.citations} == {"verified"}
    assert {citation.document for citation in result.citations} == {"mailbox.md", "second.md"}


@pytest.mark.parametrize(
    ("context", "cause"),
    [(None, "there is no mailbox to go through"), ("# A report\n\nRevenue rose.\n", "there is no mail in document")],
)
def test_what_is_no_mailbox_is_told(context: str | None, cause: str) -> None:
    result = route(QUERY, context=context)

    assert result.status == "failed"
    assert any(error.code == "INPUT_INVALID" and cause in error.message for error in result.errors)
    assert cause in result.answer
    assert result.route is not None
    assert result.route.success_rate == 0.0


def test_no_urgent_mail_means_no_drafts() -> None:
    result = route(QUERY, context=mail("All is well."))

    assert result.status == "completed"
    assert "No mail is." in result.answer
    assert "There is no mail to reply to." in result.answer


def test_the_workflows_ship_and_no_plan_is_offered_them() -> None:
    library = SkillLibrary.builtin()
    names = ("email-workflow", "exam-mode-tuner", "report-review")

    assert all(name in library and library[name].is_trusted for name in names)
    assert not {name for name, _ in library.catalogue} & set(names)


def test_skills_of_ones_own_are_chosen_from_instead(tmp_path: Path, mailbox: Path) -> None:
    place = tmp_path / "sorter"
    place.mkdir()
    (place / "SKILL.md").write_text("---\nname: sorter\ndescription: Sorts.\n---\nSort.\n")
    (place / "skill.yaml").write_text(json.dumps({"type": "code", "function": "sort.py:sort"}))
    (place / "sort.py").write_text("def sort(context):\n    return {'message': 'Sorted.'}\n")

    result = route(QUERY, SkillLibrary.from_path(tmp_path), context=mailbox)

    assert [subtask.skill for subtask in result.subtasks] == ["sorter"]
