"""What the events of a run say of it beside its nodes: the strategy, what was warned of, and when."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

MOST_WARNINGS = 500


@dataclass(frozen=True, slots=True)
class Warned:
    """A notice as it was given."""

    code: str
    message: str
    node_id: str = ""


@dataclass(frozen=True, slots=True)
class Remarks:
    """As of one moment. `latest_at` is unix seconds; `left_out` warnings are not listed."""

    strategy: str = ""
    reason: str = ""
    warnings: tuple[Warned, ...] = ()
    left_out: int = 0
    latest_at: float | None = None


class RunRemarks:
    """What the events of one run have told so far. `last` is the sequence of the latest one."""

    def __init__(self) -> None:
        self.last = 0
        self._strategies: list[tuple[int, str, str]] = []
        self._warnings: list[tuple[int, Warned]] = []
        self._warned = 0
        self._latest_at: float | None = None

    def add(self, event: Mapping[str, Any]) -> None:
        """The next event, as the store gives it."""
        self.last = event["sequence"]
        moment = event.get("at")
        if isinstance(moment, int | float):
            self._latest_at = max(float(moment), self._latest_at or 0.0)
        if event.get("type") == "strategy-chosen":
            self._strategies.append((self.last, str(event.get("strategy") or ""), str(event.get("reason") or "")))
        elif event.get("type") == "warning":
            self._warned += 1
            if len(self._warnings) < MOST_WARNINGS:
                texts = (str(event.get(name) or "") for name in ("code", "message", "node_id"))
                self._warnings.append((self.last, Warned(*texts)))

    def remarks(self, at: int | None = None, moment: float | None = None) -> Remarks:
        """As of the event with sequence `at`, which was heard at `moment`; by default now."""
        strategies = [each for each in self._strategies if at is None or each[0] <= at]
        warnings = tuple(warning for sequence, warning in self._warnings if at is None or sequence <= at)
        _, strategy, reason = strategies[-1] if strategies else (0, "", "")
        left_out = self._warned - len(self._warnings) if at is None else 0
        return Remarks(strategy, reason, warnings, left_out, self._latest_at if at is None else moment)
