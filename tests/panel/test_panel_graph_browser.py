"""The call graph in a browser: by keyboard and mouse, live, failing, wide and narrow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, expect

from orchestra.store import Store
from tests.panel.conftest import Panel
from tests.records_for_tests import a_run, node_event

WIDE = {"width": 2000, "height": 800}
ERROR = {
    "code": "TIMEOUT",
    "message": "it took longer than 60 s",
    "cause": "the server hung",
    "suggestion": "Raise the limit.",
}


class Told:
    """Events of a run, one after another."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.sequence = 0
        store.begin_run(a_run())
        assert store.lease("r1", "a process", 600)
        self.node("run", None, "executing", kind="run", depth=0)

    def node(self, node_id: str, parent: str | None = "run", status: str = "completed", **fields: Any) -> None:
        self.sequence += 1
        timing = {"started_at": 1000.0, "duration_ms": None if status == "executing" else 1500.0 + self.sequence}
        given = {
            "parent_node_id": parent,
            "status": status,
            "kind": node_id.rpartition("/")[2],
            "timing": timing,
            **fields,
        }
        self.store.append_events("r1", [node_event(self.sequence, node_id, **given)])


@pytest.fixture
def told(panel: Panel) -> Told:
    """A run under way: a plan, a branch that went well, one that failed two levels down, and 40 tools alike, one failed."""
    story = Told(panel.store)
    story.node("run/plan", usage={"input_tokens": 900, "output_tokens": 90})
    story.node("run/good", skill_name="good-skill", usage={"input_tokens": 10, "output_tokens": 1})
    for name in ("a", "b"):
        story.node(f"run/good/{name}", "run/good", usage={"input_tokens": 2000, "output_tokens": 1})
    story.node("run/bad", status="failed", error=ERROR, skill_name="bad-skill")
    story.node("run/bad/step", "run/bad", "failed", error=ERROR)
    story.node("run/bad/step/tool", "run/bad/step", "failed", error=ERROR, attempt=2)
    for at in range(40):
        story.node(f"run/tool-{at}", kind="tool", status="failed" if at == 33 else "completed")
    return story


def opened(panel: Panel, look: Callable[..., Page], **options: Any) -> Page:
    page = look(panel, **options)
    page.wait_for_url("**/sessions/**")
    page.goto(f"{panel.url}/runs/r1?tab=graph")
    expect(rows(page).first).to_be_visible()
    return page


def rows(page: Page) -> Locator:
    return page.locator("#call-graph .row")


def row(page: Page, node_id: str) -> Locator:
    return page.locator(f'#call-graph .row[data-id="{node_id.replace("/", "%2F")}"]')


def shown(page: Page) -> list[str]:
    """Ids of the nodes in the order of their rows; of other rows their keys."""
    return page.evaluate(
        "() => [...document.querySelectorAll('#call-graph .row')].map(r => r.dataset.id ? decodeURIComponent(r.dataset.id) : r.id)"
    )


def focused(page: Page) -> str:
    return page.evaluate("() => decodeURIComponent(document.activeElement.dataset.id || document.activeElement.id)")


BAD = ["run/bad", "run/bad/step", "run/bad/step/tool"]
AT_FIRST = ["run", "run/plan", "run/good", *BAD, "run/tool-33", "row-g8"]


def test_failed_branches_are_open_and_everything_works_by_keyboard(
    panel: Panel, told: Told, look: Callable[..., Page]
) -> None:
    page = opened(panel, look)
    assert shown(page) == AT_FIRST
    expect(row(page, "run/bad/step/tool")).to_contain_text("TIMEOUT")
    expect(row(page, "run/bad/step/tool")).to_contain_text("attempt 2")
    expect(row(page, "run/good")).to_contain_text("depth 1 · inline")
    expect(row(page, "run/good")).to_contain_text("4,000")

    row(page, "run").focus()
    for key, wanted in [
        ("g", "run/good"),
        ("b", "run/bad"),
        ("r", "run"),
        ("End", "row-g8"),
        ("Home", "run"),
        ("ArrowDown", "run/plan"),
        ("ArrowDown", "run/good"),
    ]:
        page.keyboard.press(key)
        assert focused(page) == wanted
    page.keyboard.press("ArrowRight")
    expect(row(page, "run/good/b")).to_be_visible()
    assert focused(page) == "run/good"
    page.keyboard.press("ArrowRight")
    assert focused(page) == "run/good/a"
    page.keyboard.press("ArrowLeft")
    assert focused(page) == "run/good"
    page.keyboard.press("ArrowLeft")
    expect(row(page, "run/good/b")).to_have_count(0)
    page.keyboard.press("ArrowLeft")
    assert focused(page) == "run"

    page.keyboard.press("End")
    page.keyboard.press("Enter")
    expect(rows(page)).to_have_count(len(AT_FIRST) + 39)
    page.keyboard.press("Home")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator("#node-detail h2")).to_have_text("plan")
    expect(row(page, "run/plan")).to_have_attribute("aria-selected", "true")
    assert "node=run%2Fplan" in page.url


def test_failures_are_reached_one_press_after_the_other(panel: Panel, told: Told, look: Callable[..., Page]) -> None:
    page = opened(panel, look)
    page.get_by_role("button", name="Collapse all").click()
    expect(row(page, "run/bad/step")).to_have_count(0)

    page.get_by_role("button", name="Show first failure").click()
    expect(row(page, "run/bad/step/tool")).to_be_focused()
    detail = page.locator("#node-error")
    for text in ("TIMEOUT", "it took longer than 60 s", "the server hung", "Raise the limit."):
        expect(detail).to_contain_text(text)
    page.get_by_role("button", name="Next failure").click()
    expect(row(page, "run/tool-33")).to_be_focused()
    page.get_by_role("button", name="Next failure").click()
    expect(row(page, "run/bad/step/tool")).to_be_focused()
    page.get_by_role("link", name="step").click()
    expect(row(page, "run/bad/step")).to_have_attribute("aria-selected", "true")

    page.reload()
    expect(row(page, "run/bad/step")).to_have_attribute("aria-selected", "true")
    expect(page.locator("#node-error")).to_contain_text("TIMEOUT")


def test_rows_are_sorted_expanded_and_collapsed(panel: Panel, told: Told, look: Callable[..., Page]) -> None:
    page = opened(panel, look)
    tokens = page.get_by_role("columnheader", name="Tokens")
    tokens.get_by_role("button").click()
    expect(tokens).to_have_attribute("aria-sort", "descending")
    assert shown(page)[:3] == ["run", "run/good", "run/plan"]
    expect(tokens.get_by_role("button")).to_be_focused()
    expect(page.locator('#call-graph .row[tabindex="0"]')).to_have_count(1)
    page.keyboard.press("Enter")
    expect(tokens).to_have_attribute("aria-sort", "ascending")
    page.keyboard.press("Enter")
    expect(tokens).to_have_attribute("aria-sort", "none")
    assert shown(page) == AT_FIRST

    page.get_by_role("button", name="Expand all").click()
    expect(rows(page)).to_have_count(len(AT_FIRST) + 2 + 39)
    page.get_by_role("button", name="Collapse all").click()
    expect(rows(page)).to_have_count(6)


def test_a_live_run_changes_under_the_reader_and_leaves_his_place(
    panel: Panel, told: Told, look: Callable[..., Page]
) -> None:
    page = opened(panel, look, viewport=WIDE)
    expect(page.locator("[data-live-state]")).to_have_text("live")
    row(page, "run/good").click()
    page.keyboard.press("ArrowRight")
    expect(row(page, "run/good/a")).to_be_visible()
    page.keyboard.press("ArrowDown")
    expect(page.locator("#node-detail h2")).to_have_text("good-skill")
    top = row(page, "run/bad").bounding_box()

    told.node("run/late", status="executing", skill_name="late-skill")
    expect(row(page, "run/late")).to_contain_text("executing")
    assert focused(page) == "run/good/a"
    expect(row(page, "run/good/a")).to_be_visible()
    expect(row(page, "run/good")).to_have_attribute("aria-selected", "true")
    assert row(page, "run/bad").bounding_box() == top

    row(page, "run/late").click()
    expect(page.locator("#node-detail")).to_contain_text("executing")
    told.node("run/late", status="failed", skill_name="late-skill", error=ERROR)
    expect(page.locator("#node-error")).to_contain_text("it took longer than 60 s")
    expect(row(page, "run/late")).to_contain_text("failed")
    expect(row(page, "run/late")).to_be_focused()


def test_the_width_of_the_details_can_be_dragged_and_holds(panel: Panel, told: Told, look: Callable[..., Page]) -> None:
    page = opened(panel, look, viewport=WIDE)
    row(page, "run/plan").click()
    expect(page.locator("#node-detail")).to_be_visible()
    details = page.locator("#node-details")
    before = details.bounding_box()
    splitter = page.locator('[data-splitter="node"]')
    box = splitter.bounding_box()
    assert box is not None
    assert before is not None

    page.mouse.move(box["x"] + 3, box["y"] + 100)
    page.mouse.down()
    page.mouse.move(box["x"] + 83, box["y"] + 100)
    page.mouse.up()
    splitter.focus()
    page.keyboard.press("ArrowRight")

    after = details.bounding_box()
    assert after is not None
    assert after["width"] == pytest.approx(before["width"] - 104, abs=3)
    page.reload()
    expect(page.locator("#node-detail")).to_be_visible()
    assert details.bounding_box() == after


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_and_nothing_is_too_wide(
    panel: Panel, told: Told, look: Callable[..., Page], scheme: Any
) -> None:
    page = opened(panel, look, color_scheme=scheme)
    page.get_by_role("button", name="Show first failure").click()
    expect(page.locator("#node-error")).to_be_visible()
    found = Axe().run(page, context="#panel")
    assert found.violations_count == 0, found.generate_report()

    page.set_viewport_size({"width": 360, "height": 720})
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 360
    widths = page.evaluate(
        "() => [...document.querySelectorAll('#call-graph .row')].map(r => r.getBoundingClientRect().right)"
    )
    assert max(widths) <= 360
    row(page, "run/plan").click()
    expect(page.locator("#node-detail h2")).to_have_text("plan")
    narrow = Axe().run(page, context="#panel")
    assert narrow.violations_count == 0, narrow.generate_report()


def test_a_replay_shows_rows_and_details_of_the_same_moment(
    panel: Panel, told: Told, look: Callable[..., Page]
) -> None:
    told.node("run/late", status="executing", skill_name="late-skill")
    told.node("run/late", status="failed", skill_name="late-skill", error=ERROR)
    panel.store.end_run("r1", "failed")
    page = look(panel)
    page.wait_for_url("**/sessions/**")
    page.goto(f"{panel.url}/runs/r1?tab=logs")
    page.get_by_role("button", name="Replay").click()
    page.get_by_role("link", name="Call Graph").click()
    expect(rows(page).first).to_be_visible()
    page.get_by_label("Event that is shown").fill(str(told.sequence))
    row(page, "run/late").click()
    expect(page.locator("#node-error")).to_contain_text("it took longer than 60 s")

    page.get_by_role("button", name="One event back").click()
    expect(row(page, "run/late")).to_contain_text("executing")
    expect(page.locator("#node-detail")).to_contain_text("executing")
    expect(page.locator("#node-error")).to_have_count(0)
    page.get_by_role("button", name="Now").click()
    expect(page.locator("#node-error")).to_contain_text("it took longer than 60 s")
