"""A run as OpenTelemetry spans and metrics, by the semantic conventions for generative AI (1.37 and later).

    invoke_workflow orchestra        the run, below the span that is current where it was started
    ├── chat {model}                 an attempt of a call that plans or joins
    └── invoke_agent {skill}         a subtask, or a skill that another one called
        ├── chat {model}
        └── execute_tool {tool}

Nothing is imported, made or measured unless the program has set up a provider of OpenTelemetry by itself. Prompts and
replies are recorded only where ORCHESTRA_TELEMETRY_CONTENT is true; names, counts, codes and times otherwise.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from orchestra.errors import OrchestraError
from orchestra.models.protocol import Message, Model, ModelReply, ModelRequest, Usage
from orchestra.runtime.calls import Send, model_host, model_name
from orchestra.runtime.events import Event, NodeEvent, NodeUpdated, RouteCompleted, RouteFailed, RouteStarted
from orchestra.runtime.logs import logged_id
from orchestra.runtime.node import FINAL, Node, Status

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.metrics import Histogram
    from opentelemetry.trace import Span, Tracer

WORKFLOW = "orchestra"
CONTENT_VARIABLE = "ORCHESTRA_TELEMETRY_CONTENT"

OPERATION = "gen_ai.operation.name"
PROVIDER = "gen_ai.provider.name"
REQUEST_MODEL = "gen_ai.request.model"
RESPONSE_MODEL = "gen_ai.response.model"
ERROR_TYPE = "error.type"

_NO_AGENTS = ("decompose", "resolve", "guarantee")  # planning of a skill's work, and gates: not the work itself
_FINISH_REASONS = {"end": "stop", "max_tokens": "length", "tool_use": "tool_call", "refusal": "content_filter"}
_TOKEN_BOUNDS = [4**power for power in range(14)]
_SECOND_BOUNDS = [0.01 * 2**power for power in range(14)]

Attributes = dict[str, Any]


def telemetry() -> Telemetry | None:
    """For one run; None where the program has set up no provider. Its current span is the parent."""
    trace, metrics = sys.modules.get("opentelemetry.trace"), sys.modules.get("opentelemetry.metrics")
    if trace is None:
        return None
    is_traced = not isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider | trace.NoOpTracerProvider)
    is_measured = metrics is not None and "Proxy" not in type(metrics.get_meter_provider()).__name__
    if not (is_traced or is_measured):
        return None
    shows_content = os.environ.get(CONTENT_VARIABLE, "").strip().lower() in ("1", "true", "yes", "on")
    return Telemetry(shows_content=shows_content)


@dataclass(eq=False, slots=True)
class _CallSpan:
    node_id: str
    span: Span
    attributes: Attributes
    began: float


class Telemetry:
    """One run's spans. As a listener, used on the run's thread; `watched` gives what a worker may call."""

    def __init__(self, *, shows_content: bool = False) -> None:
        from opentelemetry import context, metrics, trace

        from orchestra.version import __version__

        self._shows_content = shows_content
        self._outer: Context = context.get_current()
        self._tracer: Tracer = trace.get_tracer("orchestra", __version__)
        meter = metrics.get_meter("orchestra", __version__)
        self._tokens: Histogram = meter.create_histogram(
            "gen_ai.client.token.usage",
            unit="{token}",
            description="Tokens of a call, in and out.",
            explicit_bucket_boundaries_advisory=_TOKEN_BOUNDS,
        )
        self._seconds: Histogram = meter.create_histogram(
            "gen_ai.client.operation.duration",
            unit="s",
            description="Time of an attempt of a call.",
            explicit_bucket_boundaries_advisory=_SECOND_BOUNDS,
        )
        self._spans: dict[str, Span] = {}
        self._ended: set[str] = set()
        self._calls: set[_CallSpan] = set()
        self._lock = threading.Lock()

    def __call__(self, event: Event) -> None:
        """Open and end spans as the run goes."""
        if isinstance(event, RouteStarted):
            self._open_run(event)
        elif isinstance(event, RouteCompleted | RouteFailed):
            self._end(event)
            self.close()
        elif isinstance(event, NodeUpdated) and event.depth > 0:
            if event.status != Status.ROUTING:
                self._open(event.node_id, event.kind, event.skill_name, event.title)
            if event.status in FINAL:
                self._end(event)

    def watched(self, node: Node, model: Model, send: Send) -> Send:
        """`send`, each call of it a span below that of the node. Call this on the run's thread, the result on any."""
        from opentelemetry import context, trace

        self._open(node.id, node.kind, node.skill, node.title)
        parent = self._context(node.id)
        known = _of_model(model)

        def observed(request: ModelRequest) -> ModelReply:
            attributes = known | _of_request(request)
            span = self._tracer.start_span(
                f"chat {known[REQUEST_MODEL]}", parent, kind=trace.SpanKind.CLIENT, attributes=attributes
            )
            span.set_attribute("orchestra.node.id", logged_id(node.id))
            call = _CallSpan(node.id, span, known, time.perf_counter())
            with self._lock:
                self._calls.add(call)
            token = context.attach(trace.set_span_in_context(span, parent))
            try:
                reply = send(request)
            except BaseException as error:
                self._fail_call(call, _code_of(error), _usage_of(error))
                raise
            finally:
                context.detach(token)
            self._end_call(call, request, reply)
            return reply

        return observed

    def close(self) -> None:
        """End what is open still: nobody waits for it any more."""
        with self._lock:
            calls = list(self._calls)
        for call in calls:
            self._fail_call(call, "CANCELLED", None)
        while self._spans:
            node_id, span = self._spans.popitem()
            self._ended.add(node_id)
            span.end()

    def _open_run(self, event: RouteStarted) -> None:
        attributes = {
            OPERATION: "invoke_workflow",
            "gen_ai.workflow.name": WORKFLOW,
            "orchestra.run.id": event.route_run_id,
        }
        if event.session_id:
            attributes["gen_ai.conversation.id"] = event.session_id
        self._spans[event.node_id] = self._tracer.start_span(
            f"invoke_workflow {WORKFLOW}", self._outer, attributes=attributes
        )

    def _open(self, node_id: str, kind: str, skill: str, title: str) -> None:
        """A span for a node that has one, unless it has been opened before."""
        if node_id in self._spans or node_id in self._ended:
            return
        if kind == "tool":
            name = logged_id(title.partition("(")[0])  # what follows are its arguments
            attributes = {OPERATION: "execute_tool", "gen_ai.tool.name": name, "gen_ai.tool.type": "function"}
        elif skill and kind not in _NO_AGENTS:
            name = skill
            attributes = {OPERATION: "invoke_agent", "gen_ai.agent.name": name}
        else:
            return
        attributes["orchestra.node.id"] = logged_id(node_id)
        parent = self._context(node_id.rpartition("/")[0])
        self._spans[node_id] = self._tracer.start_span(f"{attributes[OPERATION]} {name}", parent, attributes=attributes)

    def _context(self, node_id: str) -> Context:
        """That of the node's own span, else of the closest one above it."""
        from opentelemetry import trace

        while node_id:
            span = self._spans.get(node_id)
            if span is not None:
                return trace.set_span_in_context(span, self._outer)
            node_id = node_id.rpartition("/")[0]
        return self._outer

    def _end(self, event: NodeEvent) -> None:
        code = (event.error or {}).get("code", "")
        if code:
            with self._lock:
                left_behind = [call for call in self._calls if call.node_id == event.node_id]
            for call in left_behind:
                self._fail_call(call, code, None)
        span = self._spans.pop(event.node_id, None)
        if span is None:
            return
        self._ended.add(event.node_id)
        status = event.result_status if isinstance(event, RouteCompleted) else event.status
        span.set_attribute("orchestra.status", status)
        if code:
            _mark(span, code)
        span.end()

    def _end_call(self, call: _CallSpan, request: ModelRequest, reply: ModelReply) -> None:
        if not self._take(call):
            return
        if reply.model:
            call.attributes = call.attributes | {RESPONSE_MODEL: reply.model}
            call.span.set_attribute(RESPONSE_MODEL, reply.model)
        reason = _FINISH_REASONS.get(reply.stop_reason, reply.stop_reason)
        call.span.set_attribute("gen_ai.response.finish_reasons", [reason])
        self._count(call, reply.usage)
        if self._shows_content:
            call.span.set_attribute("gen_ai.input.messages", json.dumps(_input_of(request), default=str))
            call.span.set_attribute("gen_ai.output.messages", json.dumps(_output_of(reply, reason), default=str))
        self._seconds.record(time.perf_counter() - call.began, call.attributes)
        call.span.end()

    def _fail_call(self, call: _CallSpan, code: str, usage: Usage | None) -> None:
        if not self._take(call):
            return
        if usage is not None:
            self._count(call, usage)
        _mark(call.span, code)
        self._seconds.record(time.perf_counter() - call.began, call.attributes | {ERROR_TYPE: code})
        call.span.end()

    def _take(self, call: _CallSpan) -> bool:
        """Whether it is ours to end: the run may have left the call behind, and ended its span."""
        with self._lock:
            is_open = call in self._calls
            self._calls.discard(call)
        return is_open

    def _count(self, call: _CallSpan, usage: Usage) -> None:
        call.span.set_attributes(
            {
                "gen_ai.usage.input_tokens": usage.total_input_tokens,
                "gen_ai.usage.output_tokens": usage.output_tokens,
                "gen_ai.usage.cache_read.input_tokens": usage.cached_input_tokens,
                "gen_ai.usage.cache_creation.input_tokens": usage.cache_write_tokens,
            }
        )
        for token_type, tokens in (("input", usage.total_input_tokens), ("output", usage.output_tokens)):
            self._tokens.record(tokens, call.attributes | {"gen_ai.token.type": token_type})


def _mark(span: Span, code: str) -> None:
    from opentelemetry.trace import Status as SpanStatus
    from opentelemetry.trace import StatusCode

    span.set_attribute(ERROR_TYPE, code)
    span.set_status(SpanStatus(StatusCode.ERROR, code))


def _code_of(error: BaseException) -> str:
    return error.code if isinstance(error, OrchestraError) else "UNEXPECTED"


def _usage_of(error: BaseException) -> Usage | None:
    usage = error.details.get("usage") if isinstance(error, OrchestraError) else None
    return usage if isinstance(usage, Usage) else None


def _of_model(model: Model) -> Attributes:
    provider, separator, name = model_name(model).partition(":")
    attributes = {
        OPERATION: "chat",
        PROVIDER: provider if separator else "custom",
        REQUEST_MODEL: name if separator else provider,
    }
    host = model_host(model)
    return {**attributes, "server.address": host} if host else attributes


def _of_request(request: ModelRequest) -> Attributes:
    attributes: Attributes = {
        "gen_ai.request.max_tokens": request.max_tokens,
        "gen_ai.request.stream": request.on_delta is not None,
        "gen_ai.output.type": "text" if request.schema is None else "json",
    }
    if request.temperature is not None:
        attributes["gen_ai.request.temperature"] = float(request.temperature)
    return attributes


def _input_of(request: ModelRequest) -> list[Mapping[str, Any]]:
    prompt = {"role": "user", "parts": [{"type": "text", "content": block.text} for block in request.blocks]}
    return [prompt, *({"role": turn.role, "parts": _parts(turn)} for turn in request.messages)]


def _parts(turn: Message) -> Sequence[Mapping[str, Any]]:
    return [
        *([{"type": "text", "content": turn.text}] if turn.text else []),
        *(
            {"type": "tool_call", "id": call.id, "name": call.name, "arguments": dict(call.arguments)}
            for call in turn.tool_calls
        ),
        *({"type": "tool_call_response", "id": one.call_id, "response": one.text} for one in turn.tool_results),
    ]


def _output_of(reply: ModelReply, reason: str) -> list[Mapping[str, Any]]:
    said = Message("assistant", reply.text, reply.tool_calls)
    return [{"role": "assistant", "parts": _parts(said), "finish_reason": reason}]
