"""How a task becomes questions, what they ask for, and which skill fits them."""

from __future__ import annotations

import pytest

from orchestra.models.extractive.kinds import answer_place, asks_for_several, kinds
from orchestra.models.extractive.questions import split
from orchestra.models.extractive.skill_words import choose_skill


@pytest.mark.parametrize(
    ("task", "questions"),
    [
        ("Who audits the company?", ["Who audits the company?"]),
        (
            "Who audits the company, what was revenue in 2025, and what drove the change in gross margin?",
            ["Who audits the company?", "What was revenue in 2025?", "What drove the change in gross margin?"],
        ),
        ("1. Who leads?\n2) What is the fee\n- List the rooms", ["Who leads?", "What is the fee?", "List the rooms"]),
        ("Who leads; when does it open", ["Who leads?", "When does it open?"]),
        ("Summarize the risks and compare the segments.", ["Summarize the risks", "Compare the segments"]),
        ("Is the fee due, and are dogs allowed?", ["Is the fee due?", "Are dogs allowed?"]),
        ("When and where is the meeting?", ["When and where is the meeting?"]),
        ("How do salt and pepper compare in price and taste?", ["How do salt and pepper compare in price and taste?"]),
        ("Which risks are there, and what does it do about them?", ["Which risks are there, and what does it do about them?"]),
        ("Which agency rates the notes and what is the rating?", ["Which agency rates the notes and what is the rating?"]),
        ("I am new here. Who leads the library?", ["Who leads the library?"]),
        ("legal risk", ["Legal risk"]),
        ("What was the U.S. share in 2024? ", ["What was the U.S. share in 2024?"]),
    ],
)  # fmt: skip
def test_a_task_is_split_where_a_new_question_begins(task: str, questions: list[str]) -> None:
    assert [question.text for question in split(task)] == questions


@pytest.mark.parametrize(
    ("task", "asked", "context"),
    [
        (
            "What is the FY2018 capex? Give a response to the question by relying on the cash flow statement.",
            "What is the FY2018 capex?",
            ("Give a response to the question by relying on the cash flow statement",),
        ),
        (
            "Answer the following question by using the balance sheet: what is the debt? Answer in USD billions.",
            "What is the debt?",
            ("Answer the following question by using the balance sheet", "Answer in USD billions"),
        ),
        (
            "Using only the balance sheet, how much were total assets?",
            "How much were total assets?",
            ("Using only the balance sheet",),
        ),
        (
            "What is the ratio? Define ratio as assets divided by debt. Round to two decimal places.",
            "What is the ratio?",
            ("Define ratio as assets divided by debt", "Round to two decimal places"),
        ),
        (
            "What drove the margin? If it is not useful, then please state that and explain why.",
            "What drove the margin?",
            ("If it is not useful, then please state that and explain why",),
        ),
    ],
)
def test_what_is_said_of_the_answer_is_no_question(task: str, asked: str, context: tuple[str, ...]) -> None:
    (question,) = split(task)

    assert (question.asked, question.context) == (asked, context)
    assert split(question.full) == (question,)


def test_an_order_about_form_alone_is_still_a_question() -> None:
    (question,) = split("Calculate the cash flow")

    assert question.text == "Calculate the cash flow"


def test_a_pronoun_takes_its_subject_from_the_question_before() -> None:
    _, second = split("What was the fee in 2025, and how did it change from 2024?")

    assert second.full == "How did it change from 2024 (the fee in 2025)?"


def test_no_question_of_a_long_list_is_lost() -> None:
    task = "\n".join(f"Who leads department {number}?" for number in range(40))

    questions = split(task)

    assert len(questions) == 24
    assert "department 39" in questions[-1].text


def test_a_task_without_words_is_still_one_question() -> None:
    assert len(split(" ?! ")) == 1


@pytest.mark.parametrize(
    ("question", "skill"),
    [
        ("What was revenue in 2025?", "fact-extraction"),
        ("Why did margins fall?", "causal-reasoning"),
        ("What drove the change?", "causal-reasoning"),
        ("How do Pumps and Drives compare with Flow?", "analytical-comparison"),
        ("Summarize the report", "summarization"),
        ("What is missing from the disclosure?", "gap-analysis"),
        ("Classify the risks by cause", "classification"),
        ("Evaluate the argument for the merger", "critique"),
        ("Combine the views of both regions", "structured-synthesis"),
    ],
)
def test_a_skill_is_chosen_by_the_words_of_the_question(question: str, skill: str) -> None:
    assert choose_skill(question) == skill


def test_an_own_skill_is_chosen_only_when_its_words_fit() -> None:
    catalogue = [("fact-extraction", "Extracts facts."), ("legal-risk", "Lists claims with amount and status.")]

    assert choose_skill("Which legal claims are open?", catalogue) == "legal-risk"
    assert choose_skill("Who leads the library?", catalogue) == "fact-extraction"


def test_a_skill_that_the_catalogue_lacks_is_not_chosen() -> None:
    assert choose_skill("Why did margins fall?", [("fact-extraction", "Extracts facts.")]) == "fact-extraction"


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who leads?", ("who",)),
        ("When and where is the meeting?", ("when", "where")),
        ("How many rooms are there?", ("number",)),
        ("What was goodwill in 2024?", ("number",)),
        ("What is flux?", ("definition",)),
        ("Explain the pension plans", ("other",)),
    ],
)
def test_the_kind_of_answer_is_read_from_the_question(question: str, expected: tuple[str, ...]) -> None:
    assert kinds(question) == expected


@pytest.mark.parametrize(
    ("question", "several"),
    [
        ("Which risks are there?", True),
        ("List the directors", True),
        ("Who are the directors?", True),
        ("Which agency rates the notes?", False),
        ("What were capital expenditures in 2024?", False),
        ("Who is the chair?", False),
    ],
)
def test_a_question_for_several_things_is_told_from_one_for_one(question: str, several: bool) -> None:
    assert asks_for_several(question) is several


@pytest.mark.parametrize(
    ("kind", "text", "question", "found"),
    [
        ("who", "It was signed by Ada Lovelace.", "Who signed it?", True),
        ("who", "The Chief Executive Officer signed it.", "Who signed it?", False),
        ("who", "Ada Lovelace signed it.", "Did Ada Lovelace sign?", False),
        ("when", "It opened in March.", "When did it open?", True),
        ("when", "It opened in 2024.", "When in 2024 did it open?", False),
        ("where", "It stands in Duluth.", "Where is it?", True),
        ("number", "It cost $5.", "How much?", True),
        ("number", "It was 2024.", "How much?", False),
        ("number", "It rose by 5.1%.", "What was revenue in 2024?", False),
        ("number", "It was 5.1%.", "What was the margin in 2024?", True),
        ("number", "There are seven rooms.", "How many rooms?", True),
        ("number", "Two men came.", "How much did it cost?", False),
        ("definition", "Flux means flow.", "What is flux?", True),
    ],
)
def test_an_answer_of_a_kind_is_found_in_a_text(kind: str, text: str, question: str, found: bool) -> None:
    assert (answer_place(kind, text, question) >= 0) is found
