"""Runs of elsewhere that a page comes upon, streams that were refused, and answers that come too late."""

from __future__ import annotations

import threading
from dataclasses import replace

from models_for_tests import COSTS, REPORT, ScriptedModel, plan_of
from playwright.sync_api import expect

from orchestra import orchestrate

TASK = "Why did costs rise?"
PLAN = plan_of({"task": TASK, "context_pointers": COSTS})


def session_of(panel):
    return panel.client.post("/sessions").headers["location"].rsplit("/", 1)[-1]


def begun_elsewhere(panel, session_id, may_end):
    """A run as a program begins it, whose model answers when it may."""

    def reply(_):
        may_end.wait(30)
        return "Steel became dearer [L9]."

    options = {"model": ScriptedModel(plan=PLAN, subtask=reply), "store": panel.store, "session_id": session_id}
    thread = threading.Thread(target=lambda: orchestrate(REPORT, TASK, strategy="full", **options), daemon=True)
    thread.start()
    return thread


def test_an_empty_session_takes_up_the_run_that_a_program_begins_in_it(panel, look):
    may_end, session_id = threading.Event(), session_of(panel)
    page = look(panel)
    page.goto(f"{panel.url}/sessions/{session_id}")
    page.locator("#task").fill("What I was writing")
    expect(page.locator("[data-live-state]")).to_have_text("live")

    thread = begun_elsewhere(panel, session_id, may_end)
    expect(page.locator("#panel .overview-status")).to_contain_text("Running")
    expect(page.locator("#panel-body")).to_contain_text("full")
    page.locator('[data-tab="graph"]').click()
    expect(page.locator("#call-graph")).to_contain_text("executing")
    may_end.set()
    thread.join(20)

    expect(page.locator("#call-graph .row").first).to_contain_text("completed")
    expect(page.locator(".turn .answer")).to_contain_text("Steel became dearer")
    expect(page.locator("#task")).to_have_value("What I was writing")


def test_a_run_that_another_process_has_begun_is_shown_by_a_click_while_it_goes_on(panel, look):
    may_end, session_id = threading.Event(), session_of(panel)
    orchestrate(REPORT, "Who audits the company?", store=panel.store, session_id=session_id)
    page = look(panel)
    page.goto(f"{panel.url}/sessions/{session_id}")
    expect(page.locator(".turn-completed")).to_be_visible()

    thread = begun_elsewhere(panel, session_id, may_end)
    page.locator(".turn-running").get_by_role("link", name="Show the run").click()

    expect(page.locator("#call-graph")).to_contain_text("executing")
    may_end.set()
    thread.join(20)
    expect(page.locator(".turn-completed")).to_have_count(2)


def test_a_stream_that_was_refused_is_asked_for_again(panel, look):
    session_id = session_of(panel)
    page = look(panel, expects=("503",))
    expect(page.locator("[data-live-state]")).to_have_text("live")
    answers = []
    page.on("response", lambda response: "/live?" in response.url and answers.append(response.status))
    page.route("**/live?*", lambda route: route.fulfill(status=503), times=1)

    page.goto(f"{panel.url}/sessions/{session_id}")

    expect(page.locator("[data-live-state]")).to_have_text("live")
    assert answers == [503, 200]


def test_a_view_that_was_left_before_it_came_is_not_shown(panel, look):
    run = orchestrate(REPORT, "Who audits the company?", store=panel.store, session_id=session_of(panel))
    page = look(panel)
    page.goto(f"{panel.url}/runs/{run.run_id}?tab=graph")
    expect(page.locator("#call-graph")).to_be_visible()
    page.route("**/permissions", lambda route: None)
    page.locator('[data-tab="permissions"]').click()
    expect(page.locator('[data-tab="permissions"]')).to_have_attribute("aria-current", "page")

    with page.expect_event("requestfailed", lambda request: request.url.endswith("/permissions")):
        page.locator('[data-tab="overview"]').click()

    expect(page.locator("#panel-body .overview")).to_be_visible()
    expect(page.locator("#panel-body")).to_have_attribute("aria-label", "Overview")


def test_the_panel_says_as_the_chat_does_that_a_run_was_interrupted(panel, look):
    run = orchestrate(REPORT, "Who audits the company?", store=panel.store, session_id=session_of(panel))
    gone = replace(panel.store.run(run.run_id), status="running", ended_at=None, result=None)
    panel.store.begin_run(gone)
    panel.store.lease(gone.id, "a process", 60)
    page = look(panel)
    page.goto(f"{panel.url}/runs/{gone.id}")
    expect(page.locator(".overview-status")).to_contain_text("Running")

    panel.store.release(gone.id, "a process")

    expect(page.locator(".turn-interrupted")).to_be_visible()
    expect(page.locator(".overview-status")).to_contain_text("Interrupted")
