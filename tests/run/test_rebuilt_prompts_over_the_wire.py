"""The requests of a run, rebuilt from its store, are what a server received, to the byte; it receives nothing more."""

from __future__ import annotations

import json

import pytest
from models_for_tests import COSTS, REPORT, plan_of
from rebuilt_for_tests import PLAN, TASK, dump_of, every, look_up
from servers import json_answer, openai_completion
from trees_for_tests import write_skill

from orchestra import SkillLibrary, orchestrate, prompts_of
from orchestra.models.schemas import schema_instruction

LACKS = "Nothing on it.\nINSUFFICIENT: who audits the company"


@pytest.fixture
def place(tmp_path):
    return tmp_path / "runs.db"


def received_texts(received):
    """Role and text of each message of a body; what a tool gave has the role "tool"."""
    return [(each["role"], each["content"] or "") for each in received.json["messages"]]


def rebuilt_texts(prompt):
    """The same from a prompt, as the adapter for this server adds a schema to it."""
    texts = [("system", prompt.system)] if prompt.system else []
    for at_turn, message in enumerate(prompt.messages):
        texts += [("tool", result.text) for result in message.tool_results]
        schema = f"\n\n{schema_instruction(prompt.schema)}" if prompt.schema is not None and at_turn == 0 else ""
        if message.text or not message.tool_results:
            texts.append((message.role, message.text + schema))
    return texts


def answering(*, plan=None, intent=None, calls=(), replies=None):
    """A script: plans and intents where JSON is asked for, calls of tools at first, else a text by what is asked."""

    def script(received, wire):
        body = received.json
        words = body["messages"][-1]["content"] or ""
        if "response_format" in body:
            return json_answer(openai_completion(json.dumps(intent if "Intent" in words else plan)))
        if calls and "tools" in body and len(body["messages"]) < 4:
            made = [
                {"id": f"c{at}", "type": "function", "function": {"name": name, "arguments": json.dumps(given)}}
                for at, (name, given) in enumerate(calls)
            ]
            return json_answer(openai_completion(None, tool_calls=made, finish_reason="tool_calls"))
        text = next((reply for said, reply in (replies or {}).items() if said in words), "So it says [L5].")
        return text if isinstance(text, bytes) else json_answer(openai_completion(text))

    return script


STRATEGIES = {
    "direct": ({}, answering()),
    "full": ({}, answering(plan=PLAN)),
    "outline": ({}, answering(plan=PLAN)),
    "given": ({"strategy": "full", "plan": PLAN}, answering()),
    "tools": ({"strategy": "full", "plan": PLAN, "tools": [look_up]}, answering(calls=[("look_up", {"city": "Brno"})])),
    "follow-up": (
        {"strategy": "full", "plan": plan_of({"context_pointers": COSTS})},
        answering(replies={"steel": LACKS}),
    ),
    "history": ({"strategy": "full", "plan": PLAN, "history": [("What was it?", "It was so.")]}, answering()),
    "schema": (
        {"strategy": "direct", "answer_schema": {"type": "object"}},
        answering(plan={"answer": "So", "data": {}}),
    ),
}


@pytest.fixture
def openai_at(monkeypatch):
    def point(server):
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "test-key")

    return point


LEAST = {"direct": 1, "full": 5, "outline": 5, "given": 4, "tools": 7, "follow-up": 2, "history": 4, "schema": 1}
"""Requests of each, so that what a case is named for does happen."""


@pytest.mark.parametrize("kind", STRATEGIES)
def test_what_is_rebuilt_is_what_the_server_received_and_nothing_is_sent(kind, serve, openai_at, place, monkeypatch):
    options, script = STRATEGIES[kind]
    server = serve(script)
    openai_at(server)
    result = orchestrate(REPORT, TASK, model="openai:m", store=place, **{"strategy": kind, **options})
    assert result.status in ("completed", "partial"), result.errors
    assert len(server.requests) >= LEAST[kind]
    sent, before = len(server.requests), dump_of(place)
    for variable in ("OPENAI_BASE_URL", "OPENAI_API_KEY"):
        monkeypatch.delenv(variable)

    prompts = prompts_of(result.run_id, store=place)

    assert sorted(map(rebuilt_texts, every(prompts))) == sorted(map(received_texts, server.requests))
    assert all(prompt.is_proved for prompt in every(prompts))
    assert {prompt.model for prompt in every(prompts)} == {"openai:m"}
    assert (len(server.requests), dump_of(place)) == (sent, before)


def test_tools_are_told_of_as_they_were_and_none_is_called(serve, openai_at, place):
    called = []

    def count_up(number: int) -> str:
        """Count up."""
        called.append(number)
        return str(number + 1)

    server = serve(answering(calls=[("count_up", {"number": 4})]))
    openai_at(server)
    result = orchestrate(REPORT, TASK, model="openai:m", strategy="direct", store=place, tools=[count_up])

    first, second = prompts_of(result.run_id, store=place)["run/subtask-1"]

    sent = [tool["function"] for tool in server.requests[0].json["tools"]]
    assert [(tool.name, tool.description) for tool in first.tools] == [(t["name"], t["description"]) for t in sent]
    assert [result.text for result in second.messages[-1].tool_results] == ["5"]
    assert (called, first.is_proved, second.is_proved) == ([4], True, True)


def test_a_route_by_skills_is_rebuilt_level_by_level(serve, openai_at, place, tmp_path):
    skills = tmp_path / "skills"
    sub_skills = [
        {"name": "sorter", "triggers": ["sort"]},
        {"name": "responder", "triggers": ["reply"], "dependencies": ["sorter"]},
    ]
    flow = ["step_1.output.urgent → step_2.mails"]
    routing = {"strategy": "sequential"}
    folder = write_skill(skills, "mail", type="composite", sub_skills=sub_skills, routing=routing, data_flow=flow)
    output = {"type": "object", "properties": {"urgent": {"type": "array"}}, "required": ["urgent"]}
    write_skill(folder / "sub_skills", "sorter", "Sort.", output=output)
    write_skill(folder / "sub_skills", "responder", "Reply.", parameters={"required": ["mails"]})

    def script(received, wire):
        if "response_format" not in received.json:
            return json_answer(openai_completion("Drafted."))
        words = {"urgent": ["m1"], "summary": "Done.", "user_message": "All done.", "steps": []}
        return json_answer(openai_completion(json.dumps(words)))

    server = serve(script)
    openai_at(server)
    library = SkillLibrary.from_path(skills)
    result = orchestrate("Mailbox", "Sort my mail and reply to it", library, "openai:m", strategy="route", store=place)

    prompts = prompts_of(result.run_id, store=place)

    assert len(server.requests) == 3
    assert sorted(map(rebuilt_texts, every(prompts))) == sorted(map(received_texts, server.requests))
    assert all(prompt.is_proved for prompt in every(prompts))
    assert {"run/subtask-1/step-1", "run/subtask-1/step-2"} <= set(prompts)


def test_a_request_that_was_sent_three_times_is_there_once(serve, openai_at, place):
    answers = iter([503, 529])

    def script(received, wire):
        status = next(answers, 200)
        headers = {"retry-after": "0"}
        return json_answer({} if status > 200 else openai_completion(), status=status, headers=headers)

    server = serve(script)
    openai_at(server)
    result = orchestrate(REPORT, TASK, model="openai:m", strategy="direct", store=place)

    (prompt,) = prompts_of(result.run_id, store=place)["run/subtask-1"]

    assert (len(server.requests), prompt.is_proved) == (3, True)
    assert {json.dumps(received_texts(each)) for each in server.requests} == {
        json.dumps([list(each) for each in rebuilt_texts(prompt)])
    }


@pytest.mark.parametrize("refused", ["", "tools"])
def test_a_model_that_takes_no_tools_was_asked_without_them(serve, openai_at, store, refused):
    def script(received, wire):
        if refused and refused in received.json:
            return json_answer({"error": {"message": "m does not support tools"}}, status=400)
        return json_answer(openai_completion("So it says [L5]."))

    server = serve(script)
    openai_at(server)
    result = orchestrate(REPORT, TASK, model="openai:m", strategy="direct", store=store, tools=[look_up])
    assert result.status == "completed"

    prompts = prompts_of(result.run_id, store=store)["run/subtask-1"]

    assert [bool(prompt.tools) for prompt in prompts] == ["tools" in each.json for each in server.requests]
    assert prompts[-1].is_proved
