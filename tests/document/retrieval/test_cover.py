"""The order of places over several needs."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from orchestra.document.retrieval.aspects import Aspect
from orchestra.document.retrieval.cover import covering


def rows(chosen: list[tuple[int, float]]) -> list[int]:
    return [row for row, _ in chosen]


def test_the_best_for_each_need_comes_before_the_second_best_for_one() -> None:
    aspects = [Aspect(1.0, {0: 1.0, 1: 0.9, 2: 0.8}, 0.8), Aspect(1.0, {7: 0.7, 8: 0.6}, 0.8)]

    assert rows(covering(aspects, {}, 3)) == [0, 7, 8]


def test_what_can_be_met_by_many_keeps_its_order() -> None:
    aspects = [Aspect(1.0, {0: 1.0, 1: 0.9, 2: 0.8}, 0.0), Aspect(1.0, {7: 0.7}, 0.8)]

    assert rows(covering(aspects, {}, 4)) == [0, 1, 2, 7]


def test_equal_gains_stand_in_order() -> None:
    assert rows(covering([Aspect(1.0, {5: 0.5, 2: 0.5, 9: 0.5}, 0.0)], {}, 3)) == [2, 5, 9]


def test_what_repeats_a_chosen_place_falls_behind() -> None:
    aspects = [Aspect(1.0, {0: 1.0, 1: 0.9, 2: 0.5}, 0.0)]

    assert rows(covering(aspects, {0: {1}, 1: {0}}, 3)) == [0, 2, 1]


def test_what_was_read_is_passed_over() -> None:
    aspects = [Aspect(1.0, {0: 1.0, 1: 0.9, 2: 0.5}, 0.0)]

    assert rows(covering(aspects, {}, 2, is_read=lambda row: row == 0)) == [1, 2]


SCORES = st.dictionaries(st.integers(0, 12), st.floats(0, 1), max_size=12)


@given(
    st.lists(st.builds(Aspect, st.floats(0.1, 2), SCORES, st.sampled_from([0.0, 0.5, 1.0])), max_size=4),
    st.integers(0, 6),
)
def test_gains_never_rise_and_no_place_comes_twice(aspects: list[Aspect], most: int) -> None:
    chosen = covering(aspects, {}, most)

    gains = [gain for _, gain in chosen]
    assert gains == sorted(gains, reverse=True)
    assert len(set(rows(chosen))) == len(chosen) <= most
    assert all(gain > 0 for gain in gains)
