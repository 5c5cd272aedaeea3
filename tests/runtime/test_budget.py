"""What a budget admits, and in which order."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestra.errors import BudgetExceeded
from orchestra.runtime.budget import Amount, Budget
from orchestra.runtime.events import EventStream
from orchestra.runtime.node import Node
from orchestra.runtime.scheduler import Scheduler


def spend(budget, calls, *, max_workers=5):
    """Make calls of (reserved, actual) tokens at once; the names of those that were made."""
    scheduler = Scheduler(EventStream(), max_workers=max_workers)
    root = Node("run", "run")

    async def one(node, reserved, actual):
        room = await budget.reserve(scheduler, node.id, lambda: Amount(reserved, reserved / 1000))
        try:
            await scheduler.call(lambda deadline, attempt: None, node=node)
            room.spend(Amount(actual, actual / 1000))
        finally:
            room.release()

    async def story():
        nodes = [root.child(str(number), "subtask") for number in range(len(calls))]
        jobs = [scheduler.spawn(one(node, *call), node) for node, call in zip(nodes, calls, strict=True)]
        await scheduler.join(jobs)
        return [int(job.node.id.removeprefix("run/")) for job in jobs if job.error is None]

    return scheduler.run(story(), root)


def in_sequence(limit, calls):
    """What would be made if each call waited for the one before it."""
    spent, made = 0, []
    for number, (reserved, actual) in enumerate(calls):
        if spent + reserved <= limit:
            spent += actual
            made.append(number)
    return made


def test_a_budget_of_exactly_what_is_needed_is_enough():
    budget = Budget(max_tokens=300)

    assert spend(budget, [(100, 100)] * 3) == [0, 1, 2]
    assert budget.spent.tokens == 300


def test_one_token_less_is_not():
    assert spend(Budget(max_tokens=299), [(100, 100)] * 3) == [0, 1]


def test_a_call_waits_for_what_others_reserved_and_did_not_take():
    assert spend(Budget(max_tokens=130), [(100, 10)] * 3) == [0, 1, 2]


def test_dollars_are_held_too():
    budget = Budget(max_cost_usd=0.3)

    assert spend(budget, [(100, 100)] * 4) == [0, 1, 2]


def test_the_error_says_what_was_spent_what_is_needed_and_what_is_allowed():
    budget = Budget(max_tokens=1_500, max_cost_usd=9.0)
    budget.spent = Amount(1_200, 0.5)
    scheduler = Scheduler(EventStream())

    with pytest.raises(BudgetExceeded) as raised:
        scheduler.run(budget.reserve(scheduler, "run/plan", lambda: Amount(400, 0.25)), Node("run", "run"))

    assert raised.value.code == "BUDGET_EXCEEDED"
    assert raised.value.what == (
        "run/plan was not sent: it may take up to 400 tokens and $0.250000; "
        "spent so far are 1,200 of 1,500 tokens and $0.500000 of $9.000000"
    )


def test_a_provider_that_counts_more_than_we_do_is_reckoned_with():
    budget = Budget(max_tokens=1)

    budget.learn(100, 90)
    assert budget.scale == 1.0
    budget.learn(100, 130)
    budget.learn(100, 110)
    assert budget.scale == 1.3


def test_without_a_limit_everything_goes_out():
    assert spend(Budget(), [(10**9, 10**9)] * 3) == [0, 1, 2]


CALLS = st.lists(
    st.integers(1, 100).flatmap(lambda reserved: st.tuples(st.just(reserved), st.integers(0, reserved))), max_size=8
)


@given(CALLS, st.integers(1, 300), st.integers(1, 4))
def test_a_limit_is_never_passed_and_who_answers_first_does_not_matter(calls, limit, max_workers):
    budget = Budget(max_tokens=limit)

    made = spend(budget, calls, max_workers=max_workers)

    assert made == in_sequence(limit, calls)
    assert budget.spent.tokens <= limit
    assert budget.reserved.tokens == 0
