"""How fast a key is used: a gate driven by a clock that the test turns."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestra.errors import ModelRateLimited
from orchestra.models.limiting import FIRST_CALLS, FIRST_RESPONSE_S, Gate, Need

SMALL = Need(10, 10)


class Clock:
    def __init__(self):
        self.now = 1_000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def gate(clock):
    return Gate(clock=clock)


def headers(remaining, limit=60, reset="60s", metered="requests"):
    return {
        f"x-ratelimit-limit-{metered}": str(limit),
        f"x-ratelimit-remaining-{metered}": str(remaining),
        f"x-ratelimit-reset-{metered}": reset,
    }


def known(gate, **limits):
    gate.learn("m", headers(**limits), gate.clock())
    return gate


def tickets(gate, number, need=SMALL):
    return [gate.ticket("m", lambda: need) for _ in range(number)]


def waits(made):
    return [round(ticket.wait_s(), 1) for ticket in made]


def test_before_the_first_response_only_a_few_go_out(gate, clock):
    made = tickets(gate, FIRST_CALLS + 2)

    assert [ticket.start() for ticket in made] == [True] * FIRST_CALLS + [False] * 2
    assert 0 < made[-1].wait_s() < FIRST_RESPONSE_S
    assert "first response" in made[-1].reason


def test_the_first_response_lets_everyone_out_where_it_names_no_limit(gate, clock):
    made = tickets(gate, 40)

    gate.learn("m", {}, clock.now)

    assert waits(made) == [0] * 40


def test_a_first_response_that_does_not_come_is_not_waited_for_long(gate, clock):
    made = tickets(gate, 20)
    clock.now += FIRST_RESPONSE_S

    assert waits(made) == [0] * 20


def test_what_is_left_goes_at_once_and_the_rest_as_it_flows_back(gate):
    made = tickets(known(gate, remaining=3, limit=63), 6)

    assert waits(made) == [0, 0, 0, 1.0, 2.0, 3.0]
    assert made[3].reason == "the limit of requests is used up"


def test_a_ticket_that_ends_makes_room_for_those_behind_it(gate):
    made = tickets(known(gate, remaining=1, limit=61), 3)

    made[0].end()

    assert waits(made[1:]) == [0, 1.0]


def test_what_the_server_has_counted_is_not_counted_twice(gate, clock):
    first, second = tickets(known(gate, remaining=10), 2)
    first.start()
    clock.now += 1

    gate.learn("m", headers(remaining=1), clock.now)

    assert waits([second]) == [0]


def test_older_news_do_not_replace_newer_ones(gate, clock):
    known(gate, remaining=5)

    gate.learn("m", headers(remaining=60), clock.now - 1)

    assert waits(tickets(gate, 6))[5] > 0


def test_tokens_are_held_as_well_as_requests(gate):
    known(gate, remaining=1000, limit=1000, metered="tokens")
    gate.learn("m", headers(remaining=100, limit=1000, metered="tokens", reset="90s"), gate.clock())

    made = tickets(gate, 3, Need(40, 10))

    assert waits(made) == [0, 0, 5.0]
    assert made[2].reason == "the limit of tokens is used up"


def test_a_call_that_is_larger_than_its_limit_goes_when_the_bucket_is_full(gate, clock):
    known(gate, remaining=50, limit=100, metered="tokens", reset="30s")
    ticket = gate.ticket("m", lambda: Need(5_000, 5_000))

    assert waits([ticket]) == [30.0]
    clock.now += 30.1
    assert ticket.start()


def test_needs_are_not_estimated_where_no_limit_of_tokens_is_known(gate):
    def never():
        raise AssertionError

    assert known(gate, remaining=5).ticket("m", never).start()


def test_after_a_429_everyone_holds_back_together(gate, clock):
    made = tickets(known(gate, remaining=60), 5)

    gate.hold("m", 7.0)

    assert waits(made) == [7.0] * 5
    assert not made[0].start()
    clock.now += 7.1
    assert waits(made) == [0] * 5


def test_a_refusal_against_what_was_known_tells_that_the_limit_fills_all_at_once(gate, clock):
    known(gate, remaining=10, limit=10, reset="10s")
    clock.now += 1

    gate.learn("m", headers(remaining=0, limit=10, reset="9s"), clock.now, is_refusal=True)

    assert waits(tickets(gate, 11)) == [9.0] * 10 + [18.0]


def test_where_a_server_names_no_limits_calls_go_out_one_by_one_after_a_429(gate, clock):
    gate.learn("m", {}, clock.now, is_refusal=True)
    gate.hold("m", None)
    clock.now += 1.1
    made = tickets(gate, 3)

    assert made[0].start()
    assert waits(made[1:]) == [0.1, 0.2]
    for _ in range(20):
        gate.learn("m", {}, clock.now)
    assert waits(made[1:]) == [0, 0]


def test_limits_of_one_model_do_not_hold_another(gate):
    known(gate, remaining=0)
    gate.learn("other", {}, gate.clock())

    assert gate.ticket("other", lambda: SMALL).start()


def test_a_hopeless_wait_is_an_error(gate):
    known(gate, remaining=0, limit=1, reset="8h0m0s")

    with pytest.raises(ModelRateLimited, match="was not sent") as caught:
        gate.ticket("m", lambda: SMALL).wait_s()
    assert not caught.value.is_retryable


def test_a_long_queue_is_no_hopeless_wait(gate):
    made = tickets(known(gate, remaining=0, limit=60), 600)

    assert made[-1].wait_s() == pytest.approx(600, abs=1)


@given(st.integers(1, 40), st.integers(1, 20), st.lists(st.integers(0, 3), min_size=1, max_size=60), st.booleans())
@settings(max_examples=80, deadline=None)
def test_a_server_with_a_token_bucket_or_a_window_refuses_few(limit, window_s, arrivals, is_window):
    """Calls arrive in any rhythm, each responds at once; the server tells its limits as it goes."""
    clock, refused, sent = Clock(), 0, 0
    gate, level, filled_at, waiting = Gate(clock=clock), float(limit), clock.now, []

    def serve():
        nonlocal level, filled_at, refused, sent
        elapsed = clock.now - filled_at
        if is_window:
            level, filled_at = (float(limit), clock.now) if elapsed >= window_s else (level, filled_at)
        else:
            level, filled_at = min(limit, level + elapsed * limit / window_s), clock.now
        sent += 1
        is_refusal = level < 1
        level -= not is_refusal
        resets_in_s = filled_at + window_s - clock.now if is_window else (limit - level) * window_s / limit
        told = headers(int(level), limit, f"{resets_in_s:.3f}s")
        gate.learn("m", told, clock.now, is_refusal=is_refusal)
        refused += is_refusal
        if is_refusal:
            gate.hold("m", None)

    gate.learn("m", headers(limit, limit, "0s"), clock.now)
    for number in [*arrivals, *[0] * (len(arrivals) * 3 * window_s + 5)]:
        waiting += tickets(gate, number)
        for ticket in list(waiting):
            if ticket.start():
                serve()
                ticket.end()
                waiting.remove(ticket)
        clock.now += 1

    assert waiting == []
    assert refused <= 1 + (sent + refused) // 10
