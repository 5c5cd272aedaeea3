"""The `direct` strategy as a plan of one subtask that sees everything, made by code."""

from __future__ import annotations

from orchestra.document import DocumentSet, count_tokens, whole
from orchestra.planning.assemble import DIRECT, Assignment
from orchestra.planning.costs import prompt_tokens, request_tokens
from orchestra.planning.plan import Plan, Subtask
from orchestra.planning.prompt_files import prompt
from orchestra.skills import Skill

EXACT_TOKENS = 60_000  # up to here a direct prompt is made to be counted, above its tokens are told from the document's
NUMBERED = 1.07  # tokens of a document with numbered lines, over those without


def direct_tokens(documents: DocumentSet, task: str) -> int:
    """Tokens of the one prompt."""
    size = documents.size
    if size.is_exact and size.tokens <= EXACT_TOKENS:
        return request_tokens(direct_assignment(direct_plan(task), documents).request())
    return round(size.tokens * NUMBERED) + prompt_tokens(prompt(DIRECT)) + count_tokens(task)


def direct_plan(task: str) -> Plan:
    """One subtask: the task itself. It has no pointers, for it is shown everything."""
    return Plan(subtasks=[Subtask(id="1", task=task, skill=DIRECT)])


def is_direct(plan: Plan) -> bool:
    """Whether a plan is one of `direct_plan`."""
    first = plan.subtasks[0]
    return len(plan.subtasks) == 1 and first.skill == DIRECT and not first.context_pointers


def direct_assignment(plan: Plan, documents: DocumentSet, *, is_kept: bool = False) -> Assignment:
    """The only subtask of a direct plan with every line of every document.

    With `is_kept` the provider is asked to keep them in its prompt cache, which costs more the first time.
    """
    skill = Skill(name=DIRECT, description="Answers the whole task.", system_prompt=prompt(DIRECT), source="builtin")
    return Assignment(plan.subtasks[0], skill, whole(documents), is_slice_kept=is_kept)
