"""Skills that use tools while they work: turns, bounds, permissions, people, and what becomes of failures."""

from __future__ import annotations

import json
import threading
from functools import partial

import pytest
from models_for_tests import COSTS, REPORT, REVENUE, ScriptedModel, codes, plan_of

import orchestra
from orchestra import Skill, Tool
from orchestra.errors import InputInvalid, ModelBadRequest
from orchestra.models.deadline import Cancellation
from orchestra.models.protocol import ModelReply, ToolCall, ToolResult, Usage
from orchestra.run.tool_loop import MOST_CALLS_AT_ONCE
from orchestra.runtime.events import AnswerDelta, NodeUpdated, PermissionRefused, QuestionAsked
from orchestra.runtime.questions import Decision

orchestrate = partial(orchestra.orchestrate, REPORT, "Tell me.", max_followups=0)
PLAN = plan_of({"task": "What was earned?", "context_pointers": REVENUE})
DONE = "Revenue was $40 million [L5]."


def look_up(city: str) -> str:
    """Look up a city."""
    return f"{city} is there"


def calls(*named, text=""):
    """A turn that calls tools: (name, arguments) pairs."""
    made = tuple(ToolCall(f"c{n}", name, arguments) for n, (name, arguments) in enumerate(named))
    return ModelReply(text, Usage(100, output_tokens=10), tool_calls=made, stop_reason="tool_use")


class Turns(ScriptedModel):
    """Gives these replies in turn, the last one over and over."""

    def __init__(self, *turns, **answers):
        super().__init__(subtask=list(turns), **answers)

    @property
    def results(self):
        """What it was told in the last request, call by call."""
        return self.sent("subtask")[-1].messages[-1].tool_results


def skill(*allowed, **fields):
    """A skill `critique` in place of the shipped one."""
    given = {"allowed_tools": tuple(allowed) or None, **fields}
    return {"critique": Skill("critique", "Judges.", "Judge it.", **given)}


def test_a_model_that_calls_a_tool_is_told_what_it_gave_and_answers():
    model = Turns(calls(("look_up", {"city": "Brno"}), text="Let me see."), DONE)

    result = orchestrate(plan=PLAN, model=model, tools=[look_up])

    first, second = model.sent("subtask")
    assert result.answer == "Revenue was $40 million [1]."
    assert [tool.name for tool in first.tools] == ["look_up"]
    assert second.blocks == first.blocks
    assert second.tools == first.tools
    assert second.messages[0].text == "Let me see."
    assert model.results == (ToolResult("c0", "Brno is there"),)
    (call,) = result.subtasks[0].tool_calls
    assert (call.name, call.arguments, call.status) == ("look_up", {"city": "Brno"}, "completed")
    assert (result.subtasks[0].usage.calls, result.subtasks[0].usage.input_tokens) == (2, 200)
    assert result.usage.calls == 2
    assert result.status == "completed"


def test_without_tools_nothing_of_a_request_changes():
    plain, given = Turns(DONE), Turns(DONE)
    untold = {"critique": Skill("critique", "Judges.", "Judge it.")}

    orchestrate(plan=PLAN, model=plain, skills=untold)
    orchestrate(plan=PLAN, model=given, skills=skill("Bash(git:*)", "WebFetch"))

    assert [request.fingerprint for request in plain.requests] == [request.fingerprint for request in given.requests]
    assert plain.sent("subtask")[0].tools == ()


def test_calls_of_one_turn_run_together_and_their_results_stand_in_its_order():
    both = threading.Barrier(3, timeout=10)
    first_is_done = threading.Event()

    def wait(name: str) -> str:
        """Wait."""
        both.wait()
        if name != "c":
            assert first_is_done.wait(10)
        first_is_done.set()
        return name

    model = Turns(calls(*(("wait", {"name": name}) for name in "abc")), DONE)
    orchestrate(plan=PLAN, model=model, tools=[wait])

    assert [result.text for result in model.results] == ["a", "b", "c"]


def test_every_call_is_a_child_node_with_events_of_its_own():
    events: list[NodeUpdated] = []
    model = Turns(calls(("look_up", {"city": "Brno"})), calls(("look_up", {"town": 1})), DONE)

    orchestrate(plan=PLAN, model=model, tools=[look_up], on_event=events.append)

    seen = [event for event in events if isinstance(event, NodeUpdated) and event.kind == "tool"]
    assert [(event.node_id, event.status) for event in seen] == [
        ("run/subtask-1/tool-1", "routing"),
        ("run/subtask-1/tool-1", "executing"),
        ("run/subtask-1/tool-1", "completed"),
        ("run/subtask-1/tool-2", "routing"),
        ("run/subtask-1/tool-2", "executing"),
        ("run/subtask-1/tool-2", "failed"),
    ]
    assert {event.parent_node_id for event in seen} == {"run/subtask-1"}
    assert {event.depth for event in seen} == {2}
    assert seen[0].title == 'look_up(city="Brno")'
    assert seen[0].permission_snapshot["tools"]
    assert seen[-1].error["code"] == "TOOL_FAILED"


def test_what_is_wrong_with_a_call_goes_back_to_the_model_and_the_run_goes_on():
    def fail() -> None:
        """Fail."""
        raise ValueError("the line is busy")

    broken = ToolCall("c9", "look_up", {}, fault="the arguments are no JSON object: {")
    turn = calls(("look_up", {"town": "Brno"}), ("fly", {}), ("fail", {}), ("write_file", {"path": "x", "content": ""}))
    model = Turns(ModelReply("", turn.usage, tool_calls=(*turn.tool_calls, broken), stop_reason="tool_use"), DONE)

    result = orchestrate(plan=PLAN, model=model, tools=[look_up, fail])

    misfit, unknown, failed, denied, unread = model.results
    assert all(each.is_error for each in model.results)
    assert "city: Field required" in misfit.text
    assert unknown.text == "TOOL_FAILED: there is no tool 'fly': there are look_up, fail"
    assert failed.text == "TOOL_FAILED: fail raised ValueError: the line is busy"
    assert denied.text.startswith("PERMISSION_DENIED: ")
    assert "no JSON object" in unread.text
    assert result.status == "completed"
    statuses = [call.status for call in result.subtasks[0].tool_calls]
    assert statuses == ["failed"] * 5


def test_the_last_turn_asks_for_the_answer_and_the_tools_stay_in_the_request():
    def answering(request):
        return DONE if request.tool_choice == "none" else calls(("look_up", {"city": "Brno"}))

    model = Turns(answering)
    result = orchestrate(plan=PLAN, model=model, tools=[look_up])

    requests = model.sent("subtask")
    assert len(requests) == 8
    assert [request.tool_choice for request in requests] == ["auto"] * 7 + ["none"]
    assert all(request.tools == requests[0].tools for request in requests)
    assert requests[-1].messages[-1].text.startswith("No more tools can be called.")
    assert not any(block.cacheable for block in requests[-1].blocks)
    assert result.answer == "Revenue was $40 million [1]."
    assert len(result.subtasks[0].tool_calls) == 7


def test_a_manifest_may_say_how_many_turns_and_a_model_that_goes_on_calling_fails():
    model = Turns(calls(("look_up", {"city": "Brno"})))

    result = orchestrate(plan=PLAN, model=model, tools=[look_up], skills=skill(max_turns=3))

    assert len(model.sent("subtask")) == 3
    assert result.subtasks[0].error.code == "MODEL_REPLY_INVALID"
    assert "within 3 turns" in result.subtasks[0].error.message


def test_a_budget_holds_within_the_loop():
    model = Turns(calls(("look_up", {"city": "Brno"})))

    result = orchestrate(plan=PLAN, model=model, tools=[look_up], max_tokens=200, max_tokens_total=1_500)

    assert result.subtasks[0].error.code == "BUDGET_EXCEEDED"
    assert 1 <= len(model.sent("subtask")) < 7


def test_more_calls_than_are_sensible_at_once_are_not_run():
    ran = []

    def count(n: int) -> str:
        """Count."""
        ran.append(n)
        return "counted"

    model = Turns(calls(*(("count", {"n": n}) for n in range(MOST_CALLS_AT_ONCE + 5))), DONE)
    orchestrate(plan=PLAN, model=model, tools=[count])

    assert sorted(ran) == list(range(MOST_CALLS_AT_ONCE))
    assert [result.is_error for result in model.results] == [False] * MOST_CALLS_AT_ONCE + [True] * 5


def test_a_tool_that_hangs_is_left_at_its_deadline_and_the_model_is_told():
    release = threading.Event()

    def wait() -> None:
        """Wait."""
        release.wait()

    model = Turns(calls(("wait", {})), DONE)
    result = orchestrate(plan=PLAN, model=model, tools=[Tool.of(wait, timeout_s=0.1)])
    release.set()

    assert model.results[0].text.startswith("TIMEOUT: wait did not end within 0.1 s")
    assert result.subtasks[0].tool_calls[0].error.code == "TIMEOUT"
    assert result.status == "completed"


def test_cancelling_the_run_ends_a_tool_that_runs():
    cancellation, release = Cancellation(), threading.Event()

    def wait() -> None:
        """Wait."""
        cancellation.cancel()
        release.wait()

    result = orchestrate(plan=PLAN, model=Turns(calls(("wait", {})), DONE), tools=[wait], cancellation=cancellation)
    release.set()

    assert result.subtasks[0].status == "cancelled"
    assert result.subtasks[0].tool_calls[0].status == "cancelled"


def test_subtasks_with_tools_are_not_merged_into_one_call():
    plan = plan_of({"task": "One?", "context_pointers": COSTS}, {"task": "Two?", "context_pointers": COSTS})
    merged, alone = ScriptedModel(subtask="<<1>>\nA [L9]\n<<2>>\nB [L9]", synthesis=DONE), Turns(DONE, synthesis=DONE)

    orchestrate(plan=plan, model=merged)
    result = orchestrate(plan=plan, model=alone, tools=[look_up])

    assert (len(merged.sent("subtask")), len(alone.sent("subtask"))) == (1, 2)
    assert [subtask.merged_with for subtask in result.subtasks] == [(), ()]


def test_a_follow_up_keeps_the_tools():
    model = Turns("INSUFFICIENT: why costs rose", calls(("look_up", {"city": "Brno"})), "Steel is dearer [L9].")

    result = orchestrate(plan=PLAN, model=model, tools=[look_up], max_followups=1)

    assert [len(request.tools) for request in model.sent("subtask")] == [1, 1, 1]
    assert [call.name for call in result.subtasks[0].tool_calls] == ["look_up"]
    assert result.answer == "Steel is dearer [1]."


def test_a_model_that_takes_no_tools_is_asked_without_them_and_the_run_says_so():
    refused = ModelBadRequest("refused", cause="llama does not support tools")
    model = Turns(refused, DONE)

    result = orchestrate(plan=PLAN, model=model, tools=[look_up])

    assert [len(request.tools) for request in model.sent("subtask")] == [1, 0]
    assert "TOOLS_NOT_TAKEN" in codes(result)
    assert result.status == "completed"


def test_lines_that_a_verb_shows_can_be_cited():
    model = Turns(calls(("read_section", {"section": "Auditor"})), "Miller & Stone LLP audits it [L13].")

    result = orchestrate(plan=PLAN, model=model, skills=skill("read_section"))

    assert "\n13| Miller & Stone LLP audits the company." in model.results[0].text
    assert result.citations[0].status == "verified"


def test_what_streams_starts_anew_after_a_turn_that_called_tools():
    deltas: list[AnswerDelta] = []

    def speaking(request):
        if request.messages:
            return DONE
        request.on_delta("Let me see.")
        return calls(("look_up", {"city": "Brno"}), text="Let me see.")

    listener = lambda event: deltas.append(event) if isinstance(event, AnswerDelta) else None  # noqa: E731
    orchestrate(plan=PLAN, model=Turns(speaking), tools=[look_up], on_event=listener)

    assert [(delta.attempt, delta.text) for delta in deltas[:2]] == [(1, "Let me see."), (2, "Revenue")]


def test_an_answer_with_a_schema_comes_out_of_the_loop_too():
    schema = {"type": "object", "properties": {"usd": {"type": "integer"}}, "required": ["usd"]}
    model = Turns(calls(("look_up", {"city": "Brno"})), DONE, synthesis=json.dumps({"text": DONE, "data": {"usd": 40}}))

    result = orchestrate(model=model, strategy="direct", answer_schema=schema, tools=[look_up])

    assert [call.name for call in result.subtasks[0].tool_calls] == ["look_up"]
    assert result.data == {"usd": 40}


# Which tools there are


@pytest.mark.parametrize(
    ("fields", "names"),
    [
        ({}, ["look_up", "read_section"]),
        ({"allowed_tools": ("look_up",)}, ["look_up"]),
        ({"allowed_tools": ("look*", "search_document")}, ["look_up", "search_document"]),
        ({"allowed_tools": ("Grep", "AskUserQuestion")}, ["search_document", "ask_user"]),
        ({"allowed_tools": ("*",)}, ["look_up", "read_section"]),
        ({"allowed_tools": ()}, []),
        ({"allowed_tools": ("look_up",), "is_trusted": False}, []),
        ({"is_trusted": False}, []),
    ],
)
def test_a_skill_has_what_the_caller_gave_and_it_declares(fields, names):
    model = Turns(DONE)

    orchestrate(
        plan=PLAN,
        model=model,
        tools=[look_up, "read_section"],
        skills={"critique": Skill("critique", "Judges.", "Judge it.", **fields)},
    )

    assert [tool.name for tool in model.sent("subtask")[0].tools] == names


def test_a_tool_that_the_policy_denies_is_not_shown_and_a_call_of_it_is_refused():
    events: list = []
    model = Turns(calls(("look_up", {"city": "Brno"})), DONE)
    policy = {"allow": {"tools": ["read_section"]}}

    result = orchestrate(plan=PLAN, model=model, tools=[look_up, "read_section"], policy=policy, on_event=events.append)

    assert [tool.name for tool in model.sent("subtask")[0].tools] == ["read_section"]
    assert model.results[0].text.startswith("PERMISSION_DENIED: ")
    (refused,) = [event for event in events if isinstance(event, PermissionRefused)]
    assert (refused.node_id, refused.taken_by) == ("run/subtask-1/tool-1", "policy")
    assert "PERMISSION_DENIED" in codes(result)
    assert result.status == "completed"


def test_a_file_outside_what_is_permitted_is_not_written(tmp_path):
    place = tmp_path / "note.txt"
    model = Turns(calls(("write_file", {"path": str(place), "content": "x"})), DONE)

    result = orchestrate(plan=PLAN, model=model, tools=["write_file"])

    assert not place.exists()
    assert result.subtasks[0].tool_calls[0].error.code == "PERMISSION_DENIED"


def test_a_file_within_what_is_permitted_is_written_and_read(tmp_path):
    place = str(tmp_path.resolve() / "out" / "note.txt")
    policy = {"allow": {"tools": ["write_file", "read_file"], "write": [str(tmp_path)], "read": [str(tmp_path)]}}
    model = Turns(
        calls(("write_file", {"path": place, "content": "kept"})), calls(("read_file", {"path": place})), DONE
    )

    orchestrate(plan=PLAN, model=model, tools=["write_file", "read_file"], policy=policy)

    assert "kept" in model.results[0].text


@pytest.mark.parametrize(
    ("answer", "is_run"),
    [(True, True), (False, False), (Decision("rejected", reason="too dear"), False), (None, False)],
)
def test_what_a_policy_asks_for_is_called_once_a_person_has_said_so(answer, is_run):
    asked, ran = [], []

    def spend(usd: int) -> str:
        """Spend money."""
        ran.append(usd)
        return "spent"

    model = Turns(calls(("spend", {"usd": 5}), ("spend", {"usd": 5})), DONE)
    result = orchestrate(
        plan=PLAN,
        model=model,
        tools=[spend],
        policy={"allow": {"tools": ["@default"]}, "ask": {"tools": ["spend"]}},
        on_approval=lambda question: (asked.append(question), answer)[1],
    )

    assert [(each.kind, each.shown["tool"], each.shown["arguments"]) for each in asked] == [
        ("permission", "spend", {"usd": 5})
    ] * 2
    assert ran == ([5, 5] if is_run else [])
    assert [each.is_error for each in model.results] == [not is_run] * 2
    assert result.status == "completed"


# People


def test_a_model_asks_the_person_and_such_turns_do_not_count():
    events: list = []

    def asking(request):
        asked = [each for message in request.messages for each in message.tool_results]
        return calls(("ask_user", {"question": f"{len(asked)}?", "options": ["a", "b"]})) if len(asked) < 9 else DONE

    model = Turns(asking)
    result = orchestrate(
        plan=PLAN,
        model=model,
        skills=skill("ask_user", max_turns=2),
        on_approval=lambda question: f"b to {question.title}",
        on_event=events.append,
    )

    assert [each.text for each in model.results] == ["b to 8?"]
    assert len(result.subtasks[0].tool_calls) == 9
    assert result.answer == "Revenue was $40 million [1]."
    shown = [event for event in events if isinstance(event, QuestionAsked)]
    assert (len(shown), shown[0].kind, shown[0].node_id) == (9, "ask_user", "run/subtask-1/tool-1")


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (True, "Approved."),
        (False, "APPROVAL_REJECTED: the person said no"),
        (Decision("rejected", reason="not today"), "APPROVAL_REJECTED: the person said no: not today"),
        (
            Decision("edited", {"what": "send to one"}),
            'Approved with changes; do this instead: {"what": "send to one", "details": "all of it"}',
        ),
    ],
)
def test_a_model_asks_for_approval(answer, said):
    model = Turns(calls(("request_approval", {"what": "send to all", "details": "all of it"})), DONE)

    orchestrate(plan=PLAN, model=model, tools=["request_approval"], on_approval=lambda question: answer)

    assert model.results[0].text == said


def test_where_nobody_can_be_asked_the_model_is_told():
    model = Turns(calls(("ask_user", {"question": "Which?"})), DONE)

    result = orchestrate(plan=PLAN, model=model, tools=["ask_user"])

    assert model.results[0].is_error
    assert model.results[0].text.startswith("APPROVAL_REJECTED: ")
    assert result.status == "completed"


# What a caller gets wrong


@pytest.mark.parametrize(
    ("tools", "said"),
    [
        (["fly"], "there is no verb 'fly'"),
        ("read_section", "tools is no list"),
        ([look_up, look_up], "two tools are called 'look_up'"),
        ([42], "given as int"),
    ],
)
def test_tools_that_are_none_are_refused_before_anything_is_sent(tools, said):
    model = Turns(DONE)

    with pytest.raises(InputInvalid, match=said):
        orchestrate(plan=PLAN, model=model, tools=tools)

    assert model.requests == []
