"""A run as its caller sees it, with models that say what a test needs."""

from __future__ import annotations

import asyncio
import json
import threading
from dataclasses import replace
from functools import partial

import pytest
from models_for_tests import AUDITOR, COSTS, REPORT, REVENUE, ScriptedModel, at, codes, plan_of
from pydantic import BaseModel

import orchestra
from orchestra import Document, Finding, Result, Skill, SkillLibrary, synthesize
from orchestra.document import count_tokens
from orchestra.models.protocol import Usage
from orchestra.planning.costs import request_tokens
from orchestra.runtime.events import AnswerDelta, PlanReady, RouteCompleted, RouteStarted, Warned

# The models here are scripted to plan with the whole document in view.
make_plan = partial(orchestra.make_plan, strategy="full")
orchestrate = partial(orchestra.orchestrate, strategy="full")
orchestrate_async = partial(orchestra.orchestrate_async, strategy="full")


def test_a_lookup_is_answered_by_the_planner_and_an_analysis_goes_out_with_its_slice_only():
    model = ScriptedModel(
        plan=plan_of(
            {"skill": "self", "answer": "Miller & Stone LLP", "context_pointers": AUDITOR},
            {"skill": "causal_reasoning", "context_pointers": COSTS},
        ),
        subtask="Steel became dearer [L9].",
        synthesis="Miller & Stone LLP audits [L13]; costs rose with steel [L9].",
    )

    result = orchestrate(REPORT, "Who audits, and why did costs rise?", model=model)

    assert result.status == "completed"
    assert (result.self_answered, result.delegated) == (1, 1)
    assert result.answer == "Miller & Stone LLP audits [1]; costs rose with steel [2]."
    assert [(c.first_line, c.status) for c in result.citations] == [(13, "verified"), (9, "verified")]
    assert [request.purpose for request in model.requests] == ["plan", "subtask", "synthesis"]
    prompt = model.sent("subtask")[0].prompt
    assert "steel became dearer" in prompt
    assert "Miller" not in prompt
    assert "$40 million" not in prompt


def test_a_self_answer_is_cited_by_code():
    model = ScriptedModel(plan=plan_of({"skill": "self", "answer": "Miller & Stone LLP", "context_pointers": AUDITOR}))

    result = orchestrate(REPORT, "Who audits?", model=model)

    assert result.answer == "Miller & Stone LLP [1]"
    assert result.citations[0].first_line == 13
    assert result.citations[0].status == "verified"
    assert len(model.requests) == 1


def test_a_self_answer_that_the_document_does_not_hold_is_delegated_as_fact_extraction():
    model = ScriptedModel(
        plan=plan_of({"skill": "self", "answer": "Carter Ltd, since 1999", "context_pointers": AUDITOR}),
        subtask="Miller & Stone LLP [L13]",
    )

    result = orchestrate(REPORT, "Who audits?", model=model)

    assert "SELF_ANSWER_UNSUPPORTED" in codes(result)
    assert result.subtasks[0].skill == "fact-extraction"
    assert result.answer == "Miller & Stone LLP [1]"


def test_a_single_finding_is_the_answer_and_streams():
    model = ScriptedModel(plan=plan_of({"context_pointers": COSTS}), subtask="Costs rose [L9].")
    deltas = []

    result = orchestrate(
        REPORT, "Why?", model=model, on_event=lambda e: deltas.append(e.text) if isinstance(e, AnswerDelta) else None
    )

    assert result.answer == "Costs rose [1]."
    assert deltas == ["Costs", "rose", "[L9]."]
    assert model.sent("synthesis") == []


def test_the_planner_s_own_answers_are_joined_without_a_call():
    model = ScriptedModel(
        plan=plan_of(
            {"skill": "self", "task": "Who audits?", "answer": "Miller & Stone LLP", "context_pointers": AUDITOR},
            {"skill": "self", "task": "Revenue?", "answer": "$40 million", "context_pointers": REVENUE},
        )
    )

    result = orchestrate(REPORT, "Who audits, and what was revenue?", model=model)

    assert len(model.requests) == 1
    assert result.answer == "**Who audits?**\nMiller & Stone LLP [1]\n\n**Revenue?**\n$40 million [2]"


@pytest.mark.parametrize(
    "task", ["Who audits the company?", "Why did costs rise?", "Who audits, and why did costs rise?"]
)
def test_the_built_in_engine_says_in_every_answer_that_it_does_not_reason(task):
    result = orchestrate(REPORT, task, model="builtin:extractive")

    assert result.answer.count("The built-in engine quotes the document; it does not reason.") == 1


def test_a_dependent_subtask_is_shown_the_replies_it_depends_on_also_the_planner_s_own():
    model = ScriptedModel(
        plan=plan_of(
            {"task": "first", "context_pointers": COSTS},
            {"skill": "self", "answer": "$40 million", "context_pointers": REVENUE},
            {"task": "third", "context_pointers": REVENUE, "depends_on": ["1", "2"]},
        ),
        subtask=lambda request: "reply to third" if "third" in request.prompt else "reply to first",
        synthesis="done",
    )

    orchestrate(REPORT, "Both?", model=model)

    first, third = sorted((request.prompt for request in model.sent("subtask")), key=len)
    assert "reply to first" not in first
    assert "reply to first" in third
    assert "$40 million [L5]" in third


def test_a_plan_that_is_given_skips_the_planner(tmp_path):
    file = tmp_path / "plan.json"
    file.write_text(json.dumps(plan_of({"context_pointers": COSTS})), encoding="utf-8")
    model = ScriptedModel(subtask="Steel [L9].")

    from_file = orchestrate(REPORT, "Why?", model=model, plan=file)
    from_dict = orchestrate(REPORT, "Why?", model=model, plan=plan_of({"context_pointers": COSTS}))
    from_plan = orchestrate(REPORT, "Why?", model=model, plan=from_file.plan)

    assert from_file.answer == from_dict.answer == from_plan.answer == "Steel [1]."
    assert model.sent("plan") == []
    assert from_file.fingerprint == from_dict.fingerprint == from_plan.fingerprint


def test_a_pointer_that_resolves_to_nothing_sends_the_whole_document_and_says_so():
    model = ScriptedModel(plan=plan_of({"context_pointers": at("No such heading at all")}), subtask="x [L9]")

    result = orchestrate(REPORT, "Why?", model=model)

    assert result.subtasks[0].slice.fallback == "full"
    assert result.subtasks[0].slice.line_ranges == ("L1-L13",)
    assert "POINTERS_UNRESOLVED" in codes(result)


def test_a_path_passed_as_text_is_warned_of(tmp_path):
    file = tmp_path / "report.md"
    file.write_text(REPORT, encoding="utf-8")
    model = ScriptedModel(plan=plan_of({}), subtask="x")

    assert "TEXT_IS_A_PATH" in codes(orchestrate(str(file), "Why?", model=model))
    assert "TEXT_IS_A_PATH" not in codes(orchestrate(file, "Why?", model=model))


def test_an_unknown_skill_falls_back_to_a_generic_prompt_with_a_warning():
    model = ScriptedModel(plan=plan_of({"skill": "astrology", "context_pointers": COSTS}), subtask="x [L9]")

    result = orchestrate(REPORT, "Why?", model=model)

    assert result.subtasks[0].skill == "assistant"
    assert "SKILL_UNKNOWN" in codes(result)


def test_custom_skills_are_in_the_catalogue_and_their_prompt_is_sent():
    model = ScriptedModel(plan=plan_of({"skill": "legal_risk", "context_pointers": COSTS}), subtask="x [L9]")
    skills = {"legal_risk": {"description": "Finds legal exposure.", "system_prompt": "Name each exposure."}}

    orchestrate(REPORT, "What risks?", skills, model)

    assert "- legal-risk: Finds legal exposure." in model.sent("plan")[0].prompt
    assert "Name each exposure." in model.sent("subtask")[0].prompt


def test_a_library_of_one_s_own_stands_over_the_built_in_skills():
    model = ScriptedModel(plan=plan_of({"skill": "critique", "context_pointers": COSTS}), subtask="x [L9]")
    own = SkillLibrary([Skill("legal-risk", "Finds exposure.", "Name each exposure.")])

    result = orchestrate(REPORT, "What risks?", own, model)

    assert result.subtasks[0].skill == "critique"
    assert "- legal-risk: Finds exposure." in model.sent("plan")[0].prompt


def test_documents_are_told_apart_in_ids_and_citations():
    documents = [
        Document.from_text(REPORT, name="a.md"),
        Document.from_text("# Other\n\nThe sky is blue.\n", name="b.md"),
    ]
    model = ScriptedModel(plan=plan_of({"context_pointers": at("d2:s1")}), subtask="The sky is blue [d2:L3].")

    result = orchestrate(documents, "What colour?", model=model)

    assert result.subtasks[0].slice.line_ranges == ("d2:L1-L3",)
    assert (result.citations[0].document, result.citations[0].first_line, result.citations[0].status) == (
        "b.md",
        3,
        "verified",
    )


def test_an_unverified_citation_stays_and_is_marked():
    model = ScriptedModel(plan=plan_of({"context_pointers": REVENUE}), subtask="Revenue was $77 million [L5].")

    result = orchestrate(REPORT, "Revenue?", model=model)

    assert result.answer == "Revenue was $77 million [1?]."
    assert result.citations[0].status == "unverified"


class Figures(BaseModel):
    revenue_musd: int
    auditor: str


def test_an_answer_schema_fills_the_data_and_is_validated():
    model = ScriptedModel(
        plan=plan_of({"context_pointers": REVENUE}),
        subtask="Revenue was $40 million [L5].",
        synthesis={"answer": "Revenue was $40 million [L5].", "data": {"revenue_musd": 40, "auditor": "M"}},
    )

    result = orchestrate(REPORT, "Revenue?", model=model, answer_schema=Figures)

    assert result.data == Figures(revenue_musd=40, auditor="M")
    assert result.answer == "Revenue was $40 million [1]."


def test_data_that_does_not_fit_is_asked_for_once_more_and_then_reported():
    model = ScriptedModel(
        plan=plan_of({"context_pointers": REVENUE}),
        subtask="Revenue was $40 million [L5].",
        synthesis={"answer": "x", "data": {"revenue_musd": "forty"}},
    )

    result = orchestrate(REPORT, "Revenue?", model=model, answer_schema=Figures.model_json_schema())

    assert result.status == "partial"
    assert result.data is None
    assert result.answer == "Revenue was $40 million [1]."
    assert [error.code for error in result.errors] == ["ANSWER_INVALID"]
    assert len(model.sent("synthesis")) == 2


def test_models_are_named_before_anything_is_sent():
    model = ScriptedModel(plan=plan_of({"context_pointers": COSTS}), subtask="x [L9]")
    requests_when_named = []

    def listen(event):
        if isinstance(event, RouteStarted):
            requests_when_named.append((event.models["plan"], len(model.requests)))

    orchestrate(REPORT, "Why?", model=model, on_event=listen)

    assert requests_when_named == [("test:scripted", 0)]


def test_each_phase_can_have_a_model_of_its_own():
    planner = ScriptedModel(plan=plan_of({"context_pointers": COSTS}, {"context_pointers": REVENUE}))
    worker, joiner = ScriptedModel(subtask="x [L9]"), ScriptedModel(synthesis="y [L9]")

    orchestrate(REPORT, "Why?", model=worker, planner_model=planner, synthesis_model=joiner)

    assert [len(planner.requests), len(worker.requests), len(joiner.requests)] == [1, 2, 1]


def test_replies_are_collected_in_plan_order_whatever_order_they_finish_in():
    second_is_done = threading.Event()

    def reply(request):
        if "slow one" in request.prompt:
            assert second_is_done.wait(5)
            return "slow reply"
        second_is_done.set()
        return "quick reply"

    model = ScriptedModel(
        plan=plan_of(
            {"task": "slow one", "context_pointers": COSTS}, {"task": "quick one", "context_pointers": REVENUE}
        ),
        subtask=reply,
        synthesis="done",
    )

    result = orchestrate(REPORT, "Both?", model=model)

    assert [subtask.reply for subtask in result.subtasks] == ["slow reply", "quick reply"]
    prompt = model.sent("synthesis")[0].prompt
    assert prompt.index("slow reply") < prompt.index("quick reply")


def test_a_result_goes_to_json_and_back():
    model = ScriptedModel(
        plan=plan_of(
            {"skill": "self", "answer": "$40 million", "context_pointers": REVENUE}, {"context_pointers": COSTS}
        ),
        subtask="Steel [L9].",
        synthesis="All [L5]. And [L9].",
    )
    result = orchestrate(REPORT, "Both?", model=model)

    again = Result.model_validate_json(result.model_dump_json())

    assert again == result


def test_only_the_answer_streams_not_the_findings_it_is_made_of():
    model = ScriptedModel(
        plan=plan_of({"context_pointers": COSTS}, {"context_pointers": REVENUE}),
        subtask="x [L9]",
        synthesis="the answer",
    )
    deltas = []

    orchestrate(
        REPORT, "Both?", model=model, on_event=lambda e: deltas.append(e.text) if isinstance(e, AnswerDelta) else None
    )

    assert deltas == ["the", "answer"]


def test_other_ways_are_counted_as_the_provider_counts():
    class CountsDouble(ScriptedModel):
        def complete(self, request):
            counted = Usage(2 * request_tokens(request), output_tokens=10)
            return replace(super().complete(request), usage=counted)

    answers = {"plan": plan_of({"context_pointers": COSTS}), "subtask": "x [L9]"}
    text = f"{REPORT}\n# Long\n\n{'Some words of text. ' * 500}"

    plain = orchestrate(text, "Why?", model=ScriptedModel(**answers))
    double = orchestrate(text, "Why?", model=CountsDouble(**answers))

    assert double.usage.total_input_tokens > 4000
    assert double.savings.one_call.usage.input_tokens == pytest.approx(2 * (count_tokens(text) + 150), abs=2)
    assert plain.savings.one_call.usage.input_tokens < double.savings.one_call.usage.input_tokens


def test_a_model_with_a_long_window_is_sent_a_long_document_whole_when_no_pointer_resolves():
    text, plan = f"{'word ' * 50}\n\n" * 2_200, plan_of({"context_pointers": at("Nowhere at all")})
    usual, roomy = ScriptedModel(subtask="x"), ScriptedModel(subtask="x")
    roomy.context_window = 1_000_000

    fallbacks = [
        orchestrate(text, "Why?", model=model, plan=plan).subtasks[0].slice.fallback for model in (usual, roomy)
    ]

    assert fallbacks == ["search", "full"]


def test_usage_and_savings_add_up():
    model = ScriptedModel(
        plan=plan_of({"context_pointers": COSTS}, {"context_pointers": REVENUE}), subtask="x [L9]", synthesis="y [L9]"
    )

    result = orchestrate(REPORT, "Both?", model=model)

    assert result.usage.calls == 4
    assert result.usage.total_input_tokens == 400
    assert (result.usage.plan.calls, result.usage.subtasks.calls, result.usage.synthesis.calls) == (1, 2, 1)
    assert result.savings.input_tokens == 400
    fanout, single = result.savings.fanout.usage, result.savings.one_call.usage
    assert fanout.total_input_tokens > 2 * (single.total_input_tokens - 150)
    assert result.savings.input_saved("one-call") == 1 - 400 / single.total_input_tokens


def test_two_runs_of_the_same_thing_send_the_same_bytes():
    first, second = (
        ScriptedModel(
            plan=plan_of({"context_pointers": COSTS}, {"context_pointers": REVENUE}), subtask="x", synthesis="y"
        )
        for _ in range(2)
    )

    one = orchestrate(REPORT, "Both?", model=first)
    two = orchestrate(REPORT, "Both?", model=second)

    assert one.fingerprint == two.fingerprint
    assert sorted(r.fingerprint for r in first.requests) == sorted(r.fingerprint for r in second.requests)


def test_the_async_form_gives_the_same_and_calls_listeners_on_the_loop():
    model = ScriptedModel(plan=plan_of({"context_pointers": COSTS}), subtask="Steel [L9].")
    seen = []

    async def main():
        loop = asyncio.get_running_loop()

        def listen(event):
            assert asyncio.get_running_loop() is loop
            seen.append(event)

        return await orchestrate_async(REPORT, "Why?", model=model, on_event=listen)

    result = asyncio.run(main())

    assert result.answer == orchestrate(REPORT, "Why?", model=model).answer
    assert any(isinstance(event, PlanReady) for event in seen)


def test_the_planning_phase_alone_gives_a_checked_plan():
    model = ScriptedModel(plan=plan_of({"skill": "self", "answer": "in 1850"}, {"context_pointers": COSTS}))
    events = []

    plan = make_plan(REPORT, "When?", model=model, on_event=events.append)

    assert [subtask.skill for subtask in plan.subtasks] == ["fact-extraction", "critique"]
    assert [event.code for event in events if isinstance(event, Warned)] == ["SELF_ANSWER_UNSUPPORTED"]
    assert isinstance(events[-1], RouteCompleted)


def test_the_synthesis_alone_joins_and_cites():
    findings = [Finding("1", "Who audits?", "Miller & Stone LLP [L13]"), Finding("2", "Costs?", "Steel [L9]")]

    answer = synthesize(REPORT, "Both?", findings, ScriptedModel(synthesis="Miller & Stone LLP [L13]."))

    assert answer.text == "Miller & Stone LLP [1]."
    assert answer.citations[0].status == "verified"
    assert answer.usage.calls == 1


def test_definitions_of_a_schema_stay_where_its_references_look():
    schema = {"$ref": "#/definitions/Count", "definitions": {"Count": {"type": "integer"}}}
    model = ScriptedModel(subtask="Costs rose [L9].", synthesis={"answer": "a", "data": 5})

    result = orchestrate(REPORT, "?", model=model, plan=plan_of({"context_pointers": COSTS}), answer_schema=schema)

    assert model.sent("synthesis")[0].schema["definitions"] == schema["definitions"]
    assert result.data == 5
