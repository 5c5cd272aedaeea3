"""A model call as the journal and the cache keep it: JSON, checked when it comes back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, NonNegativeInt, ValidationError

from orchestra.errors import ModelError
from orchestra.models.protocol import ModelReply, StopReason, ToolCall, Usage


@dataclass(frozen=True, slots=True)
class FinishedCall:
    """What a call came to: a reply, or the error of one that was billed all the same and would fail again.

    `failed` is what attempts before it cost; `is_billed` is False for a reply that another run had paid for.
    """

    reply: ModelReply | None = None
    error: ModelError | None = None
    failed: tuple[Usage, ...] = ()
    is_billed: bool = True


class _Tokens(BaseModel):
    input_tokens: NonNegativeInt
    cached_input_tokens: NonNegativeInt
    cache_write_tokens: NonNegativeInt
    output_tokens: NonNegativeInt
    is_estimated: bool

    @property
    def usage(self) -> Usage:
        return Usage(**self.model_dump())


class _ToolCall(BaseModel):
    id: str
    name: str
    arguments: dict[str, Any]
    fault: str = ""


class _Reply(BaseModel):
    text: str
    usage: _Tokens
    data: Any = None
    tool_calls: tuple[_ToolCall, ...] = ()
    stop_reason: StopReason
    model: str
    request_id: str
    answered_by: str = ""
    raw: dict[str, Any] | None = None

    @property
    def reply(self) -> ModelReply:
        return ModelReply(
            self.text,
            self.usage.usage,
            self.data,
            tuple(ToolCall(call.id, call.name, call.arguments, call.fault) for call in self.tool_calls),
            self.stop_reason,
            self.model,
            self.request_id,
            answered_by=self.answered_by,
            raw=self.raw,
        )


class _Error(BaseModel):
    code: str
    message: str
    cause: str
    suggestion: str
    usage: _Tokens

    @property
    def error(self) -> ModelError:
        kind = next((kind for kind in _kinds(ModelError) if kind.code == self.code), ModelError)
        usage = self.usage.usage
        return kind(self.message, cause=self.cause, suggestion=self.suggestion, is_retryable=False, usage=usage)


class _Payload(BaseModel):
    reply: _Reply | None = None
    error: _Error | None = None
    failed: tuple[_Tokens, ...] = ()
    is_billed: bool = True


def reply_payload(reply: ModelReply, failed: Sequence[Usage] = (), *, is_billed: bool = True) -> dict[str, Any]:
    """The JSON of a reply, with what the attempts before it cost."""
    return {
        "reply": {
            "text": reply.text,
            "usage": _tokens(reply.usage),
            "data": reply.data,
            "tool_calls": [
                {"id": call.id, "name": call.name, "arguments": call.arguments, "fault": call.fault}
                for call in reply.tool_calls
            ],
            "stop_reason": reply.stop_reason,
            "model": reply.model,
            "request_id": reply.request_id,
            "answered_by": reply.answered_by,
            "raw": reply.raw,
        },
        "failed": [_tokens(usage) for usage in failed],
        "is_billed": is_billed,
    }


def error_payload(error: ModelError, usage: Usage, failed: Sequence[Usage] = ()) -> dict[str, Any]:
    """The JSON of a failure that was billed."""
    return {"error": {**error.to_dict(), "usage": _tokens(usage)}, "failed": [_tokens(each) for each in failed]}


def finished_call(payload: Mapping[str, Any]) -> FinishedCall | None:
    """What is on record; None for a record that is damaged."""
    try:
        kept = _Payload.model_validate(payload)
    except ValidationError:
        return None
    if (kept.reply is None) == (kept.error is None):
        return None
    return FinishedCall(
        kept.reply.reply if kept.reply else None,
        kept.error.error if kept.error else None,
        tuple(tokens.usage for tokens in kept.failed),
        kept.is_billed,
    )


def _tokens(usage: Usage) -> dict[str, Any]:
    return {name: getattr(usage, name) for name in _Tokens.model_fields}


def _kinds(kind: type[ModelError]) -> list[type[ModelError]]:
    return [kind, *(each for below in kind.__subclasses__() for each in _kinds(below))]
