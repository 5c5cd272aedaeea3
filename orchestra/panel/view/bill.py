"""What each strategy is expected to cost, as rows of a table."""

from __future__ import annotations

from dataclasses import dataclass

from orchestra.result import EstimateReport, StrategyReport
from orchestra.result.words import estimate_words

_ROUTE_NOTE = "Skills decide step by step, so the bill of a route is not known before."


@dataclass(frozen=True, slots=True)
class BillRow:
    """One strategy; `is_chosen` marks the one that a run would take."""

    strategy: str
    is_chosen: bool
    calls: int
    tokens_in: int
    tokens_out: int
    price: str
    note: str


@dataclass(frozen=True, slots=True)
class EstimatedBill:
    """`headline` says the chosen one in a line; `reason` why it was chosen."""

    rows: tuple[BillRow, ...]
    headline: str
    reason: str


def bill_of(report: StrategyReport) -> EstimatedBill:
    """The rows of a report, in its order, the chosen one marked."""
    if report.asked == "route":
        return EstimatedBill((), "route", _ROUTE_NOTE)
    rows = tuple(_row(each, is_chosen=each.strategy == report.chosen) for each in report.estimates)
    chosen = next((row for row in rows if row.is_chosen), None)
    headline = report.chosen if chosen is None else f"{chosen.strategy} · {_amounts(chosen)}"
    return EstimatedBill(rows, headline, report.reason)


def _row(estimate: EstimateReport, *, is_chosen: bool) -> BillRow:
    return BillRow(
        estimate.strategy,
        is_chosen,
        estimate.calls,
        estimate.input_tokens,
        estimate.output_tokens,
        estimate_words(estimate.cost_usd),
        "" if estimate.is_possible else estimate.note,
    )


def _amounts(row: BillRow) -> str:
    calls = "1 call" if row.calls == 1 else f"{row.calls} calls"
    price = "" if row.price == "$0" else "price unknown" if row.price == "unknown" else row.price
    return " · ".join(part for part in (calls, f"about {row.tokens_in:,} tokens in", price) if part)
