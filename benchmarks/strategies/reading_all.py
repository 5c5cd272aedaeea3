"""Baselines that send everything: one call, and naive fan-out without and with a prompt cache."""

from __future__ import annotations

from benchmarks.strategies.asking import Asker
from benchmarks.strategies.pieces import whole_text
from benchmarks.strategies.prompts import ANGLES, ANSWER, JOIN
from benchmarks.strategies.strategy import Answered, Attempt
from orchestra.models.blocks import Block, Finding, Findings, Instructions, SliceBlock, Task


def direct(attempt: Attempt) -> Answered:
    """One call: the whole document, then the question."""
    asker = Asker(attempt.model, attempt.cancellation)
    return Answered(asker.ask(_prompt(attempt, attempt.question, is_cached=False), "subtask"))


def fanout(attempt: Attempt) -> Answered:
    """`subtasks` calls at once, each with everything, and one that joins their replies."""
    return _fanned_out(attempt, is_cached=False)


def fanout_cached(attempt: Attempt) -> Answered:
    """The same, with the document as a cacheable prefix that the first call writes before the others read it."""
    return _fanned_out(attempt, is_cached=True)


def _fanned_out(attempt: Attempt, *, is_cached: bool) -> Answered:
    asker = Asker(attempt.model, attempt.cancellation)
    tasks = [angle.format(question=attempt.question) for angle in ANGLES[: attempt.subtasks]]
    prompts = [_prompt(attempt, task, is_cached=is_cached) for task in tasks]
    first = 1 if is_cached else 0
    replies = asker.ask_all(prompts[:first], "subtask") + asker.ask_all(prompts[first:], "subtask")
    findings = tuple(
        Finding(str(number), task, reply)
        for number, (task, reply) in enumerate(zip(tasks, replies, strict=True), start=1)
    )
    return Answered(asker.ask([Instructions(JOIN), Findings(findings), Task(attempt.question)], "synthesis"))


def _prompt(attempt: Attempt, task: str, *, is_cached: bool) -> list[Block]:
    return [Instructions(ANSWER), SliceBlock(whole_text(attempt.document), cacheable=is_cached), Task(task)]
