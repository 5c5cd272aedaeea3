"""Everybody can use the panel: by keyboard alone, in light and dark, on a phone; axe finds nothing on any view."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from models_for_tests import REPORT
from playwright.sync_api import Page, expect
from scenes import ASKS, BOTH, CAREFUL, CYCLE, FORBIDDEN, GUARDED, HALF, HELD, NARROW, SIMPLE, Stage, a_stage, until

from orchestra import orchestrate

Look = Callable[..., Page]
pytestmark = pytest.mark.usefixtures("patient")
OF_COLOURS = {"runOnly": ["color-contrast", "link-in-text-block"]}
SOONEST = 60  # presses of Tab, or the way is too long for anybody


@dataclass(frozen=True)
class Told:
    """A stage where everything has happened: ids of runs, by what became of them."""

    stage: Stage
    empty: str
    answered: str
    failed: str
    asking: str
    streaming: str
    narrowed: str
    denied: str
    alone: str


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Told]:
    with a_stage(tmp_path_factory.mktemp("access")) as stage:
        session_id, asking = stage.new_session(), stage.new_session()
        stage.ask(HALF, session_id)
        runs = [stage.send(asking, task) for task in (ASKS, GUARDED, CAREFUL)]
        for run_id in runs:
            stage.asked(run_id)
        held = stage.send(stage.new_session(), HELD)
        until(lambda: any(event["type"] == "answer-delta" for event in stage.store.events(held)))
        yield Told(
            stage=stage,
            empty=stage.new_session(),
            answered=stage.ask(BOTH, session_id).id,
            failed=stage.ask(CYCLE, session_id, strategy="route").id,
            asking=runs[-1],
            streaming=held,
            narrowed=stage.ask(NARROW, session_id, strategy="route").id,
            denied=stage.ask(FORBIDDEN, session_id).id,
            alone=orchestrate(
                REPORT, "Who audits?", strategy="direct", model="builtin:extractive", store=stage.store
            ).run_id,
        )


# axe, and room


def _at(page: Page, told: Told, run_id: str, ready: str, **chosen: str) -> None:
    page.goto(told.stage.page(run_id, **chosen))
    expect(page.locator(ready).first).to_be_visible()
    expect(page.locator("#chat .turn").first).to_be_visible()
    expect(page.locator("#session-list")).to_be_attached()
    expect(page.locator("#documents summary").first).to_be_visible()


def _empty(page: Page, told: Told) -> None:
    page.goto(f"{told.stage.url}/sessions/{told.empty}")
    expect(page.locator("#chat .empty")).to_be_visible()
    page.get_by_label("Task", exact=True).fill(SIMPLE)
    expect(page.locator("#estimate")).to_contain_text("expected:")
    page.locator("#bill > summary").click()
    page.locator("#choices > summary").click()


def _answers(page: Page, told: Told) -> None:
    _at(page, told, told.answered, "#overview")
    turn = page.locator(f"#turn-{told.answered}")
    turn.locator(".sources > summary").click()
    turn.locator(".chart > summary").click()


def _documents(page: Page, told: Told) -> None:
    _at(page, told, told.answered, "#overview")
    shelf = page.locator("#shelf")
    if shelf.get_attribute("open") is None:
        page.locator("#shelf > summary").click()
    page.locator(".documents details > summary").first.click()
    expect(page.locator(".outline")).to_contain_text("Auditor")
    if not page.locator("#sessions").is_visible():
        page.get_by_role("button", name="Sessions").click()
    page.locator("#sessions details > summary").first.click()


def _source(page: Page, told: Told) -> None:
    _at(page, told, told.answered, "#overview")
    page.locator(f"#turn-{told.answered} .answer a.cite").first.click()
    expect(page.locator("#panel-body tr.meant").first).to_be_visible()


def _cards(page: Page, told: Told) -> None:
    _at(page, told, told.asking, ".card")
    expect(page.locator(".card")).to_have_count(3)
    page.locator(".card .edit > summary").last.click()


def _streaming(page: Page, told: Told) -> None:
    _at(page, told, told.streaming, "#overview")
    expect(page.locator(".streamed")).to_contain_text("One word")


def _overview(page: Page, told: Told) -> None:
    _at(page, told, told.failed, ".troubles", tab="overview")
    page.locator("#overview-table > summary").click()


def _graph(page: Page, told: Told) -> None:
    _at(page, told, told.answered, "#node-detail", tab="graph", node="run%2Fsubtask-1")
    page.get_by_role("button", name="Show the prompt").click()
    expect(page.locator("#node-prompt details[open] pre").first).to_be_visible()


def _failure(page: Page, told: Told) -> None:
    _at(page, told, told.failed, "#node-error", tab="graph", node="run%2Fsubtask-1")
    page.locator("#node-code > summary").click()


def _permissions(page: Page, told: Told) -> None:
    _at(page, told, told.narrowed, ".permission.narrowed", tab="permissions")
    page.locator("#permissions-of-run > summary").click()


def _denied(page: Page, told: Told) -> None:
    _at(page, told, told.denied, ".permission.denied", tab="permissions")


def _logs(page: Page, told: Told) -> None:
    _at(page, told, told.answered, "#logs", tab="logs")
    page.locator("#logs details > summary").first.click()


def _settings(page: Page, told: Told) -> None:
    page.goto(f"{told.stage.url}/settings")
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".saved")).to_be_visible()


def _error(page: Page, told: Told) -> None:
    page.goto(f"{told.stage.url}/sessions/nowhere")
    expect(page.locator(".error")).to_contain_text("RUN_NOT_FOUND")


def _alone(page: Page, told: Told) -> None:
    page.goto(f"{told.stage.url}/runs/{told.alone}")
    expect(page.locator("#overview")).to_be_visible()
    expect(page.locator("#chat .turn")).to_be_visible()


VIEWS = (
    *(_empty, _answers, _documents, _source, _cards, _streaming, _overview, _graph, _failure, _permissions, _denied),
    *(_logs, _settings, _error, _alone),
)


PARTS = dict.fromkeys((_source, _overview, _graph, _failure, _permissions, _denied, _logs), "#panel")
"""Views whose other parts are those of another view."""


@pytest.mark.parametrize("width", [1280, 360])
def test_axe_finds_nothing_on_any_view_in_light_and_dark_and_nothing_is_out_of_reach(
    told: Told, look: Look, width: int
):
    page = look(told.stage, viewport={"width": width, "height": 800}, color_scheme="light", expects=("404",))
    found: list[str] = []
    for view in VIEWS:
        name = view.__name__.strip("_")
        view(page, told)
        within = PARTS.get(view)
        found += [f"{name}, light: {each}" for each in violations(page, within)]
        if width == 1280:  # colours are the same at any width
            page.emulate_media(color_scheme="dark")
            found += [f"{name}, dark: {each}" for each in violations(page, within, OF_COLOURS)]
            page.emulate_media(color_scheme="light")
        found += [f"{name}: {each}" for each in page.evaluate(OUT_OF_REACH)]
    assert not found, "\n".join(found)


def violations(page: Page, within: str | None = None, options: dict[str, Any] | None = None) -> list[str]:
    """What axe finds on the page as it stands, or in a part of it: the rule, and where."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(Axe().axe_script)
    options = {**(options or {}), "resultTypes": ["violations"]}
    found = page.evaluate("([within, options]) => axe.run(within ?? document, options)", [within, options])
    return [
        f"{rule['id']} at {', '.join(str(node['target'][0]) for node in rule['nodes'][:5])}: {rule['nodes'][0]['failureSummary']}"
        for rule in found["violations"]
    ]


OUT_OF_REACH = """() => {
  const page = document.scrollingElement;
  const found = page.scrollWidth > innerWidth ? [`the page is ${page.scrollWidth} px wide of ${innerWidth}`] : [];
  if (page.scrollHeight > innerHeight) found.push(`the page is ${page.scrollHeight} px high of ${innerHeight}`);
  const scrolls = (node) => node && node !== document.body
    && (/(auto|scroll)/.test(getComputedStyle(node).overflowX) && node.scrollWidth > node.clientWidth || scrolls(node.parentElement));
  document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex='0']").forEach((control) => {
    if (!control.checkVisibility({ visibilityProperty: true }) || control.closest(".skip, svg, [type=hidden]")) return;
    const { left, right, width } = control.getBoundingClientRect();
    if (width && (left < -1 || right > innerWidth + 1) && !scrolls(control.parentElement))
      found.push(`${control.tagName} ${control.id || control.textContent.trim().slice(0, 40)} from ${left} to ${right}`);
  });
  return found;
}"""


# The keyboard


def test_the_keyboard_alone_suffices_from_the_link_to_an_approval(told: Told, look: Look):
    page = look(told.stage)
    go_to(page, "#new-session")
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: "run=" not in url and "/sessions/" in url)
    expect(page.locator("#task")).to_be_visible()

    go_to(page, "#task")
    page.keyboard.type(BOTH)
    page.keyboard.press("Control+Enter")
    page.wait_for_url("**run=*")
    expect(page.locator(".answer a.cite").first).to_be_visible()
    page.evaluate("document.activeElement.blur()")
    go_to(page, ".answer a.cite")
    page.keyboard.press("Enter")
    expect(page.locator("#panel-body tr.meant")).to_contain_text("$40 million")

    go_to(page, "#source-back")
    page.keyboard.press("Enter")
    expect(page.locator("#overview")).to_be_visible()
    go_to(page, "[data-tab=graph]", "Shift+Tab")
    page.keyboard.press("Enter")
    expect(page.locator("#call-graph .row").first).to_be_visible()
    go_to(page, "#call-graph .row[tabindex='0']")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("End")
    chosen = page.evaluate("document.activeElement.dataset.id")
    page.keyboard.press("Enter")
    expect(page.locator("#node-detail")).to_contain_text(chosen.replace("%2F", "/"))
    assert page.evaluate("document.activeElement.dataset.id") == chosen
    go_to(page, "#node-prompt button")
    page.keyboard.press("Enter")
    expect(page.locator("#node-prompt details[open] pre").first).to_be_visible()

    go_to(page, "[data-tab=permissions]", "Shift+Tab")
    page.keyboard.press("Enter")
    expect(page.locator("#panel-body")).to_contain_text("No node may do more than its parent")

    go_to(page, "a[href='/settings']", "Shift+Tab")
    page.keyboard.press("Enter")
    expect(page.locator("#max_depth")).to_be_visible()
    go_to(page, "#max_depth")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    expect(page.locator(".saved")).to_be_visible()
    go_to(page, "main a[href='/']")
    page.keyboard.press("Enter")

    expect(page.locator("#task")).to_be_visible()
    go_to(page, "#task")
    page.keyboard.type(CAREFUL)
    page.keyboard.press("Control+Enter")
    expect(page.locator(".card")).to_be_visible()
    page.evaluate("document.activeElement.blur()")
    go_to(page, ".card .edit summary")
    page.keyboard.press("Enter")
    go_to(page, ".card .edit textarea")
    page.keyboard.press("End")
    page.keyboard.type(" In a word.")
    go_to(page, ".card button.primary")
    page.keyboard.press("Enter")
    expect(page.locator(".card")).to_have_count(0)
    expect(page.locator(".turn").last.locator(".answer")).to_contain_text("steel became dearer")
    assert "In a word." in told.stage.model.requests[-1].body.decode()


def go_to(page: Page, selector: str, key: str = "Tab") -> None:
    """Press a key until what is looked for has the focus, which must be seen."""
    for _ in range(SOONEST):
        page.keyboard.press(key)
        if page.evaluate("selector => document.activeElement?.matches(selector)", selector):
            outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
            assert outline != "none", f"it is not seen that {selector} has the focus"
            return
    raise AssertionError(f"{selector} is out of reach of {key}")
