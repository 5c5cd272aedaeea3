"""Reading a task: its parts, its terms, what it needs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestra.document.retrieval.question import MOST_PARTS, MOST_TERMS, Question, read_task
from orchestra.document.retrieval.vocabulary import read_vocabulary


def read(task: str, *names: str) -> tuple[Question, ...]:
    return read_task(task, read_vocabulary(), names)


def weights(question: Question) -> dict[str, float]:
    return {term.phrases[0]: term.weight for term in question.terms}


@pytest.mark.parametrize(
    "task",
    [
        "What is A Brook's depth? How wide is the river?",
        "What is the depth of the brook, and how wide is the river?",
        "1. What is the depth of the brook?\n2. How wide is the river?",
        "Explain the depth of the brook; describe the width of the river.",
    ],
)
def test_questions_of_one_task_are_told_apart(task: str) -> None:
    assert len(read(task)) == 2


@pytest.mark.parametrize(
    "task",
    [
        "How deep is the brook, which feeds the river?",
        "Answer in USD millions. What is the depth of the brook? Round to two decimals.",
        "DPO is defined as: 365 * payables / cost of sales. What is DPO?",
    ],
)
def test_what_belongs_to_a_question_stays_with_it(task: str) -> None:
    assert len(read(task)) == 1


def test_how_to_answer_is_not_looked_for() -> None:
    (question,) = read(
        "Assume that you are a public equities analyst. Answer by relying on details shown in the cash flow statement:"
        " what are glass purchases? If purchases are not a useful metric, then state that."
    )

    assert list(weights(question)) == [
        "cash",
        "flow",
        "statement",
        "glass",
        "purchases",
        "cash flow",
        "flow statement",
        "glass purchases",
    ]
    assert question.statements == ("cash flow statement",)


def test_years_and_quarters_are_looked_for_in_all_their_forms() -> None:
    (question,) = read("lamps in FY20 and Q2 of 2019")

    assert [term.phrases for term in question.terms][1:4] == [
        ("2020", "fy2020", "fy20"),
        ("q2", "second quarter", "2q"),
        ("2019", "fy2019", "fy19"),
    ]


def test_a_word_that_names_the_document_counts_little() -> None:
    (question,) = read("lamps of Acme", "acme")

    assert weights(question)["acme"] < weights(question)["lamps"]


def test_the_longest_report_term_counts() -> None:
    (question,) = read("What is the adjusted EBITDA?")

    assert [need.titles[:1] for need in question.needs] == [("non gaap",)]


def test_an_abbreviation_with_an_ampersand_is_one_term() -> None:
    (question,) = read("What drove SG&A?")

    assert question.abbreviations == ("SG&A",)
    assert "sg a" in weights(question)


def test_a_statement_named_beside_the_question_goes_with_it() -> None:
    (question,) = read("What was goodwill? Use the balance sheet.")

    assert question.statements == ("balance sheet",)


def test_a_task_without_words_has_no_parts() -> None:
    assert read("?! ...") == ()


@pytest.mark.parametrize("piece", ["if not ", "you are a ", "and what ", "AB&CD ", "1. ", "if x is not useful "])
def test_a_monotonous_task_is_read_in_no_time(piece: str) -> None:
    assert len(read(piece * 5_000)) <= MOST_PARTS  # hangs if a pattern tries every way to divide it


@given(st.text(max_size=300))
def test_any_task_is_read_within_limits(task: str) -> None:
    questions = read(task)

    assert len(questions) <= MOST_PARTS
    assert all(0 < len(question.terms) <= MOST_TERMS for question in questions)
    assert all(term.weight > 0 and all(term.phrases) for question in questions for term in question.terms)
