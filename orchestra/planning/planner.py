"""The one planner call: its request, and how its reply is read."""

from __future__ import annotations

from orchestra.document import DocumentSet, count_tokens
from orchestra.errors import PlanInvalid
from orchestra.models.blocks import Catalogue, DocumentBlock, Instructions, Task
from orchestra.models.protocol import Message, ModelReply, ModelRequest
from orchestra.planning.costs import prompt_tokens
from orchestra.planning.parse import parse_plan
from orchestra.planning.plan import PLAN_SCHEMA, Plan
from orchestra.planning.prompt_files import prompt
from orchestra.skills import CATALOGUE_TOKENS, SkillLibrary

PLAN_MAX_TOKENS = 4096


def plan_request(
    documents: DocumentSet,
    task: str,
    library: SkillLibrary,
    *,
    temperature: float | None = None,
    catalogue_tokens: int = CATALOGUE_TOKENS,
) -> ModelRequest:
    """What the planner is sent. Rules and document come first: they stay the same when the next task comes."""
    return ModelRequest(
        blocks=(
            Instructions(prompt("planner")),
            DocumentBlock(documents),
            Catalogue(library.catalogue_for(task, catalogue_tokens)),
            Task(task),
        ),
        purpose="plan",
        schema=PLAN_SCHEMA,
        schema_name="plan",
        max_tokens=PLAN_MAX_TOKENS,
        temperature=temperature,
    )


def full_tokens(
    documents: DocumentSet, task: str, library: SkillLibrary, catalogue_tokens: int = CATALOGUE_TOKENS
) -> int:
    """Tokens of `plan_request`, at a bounded price where the documents are huge."""
    around = prompt_tokens(prompt("planner")) + prompt_tokens(
        Catalogue(library.catalogue_for(task, catalogue_tokens)).text
    )
    return documents.size.tokens + around + count_tokens(Task(task).text)


def repair_request(request: ModelRequest, reply: ModelReply, error: PlanInvalid) -> ModelRequest:
    """The same request once more, with the reply and what is wrong with it."""
    return request.with_messages(
        Message("assistant", reply.text or "(empty)"),
        Message("user", prompt("plan_repair").replace("{reason}", error.cause)),
    )


def read_plan(reply: ModelReply) -> tuple[Plan, tuple[str, ...]]:
    """The plan in a reply, and notes on what was mended. Raises `PlanInvalid`."""
    return parse_plan(reply.data if reply.data is not None else reply.text)
