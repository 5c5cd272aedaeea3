"""A small chart: the input tokens of a run beside those of other ways to the same answer."""

from __future__ import annotations

from dataclasses import dataclass

from orchestra.result import Result, sum_known
from orchestra.result.words import compared, price_words

WIDTH = 320  # units of the drawing
ROW = 22
_NAMES = {"one-call": "one call, everything", "fanout": "naive fan-out", "fanout-cached": "naive fan-out, cached"}


@dataclass(frozen=True, slots=True)
class Bar:
    """One way. `width` and `y`, its row's top, are in units of the drawing; a price that is not known is empty."""

    name: str
    tokens: int
    price: str
    width: float
    y: int
    is_ours: bool


@dataclass(frozen=True, slots=True)
class Chart:
    """`summary` says in a sentence what the bars show."""

    bars: tuple[Bar, ...]
    summary: str
    width: int = WIDTH

    @property
    def height(self) -> int:
        return len(self.bars) * ROW


def chart_of(result: Result) -> Chart | None:
    """The chart of a finished run's own work; None where nothing was sent, or there is nothing to hold it to."""
    savings = result.savings
    if not savings.input_tokens or result.route is not None or result.waiting:
        return None
    others = [(_NAMES[way.way], way.usage) for way in (savings.one_call, savings.fanout, savings.fanout_cached)]
    if not any(usage.total_input_tokens for _, usage in others):
        return None
    price = price_words(sum_known(phase.cost_usd for phase in result.usage.task_phases))
    rows = [("this run", savings.input_tokens, price)]
    rows += [(name, usage.total_input_tokens, price_words(usage.cost_usd)) for name, usage in others]
    most = max(tokens for _, tokens, _ in rows)
    bars = tuple(
        Bar(name, tokens, price, round(max(1.0, WIDTH * tokens / most), 1), place * ROW, place == 0)
        for place, (name, tokens, price) in enumerate(rows)
    )
    around = result.usage.layers.total_input_tokens
    more = f"; {around:,} more for the skills around the task, which would come on top of each way" if around else ""
    return Chart(bars, f"{savings.input_tokens:,} input tokens, {compared(savings)}{more}")
