"""Code skills in a run: what they ask people and other skills for, what is tried again, and what is done once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from trees_for_tests import Heard, TreeModel, below, of, write_skill

from orchestra.pipeline import orchestrate, resume, route
from orchestra.result.words import capsule
from orchestra.runtime.events import EffectReplayed, NodeUpdated, RetryScheduled
from orchestra.skills import SkillLibrary

EXAM = """
from pathlib import Path

from orchestra.skills.code import AskUser, CallSkill, RequestApproval


def work(context):
    with (Path(__file__).parent / "began.txt").open("a") as file:
        file.write("x")
    plan = yield CallSkill("questions", {"count": 2})
    checked = yield RequestApproval("These questions?", {"questions": plan})
    answer = yield AskUser("What is it?")
    graded = yield CallSkill("grade", {"answer": answer})
    return {"message": f"{checked['questions']} / {answer} / {graded}"}
"""


def exam(folder: Path) -> SkillLibrary:
    place = write_skill(folder, "exam", code=EXAM, sub_skills=["questions", "grade"])
    below(place, "questions", parameters={"required": ["count"]})
    below(place, "grade", code="def work(answer, scale=10):\n    return f'{len(answer)} of {scale}'\n",
          parameters={"required": ["answer"], "defaults": {"scale": 5}})  # fmt: skip
    return SkillLibrary.from_path(folder)


def answers(question: Any) -> Any:
    return "four" if question.kind == "ask_user" else True


def test_a_generator_asks_skills_and_people_and_goes_on_with_what_they_say(tmp_path: Path):
    model, heard = TreeModel(questions="Q1, Q2"), Heard()

    result = route("Test me", exam(tmp_path), model, on_event=heard, on_approval=answers)

    assert result.answer == "Q1, Q2 / four / 4 of 5"
    assert heard.tree == {
        "run/subtask-1": "exam",
        "run/subtask-1/call-1": "questions",
        "run/subtask-1/call-4": "grade",
    }
    assert '{"count": 2}' in model.prompt("questions")


def test_what_a_generator_calls_stands_in_the_result_and_counts_as_its_own_work(tmp_path: Path):
    result = route("Test me", exam(tmp_path), TreeModel(questions="Q1, Q2"), on_approval=answers)

    assert [(step.name, step.skill, step.node_id, step.output, step.is_call) for step in result.subtasks[0].steps] == [
        ("call_1", "questions", "run/subtask-1/call-1", "Q1, Q2", True),
        ("call_4", "grade", "run/subtask-1/call-4", "4 of 5", True),
    ]
    assert capsule(result).startswith("1 skill · 1 step · ")


def test_what_a_generator_called_in_vain_is_told_with_its_error_and_is_its_own_affair(tmp_path: Path):
    code = """
from orchestra.skills.code import CallSkill


def work(context):
    try:
        yield CallSkill("pair")
    except Exception:
        return "went on without"
"""
    place = write_skill(tmp_path, "outer", code=code, sub_skills=["pair"])
    pair = below(place, "pair", sub_skills=["broken"])
    below(pair, "broken", code="def work():\n    raise ValueError('no')\n")

    result = route("Do it", SkillLibrary.from_path(tmp_path), TreeModel())

    (call,) = result.subtasks[0].steps
    assert (call.skill, call.status, call.error.code) == ("pair", "failed", "UNEXPECTED")
    assert [(step.skill, step.status, step.is_call) for step in call.steps] == [("broken", "failed", False)]
    assert (result.answer, result.status, result.errors, result.route.success_rate) == (
        "went on without",
        "completed",
        (),
        1.0,
    )


def test_a_generator_waits_over_several_processes_and_repeats_nothing(tmp_path: Path):
    library, store = exam(tmp_path / "skills"), tmp_path / "runs.db"
    model = TreeModel(questions="Q1, Q2")
    first = route("Test me", library, model, store=store)

    second = resume(
        first.run_id, store=store, model=model, on_approval=lambda question: question.kind == "approval" or None
    )
    heard = Heard()
    third = resume(first.run_id, store=store, model=model, on_event=heard, on_approval=answers)

    assert [(each.status, [waiting.kind for waiting in each.waiting]) for each in (first, second, third)] == [
        ("waiting", ["approval"]),
        ("waiting", ["ask_user"]),
        ("completed", []),
    ]
    assert third.answer == "Q1, Q2 / four / 4 of 5"
    assert model.asked == ["questions"]
    replayed = [(event.node_id, event.kind) for event in heard if isinstance(event, EffectReplayed)]
    assert replayed == [("run/subtask-1/call-1", "model"), ("run/subtask-1", "person")]
    assert third.usage.subtasks.input_tokens == first.usage.subtasks.input_tokens == 10


def test_a_rejection_ends_the_skill_unless_it_goes_another_way(tmp_path: Path):
    catching = """
from orchestra.errors import ApprovalRejected
from orchestra.skills.code import RequestApproval

def work():
    try:
        yield RequestApproval("Send?", {"to": "ada"})
    except ApprovalRejected:
        return "not sent"
"""
    plain = "from orchestra.skills.code import RequestApproval\ndef work():\n    yield RequestApproval('Send?', {})\n"
    write_skill(tmp_path / "one", "sender", code=catching)
    write_skill(tmp_path / "two", "sender", code=plain)

    caught = route("Go", SkillLibrary.from_path(tmp_path / "one"), TreeModel(), on_approval=lambda question: False)
    ended = route("Go", SkillLibrary.from_path(tmp_path / "two"), TreeModel(), on_approval=lambda question: False)

    assert caught.answer == "not sent"
    assert [error.code for error in ended.errors] == ["APPROVAL_REJECTED"]


def test_a_code_step_that_raises_is_tried_as_often_as_its_parent_says(tmp_path: Path):
    flaky = """
from pathlib import Path
def work():
    place = Path(__file__).with_name("tries")
    tries = len(place.read_text()) if place.exists() else 0
    place.write_text("x" * (tries + 1))
    if tries < 2:
        raise OSError("the line is down")
    return "through"
"""
    place = write_skill(
        tmp_path, "office", type="composite", sub_skills=["send"],
        routing={"strategy": "sequential"}, execution={"retry_on_failure": 2},
    )  # fmt: skip
    send = below(place, "send", code=flaky)
    heard = Heard()

    result = route("Go", SkillLibrary.from_path(tmp_path), TreeModel(), on_event=heard)

    assert result.answer == "through"
    assert (send / "tries").read_text() == "xxx"
    assert [event.node_id for event in heard if isinstance(event, RetryScheduled)] == ["run/subtask-1/step-1"] * 2


def test_a_step_that_takes_too_long_is_left_behind(tmp_path: Path):
    place = write_skill(
        tmp_path, "office", type="composite", sub_skills=["slow", "quick"],
        routing={"strategy": "parallel"}, execution={"timeout_per_skill": 0.05},
    )  # fmt: skip
    below(place, "slow", code="import threading\ndef work():\n    threading.Event().wait(1)\n    return 1\n")
    below(place, "quick", code="def work():\n    return 'There.'\n")

    result = route("Go", SkillLibrary.from_path(tmp_path), TreeModel())

    assert of(result, 0, 0).error.code == "TIMEOUT"
    assert of(result, 0, 1).output == "There."


def test_a_skill_that_wants_approval_is_asked_about_once_and_with_its_values(tmp_path: Path):
    write_skill(
        tmp_path, "send", code="def work(to):\n    return to\n", parameters={"required": ["to"]}, approval="required"
    )
    asked = []

    def on_approval(question: Any) -> Any:
        asked.append(question.shown)
        return True

    result = route('Go {"to": "ada"}', SkillLibrary.from_path(tmp_path), TreeModel(), on_approval=on_approval)

    assert result.answer == "ada"
    assert [shown["parameters"] for shown in asked] == [{"to": "ada"}]


def test_what_a_code_skill_finished_is_not_done_again_when_its_run_goes_on(tmp_path: Path):
    place = write_skill(
        tmp_path / "skills", "office", type="composite", sub_skills=["count", "send"],
        routing={"strategy": "sequential"},
    )  # fmt: skip
    counted = "from pathlib import Path\ndef work():\n    with Path(__file__).with_name('n').open('a') as f:\n        f.write('x')\n    return 'one'\n"
    count = below(place, "count", code=counted)
    below(place, "send", code="def work(to):\n    return to\n", parameters={"required": ["to"]})
    library = SkillLibrary.from_path(tmp_path / "skills")
    model = TreeModel(resolution={"confidence": 0})
    waiting = route("Go", library, model, store=tmp_path / "runs.db")

    heard = Heard()
    result = resume(
        waiting.run_id, store=tmp_path / "runs.db", model=model, on_event=heard, on_approval=lambda question: "ada"
    )

    assert waiting.status == "waiting"
    assert [step.output for step in result.subtasks[0].steps] == ["one", "ada"]
    assert (count / "n").read_text() == "x"
    statuses = {event.node_id: event.status for event in heard if isinstance(event, NodeUpdated)}
    assert statuses["run/subtask-1/step-1"] == "completed"


def test_a_generator_that_yields_nonsense_or_calls_nobody_says_so(tmp_path: Path):
    write_skill(tmp_path / "a", "odd", code="def work():\n    yield 'words'\n")
    write_skill(
        tmp_path / "b",
        "odd",
        code="from orchestra.skills.code import CallSkill\ndef work():\n    yield CallSkill('x')\n",
    )
    write_skill(tmp_path / "c", "odd", code="def work():\n    return object()\n")
    write_skill(tmp_path / "d", "odd", code="def work(needed):\n    return needed\n")

    codes = [
        [error.code for error in route("Go", SkillLibrary.from_path(tmp_path / name), TreeModel()).errors]
        for name in "abcd"
    ]

    assert codes == [["OUTPUT_INVALID"], ["SKILL_NOT_FOUND"], ["SKILL_INVALID"], ["SKILL_INVALID"]]


def test_a_code_skill_of_an_ordinary_plan_reads_the_documents(tmp_path: Path):
    write_skill(tmp_path, "lines", code="def work(context):\n    return sum(d.line_count for d in context.documents)\n")
    subtask = {"id": "1", "skill": "lines", "task": "Count.", "context_pointers": {"sections": [], "line_ranges": []}}

    result = orchestrate(
        "# A\n\nb\n",
        "Count.",
        SkillLibrary.from_path(tmp_path),
        TreeModel(),
        plan={"subtasks": [subtask], "reasoning": ""},
    )

    assert result.subtasks[0].reply == "3"
