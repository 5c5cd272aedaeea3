"""The official clients understand the test server: what our adapters are tested against is the protocol."""

from __future__ import annotations

import anthropic
import openai
import pytest
from servers import (
    Received,
    Wire,
    anthropic_events,
    anthropic_message,
    anthropic_stream,
    json_answer,
    openai_completion,
    openai_stream,
    sse_answer,
)

from orchestra.models.anthropic import AnthropicModel
from orchestra.models.blocks import Instructions, Task
from orchestra.models.openai import OpenAIModel
from orchestra.models.protocol import ModelRequest

ASKED = [{"role": "user", "content": "How many?"}]
BLOCKS = [
    {"type": "thinking", "thinking": "hmm", "signature": "s"},
    {"type": "text", "text": "It is 42."},
    {"type": "tool_use", "id": "t1", "name": "look_up", "input": {"city": "Paris"}},
]


def speaks_anthropic(received: Received, _: Wire) -> bytes:
    if received.json.get("stream"):
        return sse_answer(anthropic_stream(anthropic_events(BLOCKS, stop_reason="tool_use")))
    return json_answer(anthropic_message())


def speaks_openai(received: Received, _: Wire) -> bytes:
    return sse_answer(openai_stream()) if received.json.get("stream") else json_answer(openai_completion())


@pytest.fixture
def anthropic_client(serve):
    server = serve(speaks_anthropic)
    with anthropic.Anthropic(api_key="k", base_url=server.url, max_retries=0) as client:
        yield client


@pytest.fixture
def openai_client(serve):
    server = serve(speaks_openai)
    with openai.OpenAI(api_key="k", base_url=f"{server.url}/v1", max_retries=0) as client:
        yield client


def test_anthropics_client_reads_a_message_in_one_piece(anthropic_client):
    message = anthropic_client.messages.create(model="m", max_tokens=9, messages=ASKED)

    assert message.content[0].text == "The value is 42."


def test_anthropics_client_reads_the_stream_as_our_adapter_does(anthropic_client, transport):
    with anthropic_client.messages.stream(model="m", max_tokens=9, messages=ASKED) as stream:
        message = stream.get_final_message()
    ours = AnthropicModel("m", key="k", base_url=str(anthropic_client.base_url).rstrip("/"), transport=transport)

    reply = ours.complete(ModelRequest((Task("How many?"),)))

    assert [block.type for block in message.content] == ["thinking", "text", "tool_use"]
    assert message.content[1].text == reply.text
    assert message.content[2].input == reply.tool_calls[0].arguments
    assert message.stop_reason == reply.stop_reason
    assert message.usage.output_tokens == reply.usage.output_tokens
    assert message.usage.cache_read_input_tokens == reply.usage.cached_input_tokens


def test_openais_client_reads_a_completion_in_one_piece(openai_client):
    completion = openai_client.chat.completions.create(model="m", messages=ASKED)

    assert completion.choices[0].message.content == "The value is 42."


def test_openais_client_reads_the_stream_as_our_adapter_does(openai_client, transport):
    with openai_client.chat.completions.create(model="m", messages=ASKED, stream=True) as stream:
        chunks = list(stream)
    ours = OpenAIModel("m", key="k", base_url=str(openai_client.base_url).rstrip("/"), transport=transport)

    reply = ours.complete(ModelRequest((Instructions("Be brief."), Task("How many?"))))

    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices) == reply.text
    assert chunks[-1].usage.prompt_tokens == reply.usage.total_input_tokens
