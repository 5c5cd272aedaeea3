"""Intervals by resampling."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("numpy")

from benchmarks.bootstrap import Statistic, interval

VALUES = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30)
STATISTICS = st.sampled_from(["mean", "median"])


@settings(max_examples=40)
@given(VALUES, STATISTICS, st.integers(0, 1000))
def test_equal_input_gives_an_equal_interval(values: list[float], statistic: Statistic, seed: int) -> None:
    assert interval(values, statistic, seed) == interval(values, statistic, seed)


@settings(max_examples=40)
@given(VALUES, STATISTICS)
def test_the_interval_lies_within_the_sample(values: list[float], statistic: Statistic) -> None:
    found = interval(values, statistic)

    slack = 1e-6 * max(map(abs, values)) + 1e-9
    assert found is not None
    assert min(values) - slack <= found.low <= found.high <= max(values) + slack


@settings(max_examples=40)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_the_figure_lies_within_its_interval(values: list[float]) -> None:
    found = interval(values, "median")

    assert found is not None
    assert found.low - 1e-9 <= found.value <= found.high + 1e-9


@given(st.floats(-1e6, 1e6), st.integers(1, 20), STATISTICS)
def test_equal_values_leave_nothing_open(value: float, count: int, statistic: Statistic) -> None:
    found = interval([value] * count, statistic)

    assert found is not None
    assert found.low == pytest.approx(value)
    assert found.high == pytest.approx(value)


def test_more_questions_give_a_narrower_interval() -> None:
    few, many = interval([0.0, 1.0] * 10, "mean"), interval([0.0, 1.0] * 250, "mean")

    assert few is not None
    assert many is not None
    assert many.high - many.low < (few.high - few.low) / 3


def test_the_interval_of_a_mean_is_about_two_standard_errors_each_way() -> None:
    found = interval([0.0, 1.0] * 50, "mean")

    assert found is not None
    assert (found.low, found.high) == (pytest.approx(0.40, abs=0.02), pytest.approx(0.60, abs=0.02))


def test_another_seed_draws_other_samples() -> None:
    values = [0.1, 0.5, 0.9, 3.7, 11.2]

    assert interval(values, "mean", seed=1) != interval(values, "mean", seed=2)


def test_there_is_no_interval_without_values() -> None:
    assert interval([], "mean") is None
