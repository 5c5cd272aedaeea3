"""The Anthropic Messages API (`POST {base}/v1/messages`), streamed.

Leading instructions are the system prompt, the other blocks the first user turn, one text block each, so that
`cache_control` can mark where the prompt cache may cut.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from orchestra.errors import ContextTooLong, ModelRefused
from orchestra.models.caching import anthropic_minimum
from orchestra.models.capabilities import JSON_SCHEMA, Capabilities, Trait, for_schema
from orchestra.models.endpoints import Endpoint
from orchestra.models.json_text import mend_object
from orchestra.models.keys import Credential
from orchestra.models.protocol import Message, ModelReply, ModelRequest, StopReason, Usage
from orchestra.models.schemas import closed_schema, schema_instruction
from orchestra.models.text_sink import TextSink
from orchestra.models.transport import Transport
from orchestra.models.wire_model import (
    SETTLE_S,
    Part,
    WireModel,
    count,
    open_body,
    split_instructions,
)

API_VERSION = "2023-06-01"
MOST_CACHE_BREAKPOINTS = 4
MOST_TURN_BREAKPOINTS = 1  # of them, in the turns after the blocks: the newest holds what the older ones do
MOST_CONTINUATIONS = 4
"""How often a paused turn is sent back to go on."""

_TAKES_TEMPERATURE = re.compile(r"claude-(2|3|instant|sonnet-4|haiku-4|opus-4(-[0156])?(?![\w.]|-\d(?!\d)))")
"""Models up to Opus 4.6; later ones refuse any temperature but their own. A surprise is remembered."""

_STOP_REASONS: dict[str, StopReason] = {"max_tokens": "max_tokens", "tool_use": "tool_use", "pause_turn": "pause"}


class AnthropicModel(WireModel):
    """One Claude model. `key` goes into `x-api-key`; `token` is a gateway's bearer token instead."""

    default_base_url = "https://api.anthropic.com"
    path = "/v1/messages"
    traits = (
        Trait("temperature", "temperature", re.compile(r"\btemperature\b")),
        Trait(
            JSON_SCHEMA, "output_config", re.compile(r"output_config|output_format|json_schema|structured output", re.I)
        ),
        Trait("stream", "stream", re.compile(r"\bstream(ing)?\b", re.I)),
    )

    def __init__(
        self,
        model: str,
        *,
        base_url: str = default_base_url,
        key: str = "",
        token: str = "",
        name: str = "",
        capabilities: Capabilities | None = None,
        transport: Transport | None = None,
        endpoint: Endpoint | None = None,
    ) -> None:
        bearer = Credential("authorization", f"Bearer {token}") if token else None
        super().__init__(
            model,
            name=name or f"anthropic:{model}",
            base_url=base_url,
            credential=Credential("x-api-key", key) if key else bearer,
            capabilities=capabilities,
            transport=transport,
            endpoint=endpoint,
        )

    @property
    def cache_minimum_tokens(self) -> int | None:
        return anthropic_minimum(self.model)

    def _more_headers(self) -> Mapping[str, str]:
        return {"anthropic-version": API_VERSION}

    def _body(self, request: ModelRequest, lacking: frozenset[str]) -> dict[str, Any]:
        system, parts = split_instructions(request.blocks)
        in_turns = sum(message.cacheable for message in request.messages)
        marked = _breakpoints([*system, *parts], MOST_CACHE_BREAKPOINTS - min(in_turns, MOST_TURN_BREAKPOINTS))
        blocks = [_text_block(part, position in marked) for position, part in enumerate([*system, *parts])]
        schema = None if request.schema is None else closed_schema(request.schema)
        is_held = schema is not None and not {JSON_SCHEMA, for_schema(request.schema or {})} & lacking
        user = blocks[len(system) :]
        if request.schema is not None and not (is_held and self.is_default_server):
            user.append({"type": "text", "text": schema_instruction(request.schema)})
        body: dict[str, Any] = {"model": self.model, "max_tokens": request.max_tokens}
        if system:
            body["system"] = blocks[: len(system)]
        body["messages"] = _turns(user, self._with_marks(request.messages))
        if request.tools:
            body["tools"] = [
                {"name": tool.name, "description": tool.description, "input_schema": _object_schema(tool.parameters)}
                for tool in request.tools
            ]
            if request.tool_choice == "none":
                body["tool_choice"] = {"type": "none"}
        if is_held:
            body["output_config"] = {"format": {"type": "json_schema", "schema": schema}}
        if request.temperature is not None and "temperature" not in lacking and _TAKES_TEMPERATURE.search(self.model):
            body["temperature"] = min(request.temperature, 1.0)
        if "stream" not in lacking:
            body["stream"] = True
        return body

    def _with_marks(self, messages: Sequence[Message]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
        """Role and blocks of each turn; the last of those that ask for a cache mark have one."""
        asking = [at for at, message in enumerate(messages) if message.cacheable][-MOST_TURN_BREAKPOINTS:]
        for at, message in enumerate(messages):
            content = _content(message, self.name)
            if content and at in asking:
                content[-1] = {**content[-1], "cache_control": {"type": "ephemeral"}}
            yield message.role, content

    def _answer(self, request: ModelRequest, body: dict[str, Any]) -> ModelReply:
        sink = TextSink(request.on_delta)
        turn = self._turn(request, body, sink)
        usage = turn.usage
        paused: list[dict[str, Any]] = []
        for _ in range(MOST_CONTINUATIONS):
            if turn.stop_reason != "pause_turn":
                break
            paused += turn.content
            body = {**body, "messages": [*body["messages"], {"role": "assistant", "content": turn.content}]}
            turn = self._turn(request, body, sink)
            usage = _sum(usage, turn.usage)
        if turn.stop_reason == "refusal":
            raise ModelRefused(
                f"{self.name} refused to answer", cause=turn.explanation, request_id=turn.request_id, usage=usage
            )
        if turn.stop_reason == "model_context_window_exceeded":
            raise ContextTooLong(
                f"the request and its reply outgrew the context window of {self.name}",
                request_id=turn.request_id,
                usage=usage,
            )
        content = [*paused, *turn.content]
        is_plain = all(block.get("type") in ("text", "tool_use") for block in content)
        return self._reply(
            request,
            text=sink.finish(),
            calls=turn.calls,
            usage=usage,
            stop_reason=_STOP_REASONS.get(turn.stop_reason, "end"),
            model=turn.model,
            request_id=turn.request_id,
            raw=None if is_plain else {"content": content},
        )

    def _turn(self, request: ModelRequest, body: Mapping[str, Any], sink: TextSink) -> _Turn:
        with self._open(request, body) as reply:
            turn = _Turn(sink, self._request_id(reply))
            opened = open_body(reply)
            if isinstance(opened, bytes):
                turn.take_whole(self._parsed(opened, reply))
                if not turn.is_complete:
                    raise self._invalid(reply, "it is no message", opened.decode("utf-8", "replace"))
                return turn
            for event in opened:
                if turn.is_complete:
                    continue
                turn.take(self._parsed(event.payload, reply))
                if turn.is_complete:
                    reply.settle(SETTLE_S)
            if not turn.is_complete:
                raise self._invalid(reply, "the stream ended before the message did", sink.finish())
            return turn


class _Turn:
    """One message as it comes in: its blocks, its usage, why it stopped."""

    def __init__(self, sink: TextSink, request_id: str) -> None:
        self._sink = sink
        self._blocks: dict[int, dict[str, Any]] = {}
        self._pieces: dict[int, list[str]] = {}
        self._usage: dict[str, Any] = {}
        self.request_id = request_id
        self.model = ""
        self.stop_reason = ""
        self.explanation = ""
        self.is_complete = False

    @property
    def content(self) -> list[dict[str, Any]]:
        """The blocks as they are sent back to continue the turn, thinking and its signature included."""
        whole = [self._whole(index) for index in sorted(self._blocks)]
        return [block for block in whole if block.get("type") != "text" or block.get("text")]

    @property
    def calls(self) -> list[tuple[str, str, str]]:
        """(id, name, arguments as JSON text) of each tool call."""
        return [
            (str(block.get("id", "")), str(block.get("name", "")), self._arguments(index))
            for index, block in sorted(self._blocks.items())
            if block.get("type") == "tool_use"
        ]

    @property
    def usage(self) -> Usage | None:
        if not self._usage:
            return None
        return Usage(
            input_tokens=count(self._usage.get("input_tokens")),
            cached_input_tokens=count(self._usage.get("cache_read_input_tokens")),
            cache_write_tokens=count(self._usage.get("cache_creation_input_tokens")),
            output_tokens=count(self._usage.get("output_tokens")),
        )

    def take_whole(self, message: Mapping[str, Any]) -> None:
        """A message that came in one piece."""
        self._begin(message)
        for index, block in enumerate(_mappings(message.get("content"))):
            self._start_block(index, block)
        self._stop(message)
        self.is_complete = "content" in message

    def take(self, event: Mapping[str, Any]) -> None:
        """One event of a streamed message; events of other types say nothing that is needed."""
        match event.get("type"):
            case "content_block_delta":
                self._extend(count(event.get("index")), event.get("delta") or {})
            case "content_block_start":
                self._start_block(count(event.get("index")), event.get("content_block") or {})
            case "message_start":
                self._begin(event.get("message") or {})
            case "message_delta":
                self._count(event.get("usage"))
                self._stop(event.get("delta") or {})
            case "message_stop":
                self.is_complete = True
            case _:
                pass

    def _begin(self, message: Mapping[str, Any]) -> None:
        self.model = str(message.get("model") or "")
        self.request_id = self.request_id or str(message.get("id") or "")
        self._count(message.get("usage"))

    def _count(self, usage: Mapping[str, Any] | None) -> None:
        self._usage |= {key: value for key, value in (usage or {}).items() if value is not None}

    def _stop(self, message: Mapping[str, Any]) -> None:
        self.stop_reason = str(message.get("stop_reason") or self.stop_reason)
        details = message.get("stop_details") or {}
        self.explanation = str(details.get("explanation") or details.get("category") or self.explanation)

    def _start_block(self, index: int, block: Mapping[str, Any]) -> None:
        self._blocks[index] = dict(block)
        if block.get("type") == "text" and block.get("text"):
            self._sink.add(block["text"])

    def _extend(self, index: int, delta: Mapping[str, Any]) -> None:
        kind = delta.get("type")
        if kind == "text_delta":
            self._blocks.setdefault(index, {"type": "text"})
            self._sink.add(delta.get("text") or "")
        elif kind == "signature_delta":
            self._blocks.setdefault(index, {"type": "thinking"})["signature"] = delta.get("signature") or ""
        piece = delta.get(_PIECE_OF.get(str(kind), ""))
        if piece:
            self._pieces.setdefault(index, []).append(piece)

    def _whole(self, index: int) -> dict[str, Any]:
        block, written = self._blocks[index], "".join(self._pieces.get(index, ()))
        if not written:
            return block
        if "input" in block:
            return {**block, "input": mend_object(written) or {}}
        field = "thinking" if block.get("type") == "thinking" else "text"
        return {**block, field: (block.get(field) or "") + written}

    def _arguments(self, index: int) -> str:
        written = "".join(self._pieces.get(index, ()))
        return written or json.dumps(self._blocks[index].get("input") or {})


_PIECE_OF = {"text_delta": "text", "input_json_delta": "partial_json", "thinking_delta": "thinking"}


def _breakpoints(parts: Sequence[Part], most: int) -> frozenset[int]:
    """Which blocks carry a cache mark: the last that ask for one, since these hold the longest prefixes."""
    return frozenset([at for at, part in enumerate(parts) if part.cacheable][-most:])


def _text_block(part: Part, is_marked: bool) -> dict[str, Any]:
    block: dict[str, Any] = {"type": "text", "text": part.text}
    return {**block, "cache_control": {"type": "ephemeral"}} if is_marked else block


def _turns(first: list[dict[str, Any]], messages: Iterable[tuple[str, list[dict[str, Any]]]]) -> list[dict[str, Any]]:
    """The conversation, in turns that alternate: what follows in the same role joins the turn before it."""
    turns: list[dict[str, Any]] = [{"role": "user", "content": first}] if first else []
    for role, content in messages:
        if turns and turns[-1]["role"] == role:
            turns[-1] = {"role": role, "content": [*turns[-1]["content"], *content]}
        elif content:
            turns.append({"role": role, "content": content})
    return turns


def _content(message: Message, model: str) -> list[dict[str, Any]]:
    """The blocks of a turn: those that this very model wrote go back untouched, its thinking included."""
    if message.raw and message.raw.get("model") == model:
        return _mappings_of(message.raw.get("content"))
    results = [
        {"type": "tool_result", "tool_use_id": result.call_id, "content": result.text}
        | ({"is_error": True} if result.is_error else {})
        for result in message.tool_results
    ]
    text = [{"type": "text", "text": message.text}] if message.text.strip() else []
    calls = [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": dict(call.arguments)}
        for call in message.tool_calls
    ]
    return [*results, *text, *calls]


def _object_schema(parameters: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "object", **parameters}


def _mappings_of(value: Any) -> list[dict[str, Any]]:
    return [dict(block) for block in _mappings(value)]


def _mappings(value: Any) -> list[Mapping[str, Any]]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def _sum(one: Usage | None, other: Usage | None) -> Usage | None:
    if one is None or other is None:
        return one or other
    return Usage(
        input_tokens=one.input_tokens + other.input_tokens,
        cached_input_tokens=one.cached_input_tokens + other.cached_input_tokens,
        cache_write_tokens=one.cache_write_tokens + other.cache_write_tokens,
        output_tokens=one.output_tokens + other.output_tokens,
    )
