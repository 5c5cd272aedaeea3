"""The order of places: what is best for each side of a task comes before what is second best for one of them.

The greedy choice of xQuAD (Santos, Macdonald and Ounis 2010): a place gains less from an aspect the better those
before it have met that aspect already.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from orchestra.document.retrieval.aspects import Aspect

_REPEATED = 0.3
_MET = 0.8  # of an aspect is met by a place that serves it wholly


def covering(aspects: Sequence[Aspect], alike: Mapping[int, Collection[int]], most: int) -> list[tuple[int, float]]:
    """(place, gain) in the order of choice; gains never rise. What is `alike` a place chosen before gains little."""
    rows = sorted({row for aspect in aspects for row in aspect.scores})
    open_ = [1.0] * len(aspects)
    chosen: list[tuple[int, float]] = []
    repeated: set[int] = set()
    gains: dict[int, float] = {row: _gain(row, aspects, open_) for row in rows}
    while gains and len(chosen) < most:
        row = max(gains, key=lambda one: (gains[one], -one))
        if gains[row] <= 0:
            break
        chosen.append((row, gains.pop(row)))
        repeated.update(alike.get(row, ()))
        for position, aspect in enumerate(aspects):
            if aspect.is_met_by_one:
                open_[position] *= 1 - _MET * aspect.scores.get(row, 0.0)
        for one in gains:
            gains[one] = _gain(one, aspects, open_) * (_REPEATED if one in repeated else 1.0)
    return chosen


def _gain(row: int, aspects: Sequence[Aspect], open_: Sequence[float]) -> float:
    return sum(aspect.weight * left * aspect.scores.get(row, 0.0) for aspect, left in zip(aspects, open_, strict=True))
