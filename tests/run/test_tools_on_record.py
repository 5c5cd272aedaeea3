"""Tools that have run are not run again; one that nobody saw end is only where that does no harm, or a person says so."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from models_for_tests import REPORT, ScriptedModel
from tools_of_a_killable_run import DONE, PLAN, model, tools

from orchestra import orchestrate, resume
from orchestra.errors import InputInvalid
from orchestra.models.protocol import ModelReply, ToolCall, Usage
from orchestra.run.replies import finished_call, reply_payload
from orchestra.runtime.events import EffectReplayed
from orchestra.store import Store

ANSWER = "Revenue was $40 million [1]."


def begin(store, notes, **options):
    return orchestrate(REPORT, "Tell me.", plan=PLAN, model=model(), store=store, tools=tools(notes), **options)


@pytest.fixture
def store_url(tmp_path):
    return f"sqlite:///{tmp_path}/store.db"


@pytest.fixture
def killed(store_url, tmp_path):
    """The notes and the id of a run that was killed when one of its tools had ended and the other had not."""
    notes = tmp_path / "notes"
    script = Path(__file__).with_name("tools_of_a_killable_run.py")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (script.parents[1], script.parents[2])))}
    process = subprocess.Popen(
        [sys.executable, str(script), store_url, str(notes)], stdout=subprocess.PIPE, text=True, env=environment
    )
    run_id = process.stdout.readline().strip()
    assert process.stdout.readline().strip() == run_id
    process.kill()
    process.wait()
    process.stdout.close()
    return notes, run_id


def noted(notes):
    return sorted(notes.read_text().splitlines())


def told(again):
    return [(result.text, result.is_error) for result in again.sent("subtask")[-1].messages[-1].tool_results]


def test_a_finished_run_gives_its_result_with_no_tool_run_again(store_url, tmp_path):
    notes = tmp_path / "notes"
    first = begin(store_url, notes)

    again = resume(first.run_id, store=store_url, model=model(), tools=tools(notes))

    assert (first.answer, again.answer) == (ANSWER, ANSWER)
    assert noted(notes) == ["deliver blue", "look up Brno"]
    assert again.subtasks[0].tool_calls == first.subtasks[0].tool_calls


def test_a_run_waits_for_a_person_before_it_runs_a_tool_again_that_nobody_saw_end(store_url, killed):
    notes, run_id = killed
    again, events = model(), []

    waiting = resume(run_id, store=store_url, model=again, tools=tools(notes), on_event=events.append)

    assert waiting.status == "waiting"
    assert [(each.node_id, each.kind, each.shown["tool"]) for each in waiting.waiting] == [
        ("run/subtask-1/tool-1", "permission", "deliver")
    ]
    assert noted(notes) == ["deliver blue", "look up Brno"]
    replayed = [(event.node_id, event.kind) for event in events if isinstance(event, EffectReplayed)]
    assert replayed == [("run/subtask-1", "model"), ("run/subtask-1/tool-2", "tool")]
    assert again.requests == []


@pytest.mark.parametrize(
    ("says", "text", "runs"),
    [
        (True, "blue is delivered", 2),
        (False, "it is not known whether deliver was done: an earlier process began it, and nobody saw it end", 1),
    ],
)
def test_a_person_says_whether_it_runs_again(store_url, killed, says, text, runs):
    notes, run_id = killed
    again = model()

    result = resume(run_id, store=store_url, model=again, tools=tools(notes), on_approval=lambda question: says)

    assert result.answer == ANSWER
    assert text in told(again)[0][0]
    assert told(again)[1] == ("Brno is there", False)
    assert noted(notes) == [*["deliver blue"] * runs, "look up Brno"]


def test_one_that_is_idempotent_runs_again_unasked(store_url, killed):
    notes, run_id = killed

    result = resume(run_id, store=store_url, model=model(), tools=tools(notes, is_idempotent=True))

    assert result.answer == ANSWER
    assert noted(notes) == ["deliver blue", "deliver blue", "look up Brno"]


def test_a_run_that_is_resumed_needs_its_callables_again(store_url, killed):
    _, run_id = killed

    with pytest.raises(InputInvalid, match="'deliver'"):
        resume(run_id, store=store_url, model=model())


def test_a_failure_is_on_record_too(store_url, tmp_path):
    def deliver(parcel: str) -> str:
        """Deliver it."""
        raise ValueError(f"no {parcel} parcel")

    def look_up(city: str) -> str:
        """Look it up."""
        return city

    first = orchestrate(REPORT, "Tell me.", plan=PLAN, model=model(), store=store_url, tools=[deliver, look_up])

    with Store.open(store_url) as store:
        payloads = {call.node_id: call.payload for call in store.calls(first.run_id) if call.kind == "tool"}
    assert payloads["run/subtask-1/tool-1"]["error"]["message"] == "deliver raised ValueError: no blue parcel"
    assert payloads["run/subtask-1/tool-2"] == {"text": "Brno"}


def test_a_question_of_a_model_can_be_answered_days_later_and_nothing_is_done_again(store_url, tmp_path):
    notes = tmp_path / "notes"
    calls = (ToolCall("c1", "ask_user", {"question": "Which city?"}), ToolCall("c2", "look_up", {"city": "Brno"}))
    asking = ModelReply("", Usage(100, output_tokens=10), tool_calls=calls, stop_reason="tool_use")

    def asks() -> ScriptedModel:
        return ScriptedModel(subtask=lambda request: DONE if request.messages else asking)

    (_, look_up) = tools(notes, needs_delivery=False)
    given = [look_up, "ask_user"]
    waiting = orchestrate(REPORT, "Tell me.", plan=PLAN, model=asks(), store=store_url, tools=given)
    with Store.open(store_url) as store:
        (asked,) = store.approvals(waiting.run_id, "open")
        store.answer(waiting.run_id, asked.node_id, asked.digest, outcome="answered", text="Brno, of course")
    again = asks()
    result = resume(waiting.run_id, store=store_url, model=again, tools=given)

    assert (waiting.status, asked.node_id, asked.kind) == ("waiting", "run/subtask-1/tool-1", "ask_user")
    assert waiting.subtasks[0].tool_calls[0].status == "waiting"
    assert (result.status, result.answer) == ("completed", ANSWER)
    assert told(again) == [("Brno, of course", False), ("Brno is there", False)]
    assert len(again.requests) == 1
    assert noted(notes) == ["look up Brno"]


def test_a_reply_with_calls_comes_back_from_its_record_as_it_was():
    calls = (ToolCall("c1", "deliver", {"parcel": "blue"}), ToolCall("c2", "deliver", {}, fault="cut off"))
    raw = {"model": "m", "content": [{"type": "thinking", "signature": "s"}]}
    reply = ModelReply("", Usage(1, output_tokens=2), tool_calls=calls, stop_reason="tool_use", raw=raw)

    assert finished_call(reply_payload(reply)).reply == reply
