"""The picture: input tokens on a logarithmic axis against evidence recall, each strategy with its intervals."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.bootstrap import Interval
from benchmarks.results import RunSettings
from benchmarks.summary import StrategySummary
from orchestra.errors import InputInvalid

# Okabe and Ito's palette, which the colour-blind can tell apart; the marker tells the same again.
OURS, OTHERS = "#0072B2", "#D55E00"
MARKERS = {"auto": "o", "outline": "s", "full": "D"}
FORMATS = ("svg", "png")


def plot(settings: RunSettings, summaries: Sequence[StrategySummary], folder: Path) -> list[Path]:
    """Writes `plot.svg` and `plot.png`; equal figures give equal files. Raises `InputInvalid` without any recall."""
    points = [
        (each.strategy, tokens, recall)
        for each in summaries
        if (tokens := each.figures["input_median"]) and (recall := each.figures["recall"])
    ]
    if not points:
        raise InputInvalid("there is nothing to plot", cause="no strategy has both input tokens and evidence recall")
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    with mpl.rc_context({"svg.hashsalt": "orchestra", "svg.fonttype": "none", "font.size": 10}):
        figure, axes = plt.subplots(figsize=(7.2, 4.2), layout="constrained")
        for strategy, tokens, recall in points:
            _draw(axes, strategy, tokens, recall)
        _label(axes, points)
        _dress(axes, settings)
        paths = [_save(figure, folder / f"plot.{kind}") for kind in FORMATS]
        plt.close(figure)
    return paths


def _draw(axes: Any, strategy: str, tokens: Interval, recall: Interval) -> None:
    is_ours = strategy in MARKERS
    axes.errorbar(
        tokens.value,
        100 * recall.value,
        xerr=[[max(0.0, tokens.value - tokens.low)], [max(0.0, tokens.high - tokens.value)]],
        yerr=[[max(0.0, 100 * (recall.value - recall.low))], [max(0.0, 100 * (recall.high - recall.value))]],
        fmt=MARKERS.get(strategy, "^"),
        color=OURS if is_ours else OTHERS,
        markersize=7,
        elinewidth=1,
        alpha=0.95,
    )


def _label(axes: Any, points: Sequence[tuple[str, Interval, Interval]]) -> None:
    """Names beside their points; of points on one spot, one name a line."""
    taken: list[tuple[float, float]] = []
    for strategy, tokens, recall in sorted(points, key=lambda point: (point[1].value, point[2].value, point[0])):
        spot = tokens.value, 100 * recall.value
        near = sum(0.8 < spot[0] / other[0] < 1.25 and abs(spot[1] - other[1]) < 6 for other in taken)
        axes.annotate(
            strategy,
            spot,
            xytext=(8, -13 - 12 * near),
            textcoords="offset points",
            color=OURS if strategy in MARKERS else OTHERS,
        )
        taken.append(spot)


def _dress(axes: Any, settings: RunSettings) -> None:
    from matplotlib.ticker import FuncFormatter, NullFormatter

    low, high = axes.get_xlim()
    axes.set_xscale("log")
    axes.set_xlim(max(low, 1), high)
    axes.autoscale(axis="x")
    axes.margins(x=0.18)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda tokens, _: f"{tokens:,.0f}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_ylim(-4, 108)
    axes.set_xlabel("input tokens a question (median, logarithmic)")
    axes.set_ylabel("evidence recall in %")
    engine = "built-in engine" if settings.is_builtin else settings.model
    axes.set_title(
        f"{settings.dataset}, {len(settings.questions)} questions, {engine}; bars are 95 % intervals",
        fontsize=9,
        loc="left",
    )
    axes.grid(alpha=0.25, linewidth=0.6)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def _save(figure: Any, path: Path) -> Path:
    metadata = {"Date": None} if path.suffix == ".svg" else {"Software": None}
    figure.savefig(path, metadata=metadata, dpi=150)
    return path
