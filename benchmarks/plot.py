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
# Where a name may stand, in typographic points from its own point: beside it, then higher and lower.
PLACES = [(side * 8, up) for up in (-4, 8, -16, 20, -28, 32, -40, 44) for side in (1, -1)]
FORMATS = ("svg", "png")


def points(summaries: Sequence[StrategySummary]) -> list[tuple[str, Interval, Interval]]:
    """(strategy, input tokens, recall) of each strategy that has both."""
    return [
        (each.strategy, tokens, recall)
        for each in summaries
        if (tokens := each.figures["input_median"]) and (recall := each.figures["recall"])
    ]


def plot(settings: RunSettings, summaries: Sequence[StrategySummary], folder: Path) -> list[Path]:
    """Writes `plot.svg` and `plot.png`; equal figures give equal files. Raises `InputInvalid` without any recall."""
    found = points(summaries)
    if not found:
        raise InputInvalid("there is nothing to plot", cause="no strategy has both input tokens and evidence recall")
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    with mpl.rc_context({"svg.hashsalt": "orchestra", "font.size": 10}):
        figure, axes = plt.subplots(figsize=(7.2, 4.2), layout="constrained")
        for strategy, tokens, recall in found:
            _draw(axes, strategy, tokens, recall)
        _dress(axes, settings)
        _label(figure, axes, found)
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


def _label(figure: Any, axes: Any, found: Sequence[tuple[str, Interval, Interval]]) -> None:
    """Names beside their points, each at the first place where it covers nothing."""
    from matplotlib.transforms import Bbox

    renderer = figure.canvas.get_renderer()
    figure.draw_without_rendering()
    taken = [box for _, tokens, recall in found for box in _bars(axes, tokens, recall, Bbox)]
    frame = axes.get_window_extent(renderer)
    for strategy, tokens, recall in found:
        label = axes.annotate(
            strategy,
            (tokens.value, 100 * recall.value),
            xytext=PLACES[0],
            textcoords="offset points",
            color=OURS if strategy in MARKERS else OTHERS,
        )
        for place in PLACES:
            label.set_position(place)
            label.set_horizontalalignment("left" if place[0] > 0 else "right")
            box = label.get_window_extent(renderer)
            if frame.contains(*box.min) and frame.contains(*box.max) and not box.count_overlaps(taken):
                break
        taken.append(label.get_window_extent(renderer))


def _bars(axes: Any, tokens: Interval, recall: Interval, box: Any) -> list[Any]:
    """What a point and its two bars cover, in pixels."""

    def spot(count: float, share: float) -> tuple[float, float]:
        across, up = axes.transData.transform((count, 100 * share))
        return float(across), float(up)

    (x, y), (low_x, low_y) = spot(tokens.value, recall.value), spot(tokens.low, recall.low)
    high_x, high_y = spot(tokens.high, recall.high)
    return [
        box([[x - 6, y - 6], [x + 6, y + 6]]),
        box([[low_x - 1, y - 1], [high_x + 1, y + 1]]),
        box([[x - 1, low_y - 1], [x + 1, high_y + 1]]),
    ]


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
