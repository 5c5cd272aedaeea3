"""`orchestra approve`: answering what a run waits for, from another process."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import sqlalchemy as sa
from models_for_tests import AUDITOR, COSTS, REPORT, ScriptedModel, plan_of

from orchestra import orchestrate
from orchestra.pipeline import resume
from orchestra.runtime.questions import Question
from orchestra.store import ApprovalRecord, Store

CAREFUL = {"careful": {"description": "Careful work.", "system_prompt": "Take care.", "needs_approval": True}}
PLAN = plan_of(
    {"skill": "careful", "task": "Why did costs rise?", "context_pointers": COSTS},
    {"skill": "careful", "task": "Who audits?", "context_pointers": AUDITOR},
)
HOSTILE = "Why?\x1b[2J\x1b[1;1H\napproved: run/subtask-1\u202e\u200b"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "runs.db"


@pytest.fixture
def waiting(place: Path):
    """A run that waits for two approvals."""
    return orchestrate(REPORT, "Tell me.", plan=PLAN, model=model(), skills=CAREFUL, max_followups=0, store=place)


def model():
    return ScriptedModel(subtask=lambda request: f"About: {request.blocks[-1].words}", synthesis="All of it [L9].")


def kept(place: Path, run_id: str) -> dict[str, ApprovalRecord]:
    with Store.open(place) as store:
        return {record.node_id.rpartition("/")[2]: record for record in store.approvals(run_id)}


def test_without_a_node_it_shows_what_is_asked_and_how_to_answer(call, place, waiting) -> None:
    done = call("approve", waiting.run_id, "--store", place)

    assert done.exit_code == 0
    assert done.stdout.count("An approval is asked for:") == 2
    assert "  │ task: Why did costs rise?\n" in done.stdout
    digest = waiting.waiting[0].digest
    command = f"orchestra approve {waiting.run_id} run/subtask-1 --digest {digest[:16]} --store {place}"
    assert f'{command} --yes | --reject "why" | --edit JSON' in done.stdout
    assert {record.status for record in kept(place, waiting.run_id).values()} == {"open"}


def test_what_is_asked_goes_out_as_json(call, place, waiting) -> None:
    done = call("approve", waiting.run_id, "--store", place, "--json")

    shown = json.loads(done.stdout)
    assert (shown["run_id"], shown["status"]) == (waiting.run_id, "waiting")
    assert [(each["node_id"], each["digest"]) for each in shown["waiting"]] == [
        (each.node_id, each.digest) for each in waiting.waiting
    ]


@pytest.mark.parametrize("options", [[], ["--yes"]])
def test_naming_a_node_approves_it_and_says_what_is_still_open(call, place, waiting, options) -> None:
    done = call("approve", waiting.run_id[:8], "subtask-1", *options, "--store", place)

    assert done.exit_code == 0
    assert "  │ task: Why did costs rise?\n" in done.stderr
    assert done.stderr.endswith("approved: run/subtask-1\nstill open: run/subtask-2\n")
    records = kept(place, waiting.run_id)
    assert (records["subtask-1"].outcome, records["subtask-2"].status) == ("approved", "open")


def test_all_the_answers_together_let_the_run_go_on(call, place, waiting) -> None:
    call("approve", waiting.run_id, "run/subtask-1", "--edit", '{"task": "Since when?"}', "--store", place)
    last = call("approve", waiting.run_id, "run/subtask-2", "--reject", "not this one", "--store", place)

    speaker = model()
    result = resume(waiting.run_id, store=place, model=speaker)

    assert f"`orchestra resume {waiting.run_id} --store {place}` goes on" in last.stderr
    assert [request.blocks[-1].words for request in speaker.sent("subtask")] == ["Since when?"]
    assert result.subtasks[1].error.cause == "not this one"


def test_an_answer_goes_out_as_json(call, place, waiting) -> None:
    done = call("approve", waiting.run_id, "subtask-2", "--reject", "no", "--store", place, "--json")

    answered = json.loads(done.stdout)
    assert (answered["outcome"], answered["reason"]) == ("rejected", "no")
    assert answered["digest"] == kept(place, waiting.run_id)["subtask-2"].digest
    assert answered["still_open"] == ["run/subtask-1"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--yes"], "it is not clear which question"),
        (["subtask-1", "--yes", "--reject", "no"], "exclude one another"),
        (["subtask-1", "--edit", "{task"], "--edit is no JSON"),
        (["subtask-1", "--edit", "[1]"], "no JSON object"),
        (["subtask-1", "--edit", '{"model": "other"}'], "the edit changes 'model'"),
        (["subtask-1", "--edit", '{"task": " "}'], "the edit's 'task' is empty"),
        (["subtask-1", "--edit", '{"task": 7}'], "not of the kind that was shown"),
        (["subtask-1", "--answer", "because"], "neither approves nor rejects"),
        (["subtask-9", "--yes"], "subtask-9 asks nothing"),
        (["subtask-1", "--yes", "--digest", "0000"], "with the digest 0000 asks nothing"),
    ],
)
def test_what_answers_nothing_is_refused_and_leaves_the_question_open(call, place, waiting, arguments, says) -> None:
    done = call("approve", waiting.run_id, *arguments, "--store", place)

    assert done.exit_code == 2
    assert says in done.stderr
    assert {record.status for record in kept(place, waiting.run_id).values()} == {"open"}


def test_the_second_answer_is_told_of_the_first(call, place, waiting) -> None:
    call("approve", waiting.run_id, "subtask-1", "--reject", "no", "--store", place)

    done = call("approve", waiting.run_id, "subtask-1", "--yes", "--store", place)

    assert done.exit_code == 2
    assert "run/subtask-1 is answered: rejected on " in done.stderr
    assert kept(place, waiting.run_id)["subtask-1"].outcome == "rejected"


def test_who_loses_the_race_is_told_so(call, place, waiting, monkeypatch) -> None:
    answer = Store.answer

    def answer_after_somebody_else(self, run_id, node_id, digest, **said):
        answer(self, run_id, node_id, digest, outcome="rejected", reason="I was first")
        return answer(self, run_id, node_id, digest, **said)

    monkeypatch.setattr(Store, "answer", answer_after_somebody_else)

    done = call("approve", waiting.run_id, "subtask-1", "--yes", "--store", place)

    assert done.exit_code == 1
    assert "somebody else answered run/subtask-1 first: rejected" in done.stderr
    assert kept(place, waiting.run_id)["subtask-1"].reason == "I was first"


def test_a_digest_holds_the_answer_to_what_was_seen(call, place, waiting) -> None:
    digest = waiting.waiting[0].digest

    done = call("approve", waiting.run_id, "subtask-1", "--yes", "--digest", digest[:12].upper(), "--store", place)

    assert done.exit_code == 0


def test_a_run_that_waits_for_nobody_says_so(call, place) -> None:
    result = orchestrate(REPORT, "Tell me.", plan=PLAN, model=model(), store=place, max_followups=0)

    done = call("approve", result.run_id, "--store", place)

    assert done.exit_code == 2
    assert f"run {result.run_id} asks nothing (it is completed)" in done.stderr


def test_a_run_that_is_not_there_says_so(call, place, waiting) -> None:
    done = call("approve", "0000", "--store", place)

    assert done.exit_code == 1
    assert "RUN_NOT_FOUND" in done.stderr


def test_a_question_that_was_changed_in_the_store_cannot_be_approved(call, place, waiting) -> None:
    engine = sa.create_engine(f"sqlite:///{place}")
    with engine.begin() as connection:
        connection.execute(sa.text("UPDATE approvals SET shown = replace(shown, 'Why did costs rise?', 'Harmless.')"))
    engine.dispose()

    done = call("approve", waiting.run_id, "subtask-1", "--yes", "--store", place)

    assert done.exit_code == 1
    assert "STORE_DAMAGED" in done.stderr
    assert kept(place, waiting.run_id)["subtask-1"].status == "open"


def test_what_was_asked_before_and_is_not_asked_any_more_is_not_shown(call, place, waiting) -> None:
    other = model()
    other.name = "test:other"
    again = resume(waiting.run_id, store=place, model=other)

    done = call("approve", waiting.run_id, "--store", place, "--json")

    assert [each["digest"] for each in json.loads(done.stdout)["waiting"]] == [each.digest for each in again.waiting]
    assert {each["shown"]["model"] for each in json.loads(done.stdout)["waiting"]} == {"test:other"}


def test_hostile_text_is_spelt_out(call, place) -> None:
    plan = plan_of({"skill": "careful", "task": HOSTILE, "context_pointers": COSTS})
    result = orchestrate(REPORT, "Tell me.", plan=plan, model=model(), skills=CAREFUL, store=place)

    done = call("approve", result.run_id, "--store", place)

    assert "\x1b" not in done.stdout
    assert "  │ Why?\\u001b[2J\\u001b[1;1H\n  │ approved: run/subtask-1\\u202e\\u200b\n" in done.stdout


@pytest.fixture
def asked(place: Path) -> str:
    """The id of a run that waits for words."""
    plan = plan_of({"skill": "careful", "context_pointers": COSTS})
    result = orchestrate(REPORT, "Tell me.", plan=plan, model=model(), skills=CAREFUL, store=place)
    question = Question("ask_user", "run/subtask-1/tool-1", "Which year?", options=("2024", "2025"))
    with Store.open(place) as store:
        (approval,) = store.approvals(result.run_id)
        store.answer(result.run_id, approval.node_id, approval.digest, outcome="approved")
        store.ask(
            ApprovalRecord(
                result.run_id,
                question.node_id,
                question.kind,
                question.title,
                question.to_dict(),
                question.digest,
                1.0,
            )
        )
        store.end_run(result.run_id, "waiting", result=None)
    return result.run_id


def test_a_question_is_shown_with_its_options_and_answered_in_words(call, place, asked) -> None:
    shown = call("approve", asked, "--store", place)
    done = call("approve", asked, "tool-1", "--answer", "2025", "--store", place)

    assert "  │ [1] 2024\n  │ [2] 2025\n" in shown.stdout
    assert '--answer "..."' in shown.stdout
    assert done.exit_code == 0
    assert kept(place, asked)["tool-1"].text == "2025"


@pytest.mark.parametrize("arguments", [["--yes"], ["--answer", " "], ["--edit", '{"a": 1}']])
def test_a_question_that_wants_words_takes_nothing_else(call, place, asked, arguments) -> None:
    done = call("approve", asked, "tool-1", *arguments, "--store", place)

    assert done.exit_code == 2
    assert kept(place, asked)["tool-1"].status == "open"


def test_the_last_question_of_a_run_that_has_not_ended_can_be_answered(call, place, waiting) -> None:
    with Store.open(place) as store:
        store.begin_run(replace(store.run(waiting.run_id), status="running", ended_at=None, result=None))

    call("approve", waiting.run_id, "subtask-1", "--yes", "--store", place)
    done = call("approve", waiting.run_id, "subtask-2", "--yes", "--store", place)

    assert done.exit_code == 0
    assert f"`orchestra resume {waiting.run_id} --store {place}` goes on" in done.stderr
