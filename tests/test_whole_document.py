"""A task about the documents as a whole, as a run's caller sees it."""

from __future__ import annotations

from models_for_tests import ScriptedModel, codes

from orchestra import SkillLibrary, orchestrate
from orchestra.document import count_tokens
from orchestra.errors import ModelAuth
from orchestra.pipeline import story_of
from orchestra.run import Run
from orchestra.runtime.events import NodeUpdated
from orchestra.settings import Services, Settings

WHOLE = {
    "look": [],
    "whole": True,
    "subtasks": [{"id": "1", "task": "Sum up.", "skill": "summarization", "sections": []}],
}
BOOK = "\n".join(f"## Section {n}\n\n" + f"Sentence about matter {n}. " * 40 + "\n" for n in range(150))
SUM = "Sentence about matter 0 [L3]."
NUMBERS = range(1, BOOK.count("\n") + 1)


class Small(ScriptedModel):
    """A model with a window."""

    def __init__(self, context_window, **answers):
        super().__init__(**answers)
        self.context_window = context_window


def run(model, **options):
    return orchestrate(BOOK, "Sum it all up.", model=model, strategy="outline", **options)


def lines_of(request):
    slice_ = next(block.slice for block in request.blocks if block.kind == "slice")
    return [n for lines in slice_.line_ranges for n in range(lines.first, lines.last + 1)]


def is_join(request):
    return request.prompt.startswith("You condense findings")


def test_what_fits_the_window_is_one_call_with_the_skill_that_the_planner_named():
    model = Small(200_000, plan=WHOLE, subtask="All of it [L3].")

    result = run(model)

    assert lines_of(model.sent("subtask")[0]) == list(NUMBERS)
    assert len(model.requests) == 2
    assert (result.strategy.whole, result.subtasks[0].skill) == ("direct", "summarization")


def test_a_task_that_is_plainly_about_the_whole_pays_no_planner_by_auto():
    model = Small(200_000, subtask="All of it [L3].")

    result = orchestrate(BOOK, "Summarize this document.", model=model)

    assert len(model.requests) == 1
    assert result.strategy.reason == "the task is about the whole, which a plan would read too"


def test_a_document_that_no_window_holds_is_planned_whatever_the_task():
    model = Small(30_000, plan=WHOLE, subtask="All of it [L3].", synthesis=SUM)

    result = orchestrate(BOOK, "Summarize this document.", model=model)

    assert (result.strategy.chosen, result.strategy.whole) == ("outline", "map-reduce")


def test_what_does_not_fit_is_read_in_parts_each_line_once_and_joined_by_levels():
    model = Small(5_000, plan=WHOLE, subtask="Point after point [L3]. " * 100, synthesis=SUM)

    result = run(model, outline_tokens=2_000)

    shown = [line for request in model.sent("subtask") for line in lines_of(request)]
    joins = [request for request in model.sent("synthesis") if is_join(request)]
    assert sorted(shown) == list(NUMBERS)
    assert (result.status, result.strategy.whole, result.answer) == (
        "completed",
        "map-reduce",
        "Sentence about matter 0 [1].",
    )
    assert all(count_tokens(request.prompt) + request.max_tokens <= 5_000 for request in model.requests[1:])
    assert len(joins) > 1
    assert result.usage.synthesis.calls == len(joins) + 1
    assert "READ_IN_PARTS" in codes(result)


def test_levels_of_joining_follow_until_one_call_can_hold_what_is_left():
    reply = "Point after point [L3]. " * 50
    model = Small(3_000, plan=WHOLE, subtask=reply, synthesis=lambda request: reply if is_join(request) else SUM)
    nodes = {}

    result = run(
        model,
        outline_tokens=2_000,
        on_event=lambda event: nodes.setdefault(event.node_id, event) if isinstance(event, NodeUpdated) else None,
    )

    assert result.status == "completed"
    assert {name.split("-")[1] for name in nodes if name.startswith("run/join-")} >= {"1", "2"}
    assert nodes["run/join-1-1"].title == "join parts 1 to 4"


def test_no_part_is_followed_up():
    model = Small(5_000, plan=WHOLE, subtask="INSUFFICIENT: the end of it", synthesis="The sum [L3].")

    result = run(model, outline_tokens=2_000)

    assert len(model.sent("subtask")) == len(result.subtasks)
    assert result.status == "completed"


def test_a_part_that_fails_leaves_the_others():
    model = Small(
        5_000,
        plan=WHOLE,
        subtask=lambda request: ModelAuth("no key") if 1 in lines_of(request) else "A point [L9].",
        synthesis=SUM,
    )

    result = run(model, outline_tokens=2_000)

    assert result.status == "partial"
    assert [subtask.status for subtask in result.subtasks].count("failed") == 1
    assert "<missing>\nQuestion: part 1 of " in model.sent("synthesis")[-1].prompt
    assert result.answer == "Sentence about matter 0 [1]."


def test_a_group_whose_joining_fails_leaves_its_findings_as_the_answer():
    model = Small(5_000, plan=WHOLE, subtask="Point after point [L3]. " * 100, synthesis=ModelAuth("no key"))

    result = run(model, outline_tokens=2_000)

    assert result.status == "partial"
    assert result.answer.startswith("**part 1 of ")
    assert all(is_join(request) for request in model.sent("synthesis"))
    assert [error.code for error in result.errors] == ["MODEL_AUTH"]


def test_a_finding_that_no_joining_call_can_hold_is_an_error_and_the_findings_are_the_answer():
    model = Small(5_000, plan=WHOLE, subtask="Point after point [L3]. " * 1_000, synthesis="The sum [L3].")

    result = run(model, outline_tokens=2_000)

    assert result.status == "partial"
    assert [error.code for error in result.errors] == ["CONTEXT_TOO_LONG"]
    assert model.sent("synthesis") == []


def test_a_spent_budget_ends_it_with_what_is_there():
    model = Small(5_000, plan=WHOLE, subtask="A point [L9].", synthesis=SUM)
    settings = Settings(strategy="outline", outline_tokens=2_000, max_tokens_total=5_000, max_workers=1)
    made = Run.prepare(BOOK, "Sum it all up.", None, (model, model, model), settings, Services())

    result = made.drive(story_of(made, None, None))

    assert result.status == "partial"
    assert result.answer == "Sentence about matter 0 [1]."
    assert "<missing>\nQuestion: parts " in model.sent("synthesis")[0].prompt
    assert {error.code for error in result.errors} == {"BUDGET_EXCEEDED"}
    assert 0 < [subtask.status for subtask in result.subtasks].count("completed") < len(result.subtasks)


def test_the_skill_gives_its_form_to_the_answer_and_not_to_the_parts():
    critical = {**WHOLE, "subtasks": [{**WHOLE["subtasks"][0], "skill": "critique"}]}
    model = Small(16_000, plan=critical, subtask="A point [L3].", synthesis=SUM)

    run(model)

    form = SkillLibrary.builtin()["critique"].system_prompt
    assert form in model.sent("synthesis")[-1].prompt
    assert not any(form in request.prompt for request in model.sent("subtask"))
