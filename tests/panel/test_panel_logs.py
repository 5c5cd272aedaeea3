"""The raw events of a run: filtered, searched, paged, exported, and played again."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from hypothesis import given
from hypothesis import strategies as st
from models_for_tests import COSTS, REPORT, REVENUE, ScriptedModel, plan_of
from records_for_tests import a_run, node_event

from orchestra import orchestrate
from orchestra.panel.view.logs import TYPES, LogQuery, as_shown, chosen, file_name, page_of, summary_of
from orchestra.runtime.events import AnswerDelta, PointerResolved, Warned

EVENTS: list[dict[str, Any]] = [
    {**node_event(1, "run", depth=0), "at": 1000.0},
    {**node_event(2, "run/subtask-1", parent_node_id="run", title="Why?"), "at": 1000.5},
    {**PointerResolved(sequence=3, node_id="run/subtask-1", pointer="Costs", rung="title").to_dict(), "at": 1000.6},
    {
        **node_event(4, "run/subtask-10", status="failed", error={"code": "TIMEOUT", "message": "no Reply"}),
        "at": 1002.0,
    },
    {**AnswerDelta(sequence=9, node_id="run/synthesis", text="Straße").to_dict(), "at": 1002.5},
]
EVENTS = json.loads(json.dumps(EVENTS))  # as a store gives them back


def sequences(**query: Any) -> list[int]:
    return [event["sequence"] for event in chosen(EVENTS, LogQuery(**query))]


def test_events_are_chosen_by_type_node_status_and_text() -> None:
    assert sequences() == [1, 2, 3, 4, 9]
    assert sequences(type="pointer-resolved") == [3]
    assert sequences(of="run/subtask-1") == [2, 3]
    assert sequences(of="run") == [1, 2, 3, 4, 9]
    assert sequences(status="failed") == [4]
    assert sequences(q="NO REPLY") == [4]
    assert sequences(q="STRASSE") == []
    assert sequences(q="straße") == [9]
    assert sequences(status="failed", of="run/subtask-1") == []
    assert sequences(at=3) == [1, 2, 3]


@given(st.integers(1, 6), st.sampled_from(("", "run/subtask-1", "run")), st.sampled_from((None, 0, 3, 9)))
def test_pages_one_after_the_other_are_all_that_was_chosen(size, of, at) -> None:
    found, after, is_all = [], 0, False

    while not is_all:
        behind = (event for event in EVENTS if event["sequence"] > after)
        page = page_of(behind, LogQuery(of=of, at=at, after=after), 1000.0, limit_s=60, size=size)
        found += [row.sequence for row in page.rows]
        after, is_all = page.last, page.is_all

    assert found == sequences(of=of, at=at)


def test_a_search_that_takes_too_long_says_how_far_it_came() -> None:
    endless = ({"sequence": number, "type": "warning"} for number in range(1, 10**9))

    page = page_of(endless, LogQuery(q="nowhere"), None, limit_s=0.05)

    assert page.rows == ()
    assert not page.is_all
    assert page.last > 0


def test_a_row_says_what_is_particular_to_its_event() -> None:
    assert summary_of(EVENTS[3]) == "error: TIMEOUT, no Reply"
    assert summary_of(EVENTS[2]) == "pointer: Costs; rung: title"
    assert summary_of({**node_event(2, "run/1", title="Why?", attempt=2), "timing": {"duration_ms": 1234.0}}) == (
        "title: Why?; attempt: 2; timing: 1,234 ms"
    )
    assert len(summary_of(Warned(sequence=1, code="X", message="long " * 500).to_dict())) <= 160


def test_an_event_is_shown_whole_and_what_deceives_a_reader_is_made_visible() -> None:
    shown = as_shown({"sequence": 1, "text": "a\u202eb", "long": "x" * 300_000})

    assert "‹U+202E›" in shown
    assert shown.endswith(" more")
    assert len(shown) < 201_000


@pytest.mark.parametrize(
    ("run_id", "name"),
    [("3f9a1c", "run-3f9a1c.jsonl"), ('a"\r\nx: y/../é', "run-a-x-y-.jsonl"), ("", "run-events.jsonl")],
)
def test_the_name_of_an_export_is_safe_whatever_the_runs_id_is(run_id: str, name: str) -> None:
    assert file_name(run_id) == name


def test_all_types_of_events_can_be_chosen() -> None:
    assert {"skill-route-started", "permission-refused", "answer-delta"} <= set(TYPES)
    assert "event" not in TYPES


@pytest.fixture
def logged(panel: Any) -> Any:
    panel.store.begin_run(a_run())
    panel.store.append_events("r1", EVENTS)
    return panel


def test_the_part_lists_events_and_opens_one(logged: Any) -> None:
    part = logged.client.get("/runs/r1/logs").text
    filtered = logged.client.get("/runs/r1/logs", params={"of": "run/subtask-1"}).text
    whole = logged.client.get("/runs/r1/event", params={"seq": 4}).text

    assert re.findall(r'id="log-(\d+)"', part) == ["1", "2", "3", "4", "9"]
    assert re.findall(r'id="log-(\d+)"', filtered) == ["2", "3"]
    assert "+0.500 s" in part
    assert "&#34;no Reply&#34;" in whole
    assert logged.client.get("/runs/r1/event", params={"seq": 5}).status_code == 400


def test_what_stands_in_events_is_text_and_nothing_else(logged: Any) -> None:
    attack = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>"
    event = node_event(10, f"run/{attack}", title=attack, status=attack, error={"code": attack, "message": attack})
    logged.store.append_events("r1", [{**event, "type": attack}])

    for path in ("logs", "logs?q=%3Cscript%3E", "event?seq=10", "player"):
        text = logged.client.get(f"/runs/r1/{path}").text
        assert "<script" not in text
        assert "<img" not in text


def test_an_export_holds_every_event_as_it_is_on_record(logged: Any) -> None:
    answer = logged.client.get("/runs/r1/events.jsonl")
    some = logged.client.get("/runs/r1/events.jsonl", params={"status": "failed"})

    assert [json.loads(line) for line in answer.text.splitlines()] == EVENTS
    assert answer.headers["content-disposition"] == 'attachment; filename="run-r1.jsonl"'
    assert [json.loads(line)["sequence"] for line in some.text.splitlines()] == [4]


def test_many_events_come_in_pages(panel: Any) -> None:
    panel.store.begin_run(a_run(status="completed"))
    panel.store.append_events("r1", [node_event(each, f"run/{each}") for each in range(1, 451)])

    first = panel.client.get("/runs/r1/logs").text
    last = panel.client.get("/runs/r1/logs", params={"after": 400}).text

    assert len(re.findall(r'id="log-\d+"', first)) == 200
    assert "after=200" in first
    assert "Latest" in first
    assert len(re.findall(r'id="log-\d+"', last)) == 50
    assert "Latest" not in last


def test_a_replay_is_told_as_pictures_and_steps(logged: Any) -> None:
    def ask(path: str, **query: Any) -> Any:
        return logged.client.get(f"/runs/r1/{path}", params=query).json()

    assert ask("replay") == {"frames": [[0, 1], [500, 3], [1500, 4], [500, 9]], "is_all": True}
    assert ask("replay", after=3, speed=2) == {"frames": [[0, 9]], "is_all": True}
    assert [ask("step", at=at)["at"] for at in (0, 1, 4, 9)] == [1, 2, 9, 9]
    assert [ask("step", at=at, back=True)["at"] for at in (0, 1, 4, 9, 500)] == [0, 1, 3, 4, 9]
    assert ask("step", at=3)["says"] == "skill-route-node-updated run/subtask-10 failed"


@pytest.mark.parametrize(
    "path",
    [
        "logs?after=-1",
        "logs?at=x",
        f"logs?q={'x' * 2000}",
        "event",
        "event?seq=0",
        "replay?speed=0",
        "replay?speed=inf",
        "replay?after=99999999999",
        "step",
        "step?at=1&back=perhaps",
        "events.jsonl?after=x",
    ],
)
def test_an_address_that_is_not_right_is_refused(logged: Any, path: str) -> None:
    assert logged.client.get(f"/runs/r1/{path}").status_code == 400
    assert logged.client.get(f"/runs/r2/{path}").status_code == 404


def test_a_finished_run_is_read_searched_and_played_again_in_a_browser(panel: Any, look: Any) -> None:
    plan = plan_of({"context_pointers": COSTS}, {"context_pointers": REVENUE})
    model = ScriptedModel(plan=plan, subtask="Steel [L9].", synthesis="Joined [L9].")
    result = orchestrate(REPORT, "Why?", model=model, strategy="full", store=panel.store)
    page = look(panel, permissions=["clipboard-read", "clipboard-write"])
    page.goto(f"{panel.url}/runs/{result.run_id}?tab=overview")

    assert page.get_by_role("link", name="Logs").count() == 0
    page.get_by_label("Advanced").check()
    page.get_by_role("link", name="Logs").click()
    page.locator("#log-1 summary").click()
    page.get_by_role("button", name="Copy this event").click()
    page.get_by_text("Copied.").wait_for()
    copied = json.loads(page.evaluate("navigator.clipboard.readText()"))
    page.get_by_label("Type").select_option("slice-ready")
    page.get_by_text("2 events found").wait_for()
    page.get_by_role("button", name="Copy all shown").click()
    page.wait_for_function("navigator.clipboard.readText().then((text) => text.includes('slice-ready'))")
    lines = page.evaluate("navigator.clipboard.readText()").splitlines()
    assert copied == next(panel.store.events(result.run_id))
    assert [json.loads(line)["type"] for line in lines] == ["slice-ready"] * 2
    assert found_by_axe(page) == []

    page.get_by_label("Type").select_option("all")
    page.get_by_role("button", name="Replay").click()
    page.get_by_role("button", name="One event forth").wait_for()
    page.get_by_label("Event that is shown").fill("2")
    page.get_by_text("event 2 of").wait_for()
    page.get_by_role("link", name="Call Graph").click()
    page.locator("#call-graph [data-id='run']", has_text="executing").wait_for()
    page.get_by_role("button", name="One event forth").click()
    page.get_by_text("event 3 of").wait_for()
    page.get_by_label("Speed").select_option("50")
    page.get_by_role("button", name="Play").click()
    page.get_by_text(re.compile(r"event (\d+) of \1$")).wait_for()
    page.locator("#call-graph [data-id='run']", has_text="completed").wait_for()
    page.get_by_role("button", name="One event back").click()
    page.get_by_role("link", name="Permissions").click()
    page.get_by_text("No node may do more than its parent").wait_for()
    assert found_by_axe(page) == []
    page.get_by_role("button", name="Now").click()
    assert page.get_by_role("group", name="Replay of the run").count() == 0
    page.set_viewport_size({"width": 360, "height": 700})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_events_of_a_run_that_goes_on_are_added_and_what_was_opened_stays_open(panel: Any, look: Any) -> None:
    panel.store.begin_run(a_run())
    panel.store.append_events("r1", [node_event(each, f"run/{each}") for each in range(1, 60)])
    page = look(panel)
    page.goto(f"{panel.url}/runs/r1?tab=logs")
    page.locator("#log-50 summary").click()
    page.locator("#log-json-50").wait_for()
    before = page.locator("#panel-body").evaluate("(body) => body.scrollTop")

    panel.store.append_events("r1", [node_event(60, "run/60")])

    page.locator("#log-60").wait_for(state="attached")
    assert page.locator("#log-json-50").is_visible()
    assert page.locator("#panel-body").evaluate("(body) => body.scrollTop") == before > 0


def found_by_axe(page: Any) -> list[str]:
    return [
        f"{each['id']}: {each['nodes'][0]['html'][:200]}" for each in Axe().run(page, "#panel").response["violations"]
    ]
