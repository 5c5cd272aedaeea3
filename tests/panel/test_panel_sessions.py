"""The list of sessions: begun, renamed, removed, and the runs that belong to none."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from orchestra.panel.ids import session_key
from tests.panel.conftest import Panel
from tests.records_for_tests import a_run

PART = {"HX-Request": "true"}
HOSTILE = '<script>alert(1)</script>"><img src=x onerror=alert(1)>'


def _listed(panel: Panel, **query: str | int) -> str:
    answer = panel.client.get("/parts/sessions", params=query, headers=PART)
    assert answer.status_code == 200
    return answer.text


def test_a_new_session_has_an_id_that_nobody_guesses_and_is_opened(panel: Panel) -> None:
    first = panel.client.post("/sessions")
    second = panel.client.post("/sessions")

    ids = [answer.headers["location"].removeprefix("/sessions/") for answer in (first, second)]
    assert [answer.status_code for answer in (first, second)] == [303, 303]
    assert all(re.fullmatch(r"[0-9a-f]{32}", each) for each in ids)
    assert {session.id for session in panel.store.sessions()} == set(ids)
    assert panel.client.get(first.headers["location"]).status_code == 200


def test_a_session_is_called_by_its_first_task_until_it_is_renamed(panel: Panel) -> None:
    panel.store.begin_run(a_run("r1", session_id="s1", task="What drove the margin?"))
    before = _listed(panel)

    renamed = panel.client.post("/sessions/s1/rename", data={"title": " Margins  2024 "}, headers=PART)

    assert "What drove the margin?" in before
    assert "1 run " in before
    assert renamed.status_code == 200
    assert panel.store.sessions()[0].title == "Margins 2024"
    assert "Margins 2024" in _listed(panel)
    without_script = panel.client.post("/sessions/s1/rename", data={"title": ""})
    assert (without_script.status_code, without_script.headers["location"]) == (303, "/sessions/s1")
    assert panel.store.sessions()[0].title == ""


@pytest.mark.parametrize("title", ["x" * 201, "a\x00b", "two\nlines"])
def test_a_title_that_is_none_is_refused_and_the_list_stays(panel: Panel, title: str) -> None:
    panel.store.begin_session("s1", "Before")

    refused = panel.client.post("/sessions/s1/rename", data={"title": title}, headers=PART)

    assert refused.status_code == 400
    assert "INPUT_INVALID" in refused.text
    assert "Before" in refused.text
    assert panel.store.sessions()[0].title == "Before"


def test_a_session_is_removed_with_its_runs_and_uploads(panel: Panel) -> None:
    panel.store.begin_run(a_run("r1", session_id="s1"))
    panel.store.begin_run(a_run("r2", session_id="s2"))
    panel.client.post("/sessions/s1/documents", files={"file": ("a.md", b"# A\n")}, headers=PART)

    removed = panel.client.post("/sessions/s1/delete", data={"current": "s2"}, headers=PART)

    assert removed.status_code == 200
    assert [session.id for session in panel.store.sessions()] == ["s2"]
    assert panel.store.run("r1") is None
    assert [each for each in (panel.desk.home / "uploads").rglob("*") if each.is_file()] == []


def test_removing_the_open_session_leads_to_another(panel: Panel) -> None:
    panel.store.begin_session("s1")
    panel.store.begin_session("s2")

    by_script = panel.client.post("/sessions/s1/delete", data={"current": "s1"}, headers=PART)
    by_form = panel.client.post("/sessions/s2/delete", data={"current": "s2"})

    assert (by_script.status_code, by_script.headers["hx-redirect"]) == (204, "/")
    assert (by_form.status_code, by_form.headers["location"]) == (303, "/")


def test_a_session_in_which_a_run_is_under_way_is_not_removed(panel: Panel) -> None:
    panel.store.begin_run(a_run("r1", session_id="s1"))
    panel.client.post("/sessions/s1/documents", files={"file": ("a.md", b"# A\n")}, headers=PART)
    assert panel.store.lease("r1", "another process", 60)

    by_script = panel.client.post("/sessions/s1/delete", headers=PART)
    by_form = panel.client.post("/sessions/s1/delete")

    assert (by_script.status_code, by_form.status_code) == (409, 409)
    assert "Cancel the run" in by_script.text
    assert panel.store.run("r1") is not None
    assert len(panel.desk.shelf.documents("s1")) == 1


@pytest.mark.parametrize("action", ["rename", "delete"])
def test_a_session_that_is_not_there_is_not_found(panel: Panel, action: str) -> None:
    answer = panel.client.post(f"/sessions/nobody/{action}", data={"title": "x"}, headers=PART)

    assert answer.status_code == 404
    assert panel.store.sessions() == []


@pytest.mark.parametrize("session_id", ["a/b/../c", "..", "~x", "%2e%2e", "a b?c#d", "Zoë", "\u202e", HOSTILE])
def test_a_session_of_any_id_can_be_opened_renamed_and_removed(panel: Panel, session_id: str) -> None:
    panel.store.begin_run(a_run("r1", session_id=session_id))
    address = f"/sessions/{session_key(session_id)}"

    listed = _listed(panel, current=session_id)

    assert f'href="{address}" aria-current="page"' in listed
    assert panel.client.get(address).status_code == 200
    assert (
        panel.client.post(f"{address}/documents", files={"file": ("a.md", b"# A\n")}, headers=PART).status_code == 200
    )
    assert panel.client.post(f"{address}/rename", data={"title": "Odd"}, headers=PART).status_code == 200
    assert panel.store.sessions()[0].title == "Odd"
    assert panel.client.post(f"{address}/delete", headers=PART).status_code == 200
    assert panel.store.sessions() == []


def test_runs_of_no_session_are_listed_newest_first_with_their_status_and_more_on_request(panel: Panel) -> None:
    for number in range(60):
        panel.store.begin_run(a_run(f"r{number}", task=f"Task {number}.", started_at=1000.0 + number))
    panel.store.end_run("r59", "failed", error={"code": "X", "message": "x"})
    panel.store.begin_run(a_run("in-session", task="Elsewhere.", session_id="s1"))

    listed, more = _listed(panel), _listed(panel, runs=100)

    assert listed.index("Task 59.") < listed.index("Task 58.") < listed.index("Task 10.")
    assert "Task 9." not in listed
    assert "More runs" in listed
    assert "Task 0." in more
    assert "More runs" not in more
    assert '<span class="sign" aria-hidden="true">✗</span>failed' in listed
    assert '<span class="sign" aria-hidden="true">▸</span>running' in listed
    assert 'href="/runs/r59"' in listed
    assert "/runs/in-session" not in listed


def test_titles_and_tasks_are_shown_and_never_run(panel: Panel) -> None:
    panel.store.begin_session("s1", HOSTILE)
    panel.store.begin_run(a_run("r1", session_id="s2", task=HOSTILE))
    panel.store.begin_run(a_run("r2", task=HOSTILE))

    listed = _listed(panel, current=HOSTILE)

    assert "<script" not in listed
    assert "<img" not in listed
    assert listed.count(escape("<script>alert(1)</script>")) >= 3


@pytest.mark.parametrize("query", [{"runs": "0"}, {"runs": "x"}, {"sessions": "-1"}, {"runs": "99999999999"}])
def test_an_odd_query_is_refused(panel: Panel, query: dict[str, str]) -> None:
    assert panel.client.get("/parts/sessions", params=query, headers=PART).status_code == 400


def test_without_the_token_no_session_is_begun_renamed_or_removed(panel: Panel) -> None:
    panel.store.begin_session("s1", "Mine")

    for address in ("/sessions", "/sessions/s1/rename", "/sessions/s1/delete", "/sessions/s1/documents"):
        assert panel.client.post(address, data={"title": "Theirs"}, headers={"X-Token": "wrong"}).status_code == 403

    assert [(session.id, session.title) for session in panel.store.sessions()] == [("s1", "Mine")]


def test_sessions_are_managed_by_keyboard_while_the_list_changes(look: Callable[..., Page], panel: Panel) -> None:
    panel.store.begin_session("s1", "First")
    page = look(
        panel, viewport={"width": 1200, "height": 800}, expects=("404",)
    )  # of a chat that has just been removed
    sessions = page.locator("#sessions")

    page.get_by_role("button", name="New session").focus()
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"/sessions/[0-9a-f]{32}$"))
    expect(sessions.locator("a[aria-current=page]")).to_have_text("New session")

    sessions.locator("li.current > details > summary").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.type("Half a ti")
    panel.store.begin_run(a_run("r1", task="A run from elsewhere."))
    expect(sessions.get_by_role("link", name="A run from elsewhere.")).to_be_visible()
    expect(sessions.locator("li.current input[name=title]")).to_be_focused()
    page.keyboard.type("tle")
    page.keyboard.press("Enter")
    expect(sessions.locator("a[aria-current=page]")).to_have_text("Half a title")
    expect(sessions.locator("a[aria-current=page]")).to_be_focused()
    assert Axe().run(page, context="#sessions").violations_count == 0

    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    for _ in range(3):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(sessions.get_by_role("button", name="Remove this session").first).to_be_focused()
    page.keyboard.press("Enter")
    page.wait_for_url(f"{panel.url}/sessions/s1")
    assert [session.id for session in panel.store.sessions()] == ["s1"]
