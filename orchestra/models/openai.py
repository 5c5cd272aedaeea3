"""OpenAI's Chat Completions (`POST {base}/chat/completions`), streamed, and the servers that speak the same.

Leading instructions are the system message, all other blocks one user message of plain text: what every
compatible server understands. Features that not every server has are dropped when it refuses them, and the
refusal is remembered.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from orchestra.errors import ModelRefused
from orchestra.models.caching import openai_minimum
from orchestra.models.capabilities import JSON_SCHEMA, Capabilities, Trait, for_schema
from orchestra.models.endpoints import Endpoint
from orchestra.models.keys import Credential
from orchestra.models.protocol import Message, ModelReply, ModelRequest, StopReason, Usage
from orchestra.models.schemas import closed_schema, schema_instruction
from orchestra.models.text_sink import AnswerSink
from orchestra.models.transport import Transport
from orchestra.models.wire_model import SETTLE_S, Part, WireModel, count, open_body, split_instructions

USAGE_GRACE_S = 5.0
"""How long the usage is waited for after the finish reason: it comes last, and some servers never send it."""
CACHE_KEY_CHARACTERS = 32
JSON_OBJECT = "json_object"

_REASONS = re.compile(r"(^|/)(o[1-9]|gpt-[5-9])(?!.*chat)")
"""OpenAI's reasoning models, which refuse a temperature."""

_FORMAT_NAMES = re.compile(
    r"response[_ ]?format|json[_ ]schema|json_object|structured output|guided|grammar", re.IGNORECASE
)

_STOP_REASONS: dict[str, StopReason] = {"length": "max_tokens", "tool_calls": "tool_use", "function_call": "tool_use"}


class OpenAIModel(WireModel):
    """One model behind Chat Completions. `key` may be "" where the server asks for none."""

    default_base_url = "https://api.openai.com/v1"
    path = "/chat/completions"
    traits = (
        Trait("max_completion_tokens", "max_completion_tokens", re.compile(r"\bmax_completion_tokens\b")),
        Trait("max_tokens", "max_tokens", re.compile(r"\bmax_tokens\b")),
        Trait("stream_options", "stream_options", re.compile(r"\bstream_options\b|\binclude_usage\b")),
        Trait("temperature", "temperature", re.compile(r"\btemperature\b")),
        Trait(JSON_SCHEMA, "response_format", _FORMAT_NAMES, kind="json_schema"),
        Trait(JSON_OBJECT, "response_format", _FORMAT_NAMES, kind="json_object"),
        Trait("tool_choice", "tool_choice", re.compile(r"\btool_choice\b")),
        Trait("system", "messages", re.compile(r"system role|user and assistant roles", re.I), is_own_field=False),
        Trait("stream", "stream", re.compile(r"\bstream(ing)?\b", re.I)),
    )

    def __init__(
        self,
        model: str,
        *,
        base_url: str = default_base_url,
        key: str = "",
        name: str = "",
        capabilities: Capabilities | None = None,
        transport: Transport | None = None,
        endpoint: Endpoint | None = None,
    ) -> None:
        super().__init__(
            model,
            name=name or f"openai:{model}",
            base_url=base_url,
            credential=Credential("authorization", f"Bearer {key}") if key else None,
            capabilities=capabilities,
            transport=transport,
            endpoint=endpoint,
        )

    @property
    def cache_minimum_tokens(self) -> int | None:
        return openai_minimum(self.model)

    def _body(self, request: ModelRequest, lacking: frozenset[str]) -> dict[str, Any]:
        system, parts = split_instructions(request.blocks)
        texts = [part.text for part in parts]
        form = None if request.schema is None else _response_format(request.schema, request.schema_name, lacking)
        is_held = form is not None and form["type"] == "json_schema"
        if request.schema is not None and not (is_held and self.is_default_server):
            texts.append(schema_instruction(request.schema))
        if "system" in lacking:
            system, texts = [], [*(part.text for part in system), *texts]
        body: dict[str, Any] = {
            "model": self.model,
            "messages": _messages(_joined(part.text for part in system), _joined(texts), self._turns(request.messages)),
        }
        limit = next((name for name in ("max_completion_tokens", "max_tokens") if name not in lacking), None)
        if limit is not None:
            body[limit] = request.max_tokens
        if request.temperature is not None and "temperature" not in lacking and not _REASONS.search(self.model):
            body["temperature"] = request.temperature
        if request.tools:
            body["tools"] = [
                {
                    "type": "function",
                    "function": {
                        "name": tool.name,
                        "description": tool.description,
                        "parameters": {"type": "object", **tool.parameters},
                    },
                }
                for tool in request.tools
            ]
            if request.tool_choice == "none" and "tool_choice" not in lacking:
                body["tool_choice"] = "none"
        if form is not None:
            body["response_format"] = form
        if self.is_default_server and (key := _cache_key([*system, *parts], has_turns=bool(request.tools))):
            body["prompt_cache_key"] = key
        if "stream" not in lacking:
            body["stream"] = True
            if "stream_options" not in lacking:
                body["stream_options"] = {"include_usage": True}
        return body

    def _turns(self, messages: Iterable[Message]) -> Iterator[dict[str, Any]]:
        for message in messages:
            yield from _turns(message, self.name)

    def _answer(self, request: ModelRequest, body: dict[str, Any]) -> ModelReply:
        with self._open(request, body) as reply:
            completion = _Completion(AnswerSink(request.on_delta), self._request_id(reply))
            opened = open_body(reply)
            if isinstance(opened, bytes):
                completion.take(self._parsed(opened, reply))
            else:
                for event in opened:
                    if completion.is_done:
                        continue
                    if event.payload == b"[DONE]":
                        completion.is_done = True
                        reply.settle(SETTLE_S)
                        continue
                    was_finished = completion.is_finished
                    completion.take(self._parsed(event.payload, reply))
                    if completion.is_finished and not was_finished:
                        reply.settle(USAGE_GRACE_S)
            text, usage = completion.text(), completion.usage
            if not completion.has_choice:
                raise self._invalid(reply, "it holds no choices")
            if not completion.is_finished and not (completion.is_done or isinstance(opened, bytes)):
                raise self._invalid(reply, "the stream ended before the message did", text)
            if completion.finish_reason == "error":
                raise self._invalid(reply, "the server broke off with an error", text)
        if completion.finish_reason == "content_filter" or (completion.refusal and not text.strip()):
            raise ModelRefused(
                f"{self.name} refused to answer",
                cause=completion.refusal or "the provider's content filter stopped the reply",
                request_id=completion.request_id,
                usage=usage,
            )
        is_called = completion.calls and completion.finish_reason != "length"
        return self._reply(
            request,
            text=text,
            calls=completion.calls,
            usage=usage,
            stop_reason="tool_use" if is_called else _STOP_REASONS.get(completion.finish_reason, "end"),
            model=completion.model,
            request_id=completion.request_id,
            is_padded=bool((body.get("response_format") or {}).get("json_schema", {}).get("strict")),
            raw=completion.raw,
        )


class _Completion:
    """One completion as it comes in, in chunks or whole."""

    def __init__(self, sink: AnswerSink, request_id: str) -> None:
        self._sink = sink
        self._slots: dict[int, _CallSlot] = {}
        self._calls: list[_CallSlot] = []
        self._refusals: list[str] = []
        self._reasoning: list[str] = []
        self._usage: Mapping[str, Any] | None = None
        self.request_id = request_id
        self.model = ""
        self.finish_reason = ""
        self.has_choice = False
        self.is_done = False

    @property
    def is_finished(self) -> bool:
        return bool(self.finish_reason)

    @property
    def refusal(self) -> str:
        return "".join(self._refusals)

    @property
    def calls(self) -> list[tuple[str, str, str]]:
        """(id, name, arguments as JSON text) of each tool call; an id is made where the server gave none."""
        return [
            (call.id or f"call_{number}", call.name, "".join(call.arguments))
            for number, call in enumerate(self._calls, start=1)
        ]

    @property
    def raw(self) -> dict[str, Any] | None:
        """What some servers want to see again beside the calls: the reasoning, and signatures of calls."""
        reasoning = "".join(self._reasoning)
        extras = {str(at): call.extra for at, call in enumerate(self._calls) if call.extra}
        raw: dict[str, Any] = {"reasoning_content": reasoning} if reasoning else {}
        return raw | ({"calls": extras} if extras else {}) or None

    @property
    def usage(self) -> Usage | None:
        if not self._usage:
            return None
        details = self._usage.get("prompt_tokens_details") or {}
        cached, written = count(details.get("cached_tokens")), count(details.get("cache_write_tokens"))
        return Usage(
            input_tokens=max(0, count(self._usage.get("prompt_tokens")) - cached - written),
            cached_input_tokens=cached,
            cache_write_tokens=written,
            output_tokens=count(self._usage.get("completion_tokens")),
        )

    def text(self) -> str:
        return self._sink.finish()

    def take(self, chunk: Mapping[str, Any]) -> None:
        """A chunk of a stream, or a whole reply: they differ in where the message is."""
        self.model = self.model or str(chunk.get("model") or "")
        self.request_id = self.request_id or str(chunk.get("id") or "")
        self._usage = chunk.get("usage") or self._usage
        for choice in chunk.get("choices") or ():
            if choice.get("index"):
                continue
            self.has_choice = True
            self._take_message(choice.get("delta") or choice.get("message") or {})
            self.finish_reason = str(choice.get("finish_reason") or self.finish_reason)

    def _take_message(self, message: Mapping[str, Any]) -> None:
        content = message.get("content")
        if isinstance(content, list):
            content = "".join(str(part.get("text") or "") for part in content if part.get("type") == "text")
        if content:
            self._sink.add(content)
        if message.get("refusal"):
            self._refusals.append(str(message["refusal"]))
        if isinstance(message.get("reasoning_content"), str):
            self._reasoning.append(message["reasoning_content"])
        for position, call in enumerate(message.get("tool_calls") or ()):
            self._take_call(call, position)

    def _take_call(self, call: Mapping[str, Any], position: int) -> None:
        function, call_id = call.get("function") or {}, str(call.get("id") or "")
        index = call.get("index")
        index = position if index is None else index
        slot = self._slots.get(index)
        # Some servers number every call 0; a new id then means a new call.
        if slot is None or (call_id and slot.id not in ("", call_id)):
            slot = self._slots[index] = _CallSlot()
            self._calls.append(slot)
        slot.id = slot.id or call_id
        slot.name = slot.name or str(function.get("name") or "")
        arguments = function.get("arguments") or ""
        slot.arguments.append(arguments if isinstance(arguments, str) else json.dumps(arguments))
        slot.extra = call.get("extra_content") or slot.extra


class _CallSlot:
    """A tool call as its pieces come in."""

    def __init__(self) -> None:
        self.id = ""
        self.name = ""
        self.arguments: list[str] = []
        self.extra: Any = None


def _response_format(schema: Mapping[str, Any], name: str, lacking: frozenset[str]) -> dict[str, Any] | None:
    """The strongest hold on the reply's form that the server has: a schema, any JSON object, or none."""
    if not {JSON_SCHEMA, for_schema(schema)} & lacking:
        strict = closed_schema(schema, is_all_required=True)
        form = {"name": re.sub(r"[^A-Za-z0-9_-]", "_", name)[:64] or "reply", "schema": strict or dict(schema)}
        return {"type": "json_schema", "json_schema": {**form, "strict": strict is not None}}
    if JSON_OBJECT not in lacking and schema.get("type") in ("object", None):
        return {"type": "json_object"}
    return None


def _messages(system: str, user: str, turns: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The conversation. A user's text right after the user's turn joins it: chat templates want roles to alternate."""
    written: list[dict[str, Any]] = [{"role": "system", "content": system}] if system else []
    if user:
        written.append({"role": "user", "content": user})
    for turn in turns:
        if turn["role"] == "user" and written and written[-1]["role"] == "user":
            written[-1] = {"role": "user", "content": _joined([written[-1]["content"], turn["content"]])}
        else:
            written.append(turn)
    return written


def _turns(message: Message, model: str) -> list[dict[str, Any]]:
    if message.role == "assistant":
        raw = message.raw if message.raw and message.raw.get("model") == model else {}
        turn: dict[str, Any] = {"role": "assistant", "content": message.text}
        if raw.get("reasoning_content"):
            turn["reasoning_content"] = raw["reasoning_content"]
        if message.tool_calls:
            extras = raw.get("calls") or {}
            turn["tool_calls"] = [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {"name": call.name, "arguments": json.dumps(dict(call.arguments), ensure_ascii=False)},
                }
                | ({"extra_content": extras[str(at)]} if str(at) in extras else {})
                for at, call in enumerate(message.tool_calls)
            ]
        return [turn] if message.text or message.tool_calls else []
    results = [
        {
            "role": "tool",
            "tool_call_id": result.call_id,
            "content": f"Error: {result.text}" if result.is_error else result.text,
        }
        for result in message.tool_results
    ]
    return [*results, *([{"role": "user", "content": message.text}] if message.text.strip() else [])]


def _joined(texts: Iterable[str]) -> str:
    return "\n\n".join(texts)


def _cache_key(parts: Sequence[Part], *, has_turns: bool = False) -> str:
    """A name for the prefix that later calls share, so that they reach the server that has it cached.

    The turns of a conversation with tools share all of it.
    """
    last = len(parts) - 1 if has_turns else max((at for at, part in enumerate(parts) if part.cacheable), default=-1)
    if last < 0:
        return ""
    prefix = _joined(part.text for part in parts[: last + 1])
    return hashlib.sha256(prefix.encode("utf-8", "replace")).hexdigest()[:CACHE_KEY_CHARACTERS]
