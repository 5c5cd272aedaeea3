"""`orchestra run` and `orchestra plan` against a server that plays the model."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from servers import Received, Wire, json_answer, openai_chunks, openai_stream, sse_answer

TASK = "Who audits the company, what drove the margin, and is it sound?"
FULL = ("--strategy", "full")  # the server is scripted to plan with the whole document in view
PLAN = {
    "reasoning": "One lookup, two questions.",
    "subtasks": [
        {
            "id": "1",
            "task": "Who is the auditor?",
            "skill": "self",
            "answer": "Harrow Pike LLP",
            "context_pointers": {"sections": ["s2"]},
        },
        {
            "id": "2",
            "task": "What drove the margin?",
            "skill": "causal_reasoning",
            "context_pointers": {"sections": ["s4"]},
        },
        {"id": "3", "task": "Is it sound?", "skill": "critique", "context_pointers": {"sections": ["Results"]}},
    ],
}
PLANNING = "You plan how to answer a task"
JOINING = "You join findings into one answer"
REPLIES = {
    PLANNING: json.dumps(PLAN),
    JOINING: "The auditor is Harrow Pike LLP [L7]. The margin rose to 14.2 percent [L15]; it rests on 99 claims [L11].",
    "What drove the margin?": "Stated: freight costs fell [L15].",
    "Is it sound?": "Holds in part [L11].",
}
REFUSED = json_answer({"error": {"message": "no such thing", "type": "invalid_request_error"}}, status=400)


@dataclass
class Provider:
    """What a server was sent, and whether a request that it leaves hanging has come."""

    requests: list[Received]
    is_hanging: threading.Event


@pytest.fixture
def provider(serve, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Provider]:
    """Starts a server whose reply to a prompt is the first entry of `REPLIES` that the prompt holds."""

    def start(**changes: str | bytes | None):
        is_hanging = threading.Event()
        replies = {**REPLIES, **{globals()[name]: reply for name, reply in changes.items()}}

        def script(received: Received, wire: Wire) -> bytes | None:
            prompt = json.dumps(received.json["messages"])
            reply = next(reply for start, reply in replies.items() if start in prompt)
            if reply is None:
                is_hanging.set()
                return wire.hang()
            return reply if isinstance(reply, bytes) else sse_answer(openai_stream(openai_chunks(reply)))

        server = serve(script)
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        monkeypatch.setenv("ORCHESTRA_MODEL", "openai:m-1")
        return Provider(server.requests, is_hanging)

    return start


MARGIN, SOUND = "What drove the margin?", "Is it sound?"


def test_the_answer_and_its_sources_go_to_standard_output(provider, call, report: Path) -> None:
    provider()

    done = call("run", report, TASK, *FULL)

    assert done.exit_code == 0
    assert done.stdout.splitlines() == [
        "The auditor is Harrow Pike LLP [1]. The margin rose to 14.2 percent [2]; it rests on 99 claims [3?].",
        "",
        "Sources",
        '[1] report.md L7 verified "The auditor is Harrow Pike LLP, appointed in 2019."',
        '[2] report.md L15 verified "The margin rose to 14.2 percent because freight costs fell."',
        *[line for line in done.stdout.splitlines() if line.startswith("[3?] report.md L11 unverified")],
    ]


def test_progress_and_the_capsule_go_to_standard_error(provider, call, report: Path) -> None:
    provider()

    done = call("run", report, TASK, *FULL)

    lines = done.stderr.splitlines()
    assert lines[0] == "model: openai:m-1"
    assert [line.split("  ")[0] for line in lines[1:-1]] == [
        "completed: plan",
        *sorted(
            [
                "completed: subtask-2 [causal-reasoning] What drove the margin?",
                "completed: subtask-3 [critique] Is it sound?",
            ],
            key=[line.split("  ")[0] for line in lines].index,
        ),
        "completed: synthesis",
    ]
    assert lines[-1].startswith("routed 2 skills · 1 self-answered · ")
    assert " · all succeeded · 400 tokens in (" in lines[-1]


def test_quiet_leaves_standard_error_empty(provider, call, report: Path) -> None:
    provider()

    done = call("run", report, TASK, *FULL, "--quiet")

    assert (done.exit_code, done.stderr) == (0, "")


def test_json_is_the_whole_result_and_reads_back(provider, call, report: Path) -> None:
    from orchestra import Result

    provider()

    done = call("run", report, TASK, *FULL, "--json", "--quiet")

    result = Result.model_validate_json(done.stdout)
    assert (result.status, result.delegated, result.self_answered) == ("completed", 2, 1)
    assert [citation.status for citation in result.citations] == ["verified", "verified", "unverified"]


def test_output_writes_the_answer_to_a_file(provider, call, report: Path, tmp_path: Path) -> None:
    provider()

    done = call("run", report, TASK, *FULL, "--output", tmp_path / "answer.md", "--quiet")

    assert (done.exit_code, done.stdout) == (0, "")
    assert (tmp_path / "answer.md").read_text(encoding="utf-8").startswith("The auditor is Harrow Pike LLP [1].")


def test_output_into_a_folder_that_is_not_there_is_noticed_before_anything_is_sent(
    provider, call, report: Path
) -> None:
    sent = provider()

    done = call("run", report, TASK, *FULL, "--output", report.parent / "none" / "answer.md")

    assert done.exit_code == 2
    assert sent.requests == []


def test_a_failed_subtask_makes_a_partial_answer_and_exit_code_3(provider, call, report: Path) -> None:
    provider(SOUND=REFUSED)

    done = call("run", report, TASK, *FULL)

    assert done.exit_code == 3
    assert "The auditor is Harrow Pike LLP [1]." in done.stdout
    assert "orchestra: subtask 3: MODEL_BAD_REQUEST: " in done.stderr
    assert " · 1 of 2 succeeded · " in done.stderr.splitlines()[-1]


def test_a_planner_that_fails_is_an_error_and_exit_code_1(provider, call, report: Path) -> None:
    provider(PLANNING=REFUSED)

    done = call("run", report, TASK, *FULL)

    assert (done.exit_code, done.stdout) == (1, "")
    assert "orchestra: MODEL_BAD_REQUEST: " in done.stderr.splitlines()[-2]
    assert "Traceback" not in done.stderr


def test_debug_shows_a_reply_that_is_no_plan(provider, call, report: Path) -> None:
    provider(PLANNING="I would rather not.")

    done = call("run", report, TASK, *FULL, "--debug")

    assert done.exit_code == 1
    assert "what the model replied:\nI would rather not." in done.stderr
    assert "orchestra: PLAN_INVALID: " in done.stderr


def test_a_run_without_any_answer_is_exit_code_1(provider, call, report: Path) -> None:
    plan = {**PLAN, "subtasks": PLAN["subtasks"][1:]}
    provider(PLANNING=json.dumps(plan), MARGIN=REFUSED, SOUND=REFUSED)

    done = call("run", report, TASK, *FULL)

    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr.count("MODEL_BAD_REQUEST") >= 2
    assert " · failed · " in done.stderr.splitlines()[-1]


def test_a_synthesis_that_fails_leaves_the_findings(provider, call, report: Path) -> None:
    provider(JOINING=REFUSED)

    done = call("run", report, TASK, *FULL)

    assert done.exit_code == 3
    assert "Stated: freight costs fell [" in done.stdout
    assert "orchestra: MODEL_BAD_REQUEST: " in done.stderr


def test_what_a_model_says_does_not_reach_the_terminals_controls(provider, call, report: Path) -> None:
    provider(MARGIN=REFUSED.replace(b"no such thing", b"no \\u001b[2Jthing"))

    done = call("run", report, TASK, *FULL)

    assert "\x1b" not in done.stderr


def test_a_plan_from_a_file_asks_no_planner(provider, call, report: Path, tmp_path: Path) -> None:
    sent = provider()
    (tmp_path / "plan.json").write_text(json.dumps(PLAN), encoding="utf-8")

    done = call("run", report, TASK, *FULL, "--plan", tmp_path / "plan.json")

    assert done.exit_code == 0
    assert [PLANNING in request.body.decode() for request in sent.requests] == [False, False, False]


def test_a_plan_that_was_printed_can_be_run(provider, call, report: Path, tmp_path: Path) -> None:
    sent = provider()

    planned = call("plan", report, TASK, *FULL, "--json")
    (tmp_path / "plan.json").write_text(planned.stdout, encoding="utf-8")
    done = call("run", report, TASK, *FULL, "--plan", tmp_path / "plan.json", "--json", "--quiet")

    assert (planned.exit_code, done.exit_code) == (0, 0)
    assert [subtask["id"] for subtask in json.loads(done.stdout)["subtasks"]] == ["1", "2", "3"]
    assert sum(PLANNING in request.body.decode() for request in sent.requests) == 1


def test_plan_prints_slices_and_the_bill_and_sends_nothing_more(provider, call, report: Path) -> None:
    sent = provider()

    done = call("plan", report, TASK, *FULL)

    assert done.exit_code == 0
    assert len(sent.requests) == 1
    assert "1. [self] Who is the auditor?\n   answer: Harrow Pike LLP [L7]" in done.stdout
    assert "2. [causal-reasoning] What drove the margin?\n   s4: L13-L15 (by id)\n   slice: L13-L15, " in done.stdout
    assert "   Results: L9-L15 (by title)" in done.stdout
    after = done.stdout.partition("Estimated bill\n")[2]
    bill, strategies = (part.splitlines() for part in after.split("\n\nStrategies, as expected before planning\n"))
    assert [line[:22].strip() for line in bill] == [
        "",
        "plan",
        "subtasks",
        "synthesis",
        "this plan",
        "naive fan-out",
        "naive fan-out, cached",
        "one call, everything",
    ]
    assert [line.split()[-5] for line in bill[1:5]] == ["1", "2", "1", "4"]
    assert [line[:22].strip() for line in strategies] == ["", "direct", "* full", "outline", "full: as asked for"]


def test_skills_of_a_folder_are_in_the_catalogue(provider, call, report: Path, tmp_path: Path) -> None:
    sent = provider()
    (tmp_path / "legal-risk").mkdir()
    (tmp_path / "legal-risk" / "SKILL.md").write_text(
        "---\nname: legal-risk\ndescription: Finds legal exposure.\n---\nName it.\n", encoding="utf-8"
    )

    done = call("plan", report, TASK, *FULL, "--skills", tmp_path)

    assert done.exit_code == 0
    assert "- legal-risk: Finds legal exposure." in sent.requests[0].json["messages"][-1]["content"]


def test_an_answer_schema_fills_data(provider, call, report: Path, tmp_path: Path) -> None:
    provider(
        JOINING=json.dumps({"answer": "The auditor is Harrow Pike LLP [L7].", "data": {"auditor": "Harrow Pike LLP"}})
    )
    schema = {"type": "object", "properties": {"auditor": {"type": "string"}}, "required": ["auditor"]}
    (tmp_path / "schema.json").write_text(json.dumps(schema), encoding="utf-8")

    done = call("run", report, TASK, *FULL, "--answer-schema", tmp_path / "schema.json")

    assert done.exit_code == 0
    assert 'Data\n{\n  "auditor": "Harrow Pike LLP"\n}\n\nSources\n[1] ' in done.stdout


@pytest.mark.parametrize(("content", "reason"), [("{", "is not JSON"), ("[]", "holds no JSON object")])
def test_a_schema_file_that_holds_none_is_a_usage_error(
    call, report: Path, tmp_path: Path, content: str, reason: str
) -> None:
    (tmp_path / "schema.json").write_text(content, encoding="utf-8")

    done = call("run", report, TASK, *FULL, "--answer-schema", tmp_path / "schema.json")

    assert done.exit_code == 2
    assert reason in done.stderr


def test_an_unknown_model_is_a_usage_error(call, report: Path) -> None:
    done = call("run", report, TASK, *FULL, "--model", "claude-sonnet-5-5")

    assert done.exit_code == 2
    assert "anthropic:claude-sonnet-5-5" in done.stderr.splitlines()[-1]


@pytest.mark.parametrize(("hanging", "code"), [("SOUND", 3), ("PLANNING", 130)])
def test_an_interrupt_gives_what_is_finished(provider, report: Path, hanging: str, code: int) -> None:
    sent = provider(**{hanging: None})
    command = [sys.executable, "-m", "orchestra", "run", str(report), TASK, *FULL, "--max-workers", "1"]

    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    has_come = sent.is_hanging.wait(timeout=30)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)

    assert has_come
    assert process.returncode == code
    assert ("Stated: freight costs fell" in out) == (code == 3)
    assert "Traceback" not in err


def test_the_plan_of_a_route_is_shown_beside_the_strategies_and_is_none_of_them(call, report, tmp_path, monkeypatch):
    skill = tmp_path / "skills" / "audit-report" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: audit-report\ndescription: Tells who audits the company.\n---\nSay who audits.\n")
    monkeypatch.setenv("ORCHESTRA_STRATEGY", "route")

    done = call("plan", report, "Who audits the company?", "--skills", skill.parents[1], "--json")

    planned = json.loads(done.stdout)
    assert [subtask["skill"] for subtask in planned["subtasks"]] == ["audit-report"]
    assert planned["strategy"]["chosen"] == "route"
    assert planned["bill"][0] == {
        "name": "plan",
        "calls": 0,
        "input_tokens": 0,
        "cached_input_tokens": 0,
        "output_tokens": 0,
        "cost_usd": 0.0,
    }
