"""A run's state, and the work of each phase: `plan`, `assembling`, `execute`, `synthesize`."""

from __future__ import annotations

from orchestra.run.state import Run

__all__ = ["Run"]
