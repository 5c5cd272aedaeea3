"""Giving up a run that nobody works on: one that waits for people, was answered elsewhere, or was interrupted."""

from __future__ import annotations

import os

import pytest
from models_for_tests import COSTS, REVENUE, ScriptedModel, plan_of
from playwright.sync_api import expect
from test_panel_questions import CAREFUL, PART, TASK, asked, careful_model, page_of, turn, until, written

from orchestra.store import Store

BOTH = plan_of(
    {"task": "What was the revenue?", "context_pointers": REVENUE},
    {"skill": "careful", "task": "Why did costs rise?", "context_pointers": COSTS},
)


@pytest.fixture
def waiting(start_panel, tmp_path):
    """A panel and the open question of a run that has ended to wait for its answer."""
    model = ScriptedModel(plan=BOTH, subtask="Revenue was $40 million [L5].", synthesis="Never.")
    panel = start_panel(documents=[written(tmp_path)], model=model, skills=CAREFUL)
    return panel, waits(panel)


def waits(panel):
    panel.desk.runner._answer_wait_s = 0.1
    record = asked(panel)
    until(lambda: not panel.desk.runner.is_running(record.run_id))
    assert panel.store.run(record.run_id).status == "waiting"
    return record


def cancel(panel, run_id):
    return panel.client.post(f"/runs/{run_id}/cancel", headers=PART)


def given_up(panel, run_id):
    until(lambda: panel.store.run(run_id).status == "cancelled" and not panel.desk.runner.is_running(run_id))
    return panel.store.run(run_id)


def test_a_run_that_waits_is_given_up_and_what_it_has_found_stays(waiting):
    panel, record = waiting

    page = turn(panel, record.run_id)
    answer = cancel(panel, record.run_id)

    assert f'action="/runs/{record.run_id}/cancel"' in page
    assert answer.status_code == 204
    run = given_up(panel, record.run_id)
    assert run.ended_at is not None
    assert "Revenue was $40 million" in run.result["answer"]
    assert "CANCELLED" in [error["code"] for error in run.result["errors"]]
    assert panel.store.holder(record.run_id) is None
    statuses = {node.node_id: node.status for node in panel.store.nodes(record.run_id)}
    assert statuses["run/subtask-2"] == "cancelled"
    assert "card" not in turn(panel, record.run_id)


def test_a_run_that_was_answered_elsewhere_is_given_up_without_doing_what_was_approved(waiting):
    panel, record = waiting
    panel.store.answer(record.run_id, record.node_id, record.digest, outcome="approved")

    page = turn(panel, record.run_id)
    cancel(panel, record.run_id)

    assert "answered, and can go on" in page
    assert f'action="/runs/{record.run_id}/cancel"' in page
    subtasks = {each["id"]: each["reply"] for each in given_up(panel, record.run_id).result["subtasks"]}
    assert subtasks["2"] == ""


def test_a_run_whose_process_is_gone_is_given_up(waiting):
    panel, record = waiting
    panel.store.end_run(record.run_id, "running")

    page = turn(panel, record.run_id)
    cancel(panel, record.run_id)

    assert "interrupted" in page
    assert f'action="/runs/{record.run_id}/cancel"' in page
    assert given_up(panel, record.run_id).status == "cancelled"


def test_a_run_that_cannot_go_on_any_more_is_given_up_on_record(start_panel, tmp_path):
    with Store.open(tmp_path / "shared.db") as store:
        first = start_panel(store, documents=[written(tmp_path)], model=careful_model(), skills=CAREFUL)
        record = waits(first)
        bare = start_panel(store)  # without the model and the skills of the run

        answer = cancel(bare, record.run_id)

        assert answer.status_code == 204
        run = given_up(bare, record.run_id)
        assert run.error["code"] == "CANCELLED"
        assert store.holder(record.run_id) is None


def test_a_run_that_another_process_goes_on_with_is_left_to_it(waiting):
    panel, record = waiting
    assert panel.store.lease(record.run_id, f"another process {os.getpid()}", 60)

    page = turn(panel, record.run_id)
    answer = cancel(panel, record.run_id)

    assert f'action="/runs/{record.run_id}/cancel"' not in page
    assert answer.status_code == 400
    assert "another process works on it" in answer.text
    assert panel.store.run(record.run_id).status == "waiting"


def test_what_is_over_stays_as_it_is(waiting):
    panel, record = waiting
    panel.store.end_run(record.run_id, "failed", error={"code": "MODEL_AUTH", "message": "no key"})

    assert cancel(panel, record.run_id).status_code == 204

    assert panel.store.run(record.run_id).status == "failed"


def test_a_person_gives_up_a_run_that_waits(waiting, look):
    panel, record = waiting
    page = look(panel)
    page.goto(page_of(panel, record))
    expect(page.locator(".card")).to_be_visible()

    page.get_by_role("button", name="Cancel").click()

    expect(page.locator(".status")).to_contain_text("cancelled")
    expect(page.locator(".card")).to_have_count(0)
    expect(page.locator(".task")).to_contain_text(TASK)
