"""What was under way in a run that nobody works on any more: it was interrupted, and no second is counted on."""

from __future__ import annotations

import time
from typing import Any

import pytest
from html_for_tests import Read
from playwright.sync_api import expect
from records_for_tests import a_run, node_event

PART = {"HX-Request": "true"}
OWNER = "a process"


def may(*tools: str) -> dict[str, Any]:
    return {"tools": [*tools], "read": [], "write": [], "hosts": [], "models": ["m"], "cost_usd": None}


@pytest.fixture
def left(panel: Any) -> Any:
    """A panel over a run with a node that has ended, one under way and one that waits for a person."""
    timing = {"started_at": time.time() - 5, "duration_ms": None}
    panel.store.begin_run(a_run())
    assert panel.store.lease("r1", OWNER, 600)
    panel.store.append_events(
        "r1",
        [
            node_event(1, "run", depth=0, timing=timing, permission_snapshot=may("read_file")),
            node_event(2, "run/done", status="completed", timing={**timing, "duration_ms": 900.0}),
            node_event(3, "run/under-way", parent_node_id="run", timing=timing, permission_snapshot=may()),
            node_event(4, "run/asks", status="waiting_user", timing=timing),
        ],
    )
    return panel


def shown(panel: Any, view: str, **query: Any) -> str:
    answer = panel.client.get(f"/runs/r1/{view}", params=query, headers=PART)
    assert answer.status_code == 200, answer.text
    return answer.text


@pytest.mark.parametrize(
    ("view", "query"),
    [("graph", {}), ("node", {"id": "run/under-way"}), ("overview", {}), ("permissions", {})],
)
def test_a_view_says_of_nodes_what_it_says_of_their_run(left: Any, view: str, query: dict[str, str]) -> None:
    before = Read(shown(left, view, **query)).text
    left.store.release("r1", OWNER)
    after = Read(shown(left, view, **query)).text
    then = Read(shown(left, view, **query, at=4)).text

    assert "executing" in before
    assert "interrupted" not in before.lower()
    assert "interrupted" in after
    assert "executing" not in after
    assert "executing" in then


@pytest.mark.parametrize(("view", "query"), [("graph", {}), ("node", {"id": "run/under-way"})])
def test_seconds_are_counted_only_while_somebody_works_on_the_run(left: Any, view: str, query: dict[str, str]) -> None:
    assert "data-since" in shown(left, view, **query)

    left.store.release("r1", OWNER)

    assert "data-since" not in shown(left, view, **query)


def test_what_has_ended_and_what_waits_for_a_person_stays_as_it_is(left: Any) -> None:
    left.store.release("r1", OWNER)

    after = shown(left, "graph")

    assert "completed" in after
    assert "waiting user" in after


def test_an_open_page_sees_that_its_run_was_interrupted(left: Any, look: Any) -> None:
    page = look(left, viewport={"width": 1280, "height": 800})
    page.goto(f"{left.url}/runs/r1?tab=graph&node=run/under-way")
    row = page.locator("#call-graph [data-id='run%2Funder-way']")
    expect(row.locator("[data-since]")).to_be_visible()

    left.store.release("r1", OWNER)

    expect(row).to_contain_text("interrupted")
    expect(page.locator("#node-detail")).to_contain_text("interrupted")
    expect(page.locator("[data-since]")).to_have_count(0)
