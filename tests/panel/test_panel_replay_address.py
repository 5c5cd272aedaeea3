"""The address of a page names the place of a replay: a page that is loaded again goes on from there."""

from __future__ import annotations

import re
from typing import Any

import pytest
from models_for_tests import COSTS, REPORT, REVENUE, ScriptedModel, plan_of
from playwright.sync_api import expect

from orchestra import orchestrate


@pytest.fixture
def run_id(panel: Any) -> str:
    plan = plan_of({"context_pointers": COSTS}, {"context_pointers": REVENUE})
    model = ScriptedModel(plan=plan, subtask="Steel [L9].", synthesis="Joined [L9].")
    return orchestrate(REPORT, "Why?", model=model, strategy="full", store=panel.store).run_id


def test_a_replay_goes_on_from_its_place_when_the_page_is_loaded_again(panel: Any, look: Any, run_id: str) -> None:
    page = look(panel)
    page.goto(f"{panel.url}/runs/{run_id}?tab=logs")
    page.get_by_role("button", name="Replay").click()
    page.get_by_label("Event that is shown").fill("2")
    expect(page).to_have_url(re.compile(r"[?&]at=2(&|$)"))
    page.get_by_role("link", name="Call Graph").click()
    expect(page).to_have_url(re.compile(r"tab=graph.*&at=2$"))

    page.reload()

    expect(page.locator(".player-says")).to_contain_text("event 2 of")
    expect(page.get_by_role("button", name="Play", exact=True)).to_have_attribute("aria-pressed", "false")
    expect(page.locator("#call-graph [data-id='run']")).to_contain_text("executing")
    page.get_by_role("button", name="One event forth").click()
    expect(page.locator(".player-says")).to_contain_text("event 3 of")
    expect(page).to_have_url(re.compile(r"&at=3$"))
    page.get_by_label("Speed").select_option("50")
    page.get_by_role("button", name="Play", exact=True).click()
    expect(page.locator(".player-says")).to_have_text(re.compile(r"event (\d+) of \1$"))
    expect(page).to_have_url(re.compile(rf"&at={panel.store.last_sequence(run_id)}$"))
    page.get_by_role("button", name="Now").click()
    expect(page).not_to_have_url(re.compile(r"[?&]at="))
    expect(page.locator("#call-graph [data-id='run']")).to_contain_text("completed")


def test_a_place_that_is_not_there_is_the_last_one_and_none_is_refused(panel: Any, run_id: str) -> None:
    last = panel.store.last_sequence(run_id)

    assert f'data-at="{last}"' in panel.client.get(f"/runs/{run_id}?at=99999").text
    assert "data-player" not in panel.client.get(f"/runs/{run_id}?at=").text
    assert panel.client.get(f"/runs/{run_id}?at=soon").status_code == 400


def test_a_run_that_goes_on_is_shown_as_it_is_whatever_the_address_says(panel: Any, run_id: str) -> None:
    panel.store.end_run(run_id, "running")

    assert "data-player" not in panel.client.get(f"/runs/{run_id}?at=2").text
