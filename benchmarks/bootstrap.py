"""Intervals by resampling: how far a figure could move had other questions of the same kind been drawn.

The percentile bootstrap (Efron 1979; Efron and Tibshirani 1993, chapter 13): the questions are drawn again, with
replacement and as many as there are, 5,000 times; the interval runs from the 2.5th to the 97.5th percentile of the
statistic over these samples. It assumes that questions are independent; those about one document are not quite.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from numpy.typing import NDArray

RESAMPLES = 5_000
COVERAGE = 0.95
Statistic: TypeAlias = Literal["mean", "median"]


@dataclass(frozen=True, slots=True)
class Interval:
    """A figure over `count` questions, and the interval around it."""

    value: float
    low: float
    high: float
    count: int


def interval(values: Sequence[float], statistic: Statistic, seed: int = 0) -> Interval | None:
    """The mean or the median of `values` with its 95 % interval; None without values. Equal input, equal interval."""
    import numpy

    if not values:
        return None
    sample = numpy.asarray(values, dtype=float)
    dice = numpy.random.default_rng(seed)
    draws = sample[dice.integers(0, len(sample), size=(RESAMPLES, len(sample)))]
    tail = (1 - COVERAGE) / 2
    low, high = numpy.quantile(_statistic(draws, statistic), [tail, 1 - tail])
    value = float(_statistic(sample[None, :], statistic)[0])
    return Interval(value, float(low), float(high), len(sample))


def _statistic(rows: NDArray, statistic: Statistic) -> NDArray:
    import numpy

    return numpy.median(rows, axis=1) if statistic == "median" else numpy.mean(rows, axis=1)
