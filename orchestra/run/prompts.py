"""A prompt as it was sent, in a form that people read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from orchestra.models.protocol import Message, Model, ModelRequest, ToolCall, ToolResult, ToolSpec
from orchestra.planning.costs import request_tokens
from orchestra.runtime.calls import model_name


@dataclass(frozen=True, slots=True)
class SentMessage:
    """A turn. `text` is what was sent of it, to the byte; what a model called and was given stands beside it."""

    role: Literal["user", "assistant"]
    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_results: tuple[ToolResult, ...] = ()


@dataclass(frozen=True, slots=True)
class SentPrompt:
    """One request of a run, rebuilt. A node that sent it several times has it once.

    `fingerprint` is its SHA-256; `is_proved` says that the store has that hash on record for this node. Where it has
    not, this is what would be sent now: a skill may have changed since, or a process was killed before it could tell of
    a call that failed. `model` is the one that was asked first. `tokens` are counted here. With a `schema`, adapters of
    servers that take none add it to the last of the texts.
    """

    node_id: str
    model: str
    purpose: str
    system: str
    messages: tuple[SentMessage, ...]
    tools: tuple[ToolSpec, ...]
    schema: Mapping[str, Any] | None
    max_tokens: int
    tokens: int
    fingerprint: str
    is_proved: bool


def sent_prompt(node_id: str, model: Model, request: ModelRequest, *, is_proved: bool) -> SentPrompt:
    """`request` as adapters send it: instructions that lead are the system's, the rest is the user's turn."""
    from orchestra.models.wire_model import split_instructions

    system, rest = ("\n\n".join(part.text for part in parts) for parts in split_instructions(request.blocks))
    turns = (_turn(message) for message in request.messages)
    return SentPrompt(
        node_id,
        model_name(model),
        request.purpose,
        system,
        (SentMessage("user", rest), *turns),
        request.tools,
        request.schema,
        request.max_tokens,
        request_tokens(request),
        request.fingerprint,
        is_proved,
    )


def _turn(message: Message) -> SentMessage:
    return SentMessage(message.role, message.text, message.tool_calls, message.tool_results)
