"""The whole flow in a browser, on the built-in engine and against a model that fails, hangs, asks and needs approval.

Each acceptance line of the design is named in a test: functional (9.1), security (9.2), ease of use (9.3).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from models_for_tests import REPORT, ScriptedModel
from playwright.sync_api import Page, expect
from scenes import (
    ASKS,
    BOTH,
    CAREFUL,
    CYCLE,
    DEPTH,
    FORBIDDEN,
    GUARDED,
    HALF,
    HANGS,
    HELD,
    LOST,
    NARROW,
    SIMPLE,
    SLOW,
    Stage,
    a_denied_run,
    a_stage,
    served,
    until,
)

from orchestra import orchestrate
from orchestra.panel.desk import open_desk
from orchestra.panel.view.preferences import COOKIE as PREFERENCES
from orchestra.store import Store

Look = Callable[..., Page]
pytestmark = pytest.mark.usefixtures("patient")


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """A panel over a loopback model, which the tests of this module share; each has sessions of its own."""
    with a_stage(tmp_path_factory.mktemp("acceptance")) as made:
        yield made


def send(page: Page, task: str) -> str:
    """Write a task and send it; the id of its run."""
    before = page.url
    page.get_by_label("Task", exact=True).fill(task)
    page.get_by_role("button", name="Send").click()
    page.wait_for_url(lambda url: url != before and "run=" in url)
    return re.search(r"run=(\w+)", page.url)[1]


def at_session(page: Page, stage: Stage) -> str:
    session_id = stage.new_session()
    page.goto(f"{stage.url}/sessions/{session_id}")
    return session_id


def tab(page: Page, name: str) -> None:
    page.get_by_role("navigation", name="Views of the run").get_by_role("link", name=name).click()


def newest(page: Page) -> Any:
    return page.locator("li.turn").last


def selected(page: Page) -> Any:
    return page.locator("#call-graph .row[aria-selected=true]")


# 9.1 Functional


def test_9_1_1_success_renders_the_capsule_and_the_full_trace_on_the_built_in_engine(tmp_path, start_panel, look: Look):
    panel = start_panel()
    page = look(panel)
    (tmp_path / "report.md").write_text(REPORT, encoding="utf-8")

    page.set_input_files("#upload-files", tmp_path / "report.md")
    page.get_by_role("button", name="Upload", exact=True).click()
    page.locator(".documents summary").get_by_text("report.md").click()
    expect(page.locator(".outline")).to_contain_text("Auditor")
    page.get_by_label("Task", exact=True).fill("Who audits the company?")
    expect(page.locator("#estimate")).to_contain_text("expected: direct")
    send(page, "Who audits the company?")

    turn = newest(page)
    expect(turn).to_contain_text("Miller & Stone LLP audits the company.")
    expect(turn.locator(".capsule")).to_have_text(re.compile(r"^Auto-routed 1 skill · [\d.]+ m?s · all succeeded · "))
    turn.get_by_role("link", name="Source 1, verified").click()
    expect(page.locator("#panel-body tr.meant")).to_contain_text("Miller & Stone LLP")
    turn.locator(".capsule a").click()
    page.wait_for_url("**&tab=graph*")
    expect(page.locator("#call-graph .row").first).to_contain_text("completed", ignore_case=True)
    page.get_by_role("button", name="Expand all").click()
    expect(page.locator("#call-graph .row")).to_have_count(len(panel.store.nodes(panel.store.runs()[0].id)))
    tab(page, "Overview")
    expect(page.locator("#overview")).to_contain_text("Slowest node")
    tab(page, "Permissions")
    expect(page.locator("#panel-body")).to_contain_text("No node may do more than its parent")
    page.get_by_label("Advanced").check()
    tab(page, "Logs")
    expect(page.locator("#panel-body")).to_contain_text("skill-route-completed")


def test_9_1_2_and_9_3_2_a_failure_is_highlighted_with_its_remedy_within_two_clicks(stage: Stage, look: Look):
    page = look(stage)
    at_session(page, stage)
    send(page, HALF)

    turn = newest(page)
    expect(turn.locator(".failure")).to_contain_text("1 of 2 parts of the task failed:")
    expect(turn.locator(".answer")).to_contain_text("Revenue was $40 million")
    turn.get_by_role("link", name="View details").click()  # the only click
    expect(selected(page)).to_contain_text("MODEL_BAD_REQUEST")
    expect(selected(page)).to_be_in_viewport()
    assert "failing" in selected(page).get_attribute("class")
    error = page.locator("#node-error")
    expect(error).to_contain_text("the machine is on fire")
    expect(error).to_contain_text("MODEL_BAD_REQUEST")
    expect(error).to_contain_text("What to do")
    expect(error).to_be_in_viewport()


@pytest.fixture(scope="module")
def failed(stage: Stage) -> dict[str, str]:
    """Runs of one session that failed in each way of the design, by the code."""
    session_id = stage.new_session()
    by_task = {"CALL_CYCLE_DETECTED": CYCLE, "CALL_DEPTH_EXCEEDED": DEPTH, "SKILL_NOT_FOUND": LOST}
    runs = {code: stage.ask(task, session_id, strategy="route").id for code, task in by_task.items()}
    runs["PERMISSION_DENIED"] = a_denied_run(stage.store, session_id)
    client = stage.client
    client.post("/settings", data={"timeout_s": "0.3"})
    runs["TIMEOUT"] = stage.ask(HANGS, session_id).id
    client.cookies.delete(PREFERENCES)
    return runs


def test_9_1_3_cycle_depth_not_found_timeout_and_denial_each_map_to_one_stable_error(
    stage: Stage, look: Look, failed: dict[str, str]
):
    page = look(stage)
    for code, run_id in failed.items():
        page.goto(stage.page(run_id))
        turn = page.locator(f"#turn-{run_id}")
        expect(turn.locator(".failure")).to_have_text(re.compile(r"^\S.+\. View details$"))
        turn.get_by_role("link", name="View details").click()
        expect(selected(page)).to_contain_text(code)
        error = page.locator("#node-error")
        expect(error.locator("code").first).to_have_text(code)
        expect(error).to_contain_text("What to do")
        expect(error).to_contain_text(f"What {code} means")
        tab(page, "Overview")
        expect(page.locator(".troubles").first).to_contain_text(code)


def test_9_1_4_changing_the_session_resets_what_was_transient(stage: Stage, look: Look, failed: dict[str, str]):
    other = stage.ask(SIMPLE)
    page = look(stage)
    page.goto(stage.page(failed["CALL_CYCLE_DETECTED"], tab="graph", node="run%2Fsubtask-1"))
    expect(selected(page)).to_have_count(1)
    page.get_by_label("Advanced").check()
    tab(page, "Logs")
    search = page.locator("#panel-body").get_by_role("searchbox")
    search.fill("subtask")
    expect(page.locator("#panel-body")).to_contain_text("CALL_CYCLE_DETECTED")

    with page.expect_request(lambda request: "/live?" in request.url) as live:
        page.locator("#sessions").get_by_role("link", name=SIMPLE).first.click()
    page.wait_for_url(f"**/sessions/{other.session_id}*")

    assert f"run={other.id}" in live.value.url
    expect(page.locator(".tabs [aria-current]")).to_have_text("Overview")
    expect(page.locator("#overview")).to_contain_text(SIMPLE)
    tab(page, "Call Graph")
    expect(page.locator("#call-graph .row").first).to_be_visible()
    expect(selected(page)).to_have_count(0)
    tab(page, "Logs")
    expect(page.locator("#panel-body").get_by_role("searchbox")).to_have_value("")
    expect(page.locator("#panel-body")).not_to_contain_text("CALL_CYCLE_DETECTED")


# 9.2 Security


def test_9_2_1_and_9_2_2_children_may_do_no_more_and_what_is_forbidden_is_blocked_and_shown(stage: Stage, look: Look):
    nested, blocked = stage.ask(NARROW, strategy="route"), stage.ask(FORBIDDEN)
    nodes = {node.node_id: node for node in stage.store.nodes(nested.id)}
    tools = {at: frozenset(node.permission_snapshot["tools"]) for at, node in nodes.items()}
    assert all(tools[at] <= tools[node.parent_node_id] for at, node in nodes.items() if node.parent_node_id)
    assert tools["run/subtask-1/step-1"] < tools["run/subtask-1"] < tools["run"]

    page = look(stage)
    page.goto(stage.page(nested, tab="permissions"))
    body = page.locator("#panel-body")
    expect(body).to_contain_text("No node may do more than its parent")
    step = body.locator(".permission.narrowed").filter(has_text="run/subtask-1/step-1")
    expect(step).to_contain_text("keep_note")
    expect(step).to_contain_text("the skill's declaration")

    page.goto(stage.page(blocked, tab="permissions"))
    denied = body.locator(".permission.denied")
    expect(denied).to_have_count(1)
    expect(denied).to_contain_text("write: /etc/passwd")
    expect(denied).to_contain_text("policy")
    expect(denied).to_contain_text("failed", ignore_case=True)
    denied.get_by_role("link").first.click()
    expect(page.locator("#node-error")).to_contain_text("PERMISSION_DENIED")


# 9.3 Ease of use

NOISE = re.compile(
    r"skill-route|plan-ready|slice-ready|answer-delta|permission_snapshot|node_id|sequence|fingerprint|run/|"
    r"sha256|[0-9a-f]{32}|tool_calls|input_tokens|\{\s*\""
)
"""Names of events and fields, ids, hashes, and the beginning of JSON."""


def test_9_3_1_the_chat_stays_quiet_over_runs_of_every_kind(stage: Stage, look: Look, failed: dict[str, str]):
    session_id = stage.store.run(failed["TIMEOUT"]).session_id
    for task in (SIMPLE, BOTH, HALF, FORBIDDEN, SIMPLE, HALF, BOTH, FORBIDDEN, SLOW, BOTH, SIMPLE):
        stage.ask(task, session_id)
    for mode, strategy in (("standard", "direct"), ("eco", "outline")):
        stage.ask(SIMPLE, session_id, mode=mode, strategy=strategy, model_name="builtin:extractive")
    stage.ask(NARROW, session_id, strategy="route")
    cancelled = stage.send(session_id, HANGS)
    until(lambda: stage.store.nodes(cancelled))
    stage.desk.runner.cancel(cancelled)
    stage.ended(cancelled)
    runs = len(stage.store.runs(session_id=session_id))
    assert runs >= 20

    page = look(stage)
    page.goto(f"{stage.url}/sessions/{session_id}")
    expect(page.locator("li.turn")).to_have_count(runs)

    turns = page.locator("li.turn").all()
    quiet = [turn for turn in turns if not NOISE.search(turn.inner_text())]
    assert len(quiet) >= 0.95 * runs, [NOISE.findall(turn.inner_text()) for turn in turns]
    lines = [turn.evaluate(LINES_BESIDE_THE_ANSWER) for turn in turns]
    assert max(lines) <= 9, lines
    assert page.locator("#chat pre").count() == 0


LINES_BESIDE_THE_ANSWER = """turn => {
  const rest = turn.cloneNode(true);
  rest.querySelectorAll(".answer, .task, details > :not(summary)").forEach((each) => each.remove());
  turn.after(rest);
  const lines = rest.innerText.split("\\n").filter((line) => line.trim()).length;
  rest.remove();
  return lines;
}"""


# The model hangs, asks, and needs approval


def test_a_call_that_hangs_is_cancelled_and_another_ends_at_the_timeout_of_the_settings(stage: Stage, look: Look):
    page = look(stage)
    at_session(page, stage)
    run_id = send(page, HANGS)
    expect(newest(page).locator(".status")).to_contain_text("running")
    newest(page).get_by_role("button", name="Cancel").click()
    expect(newest(page).locator(".status")).to_contain_text("cancelled")
    assert stage.ended(run_id).status == "cancelled"

    page.get_by_role("link", name="Settings").click()
    page.get_by_label("Node timeout").fill("0.5")
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".saved")).to_be_visible()
    page.get_by_role("link", name="Back to the chat").click()
    send(page, HANGS)
    newest(page).get_by_role("link", name="View details").click()
    expect(page.locator("#node-error code").first).to_have_text("TIMEOUT")


def test_questions_approvals_and_permissions_are_answered_in_the_chat(stage: Stage, look: Look):
    page = look(stage)
    at_session(page, stage)
    turn, card = newest(page), page.locator(".card")

    send(page, ASKS)
    expect(card).to_contain_text("Which year do you mean?")
    card.get_by_role("button", name="2025").click()
    expect(turn.locator(".answer")).to_contain_text("It was said: 2025")

    send(page, CAREFUL)
    expect(card).to_contain_text("Your approval is asked for")
    card.get_by_text("Edit before you approve").click()
    card.get_by_label("task", exact=True).fill("State why costs rose. Be brief.")
    card.get_by_role("button", name="Approve").click()
    expect(turn.locator(".answer")).to_contain_text("steel became dearer")
    assert "Be brief." in stage.model.requests[-1].body.decode()

    send(page, CAREFUL)
    card.get_by_label("Why, if you reject it").fill("Not today")
    card.get_by_role("button", name="Reject").click()
    expect(turn.locator(".failure")).to_be_visible()
    turn.get_by_role("link", name="View details").click()
    expect(page.locator("#node-error")).to_contain_text("APPROVAL_REJECTED")
    expect(page.locator("#node-error")).to_contain_text("Not today")

    run_id = send(page, GUARDED)
    expect(card).to_contain_text("A permission is asked for, for this call only")
    card.get_by_role("button", name="Approve").click()
    expect(turn.locator(".answer")).to_contain_text("kept: Steel became dearer.")
    assert [each.outcome for each in stage.store.approvals(run_id)] == ["approved"]


def test_of_two_tabs_that_answer_one_approval_one_wins_and_closing_a_tab_stops_nothing(stage: Stage, look: Look):
    session_id = stage.new_session()
    run_id = stage.send(session_id, CAREFUL)
    asked = stage.asked(run_id)
    first, second = look(stage), look(stage, expects=("409",))
    for page in (first, second):
        page.goto(stage.page(run_id))
        expect(page.locator(".card")).to_be_visible()
    second.route(re.compile(r"/(turn|chat)$"), lambda route: route.fulfill(status=204))  # it has not heard yet

    first.get_by_role("button", name="Reject").click()
    expect(first.locator(".card")).to_have_count(0)
    second.get_by_role("button", name="Approve").click()
    expect(second.locator(".note").last).to_contain_text("somebody else answered first: rejected")
    assert stage.store.approvals(run_id)[0].digest == asked.digest
    assert stage.ended(run_id).status == "failed"

    stage.model.go_on.clear()
    first.goto(f"{stage.url}/sessions/{session_id}")
    held = send(first, HELD)
    expect(first.locator(".streamed")).to_contain_text("One word")
    first.close()
    stage.model.go_on.set()
    assert stage.ended(held).status == "completed"


# One store for all


def test_a_run_of_the_function_appears_live_and_a_follow_up_carries_the_texts_that_came_before(
    stage: Stage, look: Look
):
    page = look(stage)
    session_id = at_session(page, stage)
    send(page, SIMPLE)
    expect(newest(page).locator(".answer")).to_contain_text("Revenue was $40 million")
    before = len(stage.model.requests)
    send(page, BOTH)
    expect(newest(page).locator(".answer")).to_contain_text("steel became dearer")
    for received in stage.model.requests[before:]:
        if "You plan how to answer" in received.body.decode():
            assert SIMPLE in received.body.decode()
            assert "Revenue was $40 million in 2025" in received.body.decode()
            assert "skill-route" not in received.body.decode()

    with Store.open(stage.store.database.location.path) as store:
        model = ScriptedModel(subtask="Miller & Stone LLP audits the company [L13].")
        run = orchestrate(REPORT, "Who audits?", model=model, strategy="direct", store=store, session_id=session_id)
        expect(newest(page)).to_contain_text("Who audits?")
        expect(newest(page).locator(".answer")).to_contain_text("Miller & Stone LLP")
        alone = orchestrate(REPORT, "Who else audits?", model=model, strategy="direct", store=store)
    expect(page.locator("#sessions").get_by_role("link", name="Who else audits?")).to_be_visible()
    newest(page).locator(".capsule a").click()
    page.wait_for_url(f"**run={run.run_id}&tab=graph*")
    expect(page.locator("#call-graph .row").first).to_be_visible()
    page.locator("#sessions").get_by_role("link", name="Who else audits?").click()
    page.wait_for_url(f"**/runs/{alone.run_id}")


def test_a_run_outlives_its_server_and_a_page_goes_on_with_the_next_one(tmp_path, look: Look):
    with a_stage(tmp_path) as stage:
        page = look(stage, expects=("net::ERR_", "Failed to load resource", "htmx:sendError"))
        at_session(page, stage)
        run_id = send(page, HELD)
        expect(page.locator(".streamed")).to_contain_text("One word")
        port = stage.server.port
        stage.server.stop()
        expect(page.locator("[data-live-state]")).to_have_text("reconnecting")
        until(lambda: stage.store.run(run_id).status == "cancelled")
        stage.model.go_on.set()

        desk = replace(open_desk(stage.store, **stage.options), secret=stage.desk.secret)
        with served(desk, port):
            expect(page.locator("[data-live-state]")).to_have_text("live")
            page.reload()
            page.get_by_role("button", name="Resume").click()
            expect(newest(page).locator(".answer")).to_contain_text("Revenue was $40 million")
            until(lambda: stage.store.run(run_id).status == "completed")
