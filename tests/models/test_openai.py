"""The Chat Completions adapter against bodies and streams of the real shape, by the official package's types."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest
import respx
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from openai.types.chat.completion_create_params import (
    CompletionCreateParamsNonStreaming,
    CompletionCreateParamsStreaming,
)
from pydantic import ConfigDict, TypeAdapter, with_config
from servers import OPENAI_USAGE, openai_chunks, openai_completion, openai_stream

from orchestra.errors import (
    ContextTooLong,
    ModelAuth,
    ModelBadRequest,
    ModelNotFound,
    ModelOverloaded,
    ModelRateLimited,
    ModelRefused,
    ModelReplyInvalid,
    OutputTruncated,
)
from orchestra.models.blocks import Instructions, Task
from orchestra.models.openai import OpenAIModel
from orchestra.models.protocol import Message, ModelRequest, ToolCall, ToolResult, ToolSpec, Usage

URL = "https://api.openai.com/v1/chat/completions"
LOCAL = "http://localhost:8000/v1"
SENT = TypeAdapter(with_config(ConfigDict(extra="forbid"))(CompletionCreateParamsStreaming))
SENT_WHOLE = TypeAdapter(with_config(ConfigDict(extra="forbid"))(CompletionCreateParamsNonStreaming))
CHUNKS = TypeAdapter(list[ChatCompletionChunk])
TOOL = ToolSpec("look_up", "Looks up a city.", {"type": "object", "properties": {"city": {"type": "string"}}})
SCHEMA = {
    "type": "object",
    "properties": {"answer": {"type": "integer"}, "why": {"type": "string"}},
    "required": ["answer"],
}
REQUEST = ModelRequest((Instructions("Be brief."), Task("How many?")))
ASK_SCHEMA = ModelRequest((Task("How many?"),), schema=SCHEMA, schema_name="the answer")


@pytest.fixture
def model() -> OpenAIModel:
    return OpenAIModel("gpt-6-sol", key="planted-key-value")


@pytest.fixture
def local() -> OpenAIModel:
    """A model on a compatible server, which has no key."""
    return OpenAIModel("llama", base_url=LOCAL)


@pytest.fixture
def route(respx_mock: respx.MockRouter) -> respx.Route:
    return respx_mock.post(url__regex=r".*/v1/chat/completions").mock(return_value=streamed(openai_chunks()))


def streamed(chunks: list[dict[str, Any]], *, is_closed: bool = True) -> httpx.Response:
    return httpx.Response(
        200, content=openai_stream(chunks, is_closed=is_closed), headers={"content-type": "text/event-stream"}
    )


def typed(chunks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The chunks, which the official types accept."""
    CHUNKS.validate_python(chunks)
    return chunks


def delta(finish: str | None = None, **fields: Any) -> dict[str, Any]:
    return {**openai_chunks()[0], "choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}


def refused(status: int, message: str, **fields: Any) -> httpx.Response:
    error = {"message": message, "type": "invalid_request_error", "param": None, "code": None, **fields}
    return httpx.Response(status, json={"error": error})


def sent(route: respx.Route, call: int = -1) -> dict[str, Any]:
    """The body of a call, which the official types accept."""
    body = json.loads(route.calls[call].request.content)
    (SENT if body.get("stream") else SENT_WHOLE).validate_python(body)
    return body


def test_a_streamed_completion_becomes_a_reply(model, route):
    deltas: list[str] = []
    route.return_value = streamed(typed(openai_chunks()))

    reply = model.complete(ModelRequest((Task("How many?"),), on_delta=deltas.append))

    assert reply.text == "The value is 42." == "".join(deltas)
    assert deltas[0] == "The"
    assert reply.usage == Usage(input_tokens=20, cached_input_tokens=60, cache_write_tokens=20, output_tokens=10)
    assert (reply.stop_reason, reply.model, reply.request_id) == ("end", "m-1", "chatcmpl-1")


def test_a_request_is_one_system_and_one_user_message_of_plain_text(model, route):
    blocks = (Instructions("Rules."), Instructions("Form."), Task("One"), Instructions("Last."))

    model.complete(ModelRequest(blocks, max_tokens=7))

    body = sent(route)
    assert body["messages"] == [
        {"role": "system", "content": "Rules.\n\nForm."},
        {"role": "user", "content": "Task: One\n\nLast."},
    ]
    assert (body["model"], body["max_completion_tokens"]) == ("gpt-6-sol", 7)
    assert (body["stream"], body["stream_options"]) == (True, {"include_usage": True})
    assert route.calls.last.request.headers["authorization"] == "Bearer planted-key-value"


def test_a_server_without_keys_is_sent_none(local, route):
    local.complete(REQUEST)

    assert "authorization" not in route.calls.last.request.headers


def test_tool_turns_are_sent_in_their_roles(model, route):
    request = ModelRequest(
        (Task("Where?"),),
        tools=(TOOL,),
        messages=(
            Message("user", "Really."),
            Message("assistant", tool_calls=(ToolCall("t1", "look_up", {"city": "Zürich"}),)),
            Message("user", tool_results=(ToolResult("t1", "there"), ToolResult("t2", "gone", is_error=True))),
            Message("user", "Go on."),
        ),
    )

    model.complete(request)

    body = sent(route)
    assert body["messages"] == [
        {"role": "user", "content": "Task: Where?\n\nReally."},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [
                {"id": "t1", "type": "function", "function": {"name": "look_up", "arguments": '{"city": "Zürich"}'}}
            ],
        },
        {"role": "tool", "tool_call_id": "t1", "content": "there"},
        {"role": "tool", "tool_call_id": "t2", "content": "Error: gone"},
        {"role": "user", "content": "Go on."},
    ]
    assert body["tools"][0]["function"]["name"] == "look_up"


def call_piece(index: int | None, **fields: Any) -> dict[str, Any]:
    numbered = {} if index is None else {"index": index}
    return delta(tool_calls=[{**numbered, **fields}])


@pytest.mark.parametrize(
    "pieces",
    [
        [
            call_piece(0, id="t1", type="function", function={"name": "look_up", "arguments": ""}),
            call_piece(0, function={"arguments": '{"city": "Pa'}),
            call_piece(1, id="t2", type="function", function={"name": "look_up", "arguments": "{}"}),
            call_piece(0, function={"arguments": 'ris"}'}),
        ],
        [
            call_piece(0, id="t1", function={"name": "look_up", "arguments": '{"city": "Paris"}'}),
            call_piece(0, id="t2", function={"name": "look_up", "arguments": "{}"}),
        ],
        [
            call_piece(None, id="t1", function={"name": "look_up", "arguments": {"city": "Paris"}}),
            call_piece(None, id="t2", function={"name": "look_up", "arguments": ""}),
        ],
    ],
    ids=["as OpenAI streams them", "all numbered 0", "whole, without numbers"],
)
def test_tool_calls_are_put_together_from_their_pieces(model, route, pieces):
    route.return_value = streamed([*pieces, delta(finish="tool_calls")])

    reply = model.complete(ModelRequest((Task("Where?"),), tools=(TOOL,)))

    assert reply.tool_calls == (ToolCall("t1", "look_up", {"city": "Paris"}), ToolCall("t2", "look_up", {}))
    assert reply.stop_reason == "tool_use"


def test_a_tool_call_cut_at_the_length_is_not_mended_to_half_of_what_was_meant(model, route):
    whole = call_piece(0, id="t1", function={"name": "look_up", "arguments": '{"city": "Paris"}'})
    cut = call_piece(1, id="t2", function={"name": "look_up", "arguments": '{"city": "San'})
    route.return_value = streamed([whole, cut, delta(finish="length")])

    reply = model.complete(ModelRequest((Task("Where?"),), tools=(TOOL,)))

    assert reply.stop_reason == "max_tokens"
    assert reply.tool_calls[0] == ToolCall("t1", "look_up", {"city": "Paris"})
    assert (reply.tool_calls[1].arguments, "cut off" in reply.tool_calls[1].fault) == ({}, True)


def test_broken_tool_arguments_are_mended_and_a_missing_id_is_made(model, route):
    call = {"type": "function", "function": {"name": "look_up", "arguments": "{'city': 'Paris',}"}}
    route.return_value = httpx.Response(200, json=openai_completion(None, tool_calls=[call], finish_reason="stop"))

    reply = model.complete(ModelRequest((Task("Where?"),), tools=(TOOL,)))

    assert reply.tool_calls == (ToolCall("call_1", "look_up", {"city": "Paris"}),)
    assert reply.stop_reason == "tool_use"


@pytest.mark.parametrize("written", ["Paris", "[1]", '"Paris"', "42"])
def test_tool_arguments_that_are_no_object_come_with_what_is_wrong(model, route, written):
    call = {"id": "t1", "type": "function", "function": {"name": "look_up", "arguments": written}}
    route.return_value = httpx.Response(200, json=openai_completion(None, tool_calls=[call]))

    (called,) = model.complete(ModelRequest((Task("Where?"),), tools=(TOOL,))).tool_calls

    assert called.arguments == {}
    assert called.fault == f"the arguments are no JSON object: {written}"


def test_tools_that_may_not_be_called_stay_in_the_request(model, route):
    model.complete(ModelRequest((Task("Where?"),), tools=(TOOL,), tool_choice="none"))

    body = sent(route)
    assert (body["tool_choice"], len(body["tools"])) == ("none", 1)


def test_a_server_that_does_not_know_tool_choice_is_asked_without_it(local, route):
    route.side_effect = [refused(400, "Unrecognized request argument supplied: tool_choice"), streamed(openai_chunks())]

    local.complete(ModelRequest((Task("Where?"),), tools=(TOOL,), tool_choice="none"))

    assert "tool_choice" not in sent(route)
    assert sent(route)["tools"]


def test_what_a_server_wants_to_see_again_goes_back_to_it_and_to_no_other(local, model, route):
    signed = {"google": {"thought_signature": "s"}}
    thought = delta(reasoning_content="hmm, ")
    call = call_piece(0, id="t1", function={"name": "look_up", "arguments": "{}"}, extra_content=signed)
    route.return_value = streamed([thought, thought, call, delta(finish="tool_calls")])

    reply = local.complete(ModelRequest((Task("Where?"),), tools=(TOOL,)))
    answered = Message("user", tool_results=(ToolResult("t1", "there"),))
    local.complete(ModelRequest((Task("Where?"),), tools=(TOOL,), messages=(reply.turn, answered)))
    (_, again, _) = json.loads(route.calls.last.request.content)["messages"]
    model.complete(ModelRequest((Task("Where?"),), tools=(TOOL,), messages=(reply.turn, answered)))
    (_, elsewhere, _) = sent(route)["messages"]

    assert again["reasoning_content"] == "hmm, hmm, "
    assert again["tool_calls"][0]["extra_content"] == signed
    assert set(elsewhere) == {"role", "content", "tool_calls"}
    assert set(elsewhere["tool_calls"][0]) == {"id", "type", "function"}


def test_a_call_that_could_not_be_read_goes_back_as_an_empty_object(model, route):
    asked = Message("assistant", tool_calls=(ToolCall("t1", "look_up", {}, fault="the arguments are no JSON object"),))
    told = Message("user", tool_results=(ToolResult("t1", "the arguments are no JSON object", is_error=True),))

    model.complete(ModelRequest((Task("Where?"),), tools=(TOOL,), messages=(asked, told)))

    assert sent(route)["messages"][1]["tool_calls"][0]["function"]["arguments"] == "{}"


def test_a_schema_is_sent_strict_and_padding_nulls_are_dropped(model, route):
    route.return_value = streamed(openai_chunks('{"answer":42,"why":null}'))

    reply = model.complete(ASK_SCHEMA)

    form = sent(route)["response_format"]["json_schema"]
    assert (form["name"], form["strict"]) == ("the_answer", True)
    assert form["schema"]["required"] == ["answer", "why"]
    assert reply.data == {"answer": 42}


def test_a_schema_that_cannot_be_strict_is_sent_as_it_is(model, route):
    schema = {"type": "object", "additionalProperties": {"type": "integer"}}
    route.return_value = streamed(openai_chunks('{"a":null}'))

    reply = model.complete(ModelRequest((Task("How many?"),), schema=schema))

    assert sent(route)["response_format"]["json_schema"] == {"name": "reply", "schema": schema, "strict": False}
    assert reply.data == {"a": None}


def test_a_compatible_server_is_told_the_schema_in_words_too(local, route):
    local.complete(ASK_SCHEMA)

    assert '"required":["answer"]' in sent(route)["messages"][0]["content"]


def test_schemas_give_way_to_any_object_and_that_to_words_and_both_are_remembered(local, route):
    answer = streamed(openai_chunks('Sure! {"answer": 42}'))
    no_format = refused(400, "Failed to parse grammar for response_format")
    route.side_effect = [no_format, no_format, answer, answer]

    replies = [local.complete(ASK_SCHEMA), local.complete(ASK_SCHEMA)]

    forms = [(sent(route, call).get("response_format") or {}).get("type") for call in range(4)]
    assert forms == ["json_schema", "json_object", None, None]
    assert [reply.data for reply in replies] == [{"answer": 42}] * 2


@pytest.mark.parametrize(
    "refusal",
    [
        refused(400, "Unsupported parameter: use 'max_tokens'", param="max_completion_tokens"),
        refused(400, "Unrecognized request argument supplied: max_completion_tokens"),
        httpx.Response(
            422, json={"detail": [{"loc": ["body", "max_completion_tokens"], "msg": "Extra inputs are not permitted"}]}
        ),
        httpx.Response(
            400,
            json={
                "object": "error",
                "message": "[{'loc': ('body', 'max_completion_tokens'), 'input': 8}]",
                "code": 400,
            },
        ),
    ],
)
def test_max_completion_tokens_gives_way_to_max_tokens(local, route, refusal):
    answer = streamed(openai_chunks())
    route.side_effect = [refusal, answer, answer]

    local.complete(REQUEST)
    local.complete(REQUEST)

    assert ["max_tokens" in sent(route, call) for call in range(3)] == [False, True, True]
    assert ["max_completion_tokens" in sent(route, call) for call in range(3)] == [True, False, False]


def test_a_bound_that_is_too_large_is_an_error_not_a_missing_feature(model, route):
    message = "max_completion_tokens is too large: 999999. This model supports at most 16384 completion tokens."
    route.return_value = refused(400, message, param="max_completion_tokens")

    with pytest.raises(ModelBadRequest, match="too large"):
        model.complete(REQUEST)

    assert route.call_count == 1


@pytest.mark.parametrize(
    ("message", "field"),
    [
        ("Unsupported value: 'temperature' does not support 0.3 with this model.", "temperature"),
        ("Unknown parameter: 'stream_options'.", "stream_options"),
        ("stream is not supported by this server", "stream"),
    ],
)
def test_a_refused_parameter_is_dropped_and_remembered(local, route, message, field):
    answer = httpx.Response(200, json=openai_completion())
    route.side_effect = [refused(400, message), answer, answer]
    request = ModelRequest((Task("How many?"),), temperature=0.3)

    local.complete(request)
    local.complete(request)

    assert [field in sent(route, call) for call in range(3)] == [True, False, False]


def test_a_template_without_a_system_role_gets_the_instructions_in_the_users_turn(local, route):
    route.side_effect = [refused(400, "System role not supported"), streamed(openai_chunks())]

    local.complete(REQUEST)

    assert sent(route)["messages"] == [{"role": "user", "content": "Be brief.\n\nTask: How many?"}]


def test_a_feature_refused_although_it_was_left_out_ends_the_attempts(local, route):
    route.return_value = refused(400, "System role not supported")

    with pytest.raises(ModelBadRequest):
        local.complete(REQUEST)

    assert route.call_count == 2


def test_several_missing_features_are_found_in_one_call(local, route):
    route.side_effect = [
        refused(400, "unknown field stream_options"),
        refused(400, "unknown field max_completion_tokens"),
        refused(400, "unknown field temperature"),
        refused(400, "unknown field response_format"),
        refused(400, "unknown field response_format"),
        httpx.Response(200, json=openai_completion('{"answer": 1}')),
    ]

    reply = local.complete(ModelRequest((Task("How many?"),), temperature=0.3, schema=SCHEMA))

    assert reply.data == {"answer": 1}
    assert set(sent(route)) == {"model", "messages", "max_tokens", "stream"}


def test_a_server_that_refuses_for_ever_is_not_asked_for_ever(local, route):
    route.return_value = refused(400, "temperature, stream, stream_options and max_tokens are bad")

    with pytest.raises(ModelBadRequest):
        local.complete(ModelRequest((Task("How many?"),), temperature=0.3))

    assert route.call_count <= 7


@pytest.mark.parametrize(
    ("name", "is_sent"),
    [("gpt-6-sol", False), ("openai/gpt-5.4-mini", False), ("o3", False), ("gpt-4o", True), ("llama3.2", True)],
)
def test_no_temperature_is_sent_to_openais_reasoning_models(route, name, is_sent):
    OpenAIModel(name, base_url=LOCAL).complete(ModelRequest((Task("How many?"),), temperature=0.3))

    assert ("temperature" in sent(route)) is is_sent


def test_calls_that_share_a_prefix_share_a_cache_key(model, route):
    shared = Instructions("A long document.", cacheable=True)

    model.complete(ModelRequest((shared, Task("One"))))
    model.complete(ModelRequest((shared, Task("Two"))))
    model.complete(ModelRequest((Instructions("Another.", cacheable=True), Task("Two"))))

    keys = [sent(route, call)["prompt_cache_key"] for call in range(3)]
    assert keys[0] == keys[1] != keys[2]


def test_no_cache_key_is_sent_elsewhere_or_without_a_shared_prefix(model, local, route):
    local.complete(ModelRequest((Instructions("A.", cacheable=True), Task("One"))))
    model.complete(ModelRequest((Task("One"),)))

    assert ["prompt_cache_key" in sent(route, call) for call in range(2)] == [False, False]


def test_a_completion_in_one_piece_is_read_too(model, route):
    ChatCompletion.model_validate(openai_completion())
    route.return_value = httpx.Response(200, json=openai_completion())

    reply = model.complete(REQUEST)

    assert (reply.text, reply.usage.output_tokens, reply.stop_reason) == ("The value is 42.", 10, "end")


def test_a_stream_that_is_labelled_wrongly_is_read_too(local, route):
    route.return_value = httpx.Response(200, content=openai_stream(), headers={"content-type": "text/plain"})

    assert local.complete(REQUEST).text == "The value is 42."


@pytest.mark.parametrize(
    "chunks",
    [
        openai_chunks(usage=None),
        [*openai_chunks(usage=None), {"choices": [], "usage": None}],
    ],
)
def test_a_reply_without_usage_is_counted_here(local, route, chunks):
    route.return_value = streamed(chunks)

    usage = local.complete(REQUEST).usage

    assert usage.is_estimated
    assert usage.input_tokens > 0
    assert usage.output_tokens > 0


@pytest.mark.parametrize(
    ("reported", "usage"),
    [
        ({"prompt_tokens": 9, "completion_tokens": 3}, Usage(9, 0, 0, 3)),
        ({"prompt_tokens": 9, "completion_tokens": None, "prompt_tokens_details": None}, Usage(9, 0, 0, 0)),
        ({"prompt_tokens": 9, "prompt_tokens_details": {"cached_tokens": 12}}, Usage(0, 12, 0, 0)),
        ({"prompt_tokens": "many", "completion_tokens": 3.0}, Usage(0, 0, 0, 3)),
    ],
)
def test_usage_is_read_however_little_of_it_there_is(local, route, reported, usage):
    route.return_value = httpx.Response(200, json={**openai_completion(), "usage": reported})

    assert local.complete(REQUEST).usage == usage


@pytest.mark.parametrize(
    "chunks",
    [
        [delta(reasoning_content="hmm"), delta(content="42"), delta(finish="stop")],
        [delta(reasoning="hmm", content=None), delta(content="42"), delta(finish="stop")],
        [delta(content="<think>hmm"), delta(content="</think>\n42"), delta(finish="stop")],
        [delta(content=[{"type": "thinking", "thinking": []}, {"type": "text", "text": "42"}]), delta(finish="stop")],
        [{"choices": []}, delta(role="assistant", content=None), delta(content="42", finish="stop")],
        [delta(content="42"), {"choices": [{"index": 1, "delta": {"content": "no"}}]}, delta(finish="stop")],
        [delta(content="42", finish="eos"), {"choices": [{"index": 0, "delta": {}}]}],
    ],
    ids=["reasoning_content", "reasoning", "think tags", "parts", "empty choices", "second choice", "odd finish"],
)
def test_only_the_answer_is_text(local, route, chunks):
    deltas: list[str] = []
    route.return_value = streamed(chunks)

    reply = local.complete(ModelRequest((Task("How many?"),), on_delta=deltas.append))

    assert reply.text == "42" == "".join(deltas)
    assert reply.stop_reason == "end"


@pytest.mark.parametrize("is_closed", [True, False])
def test_a_finish_reason_or_the_done_mark_ends_a_stream(local, route, is_closed):
    finish = "stop" if not is_closed else None
    route.return_value = streamed(openai_chunks(finish=finish), is_closed=is_closed)

    assert local.complete(REQUEST).text == "The value is 42."


def test_a_stream_without_either_was_cut_short(local, route):
    route.return_value = streamed(openai_chunks(finish=None, usage=None), is_closed=False)

    with pytest.raises(ModelReplyInvalid, match="ended before") as caught:
        local.complete(REQUEST)

    assert caught.value.is_retryable
    assert caught.value.details["raw"] == "The value is 42."


@pytest.mark.parametrize(
    "response",
    [
        httpx.Response(200, json={**openai_completion(), "choices": []}),
        httpx.Response(200, json={"id": "x"}),
        httpx.Response(200, text="<html>Welcome</html>", headers={"content-type": "text/html"}),
        httpx.Response(200, text='{"choices": [{"mess', headers={"content-type": "application/json"}),
        httpx.Response(200, text="data: [DONE]\n\n", headers={"content-type": "text/event-stream"}),
        httpx.Response(200, json=openai_completion(None)),
        httpx.Response(200, json=openai_completion("half", finish_reason="error")),
    ],
)
def test_what_is_no_completion_may_be_asked_for_again(local, route, response):
    route.return_value = response

    with pytest.raises(ModelReplyInvalid) as caught:
        local.complete(REQUEST)

    assert caught.value.is_retryable


def test_a_refusal_is_an_error_with_the_models_words(model, route):
    route.return_value = streamed(typed([delta(refusal="I can"), delta(refusal="not."), delta(finish="stop")]))

    with pytest.raises(ModelRefused, match=r"I cannot\."):
        model.complete(REQUEST)


def test_a_filtered_reply_is_a_refusal(model, route):
    route.return_value = streamed(typed(openai_chunks(finish="content_filter")))

    with pytest.raises(ModelRefused, match="content filter"):
        model.complete(REQUEST)


def test_a_reply_cut_at_its_length_says_so(model, route):
    route.return_value = streamed(typed(openai_chunks(finish="length")))

    assert model.complete(REQUEST).stop_reason == "max_tokens"


def test_a_reply_that_was_all_reasoning_is_truncated(local, route):
    route.return_value = streamed([delta(reasoning_content="hmm"), delta(finish="length")])

    with pytest.raises(OutputTruncated):
        local.complete(REQUEST)


@pytest.mark.parametrize(
    ("response", "error"),
    [
        (refused(401, "Incorrect API key provided", code="invalid_api_key"), ModelAuth),
        (refused(404, "The model does not exist", code="model_not_found"), ModelNotFound),
        (refused(400, "too long", code="context_length_exceeded"), ContextTooLong),
        (refused(429, "slow down", code="rate_limit_exceeded"), ModelRateLimited),
        (refused(503, "busy"), ModelOverloaded),
        (streamed([openai_chunks()[0], {"error": {"message": "upstream died", "code": 502}}]), ModelOverloaded),
        (httpx.Response(200, json={"error": {"message": "busy", "code": 429}}), ModelRateLimited),
    ],
)
def test_a_failure_is_raised_as_what_it_is(model, route, response, error):
    route.return_value = response

    with pytest.raises(error):
        model.complete(REQUEST)

    assert route.call_count == 1


def test_half_a_character_in_a_prompt_does_not_stop_the_request(local, route):
    local.complete(ModelRequest((Task("bad \ud83d half"),)))

    assert sent(route)["messages"][0]["content"] == "Task: bad ? half"


def test_equal_requests_are_sent_as_equal_bytes(model, route):
    request = ModelRequest((Instructions("Be brief.", cacheable=True), Task("How many?")), schema=SCHEMA, tools=(TOOL,))

    model.complete(request)
    model.complete(request)

    assert route.calls[0].request.content == route.calls[1].request.content


def test_usage_in_every_chunk_is_not_added_up(local, route):
    chunks = [{**chunk, "usage": OPENAI_USAGE} for chunk in openai_chunks()]
    route.return_value = streamed(chunks)

    assert local.complete(REQUEST).usage.output_tokens == 10
