"""A real browser walks through a store full of attacks: nothing runs, is loaded, or is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from hostile_records import SCRIPTS, SESSION, filled
from playwright.sync_api import Page, Request

from orchestra.panel.ids import session_key
from orchestra.panel.view.addresses import in_address
from orchestra.store import Store
from tests.panel.conftest import Panel, panel_over

WATCH = """
window.__owned = [];
window.owned = (what) => window.__owned.push(String(what ?? "called"));
for (const name of ["alert", "confirm", "prompt"]) window[name] = () => window.__owned.push(name);
document.addEventListener("securitypolicyviolation", (event) => window.__owned.push(event.violatedDirective));
"""


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Panel, list[str]]]:
    with Store.open(tmp_path_factory.mktemp("attacked") / "runs.db") as store:
        runs = filled(store, range(0, len(SCRIPTS), 25))
        with panel_over(store) as panel:
            yield panel, runs


def test_no_attack_runs_in_any_view(attacked: tuple[Panel, list[str]], look: Callable[..., Page]) -> None:
    panel, runs = attacked
    page = look(panel)
    asked: list[str] = []

    def note(request: Request) -> None:
        if "/owned" in request.url or request.method == "POST":
            asked.append(f"{request.method} {request.url}")

    page.on("request", note)
    page.on("dialog", lambda dialog: (asked.append(dialog.message), dialog.dismiss()))
    page.add_init_script(WATCH)
    begun = panel.store.sessions()
    for run_id in runs:
        for tab in ("overview", "graph", "permissions", "logs"):
            page.goto(f"{panel.url}/runs/{in_address(run_id)}?tab={tab}")
            page.locator("#panel-body > *").first.wait_for()
            page.locator("#chat > *").first.wait_for()
            page.locator("summary").evaluate_all("(all) => all.slice(0, 20).forEach((each) => each.click())")
            assert page.evaluate("window.__owned") == []
            assert page.locator("#panel-body").count() == 1
            assert page.evaluate("typeof htmx.ajax") == "function"
            assert page.evaluate("typeof window.orchestra.tell") == "function"
        assert page.evaluate("[...document.scripts].every((each) => each.src.startsWith(`${location.origin}/static/`))")
    page.goto(f"{panel.url}/sessions/{session_key(SESSION)}?run=asks")
    page.locator(".card").first.wait_for()
    page.locator("#sessions a").first.wait_for()
    assert page.evaluate("window.__owned") == []
    assert asked == [each for each in asked if each.startswith("POST") and each.endswith("/estimate")]
    assert panel.store.sessions() == begun
