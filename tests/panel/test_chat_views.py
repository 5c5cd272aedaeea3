"""What the chat shows, by pure functions: turns, cards, bills, charts, settings, progress."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from models_for_tests import AUDITOR, COSTS, REPORT, REVENUE, ScriptedModel, plan_of

from orchestra import Question, compare_strategies, orchestrate
from orchestra.configuration import configure
from orchestra.errors import InputInvalid, ModelTimeout, StoreDamaged
from orchestra.panel.rendering import environment
from orchestra.panel.view.bill import bill_of
from orchestra.panel.view.cards import card_of, decision_of, question_of, words_of_answer
from orchestra.panel.view.chart import WIDTH, chart_of
from orchestra.panel.view.preferences import Preferences, defaults_of, preferences_of_form, read_preferences
from orchestra.panel.view.progress import RunningRun
from orchestra.panel.view.turns import failing_node, page_of, state_of, turn_of
from orchestra.result import UsageReport
from orchestra.store import ApprovalRecord, DocumentRef, NodeRecord, RunRecord

PLAN = plan_of(
    {"task": "What was earned?", "context_pointers": REVENUE},
    {"task": "Why did costs rise?", "context_pointers": COSTS},
    {"task": "Who says so?", "context_pointers": AUDITOR},
)


@pytest.fixture(scope="module")
def result():
    model = ScriptedModel(subtask="Revenue was $40 million [L5].", synthesis="It was $40 million [L5], or $1 [L9].")
    return orchestrate(REPORT, "Tell me.", plan=PLAN, model=model, max_followups=0)


def record(result=None, status="completed", **changes):
    stored = result.model_dump(mode="json") if result is not None else None
    fields = {"id": "r1", "task": "Tell me.", "session_id": "s1", "status": status, "result": stored}
    return RunRecord(**{**fields, "documents": (DocumentRef("report.md", "d"),), "started_at": 5.0, **changes})


# Turns


def test_a_finished_run_shows_its_answer_its_sources_and_a_capsule_that_leads_to_it(result):
    turn = turn_of(record(result), "completed")

    assert 'href="/runs/r1/source?n=1"' in turn.answer
    assert turn.sources_line == "2 sources: 1 verified, 1 unverified"
    assert turn.capsule.startswith("Auto-routed 3 skills · ")
    assert " · all succeeded · " in turn.capsule
    assert turn.href == "/sessions/s1?run=r1&tab=graph"
    assert (turn.failure, turn.is_live, turn.is_resumable) == (None, False, False)


def test_a_run_that_failed_says_so_in_one_sentence_and_leads_to_the_node():
    model = ScriptedModel(subtask=ModelTimeout("the model took\n longer than 60 s"), synthesis="")
    failed = orchestrate(REPORT, "Tell me.", plan=PLAN, model=model, max_followups=0, max_attempts=1)
    nodes = [
        NodeRecord("run", None, status="failed"),
        NodeRecord("run/subtask-1", "run", status="failed"),
        NodeRecord("run/subtask-1/tool", "run/subtask-1", status="failed"),
        NodeRecord("run/subtask-2", "run", status="completed"),
    ]

    turn = turn_of(record(failed, "failed"), "failed", nodes)

    assert turn.failure.sentence == "The model took longer than 60 s."
    assert turn.failure.href == "/sessions/s1?run=r1&tab=graph&node=run%2Fsubtask-1%2Ftool"
    assert turn.is_resumable


def test_a_run_that_failed_in_part_says_how_much_of_it(result):
    error = {"code": "TIMEOUT", "message": "subtask 2 took too long", "cause": "", "suggestion": ""}
    stored = result.model_dump(mode="json")
    stored["subtasks"][1] |= {"status": "failed", "error": error}

    turn = turn_of(replace(record(result, "partial"), result={**stored, "status": "partial"}), "partial")

    assert turn.failure.sentence == "1 of 3 parts of the task failed: Subtask 2 took too long."
    assert turn.answer


@pytest.mark.parametrize(
    "code", ["SKILL_NOT_FOUND", "CALL_DEPTH_EXCEEDED", "CALL_CYCLE_DETECTED", "PERMISSION_DENIED", "TIMEOUT"]
)
def test_each_class_of_errors_is_a_sentence_without_its_code(code):
    error = {"code": code, "message": f"what {code.lower()} means", "cause": "the cause", "suggestion": "do this"}

    turn = turn_of(record(status="failed", error=error), "failed", [NodeRecord("run/plan", "run", status="failed")])

    assert turn.failure.sentence == f"What {code.lower()} means."
    assert turn.failure.href.endswith("&tab=graph&node=run%2Fplan")


@pytest.mark.parametrize("name", ["openai:m", "run/plan"])
def test_the_name_of_a_model_or_node_is_written_as_it_is(name):
    error = {"code": "MODEL_BAD_REQUEST", "message": f"{name} did not answer", "cause": "", "suggestion": ""}

    turn = turn_of(record(status="failed", error=error), "failed")

    assert turn.failure.sentence == f"{name} did not answer."


def test_a_run_that_was_ended_says_that_and_can_be_resumed():
    turn = turn_of(record(status="cancelled", error={"code": "CANCELLED", "message": "ended"}), "cancelled")

    assert turn.failure.sentence == "This run was ended before it was done."
    assert turn.is_resumable


def test_a_result_of_another_version_is_no_reason_to_show_nothing():
    turn = turn_of(replace(record(), result={"what": "ever"}), "completed")

    assert (turn.answer, turn.capsule, turn.task) == (None, "", "Tell me.")


def test_hidden_characters_of_others_are_spelt_out(result):
    turn = turn_of(record(result, task="to \u202e evil", documents=(DocumentRef("a\u200b.md", "d"),)), "completed")

    assert turn.task == "to ‹U+202E› evil"
    assert turn.documents == ("a‹U+200B›.md",)


@pytest.mark.parametrize(
    ("status", "is_held", "has_questions", "state"),
    [
        ("running", True, False, "running"),
        ("running", False, False, "interrupted"),
        ("waiting", False, True, "waiting"),
        ("waiting", False, False, "answered"),
        ("waiting", True, False, "running"),
        ("completed", False, False, "completed"),
        ("cancelled", False, True, "cancelled"),
    ],
)
def test_how_a_run_stands_follows_from_what_is_on_record(status, is_held, has_questions, state):
    assert state_of(record(status=status), is_held=is_held, has_questions=has_questions) == state


def test_pages_of_runs_with_and_without_a_session():
    assert page_of("r", "", tab="graph") == "/runs/r?tab=graph"
    assert page_of("r", "my talks") == "/sessions/~bXkgdGFsa3M?run=r"


def test_where_nothing_failed_there_is_no_failing_node():
    assert failing_node([NodeRecord("run", None, status="completed")]) == ""


# Charts and bills


def test_the_chart_holds_the_run_to_other_ways_by_length(result):
    chart = chart_of(result)

    ours, one_call, fanout, _ = chart.bars
    assert ours.is_ours
    assert ours.tokens == result.usage.total_input_tokens
    assert (one_call.tokens, fanout.tokens) == (
        result.savings.one_call.usage.total_input_tokens,
        result.savings.fanout.usage.total_input_tokens,
    )
    assert max(bar.width for bar in chart.bars) == WIDTH
    assert ours.width / fanout.width == pytest.approx(ours.tokens / fanout.tokens, rel=0.01)


def test_the_chart_leaves_out_what_the_skills_around_the_task_used_and_says_so(result):
    layers = UsageReport(model=result.usage.subtasks.model, calls=1, input_tokens=840)

    around = result.model_copy(update={"usage": result.usage.model_copy(update={"layers": layers})})

    assert chart_of(around).bars == chart_of(result).bars
    assert chart_of(around).summary.startswith(f"{chart_of(result).summary}; 840 more for the skills around the task")


def test_the_drawing_is_xml_without_styles_and_says_itself_in_words(result):
    turn = turn_of(record(result), "completed")

    html = environment().get_template("parts/chart.html").render(turn=turn, rid="r1")

    drawing = ElementTree.fromstring(html[html.index("<svg") : html.index("</svg>") + 6])
    assert len(drawing.findall("rect")) == 4
    assert "this run: " in drawing.find("desc").text
    assert "style=" not in html
    assert f"{result.usage.total_input_tokens:,}" in html[html.index("<table") :]


def test_the_bill_marks_the_strategy_that_would_be_taken():
    report = compare_strategies(REPORT, "What was revenue?", model=ScriptedModel())

    bill = bill_of(report)

    assert [row.strategy for row in bill.rows] == ["direct", "full", "outline"]
    assert [row.is_chosen for row in bill.rows] == [True, False, False]
    assert bill.headline == f"direct · 1 call · about {bill.rows[0].tokens_in:,} tokens in · price unknown"


def test_a_route_has_no_bill_and_says_why():
    report = compare_strategies(REPORT, "What was revenue?", model=ScriptedModel(), strategy="route")

    assert (bill_of(report).rows, bill_of(report).headline) == ((), "route")


# Cards

SHOWN = {"task": "Why?\nSay all.", "count": 3, "deep": {"a": [1]}, "fixed": "x"}
ASKED = Question("approval", "run/subtask-1", "May it?", SHOWN, editable=("task", "count", "deep"))


def asked(question=ASKED, **changes):
    fields = {"run_id": "r", "node_id": question.node_id, "kind": question.kind, "title": question.title}
    fields |= {"shown": question.to_dict(), "digest": question.digest, "asked_at": 1.0}
    return ApprovalRecord(**{**fields, **changes})


def form_as_shown():
    return {field.name: field.text.replace("\n", "\r\n") for field in card_of(asked()).fields if field.name}


def test_a_card_shows_everything_and_offers_to_edit_what_may_be_changed():
    card = card_of(asked())

    assert [(field.key, bool(field.name), field.is_json) for field in card.fields] == [
        ("task", True, False),
        ("count", True, True),
        ("deep", True, True),
        ("fixed", False, False),
    ]
    assert json.loads(card.fields[2].text) == {"a": [1]}


def test_a_form_that_comes_back_as_it_was_is_a_plain_approval():
    decision = decision_of(ASKED, {"outcome": "approved", **form_as_shown()})

    assert (decision.outcome, decision.edited) == ("approved", None)


def test_an_edit_is_laid_over_what_was_shown():
    decision = decision_of(ASKED, {"outcome": "approved", **form_as_shown(), "edit-0": "How?", "edit-1": "4"})

    assert decision.outcome == "edited"
    assert decision.edited == {**SHOWN, "task": "How?", "count": 4}


@pytest.mark.parametrize(
    "form",
    [
        {"outcome": "approved", "edit-1": "{"},
        {"outcome": "approved", "edit-1": '"three"'},
        {"outcome": "approved", "edit-2": "[1]"},
        {"outcome": "approved", "edit-3": "changed"},
        {"outcome": "approved", "edit-0": "  "},
        {"outcome": "approved", "edited": "[]"},
        {"outcome": "edited", "edited": '{"new": 1}'},
        {"outcome": "answered", "text": "yes"},
        {"outcome": "perhaps"},
        {},
    ],
)
def test_what_does_not_answer_the_question_decides_nothing(form):
    with pytest.raises(InputInvalid):
        decision_of(ASKED, form)


def test_a_rejection_has_its_reason_and_no_edits():
    decision = decision_of(ASKED, {"outcome": "rejected", "reason": " no ", "edit-0": "changed"})

    assert (decision.outcome, decision.reason, decision.edited) == ("rejected", "no", None)


def test_words_are_those_of_the_button_or_those_that_were_typed():
    question = Question("ask_user", "run/a", "Which?", options=("red", "blue"))

    assert decision_of(question, {"outcome": "answered", "option": "1", "text": ""}).text == "blue"
    assert decision_of(question, {"outcome": "answered", "text": "green"}).text == "green"


@pytest.mark.parametrize("form", [{"text": " "}, {"option": "2"}, {"option": "-1"}, {"option": "x"}, {}])
def test_no_words_and_no_option_are_no_answer(form):
    question = Question("ask_user", "run/a", "Which?", options=("red", "blue"))

    with pytest.raises(InputInvalid):
        decision_of(question, {"outcome": "answered", **form})


def test_what_no_page_can_hold_is_shown_and_not_taken_for_an_edit():
    question = Question("approval", "run/a", "May \ud800 it?", {"task": "a\ud800\x00b"}, options=("\ud800",))

    card = card_of(asked(question))
    form = {"outcome": "approved", card.fields[0].name: card.fields[0].text}

    assert "".join((card.title, card.fields[0].shown, card.fields[0].text, *card.options)).encode()
    assert decision_of(question, form).outcome == "approved"


def test_a_question_that_was_changed_after_it_was_asked_is_none():
    changed = {**ASKED.to_dict(), "title": "May it not?"}

    with pytest.raises(StoreDamaged):
        question_of(asked(shown=changed))


def test_the_words_of_an_answer_say_what_was_decided():
    assert words_of_answer(asked(outcome="rejected", reason="too\ndear")) == "rejected: too dear"
    assert words_of_answer(asked(outcome="approved")) == "approved"


TEXTS = st.text(st.characters(exclude_categories=("Cs",)), max_size=40)
VALUES = st.recursive(
    TEXTS | st.integers() | st.booleans() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)


@settings(deadline=None, max_examples=50)
@given(st.dictionaries(TEXTS, VALUES, max_size=3))
def test_whatever_is_shown_comes_back_from_its_form_unchanged(shown):
    question = Question("approval", "run/a", "May it?", shown)
    fields = card_of(asked(question)).fields

    form = {field.name: field.text.replace("\r\n", "\n").replace("\n", "\r\n") for field in fields if field.name}

    assert decision_of(question, {"outcome": "approved", **form}).outcome == "approved"


# Settings

DEFAULTS = defaults_of(configure({}, environ={}))


def test_settings_survive_their_cookie_and_are_options_of_a_run():
    preferences = preferences_of_form({"max_depth": "6", "timeout_s": "7.5", "retries": "2"}, DEFAULTS)

    assert read_preferences(preferences.cookie()) == preferences
    assert preferences.options == {"max_depth": 6, "timeout_s": 7.5, "retries": 2}
    assert not preferences.is_panel_kept


def test_what_is_as_configured_is_not_set():
    form = {"max_depth": "4", "timeout_s": "60", "retries": "0", "is_panel_kept": "yes"}

    assert preferences_of_form(form, DEFAULTS) == Preferences()


def test_what_the_environment_says_is_the_default():
    defaults = defaults_of(configure({}, environ={"ORCHESTRA_MAX_DEPTH": "7", "ORCHESTRA_TIMEOUT_S": "9"}))

    assert (defaults["max_depth"].value, defaults["max_depth"].source) == (7, "set in ORCHESTRA_MAX_DEPTH")
    assert defaults["timeout_s"].value == 9
    assert preferences_of_form({"max_depth": "4"}, defaults).max_depth == 4


@pytest.mark.parametrize(
    "form",
    [
        {"max_depth": "9"},
        {"max_depth": "1"},
        {"max_depth": "x"},
        {"retries": "3"},
        {"timeout_s": "-1"},
        {"timeout_s": "nan"},
    ],
)
def test_settings_out_of_range_are_refused(form):
    with pytest.raises(InputInvalid):
        preferences_of_form(form, DEFAULTS)


@pytest.mark.parametrize(
    "cookie",
    [
        None,
        "",
        "x",
        "%7B",
        quote('{"max_depth": 99}'),
        quote('{"max_depth": "4"}'),
        quote('{"retries": 1}') * 99,
        "[" * 390,
    ],
)
def test_a_cookie_that_is_none_of_ours_says_nothing(cookie):
    assert read_preferences(cookie) == Preferences()


@settings(deadline=None)
@given(st.text(max_size=60))
def test_no_cookie_breaks_a_page(cookie):
    kept = read_preferences(cookie)

    assert read_preferences(kept.model_dump_json()) == kept


# Progress


def told(*events):
    run = RunningRun()
    for sequence, event in enumerate(events, start=1):
        run.add({"sequence": sequence, **event})
    return run.progress()


def node(node_id, kind, status):
    return {"type": "skill-route-node-updated", "node_id": node_id, "kind": kind, "status": status}


def delta(text, attempt=1):
    return {"type": "answer-delta", "node_id": "run/synthesis", "text": text, "attempt": attempt}


@pytest.mark.parametrize(
    ("events", "line"),
    [
        ((), "Starting"),
        ((node("run/gate-a", "guarantee", "executing"),), "Checking what is needed"),
        ((node("run/plan", "plan", "executing"),), "Planning"),
        (
            (node("run/subtask-1", "subtask", "completed"), node("run/subtask-2", "subtask", "executing")),
            "Working: 1 of 2 done",
        ),
        (
            (node("run/subtask-1", "subtask", "failed"), node("run/synthesis", "synthesis", "executing")),
            "Joining what was found: 1 of 1 done",
        ),
        ((node("run/subtask-1", "subtask", "confirm_required"),), "Waiting for you: 0 of 1 done"),
        ((node("run/subtask-1", "subtask", "completed"),), "Finishing: 1 of 1 done"),
    ],
)
def test_progress_is_a_phase_and_how_many_are_done(events, line):
    assert told(*events).line == line


def test_another_attempt_begins_the_answer_anew():
    progress = told(delta("One "), delta("two"), delta("Again", attempt=2))

    assert (progress.text, progress.stream, progress.last) == ("Again", "run/synthesis:2", 3)
