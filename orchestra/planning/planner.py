"""The one planner call: its request, and what code checks in its reply."""

from __future__ import annotations

from dataclasses import dataclass

from orchestra.document import DocumentSet, locate, parse_citations, unsupported
from orchestra.errors import PlanInvalid
from orchestra.models.protocol import Catalogue, DocumentBlock, Instructions, Message, ModelReply, ModelRequest, Task
from orchestra.planning.parse import parse_plan
from orchestra.planning.plan import PLAN_SCHEMA, Plan, Subtask
from orchestra.planning.pointing import resolve_pointers
from orchestra.planning.prompt_files import prompt
from orchestra.skills import SkillLibrary

PLAN_MAX_TOKENS = 4096
DEMOTED_SKILL = "fact-extraction"


def plan_request(
    documents: DocumentSet, task: str, library: SkillLibrary, *, temperature: float | None = None
) -> ModelRequest:
    """What the planner is sent. Rules and document come first: they stay the same when the next task comes."""
    return ModelRequest(
        blocks=(
            Instructions(prompt("planner")),
            DocumentBlock(documents),
            Catalogue(library.catalogue),
            Task(task),
        ),
        purpose="plan",
        schema=PLAN_SCHEMA,
        schema_name="plan",
        max_tokens=PLAN_MAX_TOKENS,
        temperature=temperature,
    )


def repair_request(request: ModelRequest, reply: ModelReply, error: PlanInvalid) -> ModelRequest:
    """The same request once more, with the reply and what is wrong with it."""
    return request.with_messages(
        Message("assistant", reply.text or "(empty)"),
        Message("user", prompt("plan_repair").replace("{reason}", error.cause)),
    )


def read_plan(reply: ModelReply) -> tuple[Plan, tuple[str, ...]]:
    """The plan in a reply, and notes on what was mended. Raises `PlanInvalid`."""
    return parse_plan(reply.data if reply.data is not None else reply.text)


@dataclass(frozen=True, slots=True)
class Demotion:
    """A self-answer that does not stand: the subtask goes out as `fact-extraction` instead."""

    subtask: Subtask
    reason: str


def check_self_answers(plan: Plan, documents: DocumentSet) -> tuple[Plan, tuple[Demotion, ...]]:
    """Keep the self-answers that the document bears out, with the lines that do as a citation; delegate the others.

    Numbers, dates, quotes and names of an answer must occur in the document.
    """
    checked: list[Subtask] = []
    demotions: list[Demotion] = []
    for subtask in plan.subtasks:
        if not subtask.is_self_answered:
            checked.append(subtask)
            continue
        cited, reason = _cited_answer(subtask, documents)
        if cited is not None:
            checked.append(subtask.model_copy(update={"answer": cited}))
            continue
        checked.append(subtask.model_copy(update={"skill": DEMOTED_SKILL, "answer": None}))
        demotions.append(Demotion(subtask, reason))
    return plan.model_copy(update={"subtasks": checked}), tuple(demotions)


def _cited_answer(subtask: Subtask, documents: DocumentSet) -> tuple[str | None, str]:
    answer = subtask.answer
    if not answer:
        return None, "it has no answer"
    if parse_citations(answer):
        return answer, ""  # the citation is judged with all others
    pointers = subtask.context_pointers
    pointed = [lines for resolution in resolve_pointers(pointers, documents) for lines in resolution.ranges]
    found = (locate(answer, documents, pointed) if pointed else None) or locate(answer, documents)
    if found is not None:
        return f"{answer} [{found}]", ""
    missing = unsupported(answer, "\n".join(document.text for document in documents))
    if missing:
        return None, f"the document does not hold {', '.join(missing)}"
    return answer, ""
