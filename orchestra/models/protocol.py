"""What every model speaks: one request, one reply, one method.

A request is a sequence of typed blocks. An adapter for a provider sends `block.text`; an engine that
runs here reads the block's own fields. Blocks that stay the same between calls come first, and the last
of them is marked `cacheable`, so that a provider's prompt cache can hold what stands before it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol, runtime_checkable

from orchestra.models.blocks import Block
from orchestra.models.deadline import Deadline

Purpose = Literal["plan", "subtask", "synthesis", "route", "other"]
StopReason = Literal["end", "max_tokens", "tool_use", "refusal", "context_exceeded", "pause"]
ToolChoice = Literal["auto", "none"]
_SORTED_JSON = json.JSONEncoder(sort_keys=True)


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool that the model may call; `parameters` is a JSON schema of an object."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """What the model wants done. `fault` says why its arguments cannot be used: they are empty then, nothing is run."""

    id: str
    name: str
    arguments: Mapping[str, Any]
    fault: str = ""


@dataclass(frozen=True, slots=True)
class ToolResult:
    call_id: str
    text: str
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class Message:
    """A turn after the blocks: what the model said, or what it is told next.

    `raw` is that of the reply which this turn repeats. A `cacheable` turn ends what a prompt cache may hold.
    """

    role: Literal["user", "assistant"]
    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    tool_results: tuple[ToolResult, ...] = ()
    raw: Mapping[str, Any] | None = None
    cacheable: bool = False

    @property
    def shown(self) -> str:
        """All that a model reads of the turn, as one text."""
        calls = (f"{call.name} {json.dumps(dict(call.arguments), default=str)}" for call in self.tool_calls)
        return "\n".join((*((self.text,) if self.text else ()), *calls, *(result.text for result in self.tool_results)))

    @property
    def identity(self) -> dict[str, Any]:
        """What of the turn is sent, JSON-ready."""
        written: dict[str, Any] = {
            "role": self.role,
            "text": self.text,
            "calls": [[call.id, call.name, dict(call.arguments)] for call in self.tool_calls],
            "results": [[result.call_id, result.text, result.is_error] for result in self.tool_results],
        }
        return written | ({"raw": self.raw} if self.raw else {}) | ({"cacheable": True} if self.cacheable else {})


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One call. `blocks` make the prompt, `messages` the turns after it.

    `schema` asks for JSON of that shape, `on_delta` for the text as it arrives. With `tool_choice` "none" the tools
    stand in the request, for the prompt cache's sake, and cannot be called. Deadline and sink are no part of the
    request's identity: `fingerprint` covers only what is sent.
    """

    blocks: tuple[Block, ...]
    purpose: Purpose = "other"
    messages: tuple[Message, ...] = ()
    tools: tuple[ToolSpec, ...] = ()
    tool_choice: ToolChoice = "auto"
    schema: Mapping[str, Any] | None = None
    schema_name: str = "reply"
    max_tokens: int = 2048
    temperature: float | None = None
    deadline: Deadline | None = field(default=None, compare=False)
    on_delta: Callable[[str], None] | None = field(default=None, compare=False)

    def with_messages(self, *messages: Message) -> ModelRequest:
        return replace(self, messages=(*self.messages, *messages))

    @property
    def prompt(self) -> str:
        """The text of all blocks and turns as one string: what token counts are taken from."""
        turns = (f"{message.role}: {message.shown}" for message in self.messages)
        return "\n\n".join((*(block.text for block in self.blocks), *turns))

    @property
    def fingerprint(self) -> str:
        """SHA-256 over what is sent, as hex: equal requests have equal fingerprints on every machine."""
        parts = [f"{block.kind}\x1f{block.cacheable}\x1f{block.text}\x1e".encode() for block in self.blocks]
        rest = {
            "messages": [message.identity for message in self.messages],
            "tools": [[tool.name, tool.description, dict(tool.parameters)] for tool in self.tools],
            "schema": self.schema,
            "max_tokens": self.max_tokens,
            "temperature": self.temperature,
        }
        rest |= {"tool_choice": self.tool_choice} if self.tool_choice != "auto" else {}
        return hashlib.sha256(b"".join((*parts, _SORTED_JSON.encode(rest).encode()))).hexdigest()


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call or of many. The whole input is `input + cached_input + cache_write`.

    `is_estimated` says that some of it was counted here, because the provider reported none.
    """

    input_tokens: int = 0
    cached_input_tokens: int = 0
    cache_write_tokens: int = 0
    output_tokens: int = 0
    is_estimated: bool = False

    @property
    def total_input_tokens(self) -> int:
        return self.input_tokens + self.cached_input_tokens + self.cache_write_tokens


@dataclass(frozen=True, slots=True)
class ModelReply:
    """What a model answered. `data` is the parsed JSON when a schema was asked for and the text holds one.

    `raw` is set where its tool calls must go back to the provider as they came: the turn in the provider's own form,
    JSON-ready, with the `model` that wrote it. `answered_by` names the model that stood in for the one that was asked;
    "" where none did.
    """

    text: str
    usage: Usage = field(default_factory=Usage)
    data: Any = None
    tool_calls: tuple[ToolCall, ...] = ()
    stop_reason: StopReason = "end"
    model: str = ""
    request_id: str = ""
    raw: Mapping[str, Any] | None = None
    answered_by: str = ""

    @property
    def turn(self) -> Message:
        """The reply as a turn of the conversation that goes on."""
        return Message("assistant", self.text, self.tool_calls, raw=self.raw)


@runtime_checkable
class Model(Protocol):
    """Anything with this method can answer. Errors are `ModelError`s; anything else counts as a defect.

    It is called from several threads, and should give up when `request.deadline` says so: the run goes on without
    one that does not, but its thread, and Python's exit, wait for it.

    An object may also have `name: str` (how results and prices call it), and
    `context_window: int` (tokens; unknown when absent), `cache_minimum_tokens: int`, the shortest prefix that its
    prompt cache holds (no cache when absent), `gate`, the `Gate` that says when its calls may go out (at once when
    absent), and `notice: str`, a sentence about itself that stands with every answer that is joined without a
    synthesis of its own.
    """

    def complete(self, request: ModelRequest) -> ModelReply: ...
