"""Whether the panel is open: kept from page to page, where the settings say so."""

from __future__ import annotations

import pytest
from models_for_tests import REPORT
from playwright.sync_api import expect

from orchestra import orchestrate


@pytest.mark.parametrize("is_kept", [True, False], ids=["kept", "not-kept"])
def test_a_panel_that_was_closed_stays_closed_if_that_is_kept(panel, look, is_kept):
    session_id = panel.client.post("/sessions").headers["location"].rsplit("/", 1)[-1]
    orchestrate(REPORT, "Who audits the company?", store=panel.store, session_id=session_id)
    page = look(panel)
    page.goto(f"{panel.url}/settings")
    page.locator("[name=is_panel_kept]").set_checked(is_kept)
    page.locator("main button").click()
    page.goto(f"{panel.url}/sessions/{session_id}")
    expect(page.locator("#panel .overview")).to_be_visible()

    page.locator("[data-toggles=panel]").click()
    expect(page.locator("#panel")).to_be_hidden()
    page.reload()

    expect(page.locator("#panel .overview")).to_be_attached()
    expect(page.locator("#panel")).to_be_visible(visible=not is_kept)
    expect(page.locator("[data-toggles=panel]")).to_have_attribute("aria-expanded", "false" if is_kept else "true")
    page.locator(".answer a").first.click()
    expect(page.locator("#panel-body")).to_contain_text("What the answer says")
    expect(page.locator("#panel")).to_be_visible()
