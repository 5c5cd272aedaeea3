"""Ours: `orchestrate`, as a user calls it."""

from __future__ import annotations

from benchmarks.strategies.strategy import Answered, Attempt, Strategy
from orchestra import orchestrate
from orchestra.errors import UnexpectedFailure
from orchestra.planning.strategy import StrategyChoice
from orchestra.result import Result


def ours(choice: StrategyChoice) -> Strategy:
    """`orchestrate(strategy=...)` with everything else as it is by default."""

    def run(attempt: Attempt) -> Answered:
        result = orchestrate(
            attempt.document,
            attempt.question,
            model=attempt.model,
            strategy=choice,
            cancellation=attempt.cancellation,
        )
        if result.status == "failed":
            first = result.errors[0] if result.errors else None
            raise UnexpectedFailure(
                f"{first.code}: {first.message}" if first else "the run gave no answer",
                cause=first.cause if first else "",
            )
        return Answered(result.answer, *_choice(result))

    return run


def _choice(result: Result) -> tuple[str, int | None]:
    """What was done, and the input tokens that the cost model expected of it."""
    report = result.strategy
    if report is None:
        return "", None
    expected = next((each.input_tokens for each in report.estimates if each.strategy == report.chosen), None)
    return report.chosen, expected
