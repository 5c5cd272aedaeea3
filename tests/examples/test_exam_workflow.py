"""The practice exam: approved, asked question by question, adapted, counted; at one go or over days."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from terminals import Terminal

from orchestra.pipeline import resume, route
from orchestra.runtime.events import EffectReplayed, Event, NodeUpdated, SkillLoaded
from orchestra.runtime.questions import Decision, Question
from orchestra.skills import SkillLibrary

HANDBOOK = """# Handbook

## Water

Water boils at 100 degrees Celsius at the level of the sea.
The human body consists of about 60 percent water, and loses 2.5 litres of it on a usual day.
A tap that drips once a second wastes about 27 litres in a single day.

## Terms

**Aquifer**: a layer of rock or sand that holds water which can be pumped.

**Turbidity**: how cloudy a liquid is because of what floats in it.

## Empty

## Rivers

The Elbe flows for 1,094 kilometres from the Giant Mountains to the North Sea.
It rises somewhere.
The Danube passes through 10 countries, more than any other river of the world.
"""
RIGHT = {
    "Water boils": "100",
    "The human body": "60%",
    "A tap that drips": "27 litres",
    "a layer of rock": "an acquifer",
    "how cloudy": "turbidity",
    "The Elbe": "1094",
    "The Danube": "10",
}

Answer = Callable[[Question], Any]


class Person:
    """Answers by the beginning of the sentence that is asked for; what he knows nothing of, by `otherwise`."""

    def __init__(
        self, known: Mapping[str, str] = RIGHT, *, otherwise: str = "0", edit: Any = None, then: str = "finish"
    ) -> None:
        self.asked: list[Question] = []
        self._known, self._otherwise, self._edit, self._then = known, otherwise, edit, then

    def __call__(self, question: Question) -> Decision | str | bool:
        self.asked.append(question)
        if question.kind == "approval":
            return Decision("edited", self._edit) if self._edit else True
        if "What next?" in question.title:
            return self._then
        return next((answer for words, answer in self._known.items() if words in question.title), self._otherwise)

    @property
    def questions(self) -> list[str]:
        return [each.title for each in self.asked if "Question " in each.title]


def test_an_exam_is_approved_asked_and_counted_and_every_sentence_is_cited() -> None:
    person = Person()
    events: list[Event] = []

    result = route("Quiz me", context=HANDBOOK, on_approval=person, on_event=events.append)

    assert (result.status, result.errors) == ("completed", ())
    assert [question.kind for question in person.asked] == ["approval", *["ask_user"] * 6]
    assert person.asked[0].shown == {"questions": 5, "difficulty": "medium", "sections": "all"}
    assert "# Practice exam: 5 of 5 right." in result.answer
    assert {citation.status for citation in result.citations} == {"verified"}
    assert len(result.citations) == 5
    nodes = [event for event in events if isinstance(event, NodeUpdated) and event.status == "completed"]
    calls = [event.skill_name for event in nodes if event.node_id.startswith("run/subtask-1/")]
    assert calls == ["question-generation", *["adaptive-difficulty"] * 5, "performance-analytics"]
    read = [event.skill for event in events if isinstance(event, SkillLoaded)]
    assert read.count("adaptive-difficulty") == 1


def test_the_same_document_gives_the_same_questions() -> None:
    first, second = Person({}), Person({})

    one = route("Quiz me", context=HANDBOOK, on_approval=first)
    other = route("Quiz me", context=HANDBOOK, on_approval=second)

    assert first.questions == second.questions
    assert one.answer == other.answer


def test_right_answers_make_it_harder_and_wrong_ones_easier(report: Path) -> None:
    clever, lost = Person({}, otherwise="0"), Person({}, otherwise="0")

    def knows_all(question: Question) -> Any:
        if "Question " not in question.title:
            return clever(question)
        clever.asked.append(question)
        before, after = question.title.rpartition("): ")[2].split("\n")[0].split("_____", 1)
        line = next(line for line in report.read_text().splitlines() if before in line and after in line)
        return line[line.index(before) + len(before) :].split(after, 1)[0]

    result = route("Quiz me with 4 questions", context=report, on_approval=knows_all)
    route("Quiz me with 4 questions", context=report, on_approval=lost)

    assert "4 of 4 right" in result.answer
    assert [title.partition("(")[2].partition(";")[0] for title in clever.questions] == [
        "medium",
        "medium",
        "hard",
        "hard",
    ]
    assert [title.partition(" (")[2].partition(";")[0] for title in lost.questions] == [
        "medium",
        "easy",
        "easy",
        "easy",
    ]
    assert {citation.status for citation in result.citations} == {"verified"}


@pytest.mark.parametrize(
    ("query", "edit", "expected"),
    [
        ("Quiz me with 3 easy questions", None, 3),
        ("Quiz me", {"questions": 2}, 2),
        ("Quiz me", {"sections": "rivers"}, 2),
        ("Quiz me", {"sections": "Rivers, terms", "difficulty": "hard"}, 4),
        ("Quiz me", {"questions": 20}, 7),
    ],
)
def test_the_exam_is_what_a_person_makes_of_it(query: str, edit: Any, expected: int) -> None:
    person = Person(edit=edit)

    result = route(query, context=HANDBOOK, on_approval=person)

    assert len(person.questions) == expected
    assert f"{expected} of {expected} right" in result.answer


@pytest.mark.parametrize(
    ("edit", "problem"),
    [
        ({"questions": 0}, "`questions` is 0"),
        ({"questions": 2.5}, "`questions` is 2.5"),
        ({"difficulty": "brutal"}, "brutal"),
    ],
)
def test_parameters_that_make_no_sense_are_asked_for_again_but_not_for_ever(edit: Any, problem: str) -> None:
    person = Person(edit=edit)

    result = route("Quiz me", context=HANDBOOK, on_approval=person)

    assert len(person.asked) == 3
    assert problem in person.asked[1].title
    assert result.status == "failed"
    assert "the exam cannot begin" in result.errors[0].message


@pytest.mark.parametrize(
    ("then", "count"), [("finish", 5), ("ask again what I missed", 5 * 5), ("another round", 7), ("3", 7), ("what?", 5)]
)
def test_a_person_says_what_comes_next(then: str, count: int) -> None:
    person = Person({}, then=then)

    result = route("Quiz me", context=HANDBOOK, on_approval=person)

    assert result.status == "completed"
    assert len(person.questions) == count


def test_a_person_may_stop() -> None:
    person = Person({"Water boils": "100"}, otherwise="Stop")

    result = route("Quiz me", context=HANDBOOK, on_approval=person)

    assert len(person.questions) == 2
    assert "1 of 1 right" in result.answer


def test_an_exam_that_is_stopped_at_once_says_so() -> None:
    result = route("Quiz me", context=HANDBOOK, on_approval=Person({}, otherwise="stop"))

    assert result.status == "completed"
    assert "No question was answered." in result.answer


def test_an_exam_that_is_rejected_asks_nothing() -> None:
    asked: list[Question] = []

    result = route("Quiz me", context=HANDBOOK, on_approval=lambda question: asked.append(question) or False)

    assert len(asked) == 1
    assert (result.status, result.errors[0].code) == ("failed", "APPROVAL_REJECTED")


@pytest.mark.parametrize(
    ("kind", "answer", "given", "is_right"),
    [
        ("number", "2,839.5", "2839.5", True),
        ("number", "2,839.5", "$2,839.5 million", True),
        ("number", "2.839,5", "2839,5", True),
        ("number", "2,839.5", "2,839.6", False),
        ("number", "60", "60%", True),
        ("number", "60", "sixty", False),
        ("number", "10", "010", True),
        ("number", "1 094", "1094", True),
        ("term", "Net debt", "net  debt.", True),
        ("term", "Net debt", "The net debt", True),
        ("term", "Turbidity", "turbidty", True),
        ("term", "Turbidity", "acidity", False),
        ("term", "Flux", "flex", False),
        ("term", "浊度", "浊度", True),
    ],
)
def test_answers_are_graded_by_value_and_by_letters(kind: str, answer: str, given: str, is_right: bool) -> None:
    grade = SkillLibrary.builtin()["exam-mode-tuner"].function.__globals__["grade"]

    assert grade({"kind": kind, "answer": answer}, given) is is_right


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("# Poem\n\nThe wind blows over the hills and never comes back.\n", "no question can be made of document"),
        ("# Table\n\n| a | b |\n| --- | --- |\n| 1,200 | 3,400 |\n", "no question can be made of document"),
        ("# Leer\n\n## Leer\n", "no question can be made of document"),
    ],
)
def test_a_document_without_such_sentences_is_told(text: str, cause: str) -> None:
    result = route("Quiz me", context=text, on_approval=Person())

    assert result.status == "failed"
    assert cause in result.errors[0].message


def test_no_document_is_told_before_anyone_is_asked() -> None:
    person = Person()

    result = route("Quiz me", on_approval=person)

    assert (result.status, person.asked) == ("failed", [])
    assert "there is no document to be examined on" in result.errors[0].message


def test_sections_that_are_not_there_are_told() -> None:
    result = route("Quiz me", context=HANDBOOK, on_approval=Person(edit={"sections": "Lakes"}))

    assert "in sections named 'Lakes'" in result.errors[0].message


def test_a_german_document_is_asked_about_in_its_own_numbers() -> None:
    text = "# Bericht\n\nDer Umsatz stieg im letzten Jahr auf 2.839,5 Millionen Euro.\nDer Konzern hat 11.334 Mitarbeiter in neun Ländern.\n"

    result = route(
        "Quiz me", context=text, on_approval=Person({"Der Umsatz": "2839,5", "Der Konzern": "11334"}, otherwise="x")
    )

    assert "2 of 2 right" in result.answer
    assert {citation.status for citation in result.citations} == {"verified"}


def test_an_exam_goes_on_over_days_now_in_one_process_and_now_in_another(orchestra, call, tmp_path: Path) -> None:
    document, store = tmp_path / "handbook.md", tmp_path / "store.db"
    document.write_text(HANDBOOK)
    place = ("--store", store)

    begun = orchestra("route", "Quiz me with 2 questions", document, "--json", *place)
    run_id = json.loads(begun.stdout)["run_id"]
    approved = call("approve", run_id, "subtask-1", "--edit", '{"sections": "terms"}', *place)
    first = call("resume", run_id, "--json", *place)
    call("approve", run_id, "subtask-1", "--answer", "aquifer", *place)
    second = orchestra("resume", run_id, "--json", *place)
    call("approve", run_id, "subtask-1", "--answer", "no idea", *place)
    third = call("resume", run_id, "--json", *place)
    call("approve", run_id, "subtask-1", "--answer", "finish", *place)
    events: list[Event] = []
    last = resume(run_id, store=store, on_event=events.append)

    assert [each.returncode for each in (begun, approved, first, second, third)] == [4, 0, 4, 4, 4]
    titles = [json.loads(each.stdout)["waiting"][0]["title"] for each in (begun, first, second, third)]
    assert [title.split("\n")[0].split(":")[0] for title in titles] == [
        "Begin a practice exam over handbook.md?",
        "Question 1 of 2 (medium; Terms)",
        "Right.",
        "The exam is over",
    ]
    assert last.status == "completed"
    assert "# Practice exam: 1 of 2 right." in last.answer
    replayed = [event.kind for event in events if isinstance(event, EffectReplayed)]
    assert sorted(replayed) == [*["code"] * 4, *["person"] * 3]  # the last answer was used for the first time


def test_an_exam_is_taken_on_the_terminal(tmp_path: Path) -> None:
    document = tmp_path / "handbook.md"
    document.write_text(HANDBOOK)
    terminal = Terminal("route", "Quiz me with 2 questions", document, "--no-store", columns=200)

    try:
        terminal.wait_for("[l]ater: ")
        terminal.type("a\n")
        terminal.wait_for("Your answer (empty: later): ")
        terminal.type("100\n")
        terminal.wait_for("Your answer (empty: later): ", times=2)
        terminal.type("five\n")
        terminal.wait_for("Your answer (empty: later): ", times=3)
        terminal.type("1\n")
        code, out = terminal.end()
    finally:
        terminal.close()

    assert code == 0
    assert "Practice exam: 1 of 2 right." in out
    assert "[1] handbook.md L" in out
