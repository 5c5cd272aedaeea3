"""A run by each strategy: what is sent, and what the result says about it."""

from __future__ import annotations

import json

import pytest
from models_for_tests import REPORT, ScriptedModel, at, codes, plan_of
from pydantic import BaseModel

from orchestra import Result, compare_strategies, make_plan, orchestrate
from orchestra.document import count_tokens
from orchestra.errors import ContextTooLong, InputInvalid
from orchestra.models.blocks import DocumentBlock, OutlineBlock, SliceBlock
from orchestra.planning.costs import request_tokens
from orchestra.runtime.events import LookTaken, StrategyChosen

CHAPTERS = 60
LONG = "\n".join(
    f"# Chapter {number}\n\nThe pump of type {number} weighs {number} kg.\n\n{'It is described at length. ' * 120}\n"
    for number in range(1, CHAPTERS + 1)
)
TASK = "What does the pump of type 41 weigh?"


class Weight(BaseModel):
    kilograms: int


def outline_plan(*sections, **more):
    subtask = {"id": "1", "task": TASK, "skill": "fact-extraction", "sections": list(sections), "answer": None}
    return {"look": [], "whole": False, "subtasks": [subtask | {"depends_on": []}], **more}


def test_direct_is_one_call_with_everything():
    model = ScriptedModel(subtask="Revenue was $40 million in 2025 [L5].")

    result = orchestrate(REPORT, "Did revenue rise?", model=model, strategy="direct")

    assert len(model.requests) == 1
    assert all(line in model.requests[0].prompt for line in REPORT.split("\n"))
    assert result.answer == "Revenue was $40 million in 2025 [1]."
    assert (result.strategy.chosen, result.strategy.asked) == ("direct", "direct")
    assert result.usage.plan.calls == 0


def test_direct_with_a_schema_is_still_one_call():
    model = ScriptedModel(subtask={"answer": "It weighs 41 kg [L5].", "data": {"kilograms": 41}})

    result = orchestrate(REPORT, "Weight?", model=model, strategy="direct", answer_schema=Weight)

    assert len(model.requests) == 1
    assert result.data == Weight(kilograms=41)


def test_direct_asks_once_more_for_data_that_does_not_fit():
    replies = [{"answer": "a", "data": {"kilograms": "heavy"}}, {"answer": "b", "data": {"kilograms": 4}}]
    model = ScriptedModel(subtask=replies)

    result = orchestrate(REPORT, "Weight?", model=model, strategy="direct", answer_schema=Weight)

    assert (result.data, len(model.requests)) == (Weight(kilograms=4), 2)
    assert "ANSWER_ASKED_AGAIN" in codes(result)


def test_direct_without_usable_data_has_failed_and_says_why():
    model = ScriptedModel(subtask={"answer": "a", "data": {"kilograms": "heavy"}})

    result = orchestrate(REPORT, "Weight?", model=model, strategy="direct", answer_schema=Weight)

    assert result.status == "failed"
    assert [error.code for error in result.errors] == ["ANSWER_INVALID"]


def test_a_short_document_is_answered_in_one_call_unless_asked_otherwise():
    model = ScriptedModel(subtask="It rose [L5].")

    result = orchestrate(REPORT, "Did revenue rise?", model=model)

    assert len(model.requests) == 1
    assert (result.strategy.chosen, result.strategy.asked) == ("direct", "auto")


def test_skills_of_ones_own_are_applied_to_a_short_document_too():
    model = ScriptedModel(plan=outline_plan("s2"), subtask="It rose [L5].")

    result = orchestrate(REPORT, "Did revenue rise?", {"mine": "Answer in verse."}, model)

    assert result.strategy.chosen == "outline"
    assert "mine" in model.sent("plan")[0].prompt


def test_the_planner_of_an_outline_never_sees_the_document():
    model = ScriptedModel(plan=outline_plan("s41"), subtask="41 kg [L243].")

    result = orchestrate(LONG, TASK, model=model)

    (planning,) = model.sent("plan")
    assert result.strategy.chosen == "outline"
    assert not any(isinstance(block, DocumentBlock) for block in planning.blocks)
    assert request_tokens(planning) <= 3_000
    assert "described at length" not in planning.prompt.replace("It is described at length. It is", "")
    (asking,) = model.sent("subtask")
    (slice_,) = [block.slice for block in asking.blocks if isinstance(block, SliceBlock)]
    assert [str(lines) for lines in slice_.line_ranges] == ["L241-L246"]


@pytest.mark.parametrize("budget", [1_500, 2_500, 6_000])
def test_the_planner_s_prompt_keeps_within_the_budget_that_is_set(budget):
    model = ScriptedModel(plan=outline_plan("s41"), subtask="41 kg.")

    orchestrate(LONG, TASK, model=model, outline_tokens=budget)

    assert request_tokens(model.sent("plan")[0]) <= budget


def test_the_planner_may_look_closer_once():
    look = {"look": ["s41", "s42"], "whole": False, "subtasks": []}
    model = ScriptedModel(plan=[look, outline_plan("s41")], subtask="41 kg [L243].")
    events = []

    result = orchestrate(LONG, TASK, model=model, on_event=events.append)

    first, second = model.sent("plan")
    assert result.usage.plan.calls == 2
    assert request_tokens(second) <= 3_000
    assert "You asked to look closer" in second.prompt
    assert first.blocks[:2] == second.blocks[:2]
    assert [list(event.ids) for event in events if isinstance(event, LookTaken)] == [["s41", "s42"]]


def test_a_planner_that_only_ever_looks_gets_one_look_and_what_it_looked_at_is_sent():
    look = {"look": ["s41"], "whole": False, "subtasks": []}
    model = ScriptedModel(plan=look, subtask="41 kg [L243].")

    result = orchestrate(LONG, TASK, model=model)

    assert sum("You asked to look closer" in request.prompt for request in model.sent("plan")) == 2  # and mended once
    assert (result.subtasks[0].task, result.subtasks[0].slice.line_ranges) == (TASK, ("L241-L246",))
    assert "PLAN_MADE_OF_LOOK" in codes(result)
    assert "SKILL_UNKNOWN" not in codes(result)


def test_a_plan_from_an_outline_that_is_no_plan_is_asked_for_once_more():
    model = ScriptedModel(plan=["I cannot.", outline_plan("s41")], subtask="41 kg [L243].")

    result = orchestrate(LONG, TASK, model=model)

    assert result.status == "completed"
    assert "PLAN_ASKED_AGAIN" in codes(result)


def test_pointers_that_lead_nowhere_are_searched_for_and_not_replaced_by_the_whole_document():
    model = ScriptedModel(plan=outline_plan("s999"), subtask="41 kg.")

    result = orchestrate(LONG, TASK, model=model)

    assert result.subtasks[0].slice.fallback == "search"
    assert result.subtasks[0].slice.tokens <= 4_000


def test_a_model_with_a_small_window_answers_over_a_document_that_it_could_never_hold():
    model = ScriptedModel(plan=outline_plan("s41"), subtask="41 kg [L243].")
    model.context_window = 8_000

    result = orchestrate(LONG, TASK, model=model)

    assert result.strategy.chosen == "outline"
    assert max(request_tokens(request) for request in model.requests) < 8_000
    assert [each.is_possible for each in result.strategy.estimates] == [False, False, True]


@pytest.mark.parametrize("strategy", ["direct", "full"])
def test_a_strategy_that_the_window_does_not_allow_is_refused_before_anything_is_sent(strategy):
    model = ScriptedModel()
    model.context_window = 8_000

    with pytest.raises(ContextTooLong, match="cannot be followed"):
        orchestrate(LONG, TASK, model=model, strategy=strategy)

    assert model.requests == []


def test_the_choice_is_an_event_and_stands_in_the_result_with_the_bills_of_all():
    model = ScriptedModel(plan=outline_plan("s41"), subtask="41 kg [L243].")
    events = []

    result = orchestrate(LONG, TASK, model=model, on_event=events.append)

    (event,) = [event for event in events if isinstance(event, StrategyChosen)]
    assert (event.strategy, event.reason) == (result.strategy.chosen, result.strategy.reason)
    assert [each.strategy for each in result.strategy.estimates] == ["direct", "full", "outline"]
    assert Result.model_validate_json(result.model_dump_json()).strategy == result.strategy


def test_a_plan_that_was_given_is_no_strategy_and_asks_no_planner():
    model = ScriptedModel(subtask="It rose [L5].")

    result = orchestrate(REPORT, "Revenue?", model=model, plan=plan_of({"context_pointers": at("Revenue")}))

    assert (result.strategy.chosen, result.strategy.estimates) == ("given", ())
    assert [request.purpose for request in model.requests] == ["subtask"]


def test_strategies_are_compared_without_a_call():
    model = ScriptedModel()

    report = compare_strategies(LONG, TASK, model=model)

    assert model.requests == []
    assert report.chosen == "outline"
    direct, full, outline = report.estimates
    assert direct.input_tokens == pytest.approx(count_tokens(LONG), rel=0.1)
    assert outline.plan.total_input_tokens <= 3_000
    assert outline.input_tokens < 0.2 * direct.input_tokens < full.input_tokens


def test_a_route_is_compared_as_what_it_is_beside_the_other_ways():
    report = compare_strategies(REPORT, "Revenue?", model=ScriptedModel(), strategy="route")

    assert (report.chosen, report.asked, report.reason) == ("route", "route", "skills were asked for")
    assert [estimate.strategy for estimate in report.estimates] == ["direct", "full", "outline"]


def test_what_was_asked_before_is_part_of_an_estimate():
    history = [("What was revenue?", "It was $40 million.")]
    model = ScriptedModel(subtask="It did [L5].")

    bare = compare_strategies(REPORT, "And before?", model=model)
    report = compare_strategies(REPORT, "And before?", model=model, history=history)
    run = orchestrate(REPORT, "And before?", model=model, history=history, strategy="direct")

    assert report.estimates[0].input_tokens > bare.estimates[0].input_tokens
    assert report.estimates[0] == run.strategy.estimates[0]


def test_the_estimate_of_one_call_is_what_is_sent():
    model = ScriptedModel(subtask="Revenue was $40 million in 2025 [L5].")

    result = orchestrate(REPORT, "Did revenue rise?", model=model, strategy="direct")

    assert result.strategy.estimates[0].input_tokens == request_tokens(model.requests[0])


def test_planning_alone_by_direct_sends_nothing():
    model = ScriptedModel()

    plan = make_plan(REPORT, "Did revenue rise?", model=model)

    assert model.requests == []
    assert [subtask.task for subtask in plan.subtasks] == ["Did revenue rise?"]


def test_a_direct_plan_that_was_kept_runs_as_it_did():
    model = ScriptedModel(subtask="It rose [L5].")
    plan = make_plan(REPORT, "Did revenue rise?", model=model)

    kept = orchestrate(REPORT, "Did revenue rise?", model=model, plan=json.loads(plan.model_dump_json()))
    fresh = orchestrate(REPORT, "Did revenue rise?", model=model)

    assert kept.fingerprint == fresh.fingerprint
    assert "SKILL_UNKNOWN" not in codes(kept)


@pytest.mark.parametrize(("name", "value"), [("strategy", "fast"), ("outline_tokens", 0), ("max_followups", 9)])
def test_a_choice_that_makes_no_sense_is_refused(name, value):
    with pytest.raises(InputInvalid, match=name):
        orchestrate(REPORT, "Why?", model=ScriptedModel(), **{name: value})


def test_two_lookups_over_one_document_are_each_planned_for_what_they_ask():
    model = ScriptedModel(plan=outline_plan("s41"), subtask="41 kg [L243].")

    orchestrate(LONG, TASK, model=model)
    orchestrate(LONG, "What does the pump of type 7 weigh?", model=model)

    one, two = (next(b for b in request.blocks if isinstance(b, OutlineBlock)) for request in model.sent("plan"))
    assert one.text != two.text


def test_a_document_is_kept_in_the_provider_s_cache_where_the_caller_says_so():
    model = ScriptedModel(subtask="It rose [L5].")

    once = orchestrate(REPORT, "Did revenue rise?", model=model)
    kept = orchestrate(REPORT, "Did revenue rise?", model=model, is_document_cached=True)

    marked = [any(b.cacheable for b in request.blocks if isinstance(b, SliceBlock)) for request in model.requests]
    assert (once.strategy.chosen, kept.strategy.chosen, marked) == ("direct", "direct", [False, True])


def test_a_self_answer_that_cites_lines_which_do_not_exist_is_delegated():
    wrong = {"id": "1", "task": TASK, "skill": "self", "sections": [], "answer": "It weighs 41 kg [L99999]."}
    model = ScriptedModel(
        plan={"look": [], "whole": False, "subtasks": [wrong | {"depends_on": []}]}, subtask="41 kg [L243]."
    )

    result = orchestrate(LONG, TASK, model=model)

    assert [subtask.status for subtask in result.subtasks] == ["completed"]
    assert "SELF_ANSWER_UNSUPPORTED" in codes(result)


def test_a_task_that_is_longer_than_the_planner_s_budget_is_told():
    model = ScriptedModel(plan=outline_plan("s41"), subtask="41 kg [L243].")

    result = orchestrate(LONG, f"{TASK} {'Mind the unit. ' * 900}", model=model, strategy="outline")

    assert "OUTLINE_OVER_BUDGET" in codes(result)
