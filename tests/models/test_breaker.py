"""An endpoint that does nothing but fail is left alone; the test turns the clock."""

from __future__ import annotations

import pytest

from orchestra.errors import (
    ModelAuth,
    ModelBadRequest,
    ModelOverloaded,
    ModelRateLimited,
    ModelReplyInvalid,
    ModelTimeout,
    ModelUnreachable,
)
from orchestra.models.breaker import LONGEST_OPEN_S, OPEN_S, PROBE_S, Breaker, counts

DOWN = ModelUnreachable("no connection to http://x")


class Clock:
    def __init__(self):
        self.now = 1_000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def breaker(clock):
    return Breaker(clock=clock)


def fail(breaker, clock, times=5, over_s=4.0, error=DOWN):
    for _ in range(times):
        breaker.fail(error)
        clock.now += over_s / times


def is_open(breaker):
    try:
        breaker.check("m")
    except (ModelOverloaded, ModelUnreachable):
        return True
    return False


def test_after_failures_in_a_row_callers_are_told_at_once(breaker, clock):
    fail(breaker, clock)

    with pytest.raises(ModelUnreachable, match="m was not asked") as caught:
        breaker.check("m")
    assert "the endpoint failed 5 times in a row, the last time with: no connection" in caught.value.cause
    assert not caught.value.is_retryable


def test_the_refusal_is_of_the_kind_of_the_last_failure(breaker, clock):
    fail(breaker, clock, error=ModelOverloaded("529", status=529))

    with pytest.raises(ModelOverloaded):
        breaker.check("m")


def test_a_burst_of_failures_at_one_moment_does_not_open_it(breaker, clock):
    fail(breaker, clock, times=64, over_s=0.5)

    assert not is_open(breaker)


def test_an_answer_in_between_starts_the_count_anew(breaker, clock):
    fail(breaker, clock, times=4)
    breaker.succeed()
    fail(breaker, clock, times=4)

    assert not is_open(breaker)


def test_one_probe_goes_through_and_an_answer_closes_it(breaker, clock):
    fail(breaker, clock)
    clock.now += OPEN_S

    assert [is_open(breaker) for _ in range(3)] == [False, True, True]
    breaker.succeed()
    assert not is_open(breaker)


def test_a_probe_that_fails_keeps_it_open_twice_as_long(breaker, clock):
    fail(breaker, clock)
    clock.now += OPEN_S
    breaker.check("m")
    breaker.fail(DOWN)

    clock.now += 2 * OPEN_S - 0.1
    assert is_open(breaker)
    clock.now += 0.2
    assert not is_open(breaker)


def test_it_never_stays_open_longer_than_the_longest(breaker, clock):
    fail(breaker, clock)
    for _ in range(10):
        clock.now += LONGEST_OPEN_S
        breaker.check("m")
        breaker.fail(DOWN)

    clock.now += LONGEST_OPEN_S
    assert not is_open(breaker)


def test_late_failures_of_calls_under_way_do_not_keep_it_open_longer(breaker, clock):
    fail(breaker, clock)
    for _ in range(20):
        breaker.fail(DOWN)

    clock.now += OPEN_S
    assert not is_open(breaker)


def test_a_probe_that_comes_to_nothing_gives_way_to_the_next(breaker, clock):
    fail(breaker, clock)
    clock.now += OPEN_S
    breaker.check("m")
    clock.now += PROBE_S

    assert not is_open(breaker)


@pytest.mark.parametrize(
    ("error", "does_count"),
    [(ModelUnreachable("refused"), True),
     (ModelUnreachable("no certificate is trusted", is_retryable=False), False),
     (ModelOverloaded("500", status=500), True),
     (ModelOverloaded("529", status=529), True),
     (ModelOverloaded("409", status=409), False),
     (ModelTimeout("504", status=504), False),
     (ModelTimeout("slow"), False),
     (ModelRateLimited("429", status=429), False),
     (ModelAuth("401", status=401), False),
     (ModelBadRequest("400", status=400), False),
     (ModelReplyInvalid("broken off"), False)],
)  # fmt: skip
def test_only_what_says_that_the_endpoint_is_ill_counts(error, does_count):
    assert counts(error) is does_count
