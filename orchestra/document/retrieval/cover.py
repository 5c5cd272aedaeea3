"""The order of places: what is best for each side of a task comes before what is second best for one of them.

The greedy choice of xQuAD (Santos, Macdonald and Ounis 2010): a place gains less from an aspect the better those
before it have met that aspect already. Gains only shrink, so a place is weighed anew only when it comes up
(Minoux 1978).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from heapq import heapify, heappop, heapreplace

from orchestra.document.retrieval.aspects import Aspect

_REPEATED = 0.3  # of its gain is left to a place that prints what a place before it does


def covering(
    aspects: Sequence[Aspect],
    alike: Mapping[int, Collection[int]],
    most: int,
    is_read: Callable[[int], bool] = lambda row: False,
) -> list[tuple[int, float]]:
    """(place, gain) in the order of choice; gains never rise.

    What was read is passed over. A place that is `alike` one that was chosen or passed over gains little.
    """
    left = [1.0] * len(aspects)
    repeated: set[int] = set()
    rows = sorted({row for aspect in aspects for row in aspect.scores})
    waiting = [(-_gain(row, aspects, left), row) for row in rows]
    heapify(waiting)
    chosen: list[tuple[int, float]] = []
    while waiting and len(chosen) < most:
        row = waiting[0][1]
        gain = _gain(row, aspects, left) * (_REPEATED if row in repeated else 1.0)
        if -gain != waiting[0][0]:
            heapreplace(waiting, (-gain, row))
            continue
        heappop(waiting)
        if gain <= 0:
            break
        repeated.update(alike.get(row, ()))
        if is_read(row):
            continue
        chosen.append((row, gain))
        for position, aspect in enumerate(aspects):
            left[position] *= 1 - aspect.met * aspect.scores.get(row, 0.0)
    return chosen


def _gain(row: int, aspects: Sequence[Aspect], left: Sequence[float]) -> float:
    return sum(aspect.weight * share * aspect.scores.get(row, 0.0) for aspect, share in zip(aspects, left, strict=True))
