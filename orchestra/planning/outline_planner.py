"""The planner that reads the outline instead of the documents: its requests, and how its reply is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from orchestra.document import DocumentSet, count_tokens
from orchestra.document.view import outline_view
from orchestra.models.blocks import Block, Catalogue, Instructions, OutlineBlock, Task, fence
from orchestra.models.protocol import ModelReply, ModelRequest
from orchestra.planning.costs import request_tokens
from orchestra.planning.outline_reply import OutlineReply, parse_outline
from orchestra.planning.prompt_files import prompt
from orchestra.skills import CATALOGUE_TOKENS, SkillLibrary

__all__ = ["OUTLINE_SCHEMA", "OutlineReply", "look_request", "outline_request", "read_outline_reply"]

OUTLINE_TOKENS = 3_000
FEWEST_VIEW_TOKENS = 600
"""The view gets as much even where task and catalogue leave less: with less it names nothing to point at."""

OUTLINE_MAX_TOKENS = 2_048

_JOINTS = 4  # tokens that may be more where the view meets its fence

OUTLINE_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "look": {"type": "array", "items": {"type": "string"}},
        "whole": {"type": "boolean"},
        "subtasks": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "id": {"type": "string"},
                    "task": {"type": "string"},
                    "skill": {"type": "string"},
                    "sections": {"type": "array", "items": {"type": "string"}},
                    "answer": {"type": ["string", "null"]},
                    "depends_on": {"type": "array", "items": {"type": "string"}},
                },
                "required": ["id", "task", "skill", "sections", "answer", "depends_on"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["look", "whole", "subtasks"],
    "additionalProperties": False,
}
"""What a provider is handed: every property required, as strict modes ask."""


def outline_request(
    documents: DocumentSet,
    task: str,
    library: SkillLibrary,
    *,
    outline_tokens: int = OUTLINE_TOKENS,
    catalogue_tokens: int = CATALOGUE_TOKENS,
    temperature: float | None = None,
    look: Sequence[str] = (),
    words: str = "",
) -> ModelRequest:
    """What the planner is sent: rules and skills, which stay the same, then the outline as this task needs it.

    The whole prompt keeps within `outline_tokens`: the view has what the rest leaves, but never less than
    `FEWEST_VIEW_TOKENS`, which a very long task or catalogue may pass the budget by. With `look`, those sections or
    pages stand closer in the view, and the planner is told that it cannot look again.
    `words` are searched for in place of the task's, where the task alone does not say what it is about.
    """
    skills = library.catalogue_for(task, catalogue_tokens)
    blocks: tuple[Block, ...] = (Instructions(prompt("outline_planner")), Catalogue(skills))
    last: tuple[Block, ...] = (Instructions(prompt("outline_look")), Task(task)) if look else (Task(task),)
    room = outline_tokens - _tokens(ModelRequest((*blocks, Instructions(fence("outline", "")), *last))) - _JOINTS
    budget = max(room, FEWEST_VIEW_TOKENS)
    while True:
        block = OutlineBlock(outline_view(documents, words or task, budget, look=look))
        request = ModelRequest(
            blocks=(*blocks, block, *last),
            purpose="plan",
            schema=OUTLINE_SCHEMA,
            schema_name="plan",
            max_tokens=OUTLINE_MAX_TOKENS,
            temperature=temperature,
        )
        excess = _tokens(request) - max(outline_tokens, outline_tokens - room + FEWEST_VIEW_TOKENS)
        if excess <= 0 or budget < FEWEST_VIEW_TOKENS // 2:  # a text that closes its fence has a longer one
            return request
        budget -= excess


def look_request(
    request: ModelRequest,
    reply: OutlineReply,
    documents: DocumentSet,
    task: str,
    library: SkillLibrary,
    *,
    outline_tokens: int = OUTLINE_TOKENS,
    catalogue_tokens: int = CATALOGUE_TOKENS,
    words: str = "",
) -> ModelRequest:
    """The second call, after the planner asked to look closer at `reply.look`.

    The new view stands in place of the first, not after it. After it, the call would carry both views and the reply
    (about twice the input, a part of it at the price of a cached read, and prefixes as short as these are not cached
    by every provider); in its place, rules and skills are the same bytes as before, what was asked for has most of
    the budget, and what is left of it repeats the best of the first view, so that nothing the plan needs is gone.
    """
    return outline_request(
        documents,
        task,
        library,
        outline_tokens=outline_tokens,
        catalogue_tokens=catalogue_tokens,
        temperature=request.temperature,
        look=reply.look,
        words=words,
    )


def read_outline_reply(reply: ModelReply, documents: DocumentSet, *, may_look: bool = True) -> OutlineReply:
    """The decision in a reply. Raises `PlanInvalid`. `may_look` is False for the reply to a `look_request`."""
    return parse_outline(reply.data if reply.data is not None else reply.text, documents, may_look=may_look)


def _tokens(request: ModelRequest) -> int:
    """Tokens of a request, its blocks joined or apart, whichever count is higher."""
    return max(request_tokens(request), count_tokens(request.prompt))
