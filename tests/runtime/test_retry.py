from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestra.errors import ModelBadRequest, ModelOverloaded, ModelRateLimited, NodeTimeout
from orchestra.runtime.retry import RetryPolicy


def test_what_cannot_succeed_later_is_not_tried_again():
    policy = RetryPolicy()

    assert policy.delay_before_next(ModelBadRequest("400"), 1) is None
    assert policy.delay_before_next(NodeTimeout("slow"), 1) is None
    assert policy.delay_before_next(ModelOverloaded("told not to", is_retryable=False), 1) is None


def test_the_server_decides_how_long_to_wait():
    assert RetryPolicy().delay_before_next(ModelRateLimited("429", retry_after_s=7.5), 1) == 7.5


def test_a_wait_of_more_than_two_minutes_is_not_obeyed():
    assert RetryPolicy().delay_before_next(ModelRateLimited("429", retry_after_s=121), 1) is None


@pytest.mark.parametrize("attempt", [3, 4])
def test_no_attempt_follows_the_last(attempt):
    assert RetryPolicy(max_attempts=3).delay_before_next(ModelOverloaded("529", retry_after_s=1), attempt) is None


@given(attempt=st.integers(1, 20))
def test_waits_double_with_jitter_and_stay_below_the_longest(attempt):
    policy = RetryPolicy(max_attempts=100, first_wait_s=0.5, longest_wait_s=8)

    delay = policy.delay_before_next(ModelOverloaded("529"), attempt)

    assert min(0.5 * 2 ** (attempt - 1), 8) <= delay <= min(0.5 * 2 ** (attempt - 1) + 0.25, 8)


@pytest.mark.parametrize(("attempt", "would_follow"), [(1, True), (3, False)])
def test_who_is_told_of_failures_may_end_the_trying(attempt, would_follow):
    told = []
    policy = RetryPolicy(max_attempts=3, may_go_on=lambda error, follows: told.append((error.code, follows)))

    assert policy.delay_before_next(ModelOverloaded("529", retry_after_s=1), attempt) is None
    assert told == [("MODEL_OVERLOADED", would_follow)]
