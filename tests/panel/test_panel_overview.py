"""The overview of a run over HTTP and in a browser: with a result, under way, as it was, and with hostile texts."""

from __future__ import annotations

import re
import threading
from concurrent.futures import ThreadPoolExecutor
from html.parser import HTMLParser
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from models_for_tests import AUDITOR, COSTS, REPORT, REVENUE, ScriptedModel, plan_of
from records_for_tests import a_run, node_event

from orchestra import orchestrate
from orchestra.errors import ModelRefused
from orchestra.store import Store

PLAN = plan_of({"context_pointers": REVENUE}, {"context_pointers": COSTS}, {"context_pointers": AUDITOR})
HOSTILE = '</title><script>alert(1)</script><img src=x onerror="alert(2)">\u202e'


class Page(HTMLParser):
    """The tags of a part with their attributes, and its text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.text += " "

    def handle_data(self, data: str) -> None:
        self.text += data

    def all(self, tag: str, **attributes: str) -> list[dict[str, str | None]]:
        wanted = attributes.items()
        return [found for name, found in self.tags if name == tag and all(found.get(k) == v for k, v in wanted)]


def part(panel: Any, run_id: str, query: str = "") -> Page:
    answer = panel.client.get(f"/runs/{run_id}/overview{query}", headers={"HX-Request": "true"})
    assert answer.status_code == 200, answer.text
    return Page(answer.text)


def words(page: Page) -> str:
    return " ".join(page.text.split())


def a_model(**answers: Any) -> ScriptedModel:
    return ScriptedModel(**{"plan": PLAN, "subtask": "So it says [L5].", "synthesis": "All of it [L5].", **answers})


def bars(page: Page) -> list[dict[str, str | None]]:
    return [each for each in page.all("rect") if "gantt-bar" in (each.get("class") or "")]


def test_a_finished_run_is_shown_with_its_counts_costs_and_timeline(panel: Any) -> None:
    run = orchestrate(REPORT, "Tell all.", model=a_model(), strategy="full", store=panel.store, max_tokens_total=90_000)

    page = part(panel, run.run_id)

    assert "Completed" in words(page)
    assert "Child skills 3 Succeeded ✓3 Failed ✗0 Cancelled ⊘0" in words(page)
    assert re.search(r"Strategy full Why \S", words(page))
    assert "test:scripted (plan, subtasks, synthesis)" in words(page)
    assert re.search(r"plan 1 100 0 10 unknown subtasks 3 300 0 30 unknown synthesis 1 100 0 10 unknown", words(page))
    assert "Limit of tokens 550 of 90,000" in words(page)
    assert "The price of a model is not known" in words(page)
    assert {bar["fill"] for bar in bars(page)} == {"url(#gantt-good)"}
    assert len(bars(page)) == len(panel.store.nodes(run.run_id)) == len(page.all("th", scope="row")) - 8
    assert page.all(
        "a", **{"data-graph-node": "run%2Fsubtask-2", "href": f"/runs/{run.run_id}?tab=graph&node=run%2Fsubtask-2"}
    )


def test_a_failure_is_told_with_code_cause_and_suggestion_and_leads_to_its_node(panel: Any) -> None:
    def answer(request: Any) -> Any:
        return ModelRefused("no", cause="it is not allowed") if "question 2" in request.prompt else "So it says [L5]."

    run = orchestrate(REPORT, "Tell all.", model=a_model(subtask=answer), strategy="full", store=panel.store)

    page = part(panel, run.run_id)

    assert "MODEL_REFUSED no Why: it is not allowed To do:" in words(page)
    assert "At run/subtask-2" in words(page)
    assert [bar["fill"] for bar in bars(page)].count("url(#gantt-bad)") == 1


def test_a_run_that_came_to_nothing_has_an_overview(panel: Any) -> None:
    with pytest.raises(Exception, match="PLAN_INVALID"):
        orchestrate(REPORT, "Tell all.", model=a_model(plan="no plan"), strategy="full", store=panel.store)
    (run,) = panel.store.runs()

    page = part(panel, run.id)

    assert "Failed" in words(page)
    assert "PLAN_INVALID" in words(page)
    assert "PLAN_ASKED_AGAIN" in words(page)
    assert "plan 200" in words(page).replace("plan  200", "plan 200")


def test_a_run_under_way_is_shown_from_what_it_has_told_and_stays_as_it_is_until_it_tells_more(panel: Any) -> None:
    is_asked, may_go_on = threading.Event(), threading.Event()

    def answer(request: Any) -> str:
        if "question 2" in request.prompt:
            is_asked.set()
            may_go_on.wait(20)
        return "So it says [L5]."

    with ThreadPoolExecutor(1) as pool:
        options = {"model": a_model(subtask=answer), "strategy": "full", "store": panel.store, "max_workers": 1}
        under_way = pool.submit(orchestrate, REPORT, "Tell all.", **options)
        try:
            assert is_asked.wait(20)
            run_id = _told_of_subtask_2(panel.store)
            first, second = part(panel, run_id), part(panel, run_id)
        finally:
            may_go_on.set()
        under_way.result(20)

    assert "Running" in words(first)
    assert "so far" in words(first)
    assert "Counted from what has ended so far" in words(first)
    assert "url(#gantt-live)" in [bar["fill"] for bar in bars(first)]
    assert (first.tags, first.text) == (second.tags, second.text)
    assert "Completed" in words(part(panel, run_id))


def _told_of_subtask_2(store: Store) -> str:
    """The run's id, once its store shows the second subtask at work."""
    for _ in range(400):
        for run in store.runs():
            if any(node.node_id == "run/subtask-2" and node.status == "executing" for node in store.nodes(run.id)):
                return run.id
        threading.Event().wait(0.05)
    raise AssertionError("the second subtask never began")


def test_a_run_is_shown_as_it_was(panel: Any) -> None:
    run = orchestrate(REPORT, "Tell all.", model=a_model(), strategy="full", store=panel.store)
    events = list(panel.store.events(run.run_id))
    planned = next(each["sequence"] for each in events if each["type"] == "plan-ready")

    page = part(panel, run.run_id, f"?at={planned}")

    assert f"as of event {planned}" in words(page)
    assert "Child skills 0" in words(page)
    assert len(bars(page)) < len(bars(part(panel, run.run_id)))
    assert page.all("div", id="overview")[0]["hx-trigger"] == "never"


def test_texts_of_others_stay_texts_and_no_style_or_script_is_inline(panel: Any) -> None:
    error = {"code": HOSTILE, "message": HOSTILE, "cause": HOSTILE, "suggestion": HOSTILE}
    timing = {"started_at": 1000.0, "duration_ms": 50.0}
    panel.store.begin_run(a_run("r1", task=HOSTILE, models={"plan": HOSTILE}))
    run = node_event(1, "run", kind="run", depth=0, timing=timing)
    bad = {"skill_name": HOSTILE, "title": HOSTILE, "status": "failed", "error": error, "parent_node_id": "run"}
    warned = {"type": "warning", "sequence": 3, "code": HOSTILE, "message": HOSTILE, "node_id": HOSTILE, "at": 1001.0}
    chosen = {"type": "strategy-chosen", "sequence": 4, "strategy": HOSTILE, "reason": HOSTILE, "at": 1001.0}
    panel.store.append_events("r1", [run, node_event(2, f"run/{HOSTILE}", timing=timing, **bad), warned, chosen])

    page = part(panel, "r1")

    assert not page.all("script")
    assert not page.all("img")
    assert not [attributes for _, attributes in page.tags if "style" in attributes]
    assert not [name for _, attributes in page.tags for name in attributes if name.startswith("on")]
    assert "\u202e" not in page.text


@pytest.mark.parametrize(("query", "status"), [("", 404), ("?at=x", 400)])
def test_what_is_not_there_is_said(panel: Any, query: str, status: int) -> None:
    if query:
        panel.store.begin_run(a_run("none"))

    assert panel.client.get(f"/runs/none/overview{query}", headers={"HX-Request": "true"}).status_code == status


def test_five_thousand_nodes_are_a_small_part(panel: Any) -> None:
    timing = {"started_at": 1000.0, "duration_ms": 50.0}
    panel.store.begin_run(a_run("r1"))
    events = [node_event(1, "run", kind="run", depth=0, timing=timing)]
    events += [
        node_event(n, f"run/{n}", parent_node_id="run", status="completed", timing=timing) for n in range(2, 5_001)
    ]
    panel.store.append_events("r1", events)

    answer = panel.client.get("/runs/r1/overview", headers={"HX-Request": "true"})

    assert len(answer.content) < 100_000
    assert "And 4,950 more nodes" in answer.text


def test_in_a_browser_nothing_moves_while_a_run_goes_on_axe_finds_nothing_and_a_bar_leads_to_its_node(
    panel: Any, look: Any
) -> None:
    timing = {"started_at": 1000.0, "duration_ms": None}
    panel.store.begin_run(a_run("r1", task="Why did costs rise?"))
    panel.store.lease("r1", "somebody", 60)
    panel.store.append_events("r1", [{**node_event(1, "run", kind="run", depth=0, timing=timing), "at": 1001.0}])
    page = look(panel)
    page.goto(f"{panel.url}/runs/r1?tab=overview")
    page.wait_for_selector(".gantt a")
    page.evaluate(
        """() => { window.shift = 0; window.moved = []; new PerformanceObserver((list) => list.getEntries().forEach((entry) => {
             window.shift += entry.value; window.moved.push(entry.sources.map((each) => each.node && (each.node.className + ' ' + each.node.textContent.slice(0,60)))); })).observe({ type: 'layout-shift', buffered: false }); }"""
    )

    for number in range(2, 14):
        told = node_event(number, f"run/subtask-{number}", parent_node_id="run", timing=timing, title="Why?")
        panel.store.append_events("r1", [{**told, "at": 1000.0 + number}])
        page.wait_for_selector(f"#bar-{number - 1}", state="attached")

    assert page.evaluate("window.shift") == 0, page.evaluate("window.moved")
    for scheme, width in (("light", 1280), ("dark", 360)):
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 900})
        assert not Axe().run(page, context="#panel-body").response["violations"]
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.focus("#bar-0")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "bar-1"
    page.keyboard.press("Enter")
    page.wait_for_url("**/runs/r1?tab=graph&node=run%2Fsubtask-2")
