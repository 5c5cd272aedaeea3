"""The choice of strategy: what each way is expected to cost, and which is taken."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestra.document import DocumentSet, count_tokens
from orchestra.document.retrieval import find
from orchestra.models.protocol import Usage
from orchestra.planning.strategy import (
    MOST_PARTS,
    Sizes,
    choose,
    estimates,
    expected_parts,
    expected_slices,
)

LONG = Sizes(direct=110_000, full=112_000, outline=3_000, slices=5_500, max_followup_tokens=4_500)
SHORT = replace(LONG, direct=9_000, full=9_500, slices=4_000)

sizes = st.builds(
    Sizes,
    direct=st.integers(1, 2_000_000),
    full=st.integers(1, 2_000_000),
    outline=st.integers(1, 5_000),
    slices=st.integers(0, 20_000),
    parts=st.integers(1, MOST_PARTS),
    is_document_cached=st.booleans(),
    window=st.none() | st.integers(1_000, 1_000_000),
    max_followup_tokens=st.integers(0, 15_000),
)


def no_price(phases):
    return None


def at_list_price(phases):
    return sum(
        usage.input_tokens * 2.0 + usage.cached_input_tokens * 0.1 + usage.output_tokens * 10.0 for usage in phases
    )


def test_a_long_document_is_planned_from_its_outline():
    choice = choose(LONG, "auto", no_price)

    assert choice.strategy == "outline"
    assert choice.reason == "about 8 % of the input tokens of one call with everything"


def test_a_short_document_is_sent_in_one_call():
    choice = choose(SHORT, "auto", no_price)

    assert choice.strategy == "direct"
    assert "the document is short" in choice.reason


def test_a_warm_copy_is_read_where_that_is_cheaper():
    warm = replace(LONG, direct=40_000, is_document_cached=True)

    choice = choose(warm, "auto", at_list_price)

    assert choice.strategy == "direct"
    assert "a cached copy is warm" in choice.reason


def test_a_warm_copy_of_a_huge_document_is_not_worth_it():
    warm = replace(LONG, direct=900_000, is_document_cached=True)

    assert choose(warm, "auto", at_list_price).strategy == "outline"


def test_where_the_planner_has_no_price_all_is_weighed_in_tokens():
    def price(phases):
        return None if phases[0] != Usage() else at_list_price(phases) / 1e6

    assert choose(LONG, "auto", price).strategy == "outline"


def test_a_worker_that_costs_nothing_is_sent_everything_sooner_than_a_planner_is_paid():
    def price(phases):
        return at_list_price(phases[:1]) / 1e6

    assert choose(LONG, "auto", price).strategy == "direct"


def test_skills_that_the_user_brought_exclude_one_call():
    assert choose(replace(SHORT, has_own_skills=True), "auto", no_price).strategy == "outline"


def test_a_document_that_no_window_holds_is_planned_from_its_outline_and_the_estimate_says_why():
    choice = choose(replace(SHORT, window=8_000), "auto", no_price)

    assert choice.strategy == "outline"
    assert choice.estimates[0].is_possible is False
    assert "does not fit the model's window of 8,000" in choice.reason


@pytest.mark.parametrize("asked", ["direct", "full", "outline"])
def test_what_is_asked_for_is_done(asked):
    choice = choose(SHORT, asked, no_price)

    assert (choice.strategy, choice.reason) == (asked, "as asked for")
    assert choice.estimate.strategy == asked


@given(sizes)
def test_auto_never_takes_full_and_equal_input_gives_an_equal_choice(given_sizes):
    choice = choose(given_sizes, "auto", no_price)

    assert choice.strategy in ("direct", "outline")
    assert choice == choose(given_sizes, "auto", no_price)


@given(sizes)
def test_an_outline_is_taken_only_if_it_stays_cheaper_with_all_its_follow_ups(given_sizes):
    choice = choose(replace(given_sizes, window=None, is_document_cached=False), "auto", no_price)
    direct, _, outline = choice.estimates

    dearest = outline.input_tokens + given_sizes.parts * given_sizes.max_followup_tokens

    assert choice.strategy == "direct" or dearest < direct.input_tokens


def test_an_estimate_is_the_sum_of_its_phases():
    two = replace(LONG, parts=2)

    direct, full, outline = estimates(two)

    assert (direct.calls, direct.input_tokens) == (1, 110_000)
    assert (full.calls, full.input_tokens - full.plan.input_tokens) == (4, outline.input_tokens - 3_000)
    assert outline.plan == Usage(3_000, output_tokens=outline.plan.output_tokens)
    assert outline.synthesis.input_tokens > 0


@pytest.mark.parametrize(
    ("task", "parts"),
    [("Sum up.", 1), ("Who audits? Why?", 2), ("What is a pump, and how does it work?", 2), ("Why? " * 40, MOST_PARTS)],
)
def test_a_plan_is_expected_to_have_a_subtask_for_each_question(task, parts):
    assert expected_parts(task) == parts


def test_expected_slices_are_what_retrieval_ranks_best_up_to_a_budget():
    text = "\n\n".join(f"# Chapter {number}\n\nSteel became dearer. {'word ' * 900}" for number in range(20))
    documents = DocumentSet.of(text)
    one = DocumentSet.of("# Costs\n\nSteel became dearer.\n")

    many = expected_slices(find("Why did steel become dearer?", documents), documents, 1)
    few = expected_slices(find("Why did steel become dearer?", one), one, 1)

    assert many == 5_500
    assert expected_slices(find("What is this about?", one), one, 1) == one.size.tokens
    assert 0 < few <= count_tokens("# Costs\n\nSteel became dearer.\n")
