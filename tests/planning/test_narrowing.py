from __future__ import annotations

import pytest

from orchestra.document import DocumentSet, LineRange, cut
from orchestra.planning.assemble import SEARCH_TOKENS, assemble
from orchestra.planning.narrowing import fits, narrowed

PARAGRAPH = "The committee met and spoke of many things that morning.\n" * 40 + "\n"
FOUND = "The turbine at Kestrel Point failed on 3 May.\n\n"
DOCUMENTS = DocumentSet.of("# Minutes\n\n" + PARAGRAPH * 60 + FOUND + PARAGRAPH * 60 + "# Annex\n\n" + PARAGRAPH * 60)
MINUTES = [LineRange("", 1, DOCUMENTS[0].outline.section("s1").last_line)]


def test_what_a_model_can_read_fits() -> None:
    tokens = cut(MINUTES, DOCUMENTS).tokens

    assert fits(MINUTES, DOCUMENTS, tokens)
    assert not fits(MINUTES, DOCUMENTS, tokens - 1)


@pytest.mark.parametrize("budget", [1_500, 4_000])
def test_a_narrowed_slice_holds_what_is_asked_for_within_its_budget(budget: int) -> None:
    shown = narrowed("When did the turbine fail?", MINUTES, DOCUMENTS, budget)

    assert "Kestrel Point" in shown.text
    assert 0 < shown.tokens <= budget


def test_a_narrowed_slice_stays_within_its_ranges() -> None:
    shown = narrowed("When did the committee meet?", MINUTES, DOCUMENTS, 4_000)

    assert shown.passages
    assert shown.passages[-1].last_line <= MINUTES[0].last


def test_the_front_is_shown_where_no_place_holds_a_word_of_the_question() -> None:
    shown = narrowed("zebra", MINUTES, DOCUMENTS, 4_000)

    assert shown.passages[0].first_line == 1


def test_a_place_that_is_longer_than_the_budget_shows_its_front() -> None:
    documents = DocumentSet.of("| year | figure |\n|---|---|\n" + "| 2024 | 1,000 |\n" * 700)

    shown = narrowed("figure", [LineRange("", 1, 702)], documents, 1_000)

    assert 200 <= shown.tokens <= 1_000


def test_a_pointer_to_more_than_the_window_is_narrowed_and_says_so() -> None:
    plan = {
        "subtasks": [
            {
                "id": "1",
                "task": "When did the turbine fail?",
                "skill": "critique",
                "context_pointers": {"sections": ["Minutes"], "line_ranges": []},
            }
        ],
        "reasoning": "",
    }

    (assignment,) = assemble(plan, DOCUMENTS, largest_tokens=7_200)

    assert assignment.fallback == "narrowed"
    assert assignment.slice.tokens <= SEARCH_TOKENS
    assert "Kestrel Point" in assignment.slice.text
