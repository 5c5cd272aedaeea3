"""Replies to more than a plain subtask: several tasks, slices in parts, a second look, a part of all, a short reply."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestra.document import Document, DocumentSet, LineRange, count_tokens, cut, whole
from orchestra.models.blocks import Block, Finding, Findings, SliceBlock, Task, Tasks
from orchestra.models.extractive import NOTICE, ExtractiveModel
from orchestra.models.extractive.fitting import fitted
from orchestra.models.protocol import ModelReply, ModelRequest
from orchestra.planning.insufficient import shortfall
from orchestra.planning.merging import split_reply
from orchestra.planning.whole import part_words

TEXT = """# Handbook

## Opening hours

The library opens at nine and closes at six.
It is closed on public holidays because the caretaker is away.

## Staff

Maria Lindqvist-Ode leads the library.
"""
INCOME = "Statements of Income\n(In millions)\n2021 2020\nOperating income 410 390\n"
CASH = "\fStatements of Cash Flows\n(In millions)\n2021 2020\nDepreciation and amortization 62 54\n"


@pytest.fixture(scope="module")
def handbook() -> DocumentSet:
    return DocumentSet.of(TEXT)


def sent(*blocks: Block, max_tokens: int = 2_048) -> ModelReply:
    return ExtractiveModel().complete(ModelRequest(blocks, purpose="subtask", max_tokens=max_tokens))


def test_tasks_in_one_call_are_answered_as_if_asked_alone(handbook: DocumentSet) -> None:
    words = ("Who leads the library?", "Why is the library closed on public holidays?", "What is tungsten?")
    slice_ = SliceBlock(whole(handbook))

    together = sent(slice_, Tasks(words, 500)).text

    alone = tuple(sent(slice_, Task(each)).text for each in words)
    assert split_reply(together, 3) == alone


def test_a_slice_in_parts_is_answered_like_a_whole_one(handbook: DocumentSet) -> None:
    parts = (SliceBlock(cut([LineRange("", 7, 10)], handbook)), SliceBlock(cut([LineRange("", 1, 6)], handbook)))
    task = Task("Who leads the library, and why is it closed on public holidays?")

    assert sent(*parts, task).text == sent(SliceBlock(whole(handbook)), task).text


def test_every_question_of_a_direct_task_is_answered_in_a_short_reply(handbook: DocumentSet) -> None:
    long = "\n".join(
        f"The library closed in {year} because the roof leaked again and again." for year in range(1950, 2000)
    )
    documents = DocumentSet.of(f"{TEXT}\n## History\n\n{long}\n")
    task = "Why did the library close? Summarize the history. Who leads the library?"

    reply = sent(SliceBlock(whole(documents)), Task(task), max_tokens=220)

    heads = re.findall(r"^\*\*(.+)\*\*$", reply.text, re.MULTILINE)
    assert heads == ["Why did the library close?", "Summarize the history", "Who leads the library?"]
    assert "Maria Lindqvist-Ode leads the library." in reply.text
    assert reply.usage.output_tokens <= 220


@given(
    st.lists(
        st.lists(st.sampled_from(["one", "two words", "a longer line of it"]), max_size=12), min_size=1, max_size=5
    )
)
def test_a_fitted_text_keeps_its_bound_or_one_line(answers: list[list[str]]) -> None:
    text = "\n".join(line for number, lines in enumerate(answers) for line in (f"**{number}**", *lines))

    short = fitted(text, 30)

    assert count_tokens(short) <= 30 or "\n" not in short
    assert set(short.split("\n")) <= {*text.split("\n"), ""}


def test_what_was_found_before_is_kept_and_no_longer_missing() -> None:
    documents = DocumentSet.of(Document.from_text(INCOME + CASH))
    task = Task("What was EBITDA in 2021?")
    first = sent(SliceBlock(cut([LineRange("", 1, 4)], documents)), task).text
    lack = shortfall(first)
    assert lack is not None

    earlier = Findings((Finding("1", task.words, lack.found),))
    second = sent(SliceBlock(cut([LineRange("", 5, 9)], documents)), earlier, task).text

    assert "Operating income, 2021: 410" in second
    assert "Depreciation and amortization, 2021: 62" in second
    assert shortfall(second) is None
    assert second.count(NOTICE) == 1


def test_a_row_found_at_last_is_no_longer_missing_where_nothing_was_found_before() -> None:
    documents = DocumentSet.of(Document.from_text(INCOME + CASH))

    reply = sent(SliceBlock(whole(documents)), Task("What was EBITDA in 2021?")).text

    assert shortfall(reply) is None


def test_one_part_of_a_document_is_searched_for_the_task_itself(handbook: DocumentSet) -> None:
    task = Task(part_words("Who leads the library?", 1, 3))

    reply = sent(SliceBlock(whole(handbook)), task).text

    assert reply.startswith("Maria Lindqvist-Ode leads the library. [L10]")


def test_a_part_that_holds_nothing_says_so_without_asking_for_more(handbook: DocumentSet) -> None:
    task = Task(part_words("What is the melting point of tungsten?", 1, 3))

    reply = sent(SliceBlock(whole(handbook)), task).text

    assert reply.startswith("Nothing here bears on the task.")
    assert shortfall(reply) is None


def test_a_critique_of_the_whole_quotes_what_is_claimed() -> None:
    claims = "\n\n".join(f"We believe that plan {letter} will probably succeed this year." for letter in "ABCD")
    documents = DocumentSet.of(f"# Plans\n\nThe plans were written in March by the staff.\n\n{claims}\n")

    reply = sent(SliceBlock(whole(documents)), Task("Critique this document")).text

    assert reply.count("We believe") == 4
    assert "written in March" not in reply


@pytest.mark.parametrize("text", ["| a | b |\n| --- | --- |\n| x | 5 |", "# Only a title", "```\ncode\n```"])
def test_a_text_without_sentences_does_not_fail_a_task_about_the_whole(text: str) -> None:
    reply = sent(SliceBlock(whole(DocumentSet.of(text))), Task("Summarize this document")).text

    assert reply.endswith(f"*{NOTICE}*")


@pytest.mark.parametrize("task", ["What is this document about?", "Summarize this filing", "What are the main points?"])
def test_a_task_about_the_whole_is_answered_by_central_sentences(handbook: DocumentSet, task: str) -> None:
    reply = sent(SliceBlock(whole(handbook)), Task(task)).text

    assert "- The library opens at nine and closes at six. [L5]" in reply
    assert shortfall(reply) is None
