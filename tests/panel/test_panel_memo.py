"""Values are made once, and only those who want one wait for it."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from orchestra.panel.memo import Memo


def test_who_wants_a_value_waits_for_it_and_for_no_other():
    memo: Memo[str, int] = Memo(4)
    may_end, has_begun, made = threading.Event(), threading.Event(), []

    def slow() -> int:
        made.append("slow")
        has_begun.set()
        assert may_end.wait(30)
        return 1

    with ThreadPoolExecutor(2) as pool:
        both = [pool.submit(memo.value, "slow", slow) for _ in range(2)]
        assert has_begun.wait(30)
        assert memo.value("quick", lambda: 2) == 2
        assert not any(each.done() for each in both)
        may_end.set()
        assert [each.result(30) for each in both] == [1, 1]
    assert made == ["slow"]


def test_the_values_that_were_asked_for_last_are_kept():
    memo: Memo[int, int] = Memo(2)
    made: list[int] = []

    for key in (1, 2, 1, 3, 1, 2):
        assert memo.value(key, lambda key=key: made.append(key) or key * 10) == key * 10

    assert made == [1, 2, 3, 2]


def test_what_fails_is_tried_again():
    memo: Memo[str, float] = Memo(2)

    with pytest.raises(ZeroDivisionError):
        memo.value("x", lambda: 1 / 0)

    assert memo.value("x", lambda: 0.5) == 0.5
