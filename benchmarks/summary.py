"""From outcomes to figures: for each strategy, each measure with its interval."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from benchmarks.bootstrap import Interval, Statistic, interval
from benchmarks.results import Outcome, RunSettings, by_strategy

Form = Literal["count", "decimal", "dollars", "seconds", "share", "ratio"]


@dataclass(frozen=True, slots=True)
class Measure:
    """What is read from an outcome, and how it is summed up.

    A measure of what a run took leaves failed questions out, since these did not finish what they would have sent; a
    measure of how good it was counts them as nothing.
    """

    name: str
    title: str
    statistic: Statistic
    form: Form
    read: Callable[[Outcome], float | None]
    counts_failures: bool = False


def _share(value: bool | None) -> float | None:
    return None if value is None else float(value)


MEASURES: tuple[Measure, ...] = (
    Measure("calls", "calls, mean", "mean", "decimal", lambda each: len(each.calls)),
    Measure("input_median", "input tokens, median", "median", "count", lambda each: each.total_input_tokens),
    Measure("input_mean", "input tokens, mean", "mean", "count", lambda each: each.total_input_tokens),
    Measure("plain_mean", "of these plain, mean", "mean", "count", lambda each: each.input_tokens),
    Measure("cache_write_mean", "cache write, mean", "mean", "count", lambda each: each.cache_write_tokens),
    Measure("cache_read_mean", "cache read, mean", "mean", "count", lambda each: each.cached_input_tokens),
    Measure("output_mean", "output tokens, mean", "mean", "count", lambda each: each.output_tokens),
    Measure("price_mean", "price in US$, mean", "mean", "dollars", lambda each: each.price_usd),
    Measure("wall_median", "wall seconds, median", "median", "seconds", lambda each: each.wall_s),
    Measure("recall", "evidence recall", "mean", "share", lambda each: _share(each.is_recalled), counts_failures=True),
    Measure("score", "answer score, mean", "mean", "share", lambda each: each.score, counts_failures=True),
    Measure("judged", "judged correct", "mean", "share", lambda each: each.judged, counts_failures=True),
)
BASES = ("direct", "fanout")


@dataclass(frozen=True, slots=True)
class StrategySummary:
    """One row: how many questions, how many of them failed, and the figures by name of measure.

    `ratios`: per question, the input tokens over those of another strategy; their median, and the greatest of them in
    `dearest`. `estimate_error`: per question, how far the cost model's estimate of input tokens was from what was sent,
    as a share of it; its median.
    """

    strategy: str
    questions: int
    failed: int
    figures: Mapping[str, Interval | None]
    ratios: Mapping[str, Interval | None]
    dearest: Mapping[str, float]
    estimate_error: Interval | None
    chosen: Mapping[str, int]


def summarise(settings: RunSettings, outcomes: Iterable[Outcome]) -> list[StrategySummary]:
    """A summary for each strategy, in the order in which strategies first occur."""
    grouped = by_strategy(outcomes)
    order = {question: row for row, question in enumerate(settings.questions)}
    rows = {
        name: sorted(found.values(), key=lambda each: order.get(each.question, len(order)))
        for name, found in grouped.items()
    }
    return [_summary(name, rows[name], grouped, settings.seed) for name in rows]


def _summary(
    name: str, outcomes: Sequence[Outcome], grouped: Mapping[str, Mapping[str, Outcome]], seed: int
) -> StrategySummary:
    finished = [each for each in outcomes if each.status == "completed"]
    figures = {
        measure.name: interval(
            _values(measure, outcomes if measure.counts_failures else finished), measure.statistic, seed
        )
        for measure in MEASURES
    }
    chosen = [each.chosen for each in finished if each.chosen]
    ratios = {base: input_ratios(finished, grouped.get(base, {})) for base in BASES}
    return StrategySummary(
        strategy=name,
        questions=len(outcomes),
        failed=len(outcomes) - len(finished),
        figures=figures,
        ratios={base: interval(found, "median", seed) for base, found in ratios.items()},
        dearest={base: max(found) for base, found in ratios.items() if found},
        estimate_error=interval(_estimate_errors(finished), "median", seed),
        chosen={each: chosen.count(each) for each in sorted(set(chosen))},
    )


def _values(measure: Measure, outcomes: Iterable[Outcome]) -> list[float]:
    return [value for each in outcomes if (value := measure.read(each)) is not None]


def input_ratios(outcomes: Iterable[Outcome], base: Mapping[str, Outcome]) -> list[float]:
    """Input tokens over the base's, for each question that both finished."""
    pairs = [(each, base[each.question]) for each in outcomes if each.question in base]
    return [
        each.total_input_tokens / other.total_input_tokens
        for each, other in pairs
        if each.status == other.status == "completed" and other.total_input_tokens
    ]


def _estimate_errors(outcomes: Iterable[Outcome]) -> list[float]:
    return [
        abs(each.estimated_input_tokens - each.sent_tokens) / each.sent_tokens
        for each in outcomes
        if each.estimated_input_tokens is not None and each.sent_tokens
    ]


def as_json(settings: RunSettings, summaries: Sequence[StrategySummary]) -> dict[str, Any]:
    """What `summary.json` holds."""
    return {
        "settings": settings.model_dump(exclude={"questions"}) | {"questions": len(settings.questions)},
        "interval": "95 %, percentile bootstrap over questions, 5,000 resamples",
        "strategies": {
            each.strategy: {
                "questions": each.questions,
                "failed": each.failed,
                **{name: _figure(figure) for name, figure in each.figures.items()},
                **{f"input_over_{base}_median": _figure(figure) for base, figure in each.ratios.items()},
                **{f"input_over_{base}_greatest": ratio for base, ratio in each.dearest.items()},
                "estimate_error_median": _figure(each.estimate_error),
                "chosen": dict(each.chosen),
            }
            for each in summaries
        },
    }


def _figure(figure: Interval | None) -> dict[str, float | int] | None:
    if figure is None:
        return None
    return {"value": figure.value, "low": figure.low, "high": figure.high, "questions": figure.count}
