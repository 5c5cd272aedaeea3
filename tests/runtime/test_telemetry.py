"""Spans and metrics of a run, as a provider of OpenTelemetry gets them."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading

import pytest
from models_for_tests import AUDITOR, COSTS, REPORT, ScriptedModel, plan_of
from opentelemetry import metrics, trace
from opentelemetry.metrics import _internal as metrics_inside
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.semconv._incubating.attributes import gen_ai_attributes as conventions
from opentelemetry.trace import SpanKind, StatusCode

from orchestra import orchestrate, orchestrate_async
from orchestra.errors import ModelBadRequest, ModelOverloaded
from orchestra.models.protocol import ModelReply, ToolCall, Usage
from orchestra.runtime.telemetry import telemetry

MARK = "zebra"


class Seen:
    """What was exported."""

    def __init__(self) -> None:
        self.exporter, self.reader = InMemorySpanExporter(), InMemoryMetricReader()

    @property
    def spans(self):
        return self.exporter.get_finished_spans()

    def named(self, name):
        return [span for span in self.spans if span.name == name]

    @property
    def tree(self):
        """(name, parent's name) of every span."""
        names = {span.context.span_id: span.name for span in self.spans}
        return sorted((span.name, names[span.parent.span_id] if span.parent else "") for span in self.spans)

    def points(self, name):
        found = self.reader.get_metrics_data()
        metrics = [metric for of in found.resource_metrics for scope in of.scope_metrics for metric in scope.metrics]
        return [point for metric in metrics if metric.name == name for point in metric.data.data_points]


@pytest.fixture
def seen(monkeypatch):
    seen = Seen()
    tracing, measuring = TracerProvider(), MeterProvider([seen.reader])
    tracing.add_span_processor(SimpleSpanProcessor(seen.exporter))
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", tracing)
    monkeypatch.setattr(metrics_inside, "_METER_PROVIDER", measuring)
    yield seen
    tracing.shutdown()
    measuring.shutdown()


def model_of(**answers):
    plan = plan_of({"context_pointers": COSTS}, {"context_pointers": AUDITOR})
    return ScriptedModel(**{"plan": plan, "subtask": "Steel [L9].", "synthesis": "Steel [L9].", **answers})


def run(model, **options):
    return orchestrate(f"{REPORT}\nThe {MARK}.", f"Is it {MARK}?", model=model, strategy="full", **options)


def test_a_run_is_a_tree_of_workflow_agents_and_calls_below_the_callers_span(seen):
    with trace.get_tracer("caller").start_as_current_span("request"):
        run(model_of())

    assert seen.tree == [
        ("chat scripted", "invoke_agent critique"),
        ("chat scripted", "invoke_agent critique"),
        ("chat scripted", "invoke_workflow orchestra"),
        ("chat scripted", "invoke_workflow orchestra"),
        ("invoke_agent critique", "invoke_workflow orchestra"),
        ("invoke_agent critique", "invoke_workflow orchestra"),
        ("invoke_workflow orchestra", "request"),
        ("request", ""),
    ]
    assert all(span.status.status_code is StatusCode.UNSET for span in seen.spans)


def test_a_run_of_asyncio_stands_below_the_span_that_awaits_it(seen):
    async def main():
        with trace.get_tracer("caller").start_as_current_span("request"):
            await orchestrate_async(REPORT, "Why?", model=model_of(), strategy="direct")

    asyncio.run(main())

    assert ("invoke_workflow orchestra", "request") in seen.tree


def test_a_call_says_who_was_asked_and_what_it_took(seen):
    usage = Usage(input_tokens=10, cached_input_tokens=200, cache_write_tokens=3, output_tokens=7)
    reply = ModelReply("Steel [L9].", usage=usage, stop_reason="max_tokens", model="scripted-2")
    model = model_of(subtask=reply)
    model.base_url = "https://api.example.com/v1"

    run(model, temperature=0.7, max_tokens=321)

    (span,) = [one for one in seen.named("chat scripted") if one.attributes["orchestra.node.id"] == "run/subtask-1"]
    assert span.kind is SpanKind.CLIENT
    assert (
        dict(span.attributes)
        == {
            conventions.GEN_AI_OPERATION_NAME: "chat",
            conventions.GEN_AI_PROVIDER_NAME: "test",
            conventions.GEN_AI_REQUEST_MODEL: "scripted",
            conventions.GEN_AI_RESPONSE_MODEL: "scripted-2",
            conventions.GEN_AI_REQUEST_MAX_TOKENS: 321,
            conventions.GEN_AI_REQUEST_TEMPERATURE: 0.7,
            conventions.GEN_AI_REQUEST_STREAM: False,
            conventions.GEN_AI_OUTPUT_TYPE: "text",
            conventions.GEN_AI_RESPONSE_FINISH_REASONS: ("length",),
            conventions.GEN_AI_USAGE_INPUT_TOKENS: 213,
            conventions.GEN_AI_USAGE_OUTPUT_TOKENS: 7,
            conventions.GEN_AI_USAGE_CACHE_READ_INPUT_TOKENS: 200,
            conventions.GEN_AI_USAGE_CACHE_CREATION_INPUT_TOKENS: 3,
            "server.address": "api.example.com",
            "orchestra.node.id": "run/subtask-1",
        }
        or span.attributes["orchestra.node.id"] == "run/subtask-2"
    )


def test_the_run_and_its_agents_are_named_by_the_conventions(seen):
    result = run(model_of(), session_id="talk-1", store=False)

    (workflow,) = seen.named("invoke_workflow orchestra")
    assert dict(workflow.attributes) == {
        conventions.GEN_AI_OPERATION_NAME: "invoke_workflow",
        conventions.GEN_AI_WORKFLOW_NAME: "orchestra",
        conventions.GEN_AI_CONVERSATION_ID: "talk-1",
        "orchestra.run.id": result.run_id,
        "orchestra.status": "completed",
    }
    agent = seen.named("invoke_agent critique")[0]
    assert agent.attributes[conventions.GEN_AI_OPERATION_NAME] == "invoke_agent"
    assert agent.attributes[conventions.GEN_AI_AGENT_NAME] == "critique"


def test_every_attempt_is_a_call_and_what_fails_bears_its_code(seen):
    subtask = [ModelOverloaded(f"{MARK} busy", retry_after_s=0.0), "Steel [L9].", ModelBadRequest(f"no {MARK}")]

    run(model_of(subtask=subtask), max_workers=1)

    calls = [span for span in seen.named("chat scripted") if "subtask" in span.attributes["orchestra.node.id"]]
    assert sorted(span.attributes.get("error.type", "") for span in calls) == [
        "",
        "MODEL_BAD_REQUEST",
        "MODEL_OVERLOADED",
    ]
    agents = seen.named("invoke_agent critique")
    assert sorted((span.status.status_code.name, span.attributes.get("error.type", "")) for span in agents) == [
        ("ERROR", "MODEL_BAD_REQUEST"),
        ("UNSET", ""),
    ]
    failed = [span for span in seen.spans if span.status.status_code is StatusCode.ERROR]
    assert all(span.status.description == span.attributes["error.type"] for span in failed)


def test_a_run_that_raises_ends_its_span_with_the_error(seen):
    with pytest.raises(ModelBadRequest):
        run(model_of(plan=ModelBadRequest("no")))

    (workflow,) = seen.named("invoke_workflow orchestra")
    assert workflow.attributes["error.type"] == "MODEL_BAD_REQUEST"


def test_a_call_that_was_left_behind_is_a_timeout_and_ends_once(seen, caplog):
    release, is_over = threading.Event(), threading.Event()

    def hang(_):
        release.wait(30)
        is_over.set()
        return "late"

    run(model_of(subtask=hang), timeout_s=0.05, phase_timeout_s=30, max_attempts=1)

    ended = [span.attributes.get("error.type") for span in seen.named("chat scripted")]
    release.set()
    assert is_over.wait(10)
    assert ended.count("TIMEOUT") == 2
    assert "ended span" not in caplog.text


def test_a_tool_is_a_span_below_the_agent_that_called_it(seen):
    def stock(place: str) -> str:
        """How much is in stock."""
        return f"{MARK} in {place}"

    call = ModelReply(
        "",
        tool_calls=(ToolCall("1", "stock", {"place": MARK}),),
        stop_reason="tool_use",
        usage=Usage(5, output_tokens=5),
    )
    model = model_of(subtask=[call, "Steel [L9]."], plan=plan_of({"context_pointers": COSTS}))

    run(model, tools=[stock])

    assert ("execute_tool stock", "invoke_agent critique") in seen.tree
    (tool,) = seen.named("execute_tool stock")
    assert tool.attributes[conventions.GEN_AI_TOOL_NAME] == "stock"
    assert seen.named("chat scripted")[1].attributes[conventions.GEN_AI_RESPONSE_FINISH_REASONS] == ("tool_call",)


def test_tokens_and_times_are_measured_by_model_and_operation(seen):
    run(model_of(subtask=["Steel [L9].", ModelBadRequest("no")]))

    tokens = {point.attributes["gen_ai.token.type"]: point for point in seen.points("gen_ai.client.token.usage")}
    assert {name: (point.count, point.sum) for name, point in tokens.items()} == {"input": (3, 300), "output": (3, 30)}
    times = seen.points("gen_ai.client.operation.duration")
    assert sorted((point.attributes.get("error.type", ""), point.count) for point in times) == [
        ("", 3),
        ("MODEL_BAD_REQUEST", 1),
    ]
    common = {"gen_ai.operation.name": "chat", "gen_ai.provider.name": "test", "gen_ai.request.model": "scripted"}
    assert all(common.items() <= dict(point.attributes).items() for point in (*tokens.values(), *times))


def exported(seen):
    return "".join(span.to_json() for span in seen.spans)


def test_no_prompt_reply_or_task_is_exported_unless_the_user_opts_in(seen):
    plan = plan_of({"context_pointers": COSTS, "id": f"a {MARK}", "task": MARK})

    run(model_of(plan=plan, subtask=f"The {MARK} [L9]."))

    assert len(seen.spans) > 3
    assert MARK not in exported(seen)


def test_prompts_and_replies_are_exported_where_the_user_opts_in(seen, monkeypatch):
    monkeypatch.setenv("ORCHESTRA_TELEMETRY_CONTENT", "true")

    run(model_of(subtask=f"The {MARK} [L9]."))

    span = next(span for span in seen.named("chat scripted") if "subtask" in span.attributes["orchestra.node.id"])
    (prompt,) = json.loads(span.attributes[conventions.GEN_AI_INPUT_MESSAGES])
    assert (prompt["role"], prompt["parts"][-1]["content"][:4]) == ("user", "Task")
    assert json.loads(span.attributes[conventions.GEN_AI_OUTPUT_MESSAGES]) == [
        {"role": "assistant", "parts": [{"type": "text", "content": f"The {MARK} [L9]."}], "finish_reason": "stop"}
    ]


def test_a_span_that_is_current_on_the_worker_is_that_of_the_call(seen):
    names = []

    def subtask(_):
        names.append(trace.get_current_span().name)
        return "Steel [L9]."

    run(model_of(subtask=subtask))

    assert names == ["chat scripted"] * 2


def test_runs_at_the_same_time_keep_their_spans_apart(seen):
    def one(number):
        with trace.get_tracer("caller").start_as_current_span(f"request-{number}"):
            run(model_of())

    threads = [threading.Thread(target=one, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    traces = {}
    for span in seen.spans:
        traces.setdefault(span.context.trace_id, []).append(span.name)
    assert [len(names) for names in traces.values()] == [8] * 4


def test_metrics_alone_are_measured_where_only_they_are_set_up(monkeypatch):
    seen = Seen()
    provider = MeterProvider([seen.reader])
    monkeypatch.setattr(metrics_inside, "_METER_PROVIDER", provider)

    run(model_of())

    assert sum(point.count for point in seen.points("gen_ai.client.operation.duration")) == 4
    provider.shutdown()


def test_nothing_is_watched_where_no_provider_is_set_up():
    assert isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider)
    assert metrics.get_meter_provider()
    assert telemetry() is None


def test_a_run_imports_nothing_of_opentelemetry_by_itself():
    program = (
        "import sys\n"
        "from orchestra import orchestrate\n"
        "orchestrate('The auditor is Pike.', 'Who is the auditor?', model='builtin:extractive')\n"
        "assert not [name for name in sys.modules if name.startswith('opentelemetry')]\n"
    )

    subprocess.run([sys.executable, "-c", program], check=True)


def test_the_conventions_names_are_those_that_are_used():
    from orchestra.runtime import telemetry as ours

    assert (ours.OPERATION, ours.PROVIDER, ours.REQUEST_MODEL, ours.RESPONSE_MODEL) == (
        conventions.GEN_AI_OPERATION_NAME,
        conventions.GEN_AI_PROVIDER_NAME,
        conventions.GEN_AI_REQUEST_MODEL,
        conventions.GEN_AI_RESPONSE_MODEL,
    )


def test_the_name_of_a_tool_that_a_model_made_up_is_no_place_for_a_text(seen):
    call = ModelReply("", tool_calls=(ToolCall("1", f"the {MARK} says", {}),), usage=Usage(5, output_tokens=5))

    run(model_of(subtask=[call, "Steel [L9]."], plan=plan_of({"context_pointers": COSTS})), tools=[print_nothing])

    assert MARK not in exported(seen)
    assert len([span for span in seen.spans if span.name.startswith("execute_tool ~")]) == 1


def print_nothing() -> str:
    """Nothing."""
    return "nothing"
