"""From a plan to requests, by code alone: pointers are resolved, slices cut, prompts put together."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from orchestra.document import (
    Document,
    DocumentSet,
    LineRange,
    Resolution,
    Slice,
    best_parts,
    cut,
    whole,
)
from orchestra.errors import OrchestraError, PointersUnresolved, SkillInvalid
from orchestra.models.blocks import Block, Finding, Findings, Instructions, SliceBlock, Task, Tasks
from orchestra.models.protocol import ModelRequest
from orchestra.planning.narrowing import fits, narrowed
from orchestra.planning.parse import parse_plan
from orchestra.planning.plan import Plan, Subtask
from orchestra.planning.pointing import resolve_pointers
from orchestra.planning.prompt_files import prompt
from orchestra.skills import Skill, SkillLibrary
from orchestra.skills.library import GENERIC

OnUnresolved: TypeAlias = Literal["full", "search", "error"]
Fallback: TypeAlias = Literal["", "full", "search", "narrowed"]

DIRECT = "direct"  # the skill of a plan without planner: its rules are its prompt
DEFAULT_CONTEXT_TOKENS = 100_000  # what a slice may hold when the model's window is not known
LARGEST_CONTEXT_TOKENS = 1_000_000  # what no model's window holds much more than
SEARCH_TOKENS = 4_000  # what a lexical search may bring in where pointers fail


@dataclass(frozen=True, slots=True)
class Assignment:
    """A delegated subtask, ready to be sent: its skill, its slice, and how the slice was found.

    `error` is set when it cannot be sent (then the slice is empty). `is_slice_kept` asks the provider to keep the slice
    in its prompt cache, at a price, for calls that come later.
    """

    subtask: Subtask
    skill: Skill
    slice: Slice
    resolutions: tuple[Resolution, ...] = ()
    fallback: Fallback = ""
    warnings: tuple[str, ...] = ()
    error: OrchestraError | None = None
    is_slice_kept: bool = False

    def request(
        self, *, max_tokens: int = 2048, temperature: float | None = None, findings: Sequence[Finding] = ()
    ) -> ModelRequest:
        """The request for this subtask alone, its slice as one block."""
        return subtask_request(
            self.skill,
            (SliceBlock(self.slice, cacheable=self.is_slice_kept),),
            findings,
            Task(self.subtask.task),
            max_tokens=min(max_tokens, self.skill.max_tokens or max_tokens),
            temperature=temperature,
        )


def subtask_request(
    skill: Skill,
    slices: Sequence[SliceBlock],
    findings: Sequence[Finding],
    task: Task | Tasks,
    *,
    max_tokens: int,
    temperature: float | None,
    reply_form: str = "",
) -> ModelRequest:
    """What a subtask is sent. What subtasks can share stands first: the rules, then the slice."""
    is_direct = is_direct_skill(skill)
    hint = f"\nReply form: {skill.output_hint}" if skill.output_hint else ""
    blocks: list[Block] = [Instructions(prompt(DIRECT if is_direct else "subtask")), *slices]
    if findings:
        blocks.append(Findings(tuple(findings)))
    if not is_direct:
        blocks.append(Instructions(skill.system_prompt + hint))
    if reply_form:
        blocks.append(Instructions(reply_form))
    blocks.append(task)
    return ModelRequest(tuple(blocks), purpose="subtask", max_tokens=max_tokens, temperature=temperature)


def is_direct_skill(skill: Skill) -> bool:
    """Whether it stands for the whole task, over everything."""
    return skill.name == DIRECT and skill.source == "builtin"


def assemble(
    plan: Plan | Mapping[str, Any] | str,
    context: str | Path | Document | DocumentSet | Sequence[str | Path | Document],
    skills: SkillLibrary | Mapping[str, Any] | None = None,
    *,
    on_unresolved: OnUnresolved = "full",
    context_tokens: int = DEFAULT_CONTEXT_TOKENS,
    largest_tokens: int = LARGEST_CONTEXT_TOKENS,
) -> tuple[Assignment, ...]:
    """One `Assignment` for each delegated subtask, in plan order. Pure: equal input gives byte-identical requests.

    `on_unresolved` says what a subtask sees when none of its pointers resolves: the whole document if that fits
    `context_tokens` (else the best parts), the best parts for its words, or nothing (`PointersUnresolved` in `error`).
    Where its pointers hold more than `largest_tokens`, it sees the best parts of them.
    """
    documents = DocumentSet.of(context)
    library = SkillLibrary.of(skills)
    checked = parse_plan(plan)[0]
    return tuple(
        _assign(subtask, documents, library, on_unresolved, context_tokens, largest_tokens)
        for subtask in checked.delegated
    )


def fingerprint(assignments: Iterable[Assignment], *, max_tokens: int = 2048, temperature: float | None = None) -> str:
    """SHA-256 over the assembled requests, as hex."""
    digest = hashlib.sha256()
    for assignment in assignments:
        digest.update(assignment.request(max_tokens=max_tokens, temperature=temperature).fingerprint.encode())
    return digest.hexdigest()


def _assign(
    subtask: Subtask,
    documents: DocumentSet,
    library: SkillLibrary,
    on_unresolved: OnUnresolved,
    context_tokens: int,
    largest_tokens: int,
) -> Assignment:
    skill, is_known, broken = _skill(subtask.skill, library)
    warnings = () if is_known else (f"there is no skill {subtask.skill!r}: a generic prompt is used",)
    resolutions = resolve_pointers(subtask.context_pointers, documents)
    ranges = [line_range for resolution in resolutions for line_range in resolution.ranges]
    slice_, fallback, error = _slice(subtask, ranges, documents, on_unresolved, context_tokens, largest_tokens)
    return Assignment(subtask, skill, slice_, resolutions, fallback, warnings, broken or error)


def _skill(name: str, library: SkillLibrary) -> tuple[Skill, bool, SkillInvalid | None]:
    """The skill of that name, or a generic one; whether that was what was meant; why it cannot be read."""
    try:
        return *library.get_or_generic(name), None
    except SkillInvalid as error:
        return GENERIC, True, error


def _slice(
    subtask: Subtask,
    ranges: Sequence[LineRange],
    documents: DocumentSet,
    on_unresolved: OnUnresolved,
    context_tokens: int,
    largest_tokens: int,
) -> tuple[Slice, Fallback, OrchestraError | None]:
    if ranges and fits(ranges, documents, largest_tokens):
        return cut(ranges, documents), "", None
    if ranges:
        return narrowed(subtask.task, ranges, documents, min(SEARCH_TOKENS, largest_tokens)), "narrowed", None
    if on_unresolved == "full" and documents.size.tokens <= context_tokens:
        return whole(documents), "full", None
    if on_unresolved != "error":
        found = best_parts(subtask.task, documents, min(SEARCH_TOKENS, context_tokens))
        if found.passages:
            return found, "search", None
    written = [*subtask.context_pointers.sections, *map(str, subtask.context_pointers.line_ranges)]
    error = PointersUnresolved(
        f"none of the pointers of subtask {subtask.id} is in the document",
        cause=", ".join(written) if written else "the plan gives none",
    )
    return cut((), documents), "", error
