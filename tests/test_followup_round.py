"""The follow-up round as a run's caller sees it."""

from __future__ import annotations

import pytest
from models_for_tests import ScriptedModel, at, codes, plan_of

from orchestra import orchestrate
from orchestra.document import count_tokens
from orchestra.errors import InputInvalid, ModelAuth
from orchestra.models.protocol import ModelReply, Usage
from orchestra.runtime.events import AnswerDelta, FollowedUp

TOPICS = ("steel", "wages", "tariffs", "patents", "audits", "leases", "pensions", "weather", "cocoa", "software")
BOOK = "\n".join(f"# About {topic}\n\nThe {topic} of the year were as {topic} are.\n" for topic in TOPICS)
AUDITS, WAGES = at("About audits"), at("About wages")
LACKS = "INSUFFICIENT: what was said of cocoa"
LONG = "\n".join(
    f"# Part {n}\n\n" + f"The {'copper' if n % 3 else 'zinc'} of part {n} goes on and on. " * 60 + "\n"
    for n in range(60)
)
LACKS_ZINC = "INSUFFICIENT: other zinc"


def run(model, **options):
    return orchestrate(BOOK, "What was said?", model=model, strategy="full", **options)


def lines_of(request):
    slice_ = next(block.slice for block in request.blocks if block.kind == "slice")
    return {n for lines in slice_.line_ranges for n in range(lines.first, lines.last + 1)}


def test_a_subtask_that_lacks_something_is_asked_again_over_what_it_has_not_read():
    model = ScriptedModel(plan=plan_of({"context_pointers": AUDITS}), subtask=[LACKS, "Cocoa is as cocoa is [L35]."])
    events = []

    result = run(model, on_event=events.append)

    first, second = model.sent("subtask")
    (followed,) = [event for event in events if isinstance(event, FollowedUp)]
    assert result.status == "completed"
    assert result.answer == "Cocoa is as cocoa is [1]."
    assert not lines_of(first) & lines_of(second)
    assert (followed.node_id, followed.missing) == ("run/subtask-1", "what was said of cocoa")
    assert result.subtasks[0].slice.line_ranges == ("L17-L20", *followed.ranges)
    assert (result.subtasks[0].followups, result.subtasks[0].usage.calls) == (1, 2)
    assert result.usage.subtasks.input_tokens == 200


@pytest.mark.parametrize("most", [0, 1, 2, 3])
def test_follow_ups_are_bounded(most):
    model = ScriptedModel(
        plan=plan_of({"context_pointers": at("s7")}, {"context_pointers": at("s40")}),
        subtask=LACKS_ZINC,
        synthesis="None.",
    )

    result = orchestrate(LONG, "What?", model=model, strategy="full", max_followups=most)

    assert len(model.sent("subtask")) == 2 * (1 + most)
    assert [subtask.followups for subtask in result.subtasks] == [most, most]


def test_nothing_is_read_twice_in_two_rounds():
    model = ScriptedModel(plan=plan_of({"context_pointers": at("s7")}), subtask=LACKS_ZINC)

    orchestrate(LONG, "What?", model=model, strategy="full", max_followups=3)

    rounds = [lines_of(request) for request in model.sent("subtask")]
    assert len(rounds) == 4
    assert len(set().union(*rounds)) == sum(map(len, rounds))


def test_what_is_lacking_at_the_end_is_named_and_makes_the_result_partial():
    model = ScriptedModel(plan=plan_of({"context_pointers": AUDITS}), subtask=LACKS)

    result = run(model)

    assert result.status == "partial"
    assert result.subtasks[0].status == "completed"
    assert (result.answer, result.subtasks[0].reply) == ("Missing: what was said of cocoa", LACKS)
    assert [n.message for n in result.warnings if n.code == "SUBTASK_INSUFFICIENT"] == [
        "subtask 1 did not find: what was said of cocoa"
    ]


def test_a_subtask_that_has_read_everything_is_not_asked_again():
    model = ScriptedModel(plan=plan_of({"context_pointers": at("No such heading at all")}), subtask=LACKS)

    result = run(model, on_unresolved="full")

    assert result.subtasks[0].slice.fallback == "full"
    assert len(model.sent("subtask")) == 1
    assert "SUBTASK_INSUFFICIENT" in codes(result)


@pytest.mark.parametrize("failure", [ModelAuth("no key"), ModelReply(" ", usage=Usage(5))])
def test_a_follow_up_that_fails_leaves_the_first_reply(failure):
    first = f"Audits are as they are [L19].\n{LACKS}"
    model = ScriptedModel(plan=plan_of({"context_pointers": AUDITS}), subtask=[first, failure])

    result = run(model)

    assert result.status == "partial"
    assert result.answer.startswith("Audits are as they are [1].")
    assert result.subtasks[0].status == "completed"
    assert codes(result) == ["FOLLOWUP_FAILED", "SUBTASK_INSUFFICIENT"]


def test_a_defect_in_widening_leaves_the_first_reply(monkeypatch):
    def broken(*arguments, **options):
        raise ZeroDivisionError("defect")

    monkeypatch.setattr("orchestra.run.followup.widened", broken)
    model = ScriptedModel(plan=plan_of({"context_pointers": AUDITS}), subtask=f"Audits are as they are [L19].\n{LACKS}")

    result = run(model)

    assert result.answer.startswith("Audits are as they are [1].")
    assert [error.code for error in result.errors] == ["UNEXPECTED"]


def test_a_dependent_subtask_waits_for_the_follow_up():
    model = ScriptedModel(
        plan=plan_of(
            {"task": "first", "context_pointers": AUDITS},
            {"task": "second", "context_pointers": WAGES, "depends_on": ["1"]},
        ),
        subtask=lambda request: {
            True: "second's reply [L7]",
            False: "cocoa at last [L35]" if 35 in lines_of(request) else LACKS,
        }["Task: second" in request.prompt],
        synthesis="done",
    )

    result = run(model)

    assert "cocoa at last [L35]" in model.sent("subtask")[-1].prompt
    assert LACKS not in model.sent("subtask")[-1].prompt
    assert result.status == "completed"


def test_of_subtasks_in_one_call_only_the_one_that_lacks_something_is_asked_again_alone():
    both = {"skill": "fact_extraction", "context_pointers": AUDITS}
    model = ScriptedModel(
        plan=plan_of({"task": "What of audits?", **both}, {"task": "What of cocoa?", **both}),
        subtask=[f"<<1>>\nAudits are as they are [L19].\n\n<<2>>\n{LACKS}", "Cocoa is as cocoa is [L35]."],
        synthesis="done",
    )

    result = run(model)

    first, second = model.sent("subtask")
    assert "Task 2: What of cocoa?" in first.prompt
    assert "Task: What of cocoa?" in second.prompt
    assert "What of audits?" not in second.prompt
    assert [subtask.followups for subtask in result.subtasks] == [0, 1]
    assert [subtask.reply for subtask in result.subtasks] == [
        "Audits are as they are [L19].",
        "Cocoa is as cocoa is [L35].",
    ]


def test_a_follow_up_keeps_within_the_window():
    model = ScriptedModel(plan=plan_of({"context_pointers": at("s7")}), subtask=LACKS_ZINC)
    model.context_window = 4_500

    orchestrate(LONG * 4, "What?", model=model, plan=plan_of({"context_pointers": at("s7")}))

    _, second = model.sent("subtask")
    assert len(lines_of(second)) > 0
    assert count_tokens(second.prompt) + second.max_tokens <= 4_500


def test_the_follow_up_s_text_starts_anew_for_who_listens():
    model = ScriptedModel(plan=plan_of({"context_pointers": at("s7")}), subtask=[LACKS_ZINC, LACKS_ZINC, "Zinc [L25]."])
    deltas = []

    orchestrate(
        LONG,
        "What?",
        model=model,
        strategy="full",
        max_followups=2,
        on_event=lambda e: deltas.append((e.attempt, e.text)) if isinstance(e, AnswerDelta) else None,
    )

    assert [text for attempt, text in deltas if attempt == 3] == ["Zinc", "[L25]."]
    assert sorted({attempt for attempt, _ in deltas}) == [1, 2, 3]


@pytest.mark.parametrize("wrong", [-1, 4, True, "1", None])
def test_a_number_of_follow_ups_that_makes_no_sense_is_refused(wrong):
    with pytest.raises(InputInvalid, match="max_followups"):
        run(ScriptedModel(), max_followups=wrong)
