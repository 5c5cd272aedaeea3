"""Nothing moves while a run streams, on the chat and on each tab; the stream goes on where a connection was lost."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect
from scenes import HELD, SLOW, Stage, a_stage

Look = Callable[..., Page]
pytestmark = pytest.mark.usefixtures("patient")
NEARLY_NOTHING = 0.01  # of the sum of layout shifts; what people notice begins at ten times that
WATCH = """
  window.shifts = [];
  const named = (node) => node && (node.id || node.className || node.nodeName);
  new PerformanceObserver((list) => list.getEntries().forEach((entry) => {
    if (!entry.hadRecentInput)
      window.shifts.push([entry.value, entry.startTime, entry.sources.map((source) => String(named(source.node)))]);
  })).observe({ type: "layout-shift", buffered: true });
"""
"""Every layout shift of a page from its beginning: how much, when, and of what."""


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with a_stage(tmp_path_factory.mktemp("streaming")) as made:
        yield made


@pytest.mark.parametrize("width", [1280, 360])
def test_nothing_moves_from_sending_until_the_answer_on_the_chat_and_on_each_tab(stage: Stage, look: Look, width: int):
    page = look(stage, viewport={"width": width, "height": 800})
    page.context.add_init_script(WATCH)
    session_id = stage.new_session()
    page.goto(f"{stage.url}/sessions/{session_id}")
    moved: dict[str, Any] = {}
    for tab in ("chat", "overview", "graph", "permissions", "logs"):
        if tab == "chat":
            page.get_by_label("Task", exact=True).fill(SLOW)
            page.get_by_role("button", name="Send").click()
            page.wait_for_url("**run=*")
            run_id = re.search(r"run=(\w+)", page.url)[1]
        else:
            run_id = stage.send(session_id, SLOW)
            page.goto(stage.page(run_id, tab=tab))
            page.locator("#panel-body").evaluate("body => body.scrollIntoView()")
        turn = page.locator(f"#turn-{run_id}")
        expect(turn.locator(".answer:not(.streamed)")).to_contain_text("Revenue was $40 million", timeout=30_000)
        expect(turn.locator(".status")).to_contain_text("completed")
        page.wait_for_timeout(600)  # what is fetched at the end
        moved[tab] = page.evaluate("window.shifts")
    assert all(sum(value for value, *_ in each) <= NEARLY_NOTHING for each in moved.values()), moved


def test_the_stream_goes_on_without_gap_or_repeat_where_a_connection_was_lost(stage: Stage, look: Look):
    page = look(stage, expects=("net::ERR_",))
    page.context.add_init_script(HEAR)
    run_id = stage.send(stage.new_session(), HELD)
    page.goto(stage.page(run_id))
    expect(page.locator("[data-live-state]")).to_have_text("live")
    stage.model.go_on.set()
    page.wait_for_function("() => window.heard.length > 3")
    lose_connections(stage)
    page.wait_for_function("() => document.querySelector('[data-live-state]').textContent === 'reconnecting'")
    expect(page.locator("[data-live-state]")).to_have_text("live")
    expect(page.locator(".answer:not(.streamed)")).to_contain_text("Revenue was $40 million")

    heard = page.evaluate("window.heard")
    told = [each["sequence"] for each in stage.store.events(run_id) if each["type"] == "answer-delta"]
    assert heard == [each for each in told if each >= heard[0]]
    assert len(heard) > 5


def test_a_turn_that_was_asked_for_before_its_run_ended_still_takes_its_own_place(stage: Stage, look: Look):
    stage.model.go_on.clear()
    page = look(stage)
    run_id = stage.send(stage.new_session(), HELD)
    page.goto(stage.page(run_id))
    expect(page.locator(".streamed")).to_contain_text("One word")
    late: list[Route] = []
    page.route("**/turn", lambda route: late.append(route))
    with page.expect_request("**/turn"):
        page.evaluate("orchestra.tell('run-changed')")
    stage.model.go_on.set()
    expect(page.locator(".answer:not(.streamed)")).to_contain_text("Revenue was $40 million")

    with page.expect_response("**/turn"):
        late[0].continue_()
    page.wait_for_timeout(200)  # what is swapped after it has come
    expect(page.locator("li.turn")).to_have_count(1)
    expect(page.locator("li.turn .answer")).to_contain_text("Revenue was $40 million")


HEAR = """
  window.heard = [];
  addEventListener("DOMContentLoaded", () =>
    document.body.addEventListener("run-delta", (event) => window.heard.push(event.detail.seq)));
"""


def lose_connections(stage: Stage) -> None:
    """Cut every connection of the server, as a network that fails does."""
    for connection in list(stage.server._server.server_state.connections):
        connection.loop.call_soon_threadsafe(connection.transport.abort)
