"""What belongs to others: sessions, documents, questions and streams answer to their own names only."""

from __future__ import annotations

import hashlib
import re

import pytest
from hostile_records import EDITABLE, ask
from records_for_tests import a_run, node_event

from orchestra import Question
from tests.panel.conftest import Panel

PART = {"HX-Request": "true"}


@pytest.fixture
def two(panel: Panel) -> Panel:
    """Two sessions, `a` and `b`, each with a run (`in-a`, `in-b`) and a question; `b` has a document."""
    for session in ("a", "b"):
        panel.store.begin_run(a_run(f"in-{session}", session_id=session, task=f"Of {session}.", status="running"))
        panel.store.append_events(f"in-{session}", [node_event(1, "run"), node_event(2, f"run/of-{session}")])
        ask(panel.store, f"in-{session}", Question("approval", f"run/of-{session}", f"May {session}?", EDITABLE))
        panel.store.end_run(f"in-{session}", "waiting")
    files = {"file": ("b.md", b"# Of b\n")}
    assert panel.client.post("/sessions/b/documents", files=files).status_code == 303
    return panel


def test_nothing_of_a_session_is_found_in_another(two: Panel) -> None:
    document = two.desk.shelf.documents("b")[0].id
    assert two.client.get("/sessions/a?run=in-b").status_code == 404
    assert two.client.get(f"/sessions/a/documents/{document}/outline").status_code == 404
    removed = two.client.post(f"/sessions/a/documents/{document}/remove", headers=PART)
    assert removed.status_code == 404
    assert [each.id for each in two.desk.shelf.documents("b")] == [document]
    assert "Of b." not in two.client.get("/sessions/a/chat").text
    assert two.client.get("/live?run=in-b&session=a").status_code == 404
    assert two.client.get("/runs/in-a/node", params={"id": "run/of-b"}).status_code == 404
    assert two.client.get("/live", params={"run": "in-a"}, headers={"Last-Event-ID": "nonsense"}).status_code == 400


def test_an_id_of_another_run_moves_no_stream(two: Panel) -> None:
    headers = {"Last-Event-ID": "in-b:2"}
    with two.client.stream("GET", "/live", params={"run": "in-a"}, headers=headers) as answer:
        got = ""
        for chunk in answer.iter_text():
            got += chunk
            if "in-a:2" in got:
                break
    assert re.findall(r"id: (\S+)", got) == ["in-a:1", "in-a:2"]
    assert "of-b" not in got


def test_an_answer_is_for_one_question_of_one_run_as_it_was_shown(two: Panel) -> None:
    ours, theirs = two.store.approvals("in-a")[0], two.store.approvals("in-b")[0]
    stale = hashlib.sha256(b"another").hexdigest()
    for run_id, node, digest in (
        ("in-a", theirs.node_id, theirs.digest),
        ("in-a", ours.node_id, theirs.digest),
        ("in-a", theirs.node_id, ours.digest),
        ("in-b", ours.node_id, ours.digest),
        ("in-a", ours.node_id, stale),
        ("in-a", ours.node_id, ours.digest.upper()),
        ("in-a", ours.node_id, ours.digest[:16]),
        ("in-a", ours.node_id, ""),
        ("in-a", "", ours.digest),
        ("nothing", ours.node_id, ours.digest),
    ):
        form = {"node": node, "digest": digest, "outcome": "approved"}
        assert two.client.post(f"/runs/{run_id}/answer", data=form).status_code in (400, 404)
    whole = {"node": ours.node_id, "digest": ours.digest}
    for form in (
        {"outcome": "allowed"},
        {"outcome": "answered", "text": "yes"},
        {"outcome": ""},
        {"outcome": "approved", "edited": '{"not shown": 1}'},
        {"outcome": "approved", "edited": "[" * 100_000},
        {"outcome": "approved", "edited": '{"a":' * 50_000},
        {"outcome": "approved", "edited": "9" * 10_000},
        {"outcome": "approved", "edited": "[]"},
        {"outcome": "approved", "edit-1": "no JSON"},
        {"outcome": "approved", "edit-1": '{"to": '},
        {"outcome": "answered", "option": "9" * 5_000},
    ):
        assert two.client.post("/runs/in-a/answer", data={**whole, **form}).status_code == 400, form
    assert [each.status for run in ("in-a", "in-b") for each in two.store.approvals(run)] == ["open", "open"]


def test_what_was_changed_after_it_was_asked_takes_no_answer(panel: Panel) -> None:
    panel.store.begin_run(a_run("r", session_id="s"))
    question = Question("approval", "run/1", "Send it?", {"to": "me"})
    changed = Question("approval", "run/1", "Send it?", {"to": "all"})
    record = question.to_dict()
    ask(panel.store, "r", question)
    kept = panel.store.approvals("r")[0]
    assert kept.shown == record
    panel.store.ask(type(kept)("r", "run/1", "approval", "x", changed.to_dict(), "f" * 64, 1.0))
    form = {"node": "run/1", "digest": "f" * 64, "outcome": "approved"}
    answer = panel.client.post("/runs/r/answer", data=form)
    assert 400 <= answer.status_code < 500
    assert {each.status for each in panel.store.approvals("r")} == {"open"}


def test_ids_are_not_to_be_guessed(panel: Panel) -> None:
    made = [panel.client.post("/sessions").headers["location"].rsplit("/", 1)[-1] for _ in range(20)]
    assert len(set(made)) == 20
    assert all(re.fullmatch(r"[0-9a-f]{32}", each) for each in made)
    assert len(panel.desk.secret) >= 32
    assert len(panel.gate.cookie) == len(panel.gate.token) == 64
