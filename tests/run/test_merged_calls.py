"""Subtasks that share skill and slice: one call, and findings as if each had been asked for alone."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from models_for_tests import AUDITOR, COSTS, REPORT, REVENUE, ScriptedModel, codes, plan_of

from orchestra import Document, orchestrate
from orchestra.errors import ModelAuth, ModelRefused, ModelTimeout
from orchestra.models.blocks import Findings, SliceBlock, Task, Tasks
from orchestra.models.deadline import Cancellation
from orchestra.models.protocol import ModelReply, Usage
from orchestra.planning import merging

TWO = plan_of(
    {"task": "Why did costs rise?", "context_pointers": COSTS}, {"task": "Since when?", "context_pointers": COSTS}
)
BOTH = "<<1>>\nSteel became dearer [L9].\n\n<<2>>\nIt does not say.\nINSUFFICIENT: the date"


def said(result):
    return [subtask.reply for subtask in result.subtasks]


def run(plan, model, **options):
    return orchestrate(REPORT, "Tell me.", plan=plan, model=model, max_followups=0, **options)


def test_two_tasks_over_one_slice_are_one_call():
    model = ScriptedModel(subtask=BOTH, synthesis="Steel [L9].")

    result = run(TWO, model)

    (request,) = model.sent("subtask")
    assert request.blocks[-1] == Tasks(("Why did costs rise?", "Since when?"), 2048)
    assert said(result) == ["Steel became dearer [L9].", "It does not say.\nINSUFFICIENT: the date"]
    assert [subtask.merged_with for subtask in result.subtasks] == [("2",), ("1",)]


def test_the_shared_call_is_on_one_bill_only():
    result = run(TWO, ScriptedModel(subtask=BOTH, synthesis="Steel [L9]."))

    assert [subtask.usage.calls for subtask in result.subtasks] == [1, 0]
    assert [subtask.usage.input_tokens for subtask in result.subtasks] == [100, 0]
    assert (result.usage.subtasks.calls, result.usage.subtasks.input_tokens) == (1, 100)


def test_a_part_that_is_missing_is_asked_for_alone_and_only_once():
    model = ScriptedModel(subtask=["<<1>>\nSteel [L9].", "Nothing says when."], synthesis="Steel [L9].")

    result = run(TWO, model)

    assert [request.blocks[-1].kind for request in model.sent("subtask")] == ["tasks", "task"]
    assert said(result) == ["Steel [L9].", "Nothing says when."]
    assert [subtask.usage.calls for subtask in result.subtasks] == [1, 1]


def test_where_all_parts_are_missing_each_is_asked_for_alone():
    model = ScriptedModel(subtask="Steel [L9].", synthesis="Steel [L9].")

    result = run(TWO, model)

    assert len(model.sent("subtask")) == 3
    assert said(result) == ["Steel [L9]."] * 2


def test_the_part_at_which_a_reply_was_cut_off_is_asked_for_alone():
    cut = ModelReply("<<1>>\nSteel [L9].\n<<2>>\nIt is", Usage(100, output_tokens=9), stop_reason="max_tokens")
    model = ScriptedModel(subtask=[cut, "It is since 2025 [L9]."], synthesis="Steel [L9].")

    result = run(TWO, model)

    assert said(result) == ["Steel [L9].", "It is since 2025 [L9]."]
    assert result.status == "completed"


def test_a_merged_call_has_the_time_of_its_parts():
    seconds = []

    def answer(request):
        seconds.append(request.deadline.seconds)
        return "<<1>>\nSteel [L9]."

    run(TWO, ScriptedModel(subtask=answer, synthesis="Steel [L9]."))

    assert seconds == [120, 60]


@pytest.mark.parametrize("error", [ModelRefused("no"), ModelTimeout("slow", is_retryable=False)])
def test_a_call_that_fails_for_what_it_asks_is_made_one_by_one(error):
    model = ScriptedModel(subtask=[error, "Steel [L9]."], synthesis="Steel [L9].")

    result = run(TWO, model)

    assert said(result) == ["Steel [L9]."] * 2
    assert "ASKED_ALONE" in codes(result)


def test_a_call_that_nobody_can_make_fails_for_all_of_its_subtasks():
    model = ScriptedModel(subtask=ModelAuth("401"), synthesis="")

    result = run(TWO, model)

    assert len(model.sent("subtask")) == 1
    assert [subtask.error.code for subtask in result.subtasks] == ["MODEL_AUTH", "MODEL_AUTH"]
    assert result.status == "failed"


def test_what_depends_on_one_of_the_merged_gets_its_finding_only():
    plan = plan_of(
        {"context_pointers": COSTS}, {"context_pointers": COSTS}, {"context_pointers": REVENUE, "depends_on": ["2"]}
    )
    model = ScriptedModel(subtask=[BOTH, "Third."], synthesis="Steel [L9].")

    run(plan, model)

    (shown,) = [block for block in model.sent("subtask")[1].blocks if isinstance(block, Findings)]
    assert [finding.text for finding in shown.findings] == ["It does not say.\nINSUFFICIENT: the date"]


def test_merged_subtasks_all_fail_with_what_they_depend_on():
    plan = plan_of(
        {"context_pointers": AUDITOR},
        {"context_pointers": COSTS, "depends_on": ["1"]},
        {"context_pointers": COSTS, "depends_on": ["1"]},
    )

    result = run(plan, ScriptedModel(subtask=ModelAuth("401"), synthesis=""))

    assert [subtask.error.code for subtask in result.subtasks] == ["MODEL_AUTH"] + ["DEPENDENCY_FAILED"] * 2


def test_cancelling_ends_everyone_who_waits_for_the_shared_call():
    cancellation, asked = Cancellation(), threading.Event()

    def answer(request):
        asked.set()
        cancellation.cancel()
        request.deadline.check()
        return "too late"

    result = run(TWO, ScriptedModel(subtask=answer, synthesis=""), cancellation=cancellation)

    assert asked.is_set()
    assert [subtask.status for subtask in result.subtasks] == ["cancelled", "cancelled"]


class Oracle:
    """Answers every task from its words and its slice alone, merged or not."""

    name = "test:oracle"

    def complete(self, request):
        shown = next(block for block in request.blocks if isinstance(block, SliceBlock)).slice
        last = request.blocks[-1]
        if isinstance(last, Tasks):
            text = "\n".join(f"{last.mark(at)}\n{self._say(words, shown)}" for at, words in enumerate(last.words, 1))
        else:
            assert isinstance(last, Task)
            text = self._say(last.words, shown)
        return ModelReply(text, Usage(100, output_tokens=10))

    def _say(self, words, shown):
        return f"{words} - {len(shown.text)} characters [L{shown.passages[0].first_line}]"


SUBTASKS = st.lists(
    st.builds(
        lambda task, place, skill: {"task": task, "context_pointers": place, "skill": skill},
        st.sampled_from(["What?", "Why?", "When?", "How much?"]),
        st.sampled_from([COSTS, REVENUE, AUDITOR]),
        st.sampled_from(["critique", "summarization"]),
    ),
    min_size=2,
    max_size=6,
)


def alone(monkeypatch):
    monkeypatch.setattr(merging, "MOST_TASKS", 1)


@given(SUBTASKS)
@settings(max_examples=30, deadline=None)
def test_merged_subtasks_give_the_same_findings_as_unmerged_ones(subtasks):
    plan = plan_of(*subtasks)

    merged = run(plan, Oracle(), synthesis_model=ScriptedModel(synthesis="Done."))
    with pytest.MonkeyPatch.context() as monkeypatch:
        alone(monkeypatch)
        unmerged = run(plan, Oracle(), synthesis_model=ScriptedModel(synthesis="Done."))

    assert said(merged) == said(unmerged)
    assert all(not subtask.merged_with for subtask in unmerged.subtasks)


REPORT_FILE = Path(__file__).parents[2] / "examples" / "annual-report.md"
QUESTIONS = [
    "What was total revenue in 2025?",
    "Which risks does the company name?",
    "How did operating margin change?",
    "Who is the chair?",
]


@pytest.fixture(scope="module")
def annual_report():
    return Document.from_path(REPORT_FILE)


@pytest.mark.parametrize("max_tokens", [2048, 60])
@pytest.mark.parametrize("skill", ["fact_extraction", "critique"])
def test_the_built_in_engine_answers_to_the_byte_the_same(monkeypatch, annual_report, skill, max_tokens):
    pointers = {"sections": [], "line_ranges": [[1, 300]]}
    plan = plan_of(*({"task": task, "skill": skill, "context_pointers": pointers} for task in QUESTIONS))
    options = {"plan": plan, "model": "builtin:extractive", "max_tokens": max_tokens}

    merged = orchestrate(annual_report, "Tell me.", **options)
    alone(monkeypatch)
    unmerged = orchestrate(annual_report, "Tell me.", **options)

    assert merged.subtasks[0].merged_with == ("2", "3", "4")
    assert said(merged) == said(unmerged)
    assert merged.answer == unmerged.answer
    assert sorted(codes(merged)) == sorted(codes(unmerged))


def test_merging_saves_the_tokens_of_the_slice(monkeypatch, annual_report):
    plan = plan_of(*({"task": task, "context_pointers": {"line_ranges": [[1, 300]]}} for task in QUESTIONS))
    options = {"plan": plan, "model": "builtin:extractive", "max_followups": 0}

    merged = orchestrate(annual_report, "Tell me.", **options)
    alone(monkeypatch)
    unmerged = orchestrate(annual_report, "Tell me.", **options)

    assert merged.usage.subtasks.input_tokens < 0.5 * unmerged.usage.subtasks.input_tokens
