"""What the adapters for providers share: send a body, read a stream or a whole reply, learn from refusals."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar, NamedTuple

from pydantic_core import PydanticSerializationError, to_json

from orchestra.errors import ModelBadRequest, ModelError, ModelReplyInvalid, OutputTruncated
from orchestra.models.blocks import Block, Instructions
from orchestra.models.capabilities import Capabilities, Trait, refused_feature
from orchestra.models.endpoints import Endpoint, shared_endpoint
from orchestra.models.failures import explain_event, explain_status
from orchestra.models.json_text import find_json, mend_object, parse_json
from orchestra.models.keys import Credential, scrub
from orchestra.models.limiting import Gate
from orchestra.models.protocol import ModelReply, ModelRequest, StopReason, ToolCall, Usage
from orchestra.models.sse import ServerEvent, events
from orchestra.models.text_sink import ListenerRaised
from orchestra.models.transport import Reply, Transport, shared_transport

MOST_DOWNGRADES = 6
"""How many refused features one call may discover before it gives up."""
SETTLE_S = 0.25
"""How long the end of a body is waited for after its last event."""

RAW_CHARACTERS = 2000
_WRONG_SHAPE = (AttributeError, LookupError, TypeError, ValueError)
FAULT_CHARACTERS = 200

_HEADERS = {
    "content-type": "application/json",
    "accept": "text/event-stream, application/json",
    "accept-encoding": "identity",
    "user-agent": "orchestra-python",
}


class Part(NamedTuple):
    """A block as text."""

    text: str
    cacheable: bool
    is_instructions: bool


class WireModel(ABC):
    """A model behind HTTP. Stateless but for what it learns about its server; thread-safe.

    `name` is how results and prices call it ("anthropic:claude-sonnet-5-5"), `base_url` where it is.
    """

    traits: ClassVar[tuple[Trait, ...]] = ()
    default_base_url: ClassVar[str]
    path: ClassVar[str]

    def __init__(
        self,
        model: str,
        *,
        name: str,
        base_url: str,
        credential: Credential | None,
        capabilities: Capabilities | None,
        transport: Transport | None,
        endpoint: Endpoint | None = None,
    ) -> None:
        self.model = model
        self.name = name
        self.base_url = base_url
        self._credential = credential
        self._capabilities = capabilities or Capabilities()
        self._transport = transport
        self._headers = {**_HEADERS, **self._more_headers()}
        self.endpoint = endpoint or shared_endpoint(name.partition(":")[0], base_url, credential)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.model!r}, base_url={self.base_url!r})"

    @property
    def gate(self) -> Gate:
        """Says when a call may go out."""
        return self.endpoint.gate

    @property
    def is_default_server(self) -> bool:
        return self.base_url == self.default_base_url

    @property
    def context_window(self) -> int | None:
        """Tokens that fit, where the price list knows the model; None elsewhere."""
        from orchestra.models.prices import context_window

        return context_window(self.name, base_url=self.base_url)

    @property
    def cache_minimum_tokens(self) -> int | None:
        """Tokens of the shortest prefix that its prompt cache holds; None where it is not known to have one."""
        return None

    def complete(self, request: ModelRequest) -> ModelReply:
        """Send `request`, and again without a feature when the server refuses that feature.

        Raises the `ModelError`s, `RunCancelled`, and `ModelTimeout` when the request's deadline passes.
        """
        for _ in range(MOST_DOWNGRADES):
            lacking = self._capabilities.lacking(self.base_url, self.model)
            body = self._body(request, lacking)
            try:
                return self._answer(request, body)
            except ModelBadRequest as error:
                feature = refused_feature(error, body, self.traits, request.schema)
                if feature is None or feature in lacking:
                    raise
                self._capabilities.learn(self.base_url, self.model, feature)
        return self._answer(request, self._body(request, self._capabilities.lacking(self.base_url, self.model)))

    @abstractmethod
    def _body(self, request: ModelRequest, lacking: frozenset[str]) -> dict[str, Any]:
        """What is sent for `request` to a server that lacks these features."""

    @abstractmethod
    def _answer(self, request: ModelRequest, body: dict[str, Any]) -> ModelReply:
        """Send `body` and read the reply."""

    def _more_headers(self) -> Mapping[str, str]:
        return {}

    @contextmanager
    def _open(self, request: ModelRequest, body: Mapping[str, Any]) -> Iterator[Reply]:
        """The reply to `body` once its headers are there and its status is good."""
        transport = self._transport or shared_transport()
        url = self.base_url + self.path
        sent = {"headers": self._headers, "credential": self._credential, "deadline": request.deadline}
        sent_at = self.endpoint.before(self.name)
        is_answered = False
        try:
            with transport.post(url, _encoded(body), **sent) as reply:
                self.endpoint.answered(self.name, reply.status, reply.headers, sent_at)
                if not 200 <= reply.status < 300:
                    raise explain_status(self.name, reply.status, reply.headers, reply.body(), self._credential)
                is_answered = True
                try:
                    yield reply
                except ListenerRaised as raised:
                    raise raised.error from None
                except _WRONG_SHAPE as error:  # who reads a reply takes it to be of the API's shape
                    raise self._invalid(reply, f"it is not of the shape of the API: {error}") from error
        except ModelError as error:
            if not is_answered:
                self.endpoint.failed(self.name, error)
            raise

    def _parsed(self, text: bytes, reply: Reply) -> dict[str, Any]:
        """An event's or a body's JSON object, which is no error."""
        try:
            parsed = parse_json(text)
        except ValueError:
            parsed = None
        if not isinstance(parsed, dict):
            raise self._invalid(reply, "what it sent is no JSON object", text.decode("utf-8", "replace"))
        if parsed.get("error"):
            raise explain_event(self.name, parsed, self._request_id(reply), self._credential)
        return parsed

    def _request_id(self, reply: Reply) -> str:
        """The provider's own name for the call: what its support asks for."""
        given = reply.headers.get("request-id") or reply.headers.get("x-request-id") or ""
        return scrub(given[:200], self._credential)

    def _invalid(self, reply: Reply, cause: str, raw: str = "") -> ModelReplyInvalid:
        """An error whose details keep the end of what was sent."""
        return ModelReplyInvalid(
            f"{self.name} gave no usable reply",
            cause=cause,
            request_id=self._request_id(reply),
            raw=scrub(raw[-RAW_CHARACTERS:], self._credential),
        )

    def _reply(
        self,
        request: ModelRequest,
        *,
        text: str,
        calls: Sequence[tuple[str, str, str]],
        usage: Usage | None,
        stop_reason: StopReason,
        model: str,
        request_id: str,
        is_padded: bool = False,
        raw: Mapping[str, Any] | None = None,
    ) -> ModelReply:
        """The reply of what was read. `calls` are (id, name, arguments as JSON text); of `raw` the model is added."""
        cut = len(calls) if stop_reason == "max_tokens" else 0
        tool_calls = tuple(_tool_call(*call, is_last_of_cut=at == cut) for at, call in enumerate(calls, start=1))
        usage = usage or _estimated(request, text)
        if not text.strip() and not tool_calls and request.max_tokens > 0:
            raise self._empty(stop_reason, request, usage, request_id)
        data = None
        if request.schema is not None and text:
            data = find_json(text, is_object=request.schema.get("type") in ("object", None))
            if is_padded:
                from orchestra.models.schemas import without_padding_nulls

                data = without_padding_nulls(data, request.schema)
        sent_back = {"model": self.name, **raw} if raw and tool_calls else None
        return ModelReply(text, usage, data, tool_calls, stop_reason, model or self.model, request_id, sent_back)

    def _empty(
        self, stop_reason: StopReason, request: ModelRequest, usage: Usage, request_id: str
    ) -> OutputTruncated | ModelReplyInvalid:
        if stop_reason == "max_tokens":
            return OutputTruncated(
                f"{self.name} wrote nothing within {request.max_tokens} tokens",
                cause="it spent them on thinking",
                usage=usage,
                request_id=request_id,
            )
        return ModelReplyInvalid(f"{self.name} gave an empty reply", usage=usage, request_id=request_id)


def open_body(reply: Reply) -> Iterator[ServerEvent] | bytes:
    """The events of a streamed reply, or the body of a server that answered in one piece."""
    if "event-stream" in reply.headers.get("content-type", ""):
        return events(reply.chunks())
    body = reply.body()
    is_mislabelled = body.lstrip().startswith((b"data:", b"event:", b": "))
    return events([body]) if is_mislabelled else body


def split_instructions(blocks: Sequence[Block]) -> tuple[list[Part], list[Part]]:
    """The leading instructions, which make the system prompt, and the rest; blank blocks are left out.

    When all are instructions the last one is left for the user's turn, since a request needs one.
    """
    parts = [Part(block.text, block.cacheable, isinstance(block, Instructions)) for block in blocks]
    filled = [part for part in parts if part.text and not part.text.isspace()]
    leading = next((at for at, part in enumerate(filled) if not part.is_instructions), len(filled) - 1)
    return filled[: max(0, leading)], filled[max(0, leading) :]


def count(value: Any) -> int:
    """A token count that a server reported: whatever is no number is none."""
    return max(0, int(value)) if isinstance(value, int | float) else 0


def _tool_call(call_id: str, name: str, written: str, *, is_last_of_cut: bool) -> ToolCall:
    """A call as it was meant. One whose arguments end where the reply was cut off is not mended: it means half."""
    if is_last_of_cut and not _is_whole(written):
        return ToolCall(call_id, name, {}, fault="the reply was cut off at its token limit within the arguments")
    arguments = mend_object(written)
    if arguments is None:
        shown = written if len(written) <= FAULT_CHARACTERS else f"{written[:FAULT_CHARACTERS]}…"
        return ToolCall(call_id, name, {}, fault=f"the arguments are no JSON object: {shown}")
    return ToolCall(call_id, name, arguments)


def _is_whole(written: str) -> bool:
    try:
        return isinstance(parse_json(written), dict)
    except ValueError:
        return False


def _encoded(body: Mapping[str, Any]) -> bytes:
    try:
        return to_json(body, fallback=_as_json)
    except (PydanticSerializationError, UnicodeEncodeError):
        # Half a character (a lone surrogate) in a prompt cannot be sent; everything else can.
        return json.dumps(body, ensure_ascii=False, default=_as_json).encode("utf-8", "replace")


def _as_json(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else str(value)


def _estimated(request: ModelRequest, text: str) -> Usage:
    from orchestra.document import count_tokens

    return Usage(input_tokens=count_tokens(request.prompt), output_tokens=count_tokens(text), is_estimated=True)
