"""The loop over a real HTTP server, in the tool-use formats of both providers, each body held to their own types."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from anthropic.types.message_create_params import MessageCreateParamsStreaming
from models_for_tests import REPORT, REVENUE, codes, plan_of
from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming
from pydantic import ConfigDict, TypeAdapter, with_config
from servers import anthropic_events, anthropic_stream, json_answer, openai_chunks, openai_stream, sse_answer

from orchestra import orchestrate

PLAN = plan_of({"task": "What was earned?", "context_pointers": REVENUE})
ANSWER = "Revenue was $40 million [L5]."
STRICT = with_config(ConfigDict(extra="forbid"))
TYPES = {
    "anthropic:claude-sonnet-5-5": TypeAdapter(STRICT(MessageCreateParamsStreaming)),
    "openai:m": TypeAdapter(STRICT(CompletionCreateParamsStreaming)),
}
PROVIDERS = pytest.mark.parametrize("model", TYPES)


def look_up(city: str, most: int = 3) -> dict[str, Any]:
    """Look up a city."""
    return {"city": city, "most": most}


def streamed(model: str, *blocks: dict[str, Any], stop: str = "tool_use") -> bytes:
    """Blocks in Anthropic's form, as either provider streams them; by "max_tokens" without the last piece of a call."""
    is_cut = stop == "max_tokens"
    if model.startswith("anthropic"):
        events = anthropic_events(blocks, stop_reason=stop)
        pieces = [event for event in events if event.get("delta", {}).get("type") == "input_json_delta"]
        return sse_answer(anthropic_stream(event for event in events if not (is_cut and event is pieces[-1])))
    chunks: list[dict[str, Any]] = []
    for index, block in enumerate(block for block in blocks if block["type"] == "tool_use"):
        written = json.dumps(block["input"])
        opening = {"index": index, "id": block["id"], "type": "function", "function": {"name": block["name"]}}
        pieces = [{"index": index, "function": {"arguments": half}} for half in (written[:5], written[5:])]
        chunks += [_with_delta({"tool_calls": [piece]}) for piece in (opening, *pieces)]
    text = "".join(block["text"] for block in blocks if block["type"] == "text")
    finish = {"tool_use": "tool_calls", "max_tokens": "length"}.get(stop, "stop")
    return sse_answer(openai_stream([*chunks[: -1 if is_cut else None], *openai_chunks(text, finish=finish)]))


def _with_delta(delta: dict[str, Any]) -> dict[str, Any]:
    return {**openai_chunks()[0], "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}


def call(name: str, call_id: str = "toolu_1", **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def said(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


@pytest.fixture
def run(serve, monkeypatch):
    """A run whose subtask is answered by these turns; its result, and the bodies that the provider got."""

    def go(model: str, *turns: bytes, **options: Any):
        left = iter(turns)
        server = serve(lambda received, wire: next(left))
        provider = model.partition(":")[0].upper()
        path = "/v1" if provider == "OPENAI" else ""
        monkeypatch.setenv(f"{provider}_BASE_URL", server.url + path)
        monkeypatch.setenv(f"{provider}_API_KEY", "test-key")
        options = {"tools": [look_up], "max_followups": 0, "plan": PLAN, **options}
        result = orchestrate(options.pop("report", REPORT), "Tell me.", model=model, **options)
        bodies = [received.json for received in server.requests]
        for body in bodies:
            TYPES[model].validate_python(body)
        return result, bodies

    return go


def results_in(body: dict[str, Any]) -> list[tuple[str, str]]:
    """(call id, text) of the results in the newest turn."""
    last = body["messages"][-1]
    if isinstance(last["content"], list):
        found = [block for block in last["content"] if block["type"] == "tool_result"]
        return [(block["tool_use_id"], block["content"]) for block in found]
    at = max(at for at, message in enumerate(body["messages"]) if message["role"] == "assistant")
    told = [message for message in body["messages"][at:] if message["role"] == "tool"]
    return [(message["tool_call_id"], message["content"]) for message in told]


@PROVIDERS
def test_calls_made_together_are_answered_in_one_turn(run, model):
    asked = streamed(
        model, said("Let me see."), call("look_up", city="Brno"), call("look_up", "toolu_2", city="Olomouc")
    )

    result, (first, second) = run(model, asked, streamed(model, said(ANSWER), stop="end_turn"))

    assert result.answer == "Revenue was $40 million [1]."
    assert first["tools"] == second["tools"]
    assert results_in(second) == [
        ("toolu_1", '{"city":"Brno","most":3}'),
        ("toolu_2", '{"city":"Olomouc","most":3}'),
    ]
    assert result.subtasks[0].usage.calls == 2
    assert result.subtasks[0].usage.output_tokens == 20


@PROVIDERS
def test_everything_up_to_the_newest_turn_is_sent_as_before(run, model):
    turns = [streamed(model, call("look_up", f"toolu_{n}", city="Brno")) for n in range(3)]

    _, bodies = run(model, *turns, streamed(model, said(ANSWER), stop="end_turn"))

    for earlier, later in pairwise(bodies):
        assert without_marks(later["messages"])[: len(earlier["messages"])] == without_marks(earlier["messages"])
        assert (later["tools"], later.get("system")) == (earlier["tools"], earlier.get("system"))
        assert later.get("prompt_cache_key") == earlier.get("prompt_cache_key")


def without_marks(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_marks(each) for key, each in value.items() if key != "cache_control"}
    return [without_marks(each) for each in value] if isinstance(value, list) else value


@PROVIDERS
def test_wrong_arguments_unknown_tools_and_cut_calls_go_back_as_errors(run, model):
    wrong = streamed(model, call("look_up", town="Brno"), call("fly", "toolu_2"))
    cut = streamed(model, said("I see."), call("look_up", "toolu_3", city="Brno"), stop="max_tokens")

    result, (_, second, third) = run(model, wrong, cut, streamed(model, said(ANSWER), stop="end_turn"))

    misfit, unknown = (text for _, text in results_in(second))
    assert "city: Field required" in misfit
    assert "there is no tool 'fly'" in unknown
    assert "cut off at its token limit" in results_in(third)[0][1]
    assert result.status == "completed"
    assert [each.status for each in result.subtasks[0].tool_calls] == ["failed"] * 3


def test_anthropic_is_told_which_results_are_errors_and_where_its_cache_may_end(run):
    model = "anthropic:claude-sonnet-5-5"
    turns = [streamed(model, call("look_up", town=1)), streamed(model, call("look_up", city="Brno"))]
    report = "# Report\n\n## Revenue\n\n" + "Revenue was much the same as in the year before.\n" * 300

    _, (first, second, third) = run(model, *turns, streamed(model, said(ANSWER), stop="end_turn"), report=report)

    assert first["messages"][0]["content"][-1]["cache_control"] == {"type": "ephemeral"}
    failed, done = second["messages"][-1]["content"][0], third["messages"][-1]["content"][0]
    assert failed["is_error"] is True
    assert "is_error" not in done
    marks = [(at, "cache_control" in block) for at, turn in enumerate(third["messages"]) for block in turn["content"]]
    assert [at for at, is_marked in marks if is_marked] == [0, 4]


def test_no_cache_is_asked_to_hold_what_is_too_short_for_it(run):
    model = "anthropic:claude-sonnet-5-5"
    asked = streamed(model, call("look_up", city="Brno"))

    result, (first, _) = run(model, asked, streamed(model, said(ANSWER), stop="end_turn"))

    assert "cache_control" not in json.dumps(first)
    assert codes(result) == []


def test_thinking_goes_back_to_anthropic_with_its_signature(run):
    model = "anthropic:claude-sonnet-5-5"
    thought = {"type": "thinking", "thinking": "hmm, hmm", "signature": "sig"}
    asked = streamed(model, thought, call("look_up", city="Brno"))

    _, (_, second) = run(model, asked, streamed(model, said(ANSWER), stop="end_turn"))

    assert second["messages"][1]["content"] == [thought, call("look_up", city="Brno")]


@PROVIDERS
def test_the_last_turn_may_call_no_tool(run, model):
    skills = {"critique": {"description": "Judges.", "system_prompt": "Judge it.", "max_turns": 2}}
    asked = streamed(model, call("look_up", city="Brno"))

    _, (first, last) = run(model, asked, streamed(model, said(ANSWER), stop="end_turn"), skills=skills)

    assert "tool_choice" not in first
    assert last["tool_choice"] in ("none", {"type": "none"})
    assert last["tools"] == first["tools"]


def test_a_server_without_tools_is_asked_without_them(run):
    refused = json_answer(
        {"error": {"message": "registry/llama does not support tools", "type": "invalid_request_error"}}, status=400
    )

    result, (first, second) = run("openai:m", refused, streamed("openai:m", said(ANSWER), stop="end_turn"))

    assert ("tools" in first, "tools" in second) == (True, False)
    assert "TOOLS_NOT_TAKEN" in codes(result)
    assert result.status == "completed"
