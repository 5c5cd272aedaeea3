"""The inbox of a run's own thread."""

from __future__ import annotations

import threading
import time

from hypothesis import given
from hypothesis import strategies as st

from orchestra.runtime.inbox import SOON_S, Inbox


@given(st.lists(st.booleans(), max_size=30))
def test_each_kind_is_done_in_order_and_what_is_posted_after_what_came_before_by_the_way(kinds: list[bool]) -> None:
    inbox, done = Inbox(), list[int]()
    for number, is_urgent in enumerate(kinds):
        (inbox.post if is_urgent else inbox.post_soon)(lambda number=number: done.append(number))
    while inbox.wait(0.0):
        pass
    urgent = [number for number, is_urgent in enumerate(kinds) if is_urgent]
    by_the_way = [number for number, is_urgent in enumerate(kinds) if not is_urgent]
    assert [number for number in done if number in urgent] == urgent
    assert [number for number in done if number in by_the_way] == by_the_way
    for number in urgent:
        assert set(done[: done.index(number)]) >= {earlier for earlier in by_the_way if earlier < number}


def test_a_thread_that_sleeps_long_hears_soon_of_what_comes_by_the_way() -> None:
    inbox, heard = Inbox(), list[float]()
    sleeper = threading.Thread(target=inbox.wait, args=(30.0,))
    sleeper.start()
    time.sleep(5 * SOON_S)
    inbox.post_soon(lambda: heard.append(time.monotonic()))
    sleeper.join(10)
    assert heard
    assert not sleeper.is_alive()


def test_nothing_that_threads_post_is_lost() -> None:
    inbox, heard = Inbox(), list[int]()
    total = 4 * 500

    def post(start: int) -> None:
        for number in range(start, start + 500):
            (inbox.post if number % 3 else inbox.post_soon)(lambda number=number: heard.append(number))
            if number % 50 == 0:
                time.sleep(SOON_S * 1.5)

    threads = [threading.Thread(target=post, args=(start,)) for start in range(0, total, 500)]
    for thread in threads:
        thread.start()
    ends_at = time.monotonic() + 60
    while len(heard) < total and time.monotonic() < ends_at:
        inbox.wait(0.5)
    assert len(heard) == total


def test_what_comes_by_the_way_without_end_keeps_nothing_else_from_being_done() -> None:
    inbox, done = Inbox(), list[int]()

    def come_again(number: int = 0) -> None:
        done.append(number)
        if number < 1000:
            inbox.post_soon(lambda: come_again(number + 1))

    come_again()
    inbox.post(lambda: done.append(-1))
    inbox.wait(0.0)
    assert done.index(-1) == 2


def test_waiting_for_nothing_ends_and_says_so() -> None:
    assert Inbox().wait(0.05) is False
