"""Pairs of strategies, question by question: what one sends, recalls and scores beside another."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from benchmarks.bootstrap import Interval, interval
from benchmarks.results import Outcome, RunSettings, by_strategy
from benchmarks.summary import input_ratios
from benchmarks.table import NONE, cell
from orchestra.errors import InputInvalid


def comparison(settings: RunSettings, outcomes: Sequence[Outcome], base: str) -> str:
    """A markdown table of every strategy beside `base`, over the questions that both answered.

    Ratios and differences are taken per question, so the intervals are those of paired samples.
    """
    grouped = by_strategy(outcomes)
    if base not in grouped:
        raise InputInvalid(f"there are no results of {base!r}", cause=f"there are those of {', '.join(grouped)}")
    head = [f"beside {base}", "questions", "input tokens, median ratio", "evidence recall, points", "score, points"]
    rows = [head, ["---", *["---:"] * (len(head) - 1)]]
    for name, own in grouped.items():
        if name != base:
            rows.append(_row(name, own, grouped[base], settings.seed))
    return "\n".join(f"| {' | '.join(row)} |" for row in rows) + "\n"


def _row(name: str, own: Mapping[str, Outcome], base: Mapping[str, Outcome], seed: int) -> list[str]:
    both = [question for question in own if question in base]
    ratio = interval(input_ratios(own.values(), base), "median", seed)

    def difference(read: Callable[[Outcome], float | None]) -> Interval | None:
        pairs = [(read(own[question]), read(base[question])) for question in both]
        return interval([one - other for one, other in pairs if one is not None and other is not None], "mean", seed)

    recall = difference(lambda each: None if each.is_recalled is None else float(each.is_recalled))
    score = difference(lambda each: each.score)
    return [name, str(len(both)), cell(ratio, "ratio"), _points(recall), _points(score)]


def _points(figure: Interval | None) -> str:
    if figure is None:
        return NONE
    return f"{100 * figure.value:+.0f} ({100 * figure.low:+.0f} to {100 * figure.high:+.0f})"
