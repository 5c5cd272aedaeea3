"""Questions to people: cards that answer exactly what they show, once, from any tab."""

from __future__ import annotations

import json
import threading
import time

import pytest
from html_for_tests import Read
from models_for_tests import COSTS, REPORT, ScriptedModel, plan_of
from playwright.sync_api import expect

from orchestra.models.protocol import ModelReply, ToolCall, Usage

PART = {"HX-Request": "true"}
CAREFUL = {"careful": {"description": "Careful work.", "system_prompt": "Take care.", "needs_approval": True}}
PLAN = plan_of({"skill": "careful", "task": "Why did costs rise?", "context_pointers": COSTS})
TASK = "Why did costs rise?"


def careful_model() -> ScriptedModel:
    """Its plan has one subtask for the skill that needs an approval; the reply repeats what was asked."""
    return ScriptedModel(plan=PLAN, subtask=lambda request: f"Asked {request.blocks[-1].words} It is steel [L9].")


def asking_model(**arguments) -> ScriptedModel:
    """Asks the user, then says what he answered."""
    call = ToolCall("c1", "ask_user", {"question": "Which year?", **arguments})

    def reply(request):
        if request.messages:
            return f"You said: {request.messages[-1].tool_results[0].text}"
        return ModelReply("", Usage(1, output_tokens=1), tool_calls=(call,), stop_reason="tool_use")

    return ScriptedModel(subtask=reply)


@pytest.fixture
def careful(start_panel, tmp_path):
    """A panel whose runs ask for an approval."""
    return start_panel(documents=[written(tmp_path)], model=careful_model(), skills=CAREFUL)


def written(tmp_path):
    path = tmp_path / "report.md"
    path.write_text(REPORT, encoding="utf-8")
    return path


def until(claim):
    ends_at = time.monotonic() + 20
    while not (found := claim()):
        assert time.monotonic() < ends_at, "it did not come true"
        threading.Event().wait(0.02)
    return found


def asked(panel, **fields):
    """What a run that was begun by a form asks."""
    session_id = panel.client.post("/sessions").headers["location"].rsplit("/", 1)[-1]
    fields = {"strategy": "full", **fields}
    sent = panel.client.post(f"/sessions/{session_id}/messages", data={"task": TASK, **fields})
    run_id = sent.headers["location"].rpartition("run=")[2]
    return until(lambda: panel.store.approvals(run_id, "open"))[0]


def answer(panel, record, **form):
    fields = {"node": record.node_id, "digest": record.digest, **form}
    return panel.client.post(f"/runs/{record.run_id}/answer", data=fields, headers=PART)


def ended(panel, run_id):
    until(lambda: panel.store.run(run_id).status != "running" and not panel.desk.runner.is_running(run_id))
    return panel.store.run(run_id)


def turn(panel, run_id):
    return panel.client.get(f"/runs/{run_id}/turn", headers=PART).text


def page_of(panel, record):
    return f"{panel.url}/sessions/{panel.store.run(record.run_id).session_id}?run={record.run_id}"


# By forms


def test_a_card_shows_all_that_is_asked_and_an_answer_lets_the_run_go_on(careful):
    record = asked(careful)

    shown = Read(turn(careful, record.run_id))
    assert TASK in shown.text
    assert record.digest in [each.get("value") for each in shown.attributes("input")]
    assert answer(careful, record, outcome="approved").status_code == 204

    result = ended(careful, record.run_id).result
    assert result["status"] == "completed"
    assert "card" not in turn(careful, record.run_id)


def test_an_edit_is_what_is_done(careful):
    record = asked(careful)
    names = list(json.loads(json.dumps(record.shown["shown"])))

    answer(careful, record, outcome="approved", **{f"edit-{names.index('task')}": "What became dearer?"})

    assert ended(careful, record.run_id).result["answer"].startswith("Asked What became dearer?")
    assert careful.store.approvals(record.run_id)[0].outcome == "edited"


def test_a_rejection_reaches_the_run_with_its_reason(careful):
    record = asked(careful)

    answer(careful, record, outcome="rejected", reason="too dear")

    (subtask,) = ended(careful, record.run_id).result["subtasks"]
    assert subtask["error"]["code"] == "APPROVAL_REJECTED"
    assert "too dear" in json.dumps(subtask["error"])


def test_the_first_answer_counts_and_the_second_is_told(careful):
    record = asked(careful)

    first = answer(careful, record, outcome="rejected", reason="too dear")
    second = answer(careful, record, outcome="approved")

    assert (first.status_code, second.status_code) == (204, 409)
    assert "somebody else answered first: rejected: too dear" in second.text
    assert second.headers["HX-Trigger"] == "run-changed"
    assert careful.store.approvals(record.run_id)[0].outcome == "rejected"


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ({"digest": "0" * 64}, "is not asked any more"),
        ({"node": "run/subtask-9"}, "is not asked any more"),
        ({"outcome": ""}, "is no answer"),
        ({"outcome": "answered", "text": "yes"}, "neither approves nor rejects"),
        ({"edited": '{"skill": 1}'}, "it may change task"),
        ({"edited": '{"task": 1}'}, "not of the kind"),
    ],
)
def test_what_is_not_an_answer_to_what_was_shown_leaves_it_open(careful, form, words):
    record = asked(careful)

    refused = answer(careful, record, **{"outcome": "approved", **form})

    assert refused.status_code == 400
    assert words in refused.text
    assert [each.status for each in careful.store.approvals(record.run_id)] == ["open"]


def test_looking_answers_nothing(careful):
    record = asked(careful)
    query = {"node": record.node_id, "digest": record.digest, "outcome": "approved"}

    looked = careful.client.get(f"/runs/{record.run_id}/answer", params=query)

    assert looked.status_code == 405
    assert [each.status for each in careful.store.approvals(record.run_id)] == ["open"]


def test_an_answer_without_the_token_is_none(careful):
    record = asked(careful)
    form = {"node": record.node_id, "digest": record.digest, "outcome": "approved"}

    refused = careful.client.post(f"/runs/{record.run_id}/answer", data=form, headers={"X-Token": "wrong"})

    assert refused.status_code == 403
    assert [each.status for each in careful.store.approvals(record.run_id)] == ["open"]


def test_a_run_that_ended_to_wait_goes_on_when_it_is_answered(start_panel, tmp_path):
    panel = start_panel(documents=[written(tmp_path)], model=careful_model(), skills=CAREFUL)
    panel.desk.runner._answer_wait_s = 0.1
    record = asked(panel)
    until(lambda: panel.store.run(record.run_id).status == "waiting")

    assert "waits for you" in turn(panel, record.run_id)
    assert answer(panel, record, outcome="approved").status_code == 204

    until(lambda: panel.store.run(record.run_id).status == "completed")


def test_a_run_that_was_answered_elsewhere_can_be_resumed(start_panel, tmp_path):
    panel = start_panel(documents=[written(tmp_path)], model=careful_model(), skills=CAREFUL)
    panel.desk.runner._answer_wait_s = 0.1
    record = asked(panel)
    until(lambda: not panel.desk.runner.is_running(record.run_id))
    panel.store.answer(record.run_id, record.node_id, record.digest, outcome="approved")

    page = turn(panel, record.run_id)
    panel.client.post(f"/runs/{record.run_id}/resume")

    assert "answered, and can go on" in page
    assert f'action="/runs/{record.run_id}/resume"' in page
    until(lambda: panel.store.run(record.run_id).status == "completed")


def test_hidden_characters_of_a_question_are_spelt_out(start_panel, tmp_path):
    plan = plan_of({"skill": "careful", "task": "Pay \u202eevil\u200b <b>now</b>", "context_pointers": COSTS})
    model = ScriptedModel(plan=plan, subtask="Done [L9].")
    panel = start_panel(documents=[written(tmp_path)], model=model, skills=CAREFUL)

    shown = turn(panel, asked(panel).run_id)

    assert "Pay ‹U+202E›evil‹U+200B› &lt;b&gt;now&lt;/b&gt;" in shown
    assert "<b>now" not in shown


# In a browser


def test_an_approval_is_edited_while_the_run_goes_on_around_it(careful, look):
    record = asked(careful)
    page = look(careful)
    page.goto(page_of(careful, record))
    card = page.locator(".card")

    card.get_by_text("Edit before you approve").click()
    card.get_by_label("task", exact=True).fill("What became dearer?")
    card.get_by_label("Why, if you reject it").fill("half a reason")
    page.locator("#messages").click()
    with page.expect_response("**/turn"):
        page.evaluate("orchestra.tell('run-changed')")
    expect(card.get_by_label("task", exact=True)).to_have_value("What became dearer?")
    expect(card.get_by_label("Why, if you reject it")).to_have_value("half a reason")
    card.get_by_role("button", name="Approve").click()

    expect(page.locator(".answer")).to_contain_text("Asked What became dearer?")
    expect(card).to_have_count(0)
    assert careful.store.approvals(record.run_id)[0].outcome == "edited"


def test_a_question_is_answered_by_the_keyboard_alone(start_panel, look, tmp_path):
    model = asking_model(options=["2024", "2025"])
    panel = start_panel(documents=[written(tmp_path)], model=model, tools=["ask_user"])
    record = asked(panel, strategy="direct")
    page = look(panel)
    page.goto(page_of(panel, record))
    card = page.locator(".card")

    expect(card).to_contain_text("Which year?")
    expect(card.get_by_role("button", name="2025")).to_be_visible()
    card.get_by_label("Or in your own words").focus()
    page.keyboard.type("both of them")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")

    expect(page.locator(".answer")).to_contain_text("You said: both of them")


def test_of_two_tabs_one_wins_and_the_other_is_told(careful, look):
    record = asked(careful)
    first, second = (look(careful, expects=("409",)) for _ in range(2))
    for page in (first, second):
        page.goto(page_of(careful, record))
        expect(page.locator(".card")).to_be_visible()
    second.route("**/turn", lambda route: route.fulfill(status=204))  # it has not heard of the other's answer yet
    second.route("**/chat", lambda route: route.fulfill(status=204))

    first.get_by_label("Why, if you reject it").fill("too dear")
    first.keyboard.press("Enter")  # in the reason, this rejects
    expect(first.locator(".card")).to_have_count(0)
    second.get_by_role("button", name="Approve").click()

    expect(second.locator(".note")).to_contain_text("somebody else answered first: rejected: too dear")
    assert careful.store.approvals(record.run_id)[0].outcome == "rejected"


def test_a_card_that_is_answered_elsewhere_goes(careful, look):
    record = asked(careful)
    page = look(careful)
    page.goto(page_of(careful, record))
    expect(page.locator(".card")).to_be_visible()

    careful.store.answer(record.run_id, record.node_id, record.digest, outcome="approved")

    expect(page.locator(".card")).to_have_count(0)
    expect(page.locator(".answer")).to_contain_text("It is steel")


def test_of_two_open_cards_the_one_that_is_answered_goes_on_at_once(start_panel, tmp_path):
    parts = ({"skill": "careful", "task": task, "context_pointers": COSTS} for task in ("Why?", "Since when?"))
    model = ScriptedModel(plan=plan_of(*parts), subtask="It is steel [L9].", synthesis="Steel [L9].")
    panel = start_panel(documents=[written(tmp_path)], model=model, skills=CAREFUL)
    run_id = asked(panel).run_id
    first, second = until(lambda: len(found := panel.store.approvals(run_id, "open")) == 2 and found)

    assert answer(panel, second, outcome="approved").status_code == 204

    until(lambda: (second.node_id, "completed") in [(each.node_id, each.status) for each in panel.store.nodes(run_id)])
    assert [each.node_id for each in panel.store.approvals(run_id, "open")] == [first.node_id]
    assert answer(panel, first, outcome="approved").status_code == 204
    assert ended(panel, run_id).status == "completed"
