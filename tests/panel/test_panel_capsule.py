"""The line that sums a run up is shown whole."""

from __future__ import annotations

from typing import Any

import pytest
from models_for_tests import COSTS, REPORT, REVENUE, ScriptedModel, plan_of
from playwright.sync_api import expect

from orchestra import orchestrate


@pytest.mark.parametrize("width", [1280, 360])
def test_nothing_of_the_capsule_is_cut_off(panel: Any, look: Any, width: int) -> None:
    session_id = panel.client.post("/sessions").headers["location"].rsplit("/", 1)[-1]
    plan = plan_of(
        {"context_pointers": COSTS}, {"context_pointers": REVENUE}, {"task": "Which year?", "answer": "2025"}
    )
    model = ScriptedModel(plan=plan, subtask="Steel [L9].", synthesis="Joined [L9].")
    options = {"strategy": "full", "store": panel.store, "session_id": session_id}
    orchestrate(REPORT, "Why did costs rise?", model=model, **options)
    page = look(panel, viewport={"width": width, "height": 800})
    page.goto(f"{panel.url}/sessions/{session_id}")
    link = page.locator(".capsule a")

    expect(link).to_contain_text("tokens")

    assert link.evaluate("(each) => each.scrollWidth <= each.clientWidth + 1")
    assert link.evaluate("(each) => each.getBoundingClientRect().right <= innerWidth")
