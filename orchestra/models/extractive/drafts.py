"""Subtasks in the making, and how too many become fewer."""

from __future__ import annotations

from dataclasses import dataclass, field

MAX_SUBTASKS = 6


@dataclass(slots=True)
class Draft:
    """A subtask in the making. `answer` is set when a line answers it."""

    task: str
    skill: str
    sections: list[str] = field(default_factory=list)
    answer: str | None = None


def at_most_six(drafts: list[Draft]) -> list[Draft]:
    """The drafts, neighbours joined until a plan may hold them."""
    while len(drafts) > MAX_SUBTASKS:
        drafts = _merge(drafts)
    return drafts


def _merge(drafts: list[Draft]) -> list[Draft]:
    """One subtask fewer: the last two neighbours that are both answered, else of one skill, else any."""

    def likeness(position: int) -> tuple[int, int]:
        one, other = drafts[position], drafts[position + 1]
        if one.answer and other.answer:
            return 2, position
        return int(not one.answer and not other.answer and one.skill == other.skill), position

    at = max(range(len(drafts) - 1), key=likeness)
    one, other = drafts[at], drafts[at + 1]
    merged = Draft(
        f"{one.task} {other.task}",
        one.skill if one.skill == other.skill else "fact-extraction",
        list(dict.fromkeys([*one.sections, *other.sections])),
        f"{one.answer}\n{other.answer}" if one.answer and other.answer else None,
    )
    return [*drafts[:at], merged, *drafts[at + 2 :]]
