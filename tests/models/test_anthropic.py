"""The Anthropic adapter against bodies and streams of the real shape, checked by the official package's types."""

from __future__ import annotations

from typing import Any

import anthropic.types
import httpx
import pytest
import respx
from anthropic.types.message_create_params import MessageCreateParamsNonStreaming, MessageCreateParamsStreaming
from pydantic import ConfigDict, TypeAdapter, with_config
from servers import anthropic_events, anthropic_message, anthropic_stream

from orchestra.errors import (
    ContextTooLong,
    ModelAuth,
    ModelBadRequest,
    ModelOverloaded,
    ModelRateLimited,
    ModelRefused,
    ModelReplyInvalid,
    OutputTruncated,
)
from orchestra.models.anthropic import AnthropicModel
from orchestra.models.blocks import Instructions, Task
from orchestra.models.protocol import Message, ModelRequest, ToolCall, ToolResult, ToolSpec, Usage

URL = "https://api.anthropic.com/v1/messages"
SENT = TypeAdapter(with_config(ConfigDict(extra="forbid"))(MessageCreateParamsStreaming))
SENT_WHOLE = TypeAdapter(with_config(ConfigDict(extra="forbid"))(MessageCreateParamsNonStreaming))
EVENT = TypeAdapter(anthropic.types.RawMessageStreamEvent)
TOOL = ToolSpec("look_up", "Looks up a city.", {"type": "object", "properties": {"city": {"type": "string"}}})
SCHEMA = {
    "type": "object",
    "properties": {"answer": {"type": "integer", "minimum": 0}, "why": {"type": "string"}},
    "required": ["answer"],
}
REQUEST = ModelRequest((Instructions("Be brief."), Task("How many?")))


@pytest.fixture
def model() -> AnthropicModel:
    return AnthropicModel("claude-sonnet-5-5", key="planted-key-value")


@pytest.fixture
def route(respx_mock: respx.MockRouter) -> respx.Route:
    return respx_mock.post(URL).mock(return_value=streamed(anthropic_events()))


def streamed(events: list[dict[str, Any]], **headers: str) -> httpx.Response:
    known = [event for event in events if event["type"] not in ("ping", "error", "novelty")]
    TypeAdapter(list[anthropic.types.RawMessageStreamEvent]).validate_python(known)
    return httpx.Response(
        200, content=anthropic_stream(events), headers={"content-type": "text/event-stream", **headers}
    )


def refused(status: int, kind: str, message: str, **headers: str) -> httpx.Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return httpx.Response(status, json={"type": "error", "error": {"type": kind, "message": message}}, headers=named)


def sent(route: respx.Route, call: int = -1) -> dict[str, Any]:
    """The body of a call, which the official types accept."""
    body = TypeAdapter(dict[str, Any]).validate_json(route.calls[call].request.content)
    (SENT if body.get("stream") else SENT_WHOLE).validate_python(body)
    return body


def test_a_streamed_message_becomes_a_reply(model, route):
    route.return_value = streamed(anthropic_events(), **{"request-id": "req_7"})

    reply = model.complete(REQUEST)

    assert reply.text == "The value is 42."
    assert reply.usage == Usage(input_tokens=20, cached_input_tokens=50, cache_write_tokens=30, output_tokens=10)
    assert reply.usage.total_input_tokens == 100
    assert (reply.stop_reason, reply.model, reply.request_id) == ("end", "claude-sonnet-5-5", "req_7")


def test_the_key_and_the_version_are_sent_as_headers(model, route):
    model.complete(REQUEST)

    headers = route.calls.last.request.headers
    assert headers["x-api-key"] == "planted-key-value"
    assert headers["anthropic-version"] == "2023-06-01"
    assert headers["content-type"] == "application/json"
    assert "authorization" not in headers


def test_a_gateways_token_is_sent_as_a_bearer(route):
    AnthropicModel("claude-sonnet-5-5", token="gateway-token").complete(REQUEST)

    headers = route.calls.last.request.headers
    assert headers["authorization"] == "Bearer gateway-token"
    assert "x-api-key" not in headers


def test_leading_instructions_are_the_system_prompt_and_the_rest_the_first_turn(model, route):
    blocks = (Instructions("Rules.", cacheable=True), Instructions("Form."), Task("One"), Instructions("Last."))

    model.complete(ModelRequest(blocks, max_tokens=7))

    body = sent(route)
    assert body["system"] == [
        {"type": "text", "text": "Rules.", "cache_control": {"type": "ephemeral"}},
        {"type": "text", "text": "Form."},
    ]
    assert body["messages"] == [
        {"role": "user", "content": [{"type": "text", "text": "Task: One"}, {"type": "text", "text": "Last."}]}
    ]
    assert (body["model"], body["max_tokens"], body["stream"]) == ("claude-sonnet-5-5", 7, True)


def test_at_most_four_blocks_are_marked_for_the_cache_and_they_are_the_last(model, route):
    model.complete(ModelRequest(tuple(Instructions(f"Rule {n}.", cacheable=True) for n in range(6))))

    body = sent(route)
    blocks = [*body["system"], *body["messages"][0]["content"]]
    assert ["cache_control" in block for block in blocks] == [False, False, True, True, True, True]


def test_blank_blocks_are_not_sent(model, route):
    model.complete(ModelRequest((Instructions(" "), Instructions("Rules.", cacheable=True), Instructions("\n"))))

    body = sent(route)
    assert "system" not in body
    assert [block["text"] for block in body["messages"][0]["content"]] == ["Rules."]


def test_turns_alternate_and_carry_tools(model, route):
    request = ModelRequest(
        (Task("Where?"),),
        tools=(TOOL,),
        messages=(
            Message("user", "Really."),
            Message("assistant", "Looking.", tool_calls=(ToolCall("t1", "look_up", {"city": "Paris"}),)),
            Message("user", tool_results=(ToolResult("t1", "France"), ToolResult("t2", "gone", is_error=True))),
            Message("user", "Go on."),
        ),
    )

    model.complete(request)

    body = sent(route)
    assert [turn["role"] for turn in body["messages"]] == ["user", "assistant", "user"]
    assert [block["text"] for block in body["messages"][0]["content"]] == ["Task: Where?", "Really."]
    assert body["messages"][1]["content"] == [
        {"type": "text", "text": "Looking."},
        {"type": "tool_use", "id": "t1", "name": "look_up", "input": {"city": "Paris"}},
    ]
    assert body["messages"][2]["content"] == [
        {"type": "tool_result", "tool_use_id": "t1", "content": "France"},
        {"type": "tool_result", "tool_use_id": "t2", "content": "gone", "is_error": True},
        {"type": "text", "text": "Go on."},
    ]
    assert body["tools"][0] == {
        "name": "look_up",
        "description": "Looks up a city.",
        "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}},
    }


def test_a_tool_call_is_read_from_its_pieces(model, route):
    blocks = [
        {"type": "text", "text": "Let me see."},
        {"type": "tool_use", "id": "t1", "name": "look_up", "input": {"city": "Paris"}},
        {"type": "tool_use", "id": "t2", "name": "look_up", "input": {}},
    ]
    route.return_value = streamed(anthropic_events(blocks, stop_reason="tool_use"))

    reply = model.complete(ModelRequest((Task("Where?"),), tools=(TOOL,)))

    assert reply.tool_calls == (ToolCall("t1", "look_up", {"city": "Paris"}), ToolCall("t2", "look_up", {}))
    assert (reply.text, reply.stop_reason) == ("Let me see.", "tool_use")


def test_thinking_before_a_call_goes_back_untouched_to_the_model_that_thought_it(model, route):
    thought = [
        {"type": "thinking", "thinking": "hmm, hmm", "signature": "s"},
        {"type": "redacted_thinking", "data": "x"},
    ]
    call = {"type": "tool_use", "id": "t1", "name": "look_up", "input": {"city": "Paris"}}
    blocks = [*thought, {"type": "text", "text": "Let me see."}, call]
    route.return_value = streamed(anthropic_events(blocks, stop_reason="tool_use"))
    answered = Message("user", tool_results=(ToolResult("t1", "France"),))

    reply = model.complete(ModelRequest((Task("Where?"),), tools=(TOOL,)))
    model.complete(ModelRequest((Task("Where?"),), tools=(TOOL,), messages=(reply.turn, answered)))
    again = sent(route)["messages"][1]["content"]
    other = AnthropicModel("claude-haiku-5-5", key="k")
    other.complete(ModelRequest((Task("Where?"),), tools=(TOOL,), messages=(reply.turn, answered)))
    elsewhere = sent(route)["messages"][1]["content"]

    assert again == blocks
    assert elsewhere == blocks[2:]


def test_calls_after_a_pause_go_back_with_what_stood_before_it(model, route):
    searching = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "Paris"}}
    call = {"type": "tool_use", "id": "t1", "name": "look_up", "input": {"city": "Paris"}}
    route.side_effect = [
        streamed(anthropic_events([searching], stop_reason="pause_turn")),
        streamed(anthropic_events([call], stop_reason="tool_use")),
    ]

    reply = model.complete(ModelRequest((Task("Where?"),), tools=(TOOL,)))

    assert reply.tool_calls == (ToolCall("t1", "look_up", {"city": "Paris"}),)
    assert reply.raw == {"model": "anthropic:claude-sonnet-5-5", "content": [searching, call]}


def test_a_call_cut_at_the_token_limit_is_not_mended_to_half_of_what_was_meant(model, route):
    events = anthropic_events(
        [
            {"type": "tool_use", "id": "t1", "name": "look_up", "input": {"city": "Paris"}},
            {"type": "tool_use", "id": "t2", "name": "look_up", "input": {"city": "San Francisco"}},
        ],
        stop_reason="max_tokens",
    )
    last_piece = max(at for at, event in enumerate(events) if event["type"] == "content_block_delta")
    route.return_value = streamed([event for at, event in enumerate(events) if at != last_piece])

    reply = model.complete(ModelRequest((Task("Where?"),), tools=(TOOL,)))

    assert reply.stop_reason == "max_tokens"
    assert reply.tool_calls[0] == ToolCall("t1", "look_up", {"city": "Paris"})
    assert (reply.tool_calls[1].arguments, "cut off" in reply.tool_calls[1].fault) == ({}, True)


def test_broken_arguments_are_mended_and_hopeless_ones_come_with_what_is_wrong(model, route):
    blocks = [{"type": "tool_use", "id": f"t{n}", "name": "look_up", "input": {}} for n in (1, 2)]
    events = anthropic_events(blocks, stop_reason="tool_use")
    pieces = [event["delta"] for event in events if event["type"] == "content_block_delta"]
    for piece, written in zip(pieces, ["{'city': ", "'Paris',}", "Pa", "ris"], strict=True):
        piece["partial_json"] = written
    route.return_value = streamed(events)

    mended, hopeless = model.complete(ModelRequest((Task("Where?"),), tools=(TOOL,))).tool_calls

    assert mended == ToolCall("t1", "look_up", {"city": "Paris"})
    assert hopeless.fault == "the arguments are no JSON object: Paris"


def test_tools_that_may_not_be_called_stay_in_the_request(model, route):
    model.complete(ModelRequest((Task("Where?"),), tools=(TOOL,), tool_choice="none"))

    body = sent(route)
    assert (body["tool_choice"], len(body["tools"])) == ({"type": "none"}, 1)


def test_the_newest_turn_that_asks_for_a_cache_mark_has_one_and_at_most_four_are_set(model, route):
    rules = tuple(Instructions(f"Rule {n}.", cacheable=True) for n in range(5))
    turns = [
        message
        for n in range(3)
        for message in (
            Message("assistant", tool_calls=(ToolCall(f"t{n}", "look_up", {}),)),
            Message("user", tool_results=(ToolResult(f"t{n}", "there"),), cacheable=True),
        )
    ]

    model.complete(ModelRequest((*rules, Task("Where?", cacheable=True)), tools=(TOOL,), messages=tuple(turns)))

    body = sent(route)
    blocks = [*body["system"], *(block for turn in body["messages"] for block in turn["content"])]
    marked = [at for at, block in enumerate(blocks) if "cache_control" in block]
    assert marked == [3, 4, 5, len(blocks) - 1]


def test_thinking_is_neither_text_nor_delta(model, route):
    deltas: list[str] = []
    blocks = [
        {"type": "thinking", "thinking": "hmm, hmm", "signature": "s"},
        {"type": "redacted_thinking", "data": "x"},
        {"type": "text", "text": "It is 42."},
    ]
    route.return_value = streamed(anthropic_events(blocks))

    reply = model.complete(ModelRequest((Task("How many?"),), on_delta=deltas.append))

    assert reply.text == "It is 42." == "".join(deltas)
    assert len(deltas) == 2


def test_a_paused_turn_is_sent_back_to_go_on(model, route):
    thinking = {"type": "thinking", "thinking": "hmm, hmm", "signature": "s"}
    route.side_effect = [
        streamed(anthropic_events([thinking, {"type": "text", "text": "It is "}], stop_reason="pause_turn")),
        streamed(anthropic_events([{"type": "text", "text": "42."}])),
    ]

    reply = model.complete(REQUEST)

    assert reply.text == "It is 42."
    assert reply.usage.output_tokens == 20
    assert sent(route)["messages"][1] == {
        "role": "assistant",
        "content": [thinking, {"type": "text", "text": "It is "}],
    }


def test_a_turn_that_pauses_for_ever_is_handed_back(model, route):
    route.return_value = streamed(anthropic_events(stop_reason="pause_turn"))

    reply = model.complete(REQUEST)

    assert reply.stop_reason == "pause"
    assert route.call_count == 5


def test_a_schema_is_sent_closed_and_the_reply_parsed(model, route):
    route.return_value = streamed(anthropic_events([{"type": "text", "text": '{"answer": 42}'}]))

    reply = model.complete(ModelRequest((Task("How many?"),), schema=SCHEMA))

    form = sent(route)["output_config"]["format"]
    assert form["type"] == "json_schema"
    assert form["schema"]["additionalProperties"] is False
    assert form["schema"]["properties"]["answer"] == {"type": "integer", "description": "(minimum: 0)"}
    assert reply.data == {"answer": 42}


@pytest.mark.parametrize(
    "message", ["output_config: Extra inputs are not permitted", "This model does not support structured outputs."]
)
def test_a_server_without_schemas_is_asked_in_words_and_remembered(model, route, message):
    answer = streamed(anthropic_events([{"type": "text", "text": 'Here: {"answer": 42}'}]))
    route.side_effect = [refused(400, "invalid_request_error", message), answer, answer]
    request = ModelRequest((Task("How many?"),), schema=SCHEMA)

    replies = [model.complete(request), model.complete(request)]

    assert [reply.data for reply in replies] == [{"answer": 42}] * 2
    assert ["output_config" in sent(route, call) for call in range(3)] == [True, False, False]
    assert '"minimum":0' in sent(route)["messages"][0]["content"][-1]["text"]


def test_one_schema_that_is_refused_leaves_others_alone(model, route):
    complaint = "output_config.format.schema: schema is too complex"
    answer = streamed(anthropic_events([{"type": "text", "text": '{"answer": 42}'}]))
    route.side_effect = [refused(400, "invalid_request_error", complaint), answer, answer, answer]

    model.complete(ModelRequest((Task("How many?"),), schema=SCHEMA))
    model.complete(ModelRequest((Task("How many?"),), schema=SCHEMA))
    model.complete(ModelRequest((Task("How many?"),), schema={**SCHEMA, "required": []}))

    assert ["output_config" in sent(route, call) for call in range(4)] == [True, False, False, True]


def test_a_schema_that_cannot_be_closed_is_asked_for_in_words(model, route):
    schema = {"type": "object", "additionalProperties": {"type": "integer"}}
    route.return_value = streamed(anthropic_events([{"type": "text", "text": '{"a": 1}'}]))

    reply = model.complete(ModelRequest((Task("How many?"),), schema=schema))

    assert "output_config" not in sent(route)
    assert reply.data == {"a": 1}


@pytest.mark.parametrize(
    ("name", "is_sent"),
    [
        ("claude-sonnet-4-6", True),
        ("claude-haiku-4-5-20251001", True),
        ("claude-opus-4-6", True),
        ("claude-opus-4-20250514", True),
        ("claude-3-5-sonnet-latest", True),
        ("claude-opus-4-7", False),
        ("claude-opus-4-8", False),
        ("claude-sonnet-5-5", False),
        ("claude-opus-5-5", False),
        ("claude-fable-5", False),
        ("something-else", False),
    ],
)
def test_a_temperature_is_sent_only_to_models_known_to_take_one(route, name, is_sent):
    AnthropicModel(name, key="k").complete(ModelRequest((Task("How many?"),), temperature=0.3))

    body = TypeAdapter(dict[str, Any]).validate_json(route.calls.last.request.content)
    assert body.get("temperature") == (0.3 if is_sent else None)


def test_a_temperature_is_kept_within_what_the_provider_knows(route):
    AnthropicModel("claude-sonnet-4-6", key="k").complete(ModelRequest((Task("How many?"),), temperature=1.7))

    assert b'"temperature":1.0' in route.calls.last.request.content


def test_a_model_that_refuses_a_temperature_is_remembered(route):
    model = AnthropicModel("claude-sonnet-4-6", key="k")
    answer = streamed(anthropic_events())
    complaint = "`temperature` is deprecated for this model."
    route.side_effect = [refused(400, "invalid_request_error", complaint), answer, answer]
    request = ModelRequest((Task("How many?"),), temperature=0.3)

    model.complete(request)
    model.complete(request)

    assert [b"temperature" in call.request.content for call in route.calls] == [True, False, False]


def test_a_message_in_one_piece_is_read_too(model, route):
    deltas: list[str] = []
    tool = {"type": "tool_use", "id": "t1", "name": "look_up", "input": {"city": "Paris"}}
    message = anthropic_message(content=[{"type": "text", "text": "See:"}, tool], stop_reason="tool_use")
    anthropic.types.Message.model_validate(message)
    route.return_value = httpx.Response(200, json=message)

    reply = model.complete(ModelRequest((Task("Where?"),), tools=(TOOL,), on_delta=deltas.append))

    assert (reply.text, deltas) == ("See:", ["See:"])
    assert reply.tool_calls == (ToolCall("t1", "look_up", {"city": "Paris"}),)
    assert reply.usage.output_tokens == 10


def test_a_server_without_streaming_is_asked_without_and_remembered(model, route):
    whole = httpx.Response(200, json=anthropic_message())
    route.side_effect = [refused(400, "invalid_request_error", "stream: not supported"), whole, whole]

    texts = [model.complete(REQUEST).text, model.complete(REQUEST).text]

    assert texts == ["The value is 42."] * 2
    assert ["stream" in sent(route, call) for call in range(3)] == [True, False, False]


def test_a_refusal_is_an_error_with_its_reason(model, route):
    details = {"type": "refusal", "category": "cyber", "explanation": "It could do harm."}
    route.return_value = streamed(anthropic_events(stop_reason="refusal", stop_details=details))

    with pytest.raises(ModelRefused, match="It could do harm") as caught:
        model.complete(REQUEST)

    assert caught.value.details["usage"].output_tokens == 10


def test_a_reply_that_outgrows_the_window_is_an_error(model, route):
    route.return_value = streamed(anthropic_events(stop_reason="model_context_window_exceeded"))

    with pytest.raises(ContextTooLong):
        model.complete(REQUEST)


def test_a_reply_cut_at_max_tokens_says_so(model, route):
    route.return_value = streamed(anthropic_events(stop_reason="max_tokens"))

    assert model.complete(REQUEST).stop_reason == "max_tokens"


def test_a_reply_that_was_all_thinking_is_truncated(model, route):
    thinking = {"type": "thinking", "thinking": "hmm", "signature": "s"}
    route.return_value = streamed(anthropic_events([thinking], stop_reason="max_tokens"))

    with pytest.raises(OutputTruncated, match="within 2048 tokens"):
        model.complete(REQUEST)


def test_warming_the_cache_gives_an_empty_reply(model, route):
    route.return_value = httpx.Response(200, json=anthropic_message(content=[], stop_reason="max_tokens"))

    reply = model.complete(ModelRequest((Task("How many?"),), max_tokens=0))

    assert reply.text == ""


def test_a_reply_without_content_may_be_asked_for_again(model, route):
    route.return_value = streamed(anthropic_events([{"type": "text", "text": ""}]))

    with pytest.raises(ModelReplyInvalid, match="empty") as caught:
        model.complete(REQUEST)

    assert caught.value.is_retryable


@pytest.mark.parametrize("kept", range(len(anthropic_events())))
def test_a_stream_cut_short_is_no_reply_wherever_it_ends(model, route, kept):
    route.return_value = streamed(anthropic_events()[:kept])

    with pytest.raises(ModelReplyInvalid, match="ended before") as caught:
        model.complete(REQUEST)

    assert caught.value.is_retryable


def test_a_stream_cut_inside_an_event_is_no_reply(model, route):
    content = anthropic_stream()[:-9]
    route.return_value = httpx.Response(200, content=content, headers={"content-type": "text/event-stream"})

    with pytest.raises(ModelReplyInvalid):
        model.complete(REQUEST)


def test_an_error_inside_the_stream_is_raised_as_what_it_is(model, route):
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    route.return_value = streamed([*anthropic_events()[:4], error])

    with pytest.raises(ModelOverloaded, match="Overloaded") as caught:
        model.complete(REQUEST)

    assert caught.value.is_retryable


def test_events_of_an_unknown_type_are_passed_over(model, route):
    events = anthropic_events()
    route.return_value = streamed([events[0], {"type": "novelty", "index": None}, *events[1:]])

    assert model.complete(REQUEST).text == "The value is 42."


@pytest.mark.parametrize(
    "response",
    [
        httpx.Response(200, text="<html><title>Login</title></html>", headers={"content-type": "text/html"}),
        httpx.Response(200, text='{"content": [', headers={"content-type": "application/json"}),
        httpx.Response(200, json=["a list"]),
        httpx.Response(200, json={"status": "fine"}),
        httpx.Response(204),
        httpx.Response(200, text="data: {oops\n\n", headers={"content-type": "text/event-stream"}),
    ],
)
def test_what_is_no_message_is_an_invalid_reply(model, route, response):
    route.return_value = response

    with pytest.raises(ModelReplyInvalid) as caught:
        model.complete(REQUEST)

    assert caught.value.is_retryable


def test_a_reply_without_usage_is_counted_here(model, route):
    message = anthropic_message()
    del message["usage"]
    route.return_value = httpx.Response(200, json=message)

    usage = model.complete(REQUEST).usage

    assert usage.is_estimated
    assert usage.input_tokens > 0
    assert usage.output_tokens > 0


@pytest.mark.parametrize(
    ("status", "kind", "error"),
    [
        (400, "invalid_request_error", ModelBadRequest),
        (401, "authentication_error", ModelAuth),
        (429, "rate_limit_error", ModelRateLimited),
        (529, "overloaded_error", ModelOverloaded),
    ],
)
def test_a_status_is_raised_with_the_providers_words(model, route, status, kind, error):
    route.return_value = refused(status, kind, "so it is", retry_after="4", request_id="req_3")

    with pytest.raises(error, match="so it is") as caught:
        model.complete(REQUEST)

    assert caught.value.retry_after_s == 4.0
    assert caught.value.details["request_id"] == "req_3"
    assert route.call_count == 1


def test_the_window_comes_from_the_price_list(model):
    assert model.context_window == 1_000_000
    assert AnthropicModel("unheard-of", key="k").context_window is None
