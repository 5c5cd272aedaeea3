"""A run within its budget: what is sent, what is not, and what is given back then."""

from __future__ import annotations

import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from models_for_tests import AUDITOR, COSTS, REPORT, REVENUE, ScriptedModel, plan_of

from orchestra.document import count_tokens
from orchestra.errors import BudgetExceeded, InputInvalid, ModelOverloaded, ModelReplyInvalid, ModelTimeout
from orchestra.models.protocol import ModelReply, Usage
from orchestra.pipeline import story_of
from orchestra.run import Run
from orchestra.settings import Services, Settings

PLACES = (COSTS, REVENUE, AUDITOR)
THREE = plan_of(*({"context_pointers": place} for place in PLACES))


class Meter:
    """Bills what it is sent, counted as we count, and as many output tokens as it is told; keeps the bills."""

    name = "anthropic:claude-sonnet-5-5"

    def __init__(self, *outputs, failures=()):
        self._outputs, self._failures = outputs, list(failures)
        self._lock = threading.Lock()
        self.bills: list[Usage] = []
        self.requests = []

    def complete(self, request):
        with self._lock:
            if self._failures:
                raise self._failures.pop(0)
            at = len(self.bills)
            output = min(self._outputs[at % len(self._outputs)], request.max_tokens)
            self.bills.append(Usage(count_tokens(request.prompt), output_tokens=output))
            self.requests.append(request)
            return ModelReply("It is so [L9].", self.bills[at])

    @property
    def total(self):
        return sum(bill.total_input_tokens + bill.output_tokens for bill in self.bills)

    def most(self, purpose="subtask"):
        """What its calls of a kind could have taken."""
        return [count_tokens(each.prompt) + each.max_tokens for each in self.requests if each.purpose == purpose]


def run(model, plan=THREE, **limits):
    options = {"max_followups": 0, "max_tokens": 50, "synthesis_max_tokens": 60, "strategy": "full", **limits}
    made = Run.prepare(REPORT, "Tell me.", None, (model, model, model), Settings(**options), Services())
    return made.drive(story_of(made, plan, None))


def statuses(result):
    return [subtask.error.code if subtask.error else subtask.status for subtask in result.subtasks]


def test_a_budget_of_exactly_what_a_run_may_take_is_enough():
    unlimited = Meter(50)
    run(unlimited)
    needed = sum(unlimited.most()) + sum(unlimited.most("synthesis"))

    result = run(Meter(50), max_tokens_total=needed)

    assert result.status == "completed"
    assert (result.usage.calls, result.errors) == (4, ())


def test_with_one_token_less_the_answer_is_joined_by_code():
    unlimited = Meter(50)
    run(unlimited)
    needed = unlimited.total - unlimited.bills[3].output_tokens + unlimited.requests[3].max_tokens

    result = run(Meter(50), max_tokens_total=needed - 1)

    assert statuses(result) == ["completed"] * 3
    assert result.status == "partial"
    assert [error.code for error in result.errors] == ["BUDGET_EXCEEDED"]
    assert result.answer.count("It is so") == 3


def test_what_does_not_fit_is_not_sent_and_what_had_finished_is_given_back():
    unlimited = Meter(50)
    run(unlimited)
    model = Meter(50)

    result = run(model, max_tokens_total=sum(unlimited.most()[:2]))

    assert statuses(result) == ["completed", "completed", "BUDGET_EXCEEDED"]
    assert len(model.bills) == 2
    assert "run/subtask-3 was not sent" in result.subtasks[2].error.message
    assert f"of {sum(unlimited.most()[:2]):,} tokens" in result.subtasks[2].error.message


def test_a_planner_that_does_not_fit_is_raised_and_nothing_is_sent():
    model = ScriptedModel(plan=THREE)

    with pytest.raises(BudgetExceeded, match="run/plan was not sent"):
        run(model, plan=None, max_tokens_total=100)

    assert model.requests == []


def test_merged_subtasks_go_one_by_one_as_far_as_they_fit():
    plan = plan_of({"context_pointers": COSTS}, {"context_pointers": COSTS})
    alone = Meter(50)
    run(alone, plan_of({"context_pointers": COSTS}))

    result = run(Meter(50), plan, max_tokens_total=alone.most()[0] + 5)

    assert statuses(result) == ["completed", "BUDGET_EXCEEDED"]


def test_a_failure_that_was_billed_counts_and_may_leave_no_room_to_try_again():
    billed = ModelReplyInvalid("empty", retry_after_s=0, usage=Usage(80, output_tokens=40))
    unlimited = Meter(50)
    run(unlimited, plan_of({"context_pointers": COSTS}))

    result = run(
        Meter(50, failures=[billed]), plan_of({"context_pointers": COSTS}), max_tokens_total=unlimited.most()[0] + 119
    )

    assert statuses(result) == ["BUDGET_EXCEEDED"]
    assert "the attempt before it failed: MODEL_REPLY_INVALID" in result.subtasks[0].error.cause
    assert (result.usage.subtasks.calls, result.usage.subtasks.input_tokens) == (1, 80)


def test_a_failure_that_was_billed_is_on_the_bill():
    billed = ModelReplyInvalid("empty", retry_after_s=0, usage=Usage(80, output_tokens=40))

    result = run(Meter(50, failures=[billed]), plan_of({"context_pointers": COSTS}))

    assert result.status == "completed"
    assert result.usage.subtasks.calls == 2
    assert result.usage.subtasks.output_tokens == 90


def test_a_failure_before_any_reply_costs_nothing():
    unlimited = Meter(50)
    run(unlimited, plan_of({"context_pointers": COSTS}))
    model = Meter(50, failures=[ModelOverloaded("529", retry_after_s=0)])

    result = run(model, plan_of({"context_pointers": COSTS}), max_tokens_total=unlimited.most()[0])

    assert statuses(result) == ["completed"]


def test_a_call_that_timed_out_may_have_cost_all_that_it_could():
    model = Meter(50, failures=[ModelTimeout("slow")])
    unlimited = Meter(50)
    run(unlimited, plan_of({"context_pointers": COSTS}))

    result = run(model, plan_of({"context_pointers": COSTS}), max_tokens_total=unlimited.most()[0] + 10)

    assert statuses(result) == ["BUDGET_EXCEEDED"]
    assert model.bills == []


def test_dollars_are_held_at_list_prices():
    unlimited = Meter(50)
    full = run(unlimited)

    enough = run(Meter(50), max_cost_usd=full.usage.cost_usd * 1.3)
    tight = run(Meter(50), max_cost_usd=full.usage.cost_usd * 0.5)

    assert enough.status == "completed"
    assert "BUDGET_EXCEEDED" in statuses(tight)
    assert tight.usage.cost_usd <= full.usage.cost_usd * 0.5


def test_dollars_cannot_be_held_for_a_model_without_a_price():
    model = ScriptedModel(subtask="It is so [L9].")

    with pytest.raises(InputInvalid, match="no price is known for test:scripted"):
        run(model, max_cost_usd=1.0)

    assert model.requests == []


def test_the_built_in_engine_costs_no_dollars():
    assert statuses(run("builtin:extractive", max_cost_usd=0)) == ["completed"] * 3


@pytest.mark.parametrize(
    "limit",
    [{"max_tokens_total": 0}, {"max_tokens_total": 1.5}, {"max_tokens_total": True}, {"max_cost_usd": -1},
     {"max_cost_usd": float("nan")}, {"max_cost_usd": "1"}],
)  # fmt: skip
def test_a_limit_that_makes_no_sense_is_refused(limit):
    with pytest.raises(InputInvalid):
        Settings(**limit).check()


SUBTASKS = st.lists(st.sampled_from(PLACES), min_size=1, max_size=5).map(
    lambda places: plan_of(*({"context_pointers": place} for place in places))
)


@given(SUBTASKS, st.integers(1, 4_000), st.lists(st.integers(0, 60), min_size=1, max_size=4), st.integers(1, 4))
@settings(max_examples=60, deadline=None)
def test_no_run_takes_more_tokens_than_its_budget(plan, limit, outputs, max_workers):
    model = Meter(*outputs)

    result = run(model, plan, max_tokens_total=limit, max_workers=max_workers)

    assert model.total <= limit
    assert result.usage.total_input_tokens + result.usage.output_tokens == model.total
