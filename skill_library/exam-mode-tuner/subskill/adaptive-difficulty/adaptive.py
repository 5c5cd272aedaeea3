"""How hard the next question is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

LEVELS = ("easy", "medium", "hard")
STREAK = 2  # right answers in a row, since the level last changed


def adapt(difficulty: str, answers: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """`{"difficulty", "reason"}`. `answers` are those given at this difficulty, the newest last."""
    level = LEVELS.index(difficulty)
    if not answers:
        return {"difficulty": difficulty, "reason": "nothing was answered yet"}
    if not answers[-1]["is_right"]:
        easier = LEVELS[max(level - 1, 0)]
        return {"difficulty": easier, "reason": "the last answer was wrong"}
    if len(answers) >= STREAK and all(answer["is_right"] for answer in answers[-STREAK:]):
        harder = LEVELS[min(level + 1, len(LEVELS) - 1)]
        return {"difficulty": harder, "reason": f"{STREAK} right answers in a row"}
    return {"difficulty": difficulty, "reason": "one right answer is not enough to tell"}
