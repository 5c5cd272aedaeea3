"""Subtasks that share skill and slice go out as one call: the slice is paid for once, the reply is split by code."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from orchestra.models.blocks import Finding, SliceBlock, Task, Tasks
from orchestra.models.protocol import ModelRequest
from orchestra.planning.assemble import Assignment, subtask_request
from orchestra.planning.prompt_files import prompt

MOST_TASKS = 8  # in one call: more are answered worse, and later
MOST_REPLY_TOKENS = 8_192  # what the replies of one call may take together: older models write no more
MARK_TOKENS = 8  # what the line with a task's number may take

_MARK = re.compile(
    r"^[ \t>#*_`]*<{1,2} ?(?:task ?)?(\d{1,2}) ?>{1,2}:?(?:[*_`]+(?=\s|\Z))?:?", re.IGNORECASE | re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class Bundle:
    """What goes out in one call: one subtask, or several with the same skill, slice and findings to build on."""

    assignments: tuple[Assignment, ...]

    @property
    def first(self) -> Assignment:
        return self.assignments[0]

    @property
    def is_merged(self) -> bool:
        return len(self.assignments) > 1

    def others(self, assignment: Assignment) -> tuple[str, ...]:
        """Ids of the subtasks that go with this one."""
        return tuple(each.subtask.id for each in self.assignments if each is not assignment)

    def request(
        self,
        *,
        max_tokens: int = 2048,
        temperature: float | None = None,
        findings: Sequence[Finding] = (),
        slices: Sequence[SliceBlock] | None = None,
    ) -> ModelRequest:
        """The request for all of them. `slices` is the slice as blocks, where it is to be sent in parts."""
        skill, blocks = self.first.skill, slices or (SliceBlock(self.first.slice, cacheable=False),)
        most = reply_tokens(self.first, max_tokens)
        if not self.is_merged:
            task = Task(self.first.subtask.task)
            return subtask_request(skill, blocks, findings, task, max_tokens=most, temperature=temperature)
        tasks = Tasks(tuple(each.subtask.task for each in self.assignments), most)
        together = len(self.assignments) * (most + MARK_TOKENS)
        return subtask_request(
            skill,
            blocks,
            findings,
            tasks,
            reply_form=prompt("merged"),
            max_tokens=together,
            temperature=temperature,
        )


def merge(
    assignments: Sequence[Assignment], *, max_tokens: int = 2048, is_alone: Callable[[Assignment], bool] | None = None
) -> tuple[Bundle, ...]:
    """Every assignment in one bundle, in the order of their first subtasks.

    Merged are those with the same skill, the same lines and the same dependencies. Of two subtasks with the same
    dependencies neither depends on the other, not even through a third: that would be a cycle of the plan.
    """
    bundles: dict[object, list[Assignment]] = {}
    full: list[list[Assignment]] = []
    for position, assignment in enumerate(assignments):
        key = position if is_alone is not None and is_alone(assignment) else _key(assignment) or position
        together = bundles.setdefault(key, [])
        if together and len(together) >= _most_tasks(assignment, max_tokens):
            full.append(together)
            together = bundles[key] = []
        together.append(assignment)
    order = {id(assignment): position for position, assignment in enumerate(assignments)}
    made = sorted((*full, *bundles.values()), key=lambda together: order[id(together[0])])
    return tuple(Bundle(tuple(together)) for together in made)


def reply_tokens(assignment: Assignment, max_tokens: int) -> int:
    """What the reply to a subtask may take: the run's bound, or its skill's where that is lower."""
    return min(max_tokens, assignment.skill.max_tokens or max_tokens)


def split_reply(text: str, tasks: int, *, is_cut: bool = False) -> tuple[str | None, ...]:
    """The answer to each of `tasks` tasks; None for one that is missing, empty, or given twice.

    A mark that comes twice may be quoted from the excerpts, and the answer that ends at it be longer: that one counts
    as missing too. So does the last answer of a reply that was cut off (`is_cut`).
    """
    marks = [mark for mark in _MARK.finditer(text) if 1 <= int(mark[1]) <= tasks]
    times = Counter(int(mark[1]) for mark in marks)
    found: dict[int, str | None] = {}
    for mark, following in zip_longest(marks, marks[1:]):
        number, is_last = int(mark[1]), following is None
        is_whole = not is_cut if is_last else times[int(following[1])] == 1
        if times[number] == 1 and is_whole:
            found[number] = text[mark.end() : None if is_last else following.start()].strip() or None
    return tuple(found.get(number) for number in range(1, tasks + 1))


def _most_tasks(assignment: Assignment, max_tokens: int) -> int:
    return max(1, min(MOST_TASKS, MOST_REPLY_TOKENS // reply_tokens(assignment, max_tokens)))


def _key(assignment: Assignment) -> object:
    """What subtasks that go together have in common; None for one that cannot be sent, or that a person approves."""
    if assignment.error is not None or assignment.skill.needs_approval:
        return None
    lines = assignment.slice.line_ranges
    return (assignment.skill, lines, frozenset(assignment.subtask.depends_on))
