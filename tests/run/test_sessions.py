"""Tasks that follow one another."""

from __future__ import annotations

import pytest
from models_for_tests import REPORT, REVENUE, ScriptedModel, plan_of

from orchestra import orchestrate
from orchestra.errors import InputInvalid, StoreDamaged
from orchestra.models.blocks import OutlineBlock
from orchestra.planning.history import Turn
from orchestra.run import Run
from orchestra.run.strategy import choose_strategy
from orchestra.settings import Services, Settings

FIRST, SECOND = "What was revenue in 2025?", "And in 2024?"


def a_model(**answers):
    plan = plan_of({"context_pointers": REVENUE, "task": "What was revenue?"}, {"task": "Why?"})
    return ScriptedModel(**{"plan": plan, "subtask": "$40 million [L5].", "synthesis": "$40 million [L5].", **answers})


def prompts(model, purpose):
    return [request.prompt for request in model.sent(purpose)]


def test_the_tasks_and_answers_of_a_session_go_along(store):
    model = a_model()
    orchestrate(REPORT, FIRST, model=model, strategy="full", store=store, session_id="talk")

    orchestrate(REPORT, SECOND, model=model, strategy="full", store=store, session_id="talk")

    told = f"<earlier>\nTask: {FIRST}\nAnswer: $40 million.\n</earlier>"
    for purpose in ("plan", "synthesis"):
        before, after = prompts(model, purpose)
        assert told not in before
        assert after.index(told) < after.index(f"Task: {SECOND}")
    assert not any("<earlier>" in prompt for prompt in prompts(model, "subtask"))


def test_another_session_and_a_run_without_one_know_nothing_of_it(store):
    model = a_model()
    orchestrate(REPORT, FIRST, model=model, strategy="full", store=store, session_id="talk")

    orchestrate(REPORT, SECOND, model=model, strategy="full", store=store, session_id="other")
    orchestrate(REPORT, SECOND, model=model, strategy="full", store=store)

    assert not any("<earlier>" in prompt for prompt in prompts(model, "plan"))


def test_a_history_needs_no_store_and_direct_is_told_of_it():
    model = a_model(subtask="$32 million [L5].")

    orchestrate(REPORT, SECOND, model=model, strategy="direct", history=[(FIRST, "$40 million [1].")])

    (prompt,) = prompts(model, "subtask")
    assert f"Task: {FIRST}\nAnswer: $40 million." in prompt


def test_a_history_that_has_no_room_is_left_out():
    model = a_model()

    orchestrate(REPORT, SECOND, model=model, strategy="direct", history=[(FIRST, "x")], history_tokens=0)

    assert "<earlier>" not in prompts(model, "subtask")[0]


def test_the_planner_of_an_outline_sees_the_lines_of_what_is_meant():
    text = "\n\n".join(f"# Part {n}\n\nNothing of interest stands here, part {n}." for n in range(60))
    text += "\n\n# Figures\n\nRevenue was $32 million in the year 2024 and more after it.\n"
    services = Services(history=(Turn(FIRST, "$40 million"),))
    run = Run.prepare(text, SECOND, None, (a_model(),) * 3, Settings(strategy="outline"), services)

    choose_strategy(run)

    (view,) = [block for block in run.outline_request.blocks if isinstance(block, OutlineBlock)]
    assert "Revenue was $32 million" in view.text
    assert FIRST in run.outline_request.prompt


def test_the_built_in_engine_answers_a_follow_up(store):
    options = {"model": "builtin:extractive", "store": store, "session_id": "talk"}
    orchestrate(REPORT, FIRST, **options)

    result = orchestrate(REPORT, SECOND, **options)

    assert "$32 million" in result.answer


def test_a_session_that_cannot_be_read_is_an_error(tmp_path):
    place = tmp_path / "notes.txt"
    place.write_text("no database, but somebody's notes")

    with pytest.raises(StoreDamaged):
        orchestrate(REPORT, SECOND, model=a_model(), store=place, session_id="talk")


@pytest.mark.parametrize("wrong", [{"session_id": 7}, {"history": "before"}, {"history_tokens": -1}])
def test_what_is_no_session_is_refused(wrong):
    with pytest.raises(InputInvalid):
        orchestrate(REPORT, FIRST, model=a_model(), **wrong)
