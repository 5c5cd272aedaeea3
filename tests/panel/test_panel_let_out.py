"""A page of a panel that was stopped, or started again with another secret, says so in words."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect
from scenes import HELD, Stage, a_stage, served

from orchestra.panel.desk import open_desk

Look = Callable[..., Page]
pytestmark = pytest.mark.usefixtures("patient")
FAULTS = ("net::ERR_", "Failed to load resource", "htmx:sendError", "403")


def watching(stage: Stage, look: Look) -> Page:
    page = look(stage, expects=FAULTS)
    page.goto(stage.page(stage.send(stage.new_session(), HELD)))
    expect(page.locator("[data-live-state]")).to_have_text("live")
    expect(page.locator(".streamed")).to_contain_text("One word")
    expect(page.locator("[data-fault]:visible")).to_have_count(0)
    return page


def test_a_page_of_a_panel_that_was_started_again_asks_for_the_new_link(tmp_path, look: Look):
    with a_stage(tmp_path) as stage:
        page = watching(stage, look)
        stage.server.stop()
        expect(page.locator("[data-live-state]")).to_have_text("reconnecting")
        stage.model.go_on.set()

        with served(open_desk(stage.store, **stage.options), stage.server.port) as (again, _, _):
            note = page.locator("[data-fault=let-out]")
            expect(note).to_be_visible()
            expect(note).to_contain_text("not valid any more")
            expect(page.locator("[data-live-state]")).to_have_text("refused")
            with page.expect_response(lambda answer: answer.url.endswith("/turn") and answer.status == 403):
                page.evaluate("orchestra.tell('run-changed')")
            expect(page.locator(".task").last).to_contain_text(HELD)
            expect(page.locator(".streamed")).to_contain_text("One word")
            assert Axe().run(page).response["violations"] == []

            page.context.new_page().goto(again.link)
            page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
            expect(page.locator("[data-live-state]")).to_have_text("live")
            expect(note).to_be_hidden()


@pytest.mark.parametrize("word", ["live", "reconnecting", "refused"])
def test_how_the_stream_stands_fits_on_a_phone(panel, look: Look, word: str):
    panel.client.post("/sessions")
    page = look(panel, viewport={"width": 360, "height": 700})
    state = page.locator("[data-live-state]")
    expect(state).to_have_text("live")

    state.evaluate("(each, word) => (each.textContent = word)", word)

    assert state.evaluate("(each) => each.scrollWidth <= each.clientWidth")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_page_of_a_panel_that_was_stopped_says_what_to_do(tmp_path, look: Look):
    with a_stage(tmp_path) as stage:
        page = watching(stage, look)
        stage.server.stop()
        expect(page.locator("[data-live-state]")).to_have_text("reconnecting")
        note = page.locator("[data-fault=gone]")
        expect(note).to_be_hidden()

        page.evaluate("const now = Date.now; Date.now = () => now() + 60_000")

        expect(note).to_contain_text("The panel does not answer.")
        expect(note).to_be_visible()
        stage.model.go_on.set()


@pytest.mark.parametrize("path", ["/", "/live", "/live?run=r1", "/sessions/s", "/runs/r1/overview", "/nowhere"])
def test_who_is_not_let_in_hears_the_same_everywhere(panel, path: str):
    answers = [panel.client.request(how, path, headers={"Cookie": "orchestra=old"}) for how in ("GET", "HEAD")]

    assert [each.status_code for each in answers] == [403, 403]
    assert answers[0].text == "Open the link that `orchestra panel` has printed.\n"
