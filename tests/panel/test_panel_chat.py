"""The chat over HTTP and in a browser: tasks sent, answers with their sources, failures, settings."""

from __future__ import annotations

import html
import re
import threading
import time

import pytest
from axe_playwright_python.sync_playwright import Axe
from html_for_tests import Read
from models_for_tests import REPORT, ScriptedModel
from playwright.sync_api import expect

from orchestra import orchestrate
from orchestra.errors import ModelTimeout
from orchestra.models.protocol import ModelReply, Usage
from orchestra.panel.pages.chat import MOST_TURNS
from orchestra.panel.view.preferences import COOKIE
from orchestra.store import RunRecord

PART = {"HX-Request": "true"}
TASK = "Who audits the company?"


@pytest.fixture
def report(tmp_path):
    path = tmp_path / "report.md"
    path.write_text(REPORT, encoding="utf-8")
    return path


def session_of(panel):
    return panel.client.post("/sessions").headers["location"].rsplit("/", 1)[-1]


def send(panel, session_id, task=TASK, **fields):
    return panel.client.post(f"/sessions/{session_id}/messages", data={"task": task, **fields})


def ended(panel, run_id):
    ends_at = time.monotonic() + 20
    while panel.store.run(run_id).status == "running" or panel.desk.runner.is_running(run_id):
        assert time.monotonic() < ends_at
        threading.Event().wait(0.02)
    return panel.store.run(run_id)


def asked(panel, task=TASK, **fields):
    """The record of a run that was begun by a form, once it has ended."""
    answer = send(panel, session_of(panel), task, **fields)
    assert answer.status_code == 303, answer.text
    return ended(panel, answer.headers["location"].rpartition("run=")[2])


def chat(panel, session_id):
    return panel.client.get(f"/sessions/{session_id}/chat", headers=PART)


# By forms


def test_a_task_is_sent_by_a_plain_form_and_leads_to_its_run(start_panel, report):
    panel = start_panel(documents=[report])

    record = asked(panel)

    assert (record.status, record.task) == ("completed", TASK)
    page = chat(panel, record.session_id)
    assert page.status_code == 200
    assert "Miller &amp; Stone LLP audits the company." in page.text
    assert f'href="/runs/{record.id}/source?n=1"' in page.text
    assert "Auto-routed 1 skill · " in page.text


def test_htmx_is_told_where_to_go(start_panel, report):
    panel = start_panel(documents=[report])
    session_id = session_of(panel)

    answer = panel.client.post(f"/sessions/{session_id}/messages", data={"task": TASK}, headers=PART)

    assert answer.status_code == 200
    assert re.fullmatch(rf"/sessions/{session_id}\?run=[0-9a-f]+", answer.headers["HX-Redirect"])


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"task": "  "}, "the task is empty"),
        ({"task": "x" * 200_001}, "the task has 200,001 characters"),
        ({"task": TASK, "strategy": "magic"}, "strategy is"),
        ({"task": TASK, "model": "nobody:knows"}, "names no model"),
    ],
)
def test_a_task_that_cannot_be_sent_is_told_beside_the_box(start_panel, report, fields, words):
    panel = start_panel(documents=[report])

    answer = panel.client.post(f"/sessions/{session_of(panel)}/messages", data=fields, headers=PART)

    assert answer.status_code == 400
    assert words in html.unescape(answer.text)
    assert "<html" not in answer.text
    assert panel.store.runs() == []


def test_without_a_document_nothing_is_sent(panel):
    answer = panel.client.post(f"/sessions/{session_of(panel)}/messages", data={"task": TASK}, headers=PART)

    assert answer.status_code == 400
    assert "no document is attached" in answer.text


def test_a_session_that_is_not_there_has_no_chat_and_takes_no_task(start_panel, report):
    panel = start_panel(documents=[report])

    assert chat(panel, "nowhere").status_code == 404
    assert send(panel, "nowhere").status_code == 404
    assert panel.client.post("/sessions/nowhere/estimate", data={"task": TASK}).status_code == 404
    assert panel.store.runs() == []


def test_a_follow_up_carries_what_was_asked_and_answered_before(start_panel, report):
    model = ScriptedModel(subtask="Revenue was $40 million [L5].")
    panel = start_panel(documents=[report], model=model)

    session_id = session_of(panel)

    for task in ("What was revenue?", "And the year before?"):
        ended(panel, send(panel, session_id, task).headers["location"].rpartition("run=")[2])

    prompt = model.requests[-1].prompt
    assert "What was revenue?" in prompt
    assert "Revenue was $40 million" in prompt


def test_choices_reach_the_run(start_panel, report):
    panel = start_panel(documents=[report])

    record = asked(panel, strategy="outline", mode="standard", model_name="builtin:extractive")

    assert record.result["strategy"]["asked"] == "outline"
    assert any(layer["layer"] == "enhancement" for layer in record.result["layers"])


def test_a_run_of_no_session_has_its_turn_and_no_box(panel):
    result = orchestrate(REPORT, TASK, store=panel.store)

    page = panel.client.get(f"/runs/{result.run_id}/chat", headers=PART)

    assert "Miller &amp; Stone" in page.text
    assert "task-box" not in page.text
    assert f'href="/runs/{result.run_id}?tab=graph"' in page.text


def test_a_long_session_shows_its_newest_turns_and_all_on_request(panel):
    session_id = session_of(panel)
    for number in range(MOST_TURNS + 2):
        run = RunRecord(id=f"r{number}", task=f"task {number}", session_id=session_id, started_at=float(number + 1))
        panel.store.begin_run(run)
        panel.store.end_run(run.id, "failed", error={"code": "TIMEOUT", "message": "too slow"})

    newest = chat(panel, session_id).text
    everything = panel.client.get(f"/sessions/{session_id}/chat?all=1", headers=PART).text

    assert re.findall(r'id="turn-(\w+)"', newest) == [f"r{number}" for number in range(2, MOST_TURNS + 2)]
    assert "Show what was asked before" in newest
    assert everything.count('id="turn-') == MOST_TURNS + 2
    assert "Show what was asked before" not in everything


def test_nothing_of_tasks_answers_and_names_is_obeyed(start_panel, tmp_path):
    attack = "<script>alert(1)</script><img src=x onerror=alert(2)>"
    document = tmp_path / "<img src=x onerror=alert(3)>.md"
    document.write_text(REPORT, encoding="utf-8")
    model = ScriptedModel(subtask=f"{attack} [x](javascript:alert(4)) [L5] <style>*{{}}</style>")
    panel = start_panel(documents=[document], model=model)

    record = asked(panel, attack)

    page = Read(chat(panel, record.session_id).text)
    assert not page.names & {"script", "img", "style", "iframe"}
    assert page.handlers == []
    assert {link["href"][:6] for link in page.attributes("a")} <= {"/runs/", "/sessi"}
    assert page.text.count("alert(1)") == 2


def test_raw_events_and_payloads_stay_out_of_the_chat(start_panel, report):
    panel = start_panel(documents=[report])

    page = chat(panel, asked(panel).session_id).text

    for word in ("skill-route", "permission_snapshot", "sequence", "fingerprint", "run/subtask"):
        assert word not in page


def test_the_bill_is_estimated_without_a_call_and_once(start_panel, report, monkeypatch):
    model = ScriptedModel()
    panel = start_panel(documents=[report], model=model)
    session_id = session_of(panel)

    first = panel.client.get(f"/sessions/{session_id}/estimate", params={"task": TASK}, headers=PART)
    monkeypatch.setattr("orchestra.panel.estimating.compare_strategies", None)
    again = panel.client.post(f"/sessions/{session_id}/estimate", data={"task": TASK}, headers=PART)

    assert model.requests == []
    assert "1 document · expected: direct · 1 call" in first.text
    assert re.findall(r'<th scope="row">.*?</span>(\w+)', first.text) == ["direct", "full", "outline"]
    assert again.text == first.text


def test_an_estimate_follows_the_document(start_panel, report):
    panel = start_panel(documents=[report])
    path = f"/sessions/{session_of(panel)}/estimate"
    short = panel.client.get(path, params={"task": TASK}, headers=PART).text

    report.write_text(REPORT * 200, encoding="utf-8")
    long = panel.client.get(path, params={"task": TASK}, headers=PART).text

    assert "expected: direct" in short
    assert "expected: outline" in long


def test_an_estimate_that_cannot_be_made_says_why(start_panel, report):
    panel = start_panel(documents=[report])

    answer = panel.client.get(f"/sessions/{session_of(panel)}/estimate", params={"task": TASK, "model": "nobody:knows"})

    assert answer.status_code == 200
    assert "names no model" in answer.text


# What fails, stops, and goes on


def failing(panel_of, report):
    model = ScriptedModel(subtask=ModelTimeout("the model did not answer within 60 s", cause="silence"))
    return panel_of(documents=[report], model=model)


def test_a_failure_is_one_sentence_and_one_link_to_its_node(start_panel, report):
    panel = failing(start_panel, report)

    record = asked(panel, max_attempts="1")

    page = chat(panel, record.session_id).text
    assert record.status == "failed"
    assert "The model did not answer within 60 s." in page
    assert (
        f'href="/sessions/{record.session_id}?run={record.id}&amp;tab=graph&amp;node=run%2Fsubtask-1">View details'
        in page
    )
    assert "silence" not in page
    assert "MODEL_" not in page


def test_a_run_whose_process_is_gone_is_interrupted_and_can_be_resumed(start_panel, report):
    panel = start_panel(documents=[report])
    record = asked(panel)
    panel.store.begin_run(
        record.__class__(**{**{f: getattr(record, f) for f in record.__slots__}, "status": "running"})
    )

    page = chat(panel, record.session_id).text
    resumed = panel.client.post(f"/runs/{record.id}/resume")

    assert "interrupted" in page
    assert f'action="/runs/{record.id}/resume"' in page
    assert resumed.status_code == 303
    assert ended(panel, record.id).status == "completed"


def test_a_run_is_cancelled_by_a_form(start_panel, report):
    may_end = threading.Event()

    def slow(request):
        request.deadline.on_cancel(may_end.set)
        may_end.wait(20)
        return ModelReply("It rose [L5].", usage=Usage(1, output_tokens=1))

    panel = start_panel(documents=[report], model=ScriptedModel(subtask=slow))
    run_id = send(panel, session_of(panel), strategy="direct").headers["location"].rpartition("run=")[2]

    page = panel.client.get(f"/runs/{run_id}/turn", headers=PART).text
    answer = panel.client.post(f"/runs/{run_id}/cancel", headers=PART)

    assert f'action="/runs/{run_id}/cancel"' in page
    assert (answer.status_code, answer.headers["HX-Trigger"]) == (204, "run-changed")
    assert ended(panel, run_id).status == "cancelled"
    assert panel.client.post(f"/runs/{'0' * 32}/cancel").status_code == 404


# Settings


def test_settings_are_kept_in_a_strict_cookie_and_reach_the_next_run(start_panel, report):
    panel = start_panel(documents=[report])

    saved = panel.client.post("/settings", data={"max_depth": "3", "timeout_s": "60", "retries": "1"})
    record = asked(panel)

    cookie = saved.headers["set-cookie"].lower()
    assert saved.status_code == 303
    assert cookie.startswith(COOKIE)
    assert "samesite=strict" in cookie
    assert "httponly" in cookie
    settings = record.request["settings"]
    assert (settings["max_depth"], settings["retries"], settings["timeout_s"]) == (3, 1, None)
    assert 'data-persist="no"' in panel.client.get(f"/sessions/{record.session_id}").text


def test_the_form_shows_what_is_configured_as_the_default(start_panel, tmp_path):
    config = tmp_path / "orchestra.toml"
    config.write_text("max_depth = 7\n", encoding="utf-8")

    page = start_panel(config=config).client.get("/settings").text

    assert re.search(r'id="max_depth"[^>]* value="7"', page)
    assert f"set in {config} is 7" in page


def test_settings_out_of_range_are_refused_and_kept_as_they_were(panel):
    answer = panel.client.post("/settings", data={"max_depth": "9"})

    assert answer.status_code == 400
    assert "Max call depth is 9" in answer.text
    assert "set-cookie" not in answer.headers


def test_settings_offer_no_manual_routing(panel):
    page = panel.client.get("/settings").text

    assert re.findall(r'<input id="(\w+)"', page) == ["max_depth", "timeout_s", "retries"]


# In a browser


def test_from_typing_to_an_answer_with_its_sources(start_panel, look, report):
    panel = start_panel(documents=[report])
    page = look(panel)

    page.get_by_label("Task", exact=True).press_sequentially(TASK, delay=5)
    expect(page.locator("#estimate summary")).to_contain_text("1 document · expected: direct")
    page.keyboard.press("Control+Enter")
    page.wait_for_url("**?run=*")

    turn = page.locator("li.turn")
    expect(turn).to_contain_text("Miller & Stone LLP audits the company.")
    expect(turn.locator(".status")).to_contain_text("completed")
    expect(turn.get_by_role("link", name="Source 1, verified: report.md L13")).to_be_visible()
    turn.get_by_role("link", name="Source 1, verified: report.md L13").click()
    expect(page.locator("#panel-body")).to_contain_text("Miller & Stone LLP")
    turn.locator(".capsule a").click()
    page.wait_for_url("**&tab=graph*")
    assert page.locator("#panel").is_visible()


def test_an_answer_streams_in_and_what_is_being_typed_stays(start_panel, look, report):
    go_on, words = threading.Event(), [f"word{number} " for number in range(8)]

    def streamed(request):
        for word in words[:4]:
            request.on_delta(word)
        go_on.wait(20)
        for word in words[4:]:
            request.on_delta(word)
        return ModelReply("".join(words) + "Revenue was $40 million [L5].", usage=Usage(100, output_tokens=20))

    panel = start_panel(documents=[report], model=ScriptedModel(subtask=streamed))
    page = look(panel)
    page.get_by_label("Task", exact=True).fill("What was revenue?")
    page.get_by_role("button", name="Send").click()
    page.wait_for_url("**?run=*")

    answer = page.locator(".streamed")
    expect(answer).to_have_text("word0 word1 word2 word3 ")
    page.get_by_label("Task", exact=True).fill("half typed")
    page.locator("#messages").click()
    go_on.set()

    expect(page.locator(".answer .cite")).to_have_count(1)
    assert page.locator(".answer").inner_text().count("word7") == 1
    assert page.get_by_label("Task", exact=True).input_value() == "half typed"


def test_a_failure_is_two_clicks_from_its_code_cause_and_suggestion(start_panel, look, report):
    panel = failing(start_panel, report)
    record = asked(panel)
    page = look(panel)
    page.goto(f"{panel.url}/sessions/{record.session_id}")
    turn = page.locator("li.turn")

    expect(turn.locator(".failure")).to_contain_text("The model did not answer within 60 s.")
    turn.get_by_role("link", name="View details").click()
    page.wait_for_url("**&tab=graph&node=run%2Fsubtask-1")

    body = page.locator("#panel-body")
    expect(body).to_contain_text("TIMEOUT")
    expect(body).to_contain_text("silence")
    expect(body).to_contain_text("Raise the timeout")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_the_chat_the_box_and_the_settings(start_panel, look, report, scheme):
    panel = failing(start_panel, report)
    record = asked(panel)
    page = look(panel, color_scheme=scheme, viewport={"width": 360, "height": 740})
    send(panel, record.session_id, model_name="builtin:extractive")
    page.goto(f"{panel.url}/sessions/{record.session_id}")
    expect(page.locator("li.turn .capsule")).to_have_count(2)
    page.get_by_label("Task", exact=True).fill(TASK)
    expect(page.locator("#bill summary")).to_contain_text("expected:")

    for summary in ("#bill summary", "#choices summary", ".sources summary", ".chart summary"):
        page.locator(summary).last.click()
    violations = Axe().run(page, context="#chat").response["violations"]
    page.goto(f"{panel.url}/settings")
    violations += Axe().run(page).response["violations"]

    assert [each["id"] for each in violations] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
