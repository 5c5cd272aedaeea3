"""What a benchmark would cost: the same requests, answered by the built-in engine in the model's place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.results import Outcome, by_strategy


@dataclass(frozen=True, slots=True)
class Bill:
    """Expected calls, tokens and US dollars of one strategy over all questions; `price_usd` None if not known."""

    strategy: str
    calls: int
    input_tokens: int
    output_tokens: int
    price_usd: float | None


def bills(outcomes: Sequence[Outcome]) -> list[Bill]:
    """One bill a strategy, then their total."""
    found = [_bill(name, list(rows.values())) for name, rows in by_strategy(outcomes).items()]
    return [*found, _bill("total", outcomes)] if len(found) > 1 else found


def _bill(name: str, outcomes: Sequence[Outcome]) -> Bill:
    prices = [each.price_usd for each in outcomes]
    known = [price for price in prices if price is not None]
    return Bill(
        name,
        sum(len(each.calls) for each in outcomes),
        sum(each.total_input_tokens for each in outcomes),
        sum(each.output_tokens for each in outcomes),
        sum(known) if len(known) == len(prices) else None,
    )


def bill_table(found: Sequence[Bill], *, priced_as: str, questions: int) -> str:
    """Markdown, with what the estimate rests on."""
    rows = ["| strategy | calls | input tokens | output tokens | US$ |", "| --- | ---: | ---: | ---: | ---: |"]
    for bill in found:
        price = "–" if bill.price_usd is None else f"{bill.price_usd:,.2f}"
        rows.append(f"| {bill.strategy} | {bill.calls:,} | {bill.input_tokens:,} | {bill.output_tokens:,} | {price} |")
    return "\n".join(
        [
            *rows,
            "",
            f"Expected for {questions} questions at the list prices of {priced_as}; nothing was sent. The built-in",
            "engine stood in: prompts are as they would be, plans and the lengths of replies are its own.",
            "A judge is not included.",
        ]
    )
