"""Replies that are JSON, and not of the API's shape: an error of the model, never a defect of ours."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

import pytest
from servers import ScriptedServer, json_answer, sse_answer

from orchestra.errors import ModelError
from orchestra.models.anthropic import AnthropicModel
from orchestra.models.blocks import Instructions, Task
from orchestra.models.openai import OpenAIModel
from orchestra.models.protocol import ModelRequest

ODD = json.loads((Path(__file__).parents[1] / "data" / "odd_replies.json").read_text())
REQUEST = ModelRequest((Instructions("Answer."), Task("Why?")))


def whole(payload):
    return json_answer(payload)


def streamed(payload):
    events = [payload, {"type": "message_stop"}]
    return sse_answer("".join(f"data: {json.dumps(event)}\n\n" for event in events).encode() + b"data: [DONE]\n\n")


@pytest.mark.parametrize("send", [whole, streamed])
@pytest.mark.parametrize("payload", ODD, ids=json.dumps)
def test_a_reply_of_no_known_shape_is_a_models_error(payload, send):
    with ScriptedServer(lambda received, wire: send(payload)) as server:
        for model in (OpenAIModel("m", base_url=server.url), AnthropicModel("claude-sonnet-5-5", base_url=server.url)):
            with suppress(ModelError):
                model.complete(REQUEST)
