"""A run against a real HTTP server: what is sent, how often, and how much of it at once."""

from __future__ import annotations

import json
import threading
from functools import partial

import pytest
from models_for_tests import at, plan_of
from servers import json_answer, openai_chunks, openai_completion, openai_stream, sse_answer

import orchestra

# The models here are scripted to plan with the whole document in view.
orchestrate = partial(orchestra.orchestrate, strategy="full")

CHAPTERS = 6
REPORT = "\n".join(
    line
    for number in range(1, CHAPTERS + 1)
    for line in (f"# Chapter {number}", "", f"Only chapter {number} says xyz{number}.", "")
)


@pytest.fixture
def openai_at(monkeypatch):
    def point(server):
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "test-key")

    return point


def is_plan(received):
    return "You plan how to answer" in received.json["messages"][0]["content"]


def text_of(received):
    return received.json["messages"][-1]["content"]


def test_subtasks_run_at_once_each_with_its_own_lines_after_one_planner_call(serve, openai_at):
    all_here = threading.Barrier(CHAPTERS, timeout=10)
    plan = plan_of(*({"task": f"Tell of {n}", "context_pointers": at(f"s{n}")} for n in range(1, CHAPTERS + 1)))

    def script(received, wire):
        if is_plan(received):
            return sse_answer(openai_stream(openai_chunks(json.dumps(plan))))
        if "<excerpts>" in text_of(received):
            all_here.wait()
        return sse_answer(openai_stream(openai_chunks("It says so [L3].")))

    server = serve(script)
    openai_at(server)
    result = orchestrate(REPORT, "Tell of all.", model="openai:m", max_workers=CHAPTERS)

    assert result.status == "completed"
    assert sum(map(is_plan, server.requests)) == 1
    slices = [text_of(received) for received in server.requests if "<excerpts>" in text_of(received)]
    seen = [sorted(n for n in range(1, CHAPTERS + 1) if f"xyz{n}" in text) for text in slices]
    assert sorted(seen) == [[n] for n in range(1, CHAPTERS + 1)]
    assert len(server.requests) == CHAPTERS + 2


def test_a_server_that_knows_neither_schemas_nor_streams_nor_usage_still_works(serve, openai_at):
    plan = plan_of({"context_pointers": at("s2")})

    def script(received, wire):
        refused = next((name for name in ("response_format", "max_completion_tokens") if name in received.json), None)
        if refused:
            message = f"Unrecognized request argument supplied: {refused}"
            return json_answer({"error": {"message": message, "param": refused}}, status=400)
        answer = openai_completion(json.dumps(plan) if is_plan(received) else "It says xyz2 [L7].")
        del answer["usage"]
        return json_answer(answer)

    server = serve(script)
    openai_at(server)
    result = orchestrate(REPORT, "Tell.", model="openai:m")

    assert result.answer == "It says xyz2 [1]."
    assert result.usage.is_estimated


def test_a_server_that_fails_twice_is_asked_a_third_time(serve, openai_at):
    answers = iter([503, 529])
    plan = plan_of({"context_pointers": at("s2")})

    def script(received, wire):
        status = next(answers, 200)
        if status != 200:
            return json_answer({"error": {"message": "busy"}}, status=status, headers={"retry-after": "0"})
        return sse_answer(openai_stream(openai_chunks(json.dumps(plan) if is_plan(received) else "It says xyz2 [L7].")))

    server = serve(script)
    openai_at(server)
    result = orchestrate(REPORT, "Tell.", model="openai:m")

    assert result.status == "completed"
    assert len(server.requests) == 4


def test_a_dripping_server_cannot_hold_a_subtask_past_its_deadline(serve, openai_at):
    plan = plan_of({"context_pointers": at("s2")})

    def script(received, wire):
        if is_plan(received):
            return sse_answer(openai_stream(openai_chunks(json.dumps(plan))))
        return wire.drip(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n: \r\n")

    server = serve(script)
    openai_at(server)
    result = orchestrate(REPORT, "Tell.", model="openai:m", timeout_s=0.4, max_attempts=1)

    assert result.status == "failed"
    assert result.subtasks[0].error.code == "TIMEOUT"
    assert result.subtasks[0].duration_ms < 2000
