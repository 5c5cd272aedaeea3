"""The timeline of a run: a bar for each node, from when it began until it ended, at most so many of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from orchestra.panel.view.forest import LIVE, Forest, duration_of, started_at_of
from orchestra.store import NodeRecord

MOST_BARS = 50
MOST_FAILED = 10  # that stand in it, however short they were
MOST_TOP = 30  # nodes right below the run, the longest ones, that go before longer ones further down
ROW = 34  # units of the drawing: a line of words, and the bar below it
HEAD = 22
THINNEST = 0.4  # per cent of the width
_TICKS = 4  # at least
_STEPS = (1, 2, 5)


@dataclass(frozen=True, slots=True)
class Bar:
    """One node. `x` and `width` are per cent of the drawing, `y` its row's top in units; times are milliseconds.

    `begins_ms` counts from the beginning of the drawing. `is_open`: it is under way, and ends with what is known.
    """

    node: NodeRecord
    number: int
    x: float
    width: float
    y: int
    begins_ms: float
    duration_ms: float
    is_open: bool


@dataclass(frozen=True, slots=True)
class Tick:
    """A mark of the scale, `x` in per cent."""

    x: float
    at_ms: float


@dataclass(frozen=True, slots=True)
class Gantt:
    """`left_out` nodes have begun and have no bar; `span_ms` is what the width stands for."""

    bars: tuple[Bar, ...] = ()
    ticks: tuple[Tick, ...] = ()
    left_out: int = 0
    span_ms: float = 0.0

    @property
    def height(self) -> int:
        return HEAD + len(self.bars) * ROW


def gantt_of(forest: Forest, latest_at: float | None = None) -> Gantt:
    """The bars in the order in which their nodes began.

    `latest_at`, unix seconds, is when something was heard of the run at last, or else when its last node ended: bars of
    what is under way end there, so that the same record gives the same drawing at any time.
    """
    begun = [number for number, node in enumerate(forest.nodes) if started_at_of(node) is not None]
    if not begun:
        return Gantt()
    times = {number: _times(forest.nodes[number], latest_at) for number in begun}
    if latest_at is None:
        latest_at = max(end for _, end in times.values())
        times = {number: _times(forest.nodes[number], latest_at) for number in begun}
    first, last = min(start for start, _ in times.values()), max(end for _, end in times.values())
    span_ms = max(1.0, (last - first) * 1000)
    shown = sorted(_chosen(forest, begun, times), key=lambda number: (times[number][0], number))
    bars = tuple(
        _bar(forest.nodes[number], number, times[number], first, span_ms, at) for at, number in enumerate(shown)
    )
    return Gantt(bars, ticks_of(span_ms), len(begun) - len(shown), span_ms)


def ticks_of(span_ms: float) -> tuple[Tick, ...]:
    """Marks at round numbers, from 0 on, the first one included."""
    rough = span_ms / _TICKS
    scale = 10.0 ** math.floor(math.log10(rough))
    step = max(each * scale for each in _STEPS if each * scale <= rough * (1 + 1e-9))
    count = int(span_ms / step * (1 + 1e-9))
    return tuple(Tick(min(100.0, at * step / span_ms * 100), at * step) for at in range(count + 1))


def _times(node: NodeRecord, latest_at: float | None) -> tuple[float, float]:
    """When a node began and ended, in unix seconds."""
    start, took = started_at_of(node) or 0.0, duration_of(node)
    if took is not None:
        return start, start + took / 1000
    return start, max(start, latest_at) if latest_at is not None and node.status in LIVE else start


def _chosen(forest: Forest, begun: Sequence[int], times: dict[int, tuple[float, float]]) -> list[int]:
    """All of them where they fit; else the run, what failed, the longest of the top level, and the longest of all."""
    if len(begun) <= MOST_BARS:
        return list(begun)

    def longest_first(numbers: Sequence[int]) -> list[int]:
        return sorted(numbers, key=lambda number: times[number][0] - times[number][1])

    tops = [number for number in begun if forest.parents[number] < 0]
    failed = [number for number in forest.failures if number in times][:MOST_FAILED]
    below = [number for number in begun if forest.parents[number] >= 0 and forest.parents[forest.parents[number]] < 0]
    found = dict.fromkeys((*tops[:1], *failed, *longest_first(below)[:MOST_TOP], *longest_first(begun)))
    return list(found)[:MOST_BARS]


def _bar(node: NodeRecord, number: int, times: tuple[float, float], first: float, span_ms: float, place: int) -> Bar:
    start, end = times
    begins_ms, duration_ms = (start - first) * 1000, (end - start) * 1000
    width = min(100.0, max(THINNEST, duration_ms / span_ms * 100))
    x = min(begins_ms / span_ms * 100, 100 - width)
    is_open = duration_of(node) is None and node.status in LIVE
    return Bar(node, number, round(x, 3), round(width, 3), HEAD + place * ROW, begins_ms, duration_ms, is_open)
