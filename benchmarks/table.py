"""The figures as a markdown table, with what must be known to read it."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.bootstrap import Interval
from benchmarks.results import Outcome, RunSettings
from benchmarks.summary import BASES, MEASURES, Form, StrategySummary

NONE = "–"


def markdown(settings: RunSettings, summaries: Sequence[StrategySummary], outcomes: Sequence[Outcome]) -> str:
    """One row a strategy; each figure with its 95 % interval. Measures that no strategy has are left out."""
    measures = [
        measure for measure in MEASURES if any(summary.figures[measure.name] is not None for summary in summaries)
    ]
    bases = [base for base in BASES if any(summary.ratios[base] is not None for summary in summaries)]
    has_estimates = any(summary.estimate_error is not None for summary in summaries)
    head = ["strategy", "questions (failed)", *(measure.title for measure in measures)]
    head += [f"input over {base}'s, median" for base in bases]
    head += ["estimate off by, median"] if has_estimates else []
    rows = [head, ["---", *["---:"] * (len(head) - 1)]]
    for summary in summaries:
        row = [summary.strategy, f"{summary.questions} ({summary.failed})"]
        row += [cell(summary.figures[measure.name], measure.form) for measure in measures]
        row += [cell(summary.ratios[base], "ratio") for base in bases]
        row += [cell(summary.estimate_error, "share")] if has_estimates else []
        rows.append(row)
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    return f"{table}\n\n" + "\n".join(f"- {note}" for note in notes(settings, summaries, outcomes)) + "\n"


def cell(figure: Interval | None, form: Form) -> str:
    """A figure with its interval: "4,120 (3,980–4,300)"."""
    if figure is None:
        return NONE
    value, low, high = (_written(each, form) for each in (figure.value, figure.low, figure.high))
    return f"{value} ({low}–{high})" if low != value or high != value else value


def _written(value: float, form: Form) -> str:
    if form == "share":
        return f"{100 * value:.0f} %"
    if form == "ratio":
        return f"{100 * value:.3g} %" if value < 1 else f"{value:.2f}x"
    if form == "dollars":
        return f"{value:.4f}"
    if form == "seconds":
        return f"{value:.3g}"
    return f"{value:,.1f}" if form == "decimal" else f"{value:,.0f}"


def notes(settings: RunSettings, summaries: Sequence[StrategySummary], outcomes: Sequence[Outcome]) -> list[str]:
    """What the figures rest on."""
    drawn = f", drawn with seed {settings.seed}" if settings.sample else ""
    said = [
        f"Dataset {settings.dataset}: {len(settings.questions)} questions{drawn}; {settings.note}.",
        _engine(settings, outcomes),
        _prices(settings),
        "In brackets: 95 % intervals, percentile bootstrap over questions. Failed questions count as not recalled and "
        "scored 0, and are left out of tokens, price and seconds.",
    ]
    ruled = [each.strategy for each in summaries if _is_ruled(each.strategy, outcomes)]
    if ruled:
        said.append(
            f"No cache was reported to {', '.join(ruled)}: writes and reads are by rule (a cacheable prefix from 1,024 "
            "tokens is written once a question, then read)."
        )
    chosen = [
        f"{each.strategy} took {', '.join(f'{way} {count} times' for way, count in each.chosen.items())}"
        for each in summaries
        if len(each.chosen) > 1
    ]
    return [*said, *(f"{each}." for each in chosen)]


def _engine(settings: RunSettings, outcomes: Sequence[Outcome]) -> str:
    if settings.is_builtin:
        return (
            f"All figures are from the built-in engine ({settings.model}), no language model: tokens are counted, wall "
            "seconds are this machine's, and answers are quotes, so scores compare strategies but say little of models."
        )
    counted = any(each.is_counted_here for each in outcomes)
    tokens = "some tokens were counted here, because the server reported none" if counted else "tokens as it reported"
    return f"All figures are from a real model, {settings.model}; {tokens}."


def _prices(settings: RunSettings) -> str:
    if settings.priced_as == settings.model:
        return "Prices are list prices."
    return f"Prices are what these tokens would cost at the list prices of {settings.priced_as}."


def _is_ruled(strategy: str, outcomes: Sequence[Outcome]) -> bool:
    return any(each.cache == "rule" for each in outcomes if each.strategy == strategy)
