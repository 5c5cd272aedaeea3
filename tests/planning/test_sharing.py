"""What subtasks have in common, when sending it as one prefix pays, and what is then sent."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestra.document import Document, DocumentSet, LineRange
from orchestra.planning.assemble import assemble
from orchestra.planning.direct import direct_assignment, direct_plan
from orchestra.planning.merging import merge
from orchestra.planning.sharing import CachePrices, common, share, without

WORDS = " ".join(f"word{number}" for number in range(300))
TEXT = "\n".join(line for number in range(1, 7) for line in (f"# Chapter {number}", "", f"In {number}: {WORDS}.", ""))
DOCUMENTS = DocumentSet.of(Document.from_text(TEXT, name="book.md"))
CACHE = CachePrices(minimum_tokens=1_000)


def shared(*subtasks, cache=CACHE):
    """The line ranges of each block of each call, a star on those that are marked cacheable."""
    plan = [
        {"id": str(number), "task": "t", "skill": skill, "sections": list(sections)}
        for number, (skill, *sections) in enumerate(subtasks, start=1)
    ]
    bundles = merge(assemble(plan, DOCUMENTS))
    return [
        [" ".join(map(str, block.slice.line_ranges)) + "*" * block.cacheable for block in blocks]
        for blocks in share(bundles, DOCUMENTS, (lambda: cache) if cache else None)
    ]


def test_one_slice_under_two_skills_is_a_shared_prefix():
    assert shared(("critique", "s1", "s2"), ("summarization", "s1", "s2")) == [["L1-L4 L5-L8*"], ["L1-L4 L5-L8*"]]


def test_what_two_slices_have_in_common_stands_first():
    made = shared(("critique", "s1", "s2"), ("critique", "s1", "s2", "s4"))

    assert made == [["L1-L4 L5-L8*"], ["L1-L4 L5-L8*", "L13-L16"]]


def test_two_slices_that_differ_on_both_sides_share_the_middle():
    made = shared(("critique", "s1", "s2", "s3"), ("critique", "s2", "s3", "s4"))

    assert made == [["L5-L8 L9-L12*", "L1-L4"], ["L5-L8 L9-L12*", "L13-L16"]]


def test_what_is_less_than_half_of_a_slice_is_not_shared():
    made = shared(("critique", "s1", "s2"), ("critique", "s1", "s2", "s3", "s4", "s5", "s6"))

    assert [len(blocks) for blocks in made] == [1, 1]
    assert not any("*" in block for blocks in made for block in blocks)


def test_a_slice_of_one_s_own_is_not_written_to_a_cache():
    assert shared(("critique", "s1", "s2"), ("critique", "s3", "s4")) == [["L1-L4 L5-L8"], ["L9-L12 L13-L16"]]


def test_a_prefix_too_short_for_the_cache_is_not_shared():
    cache = CachePrices(minimum_tokens=4_096)

    assert shared(("critique", "s1"), ("summarization", "s1"), cache=cache) == [["L1-L4"], ["L1-L4"]]


def test_nothing_is_shared_with_a_model_without_a_cache():
    assert shared(("critique", "s1", "s2"), ("summarization", "s1", "s2"), cache=None)[0] == ["L1-L4 L5-L8"]


def test_prices_are_not_looked_up_where_no_lines_are_shared():
    bundles = merge(assemble([{"task": "a", "sections": ["s1"]}, {"task": "b", "sections": ["s2"]}], DOCUMENTS))

    blocks = share(bundles, DOCUMENTS, lambda: pytest.fail("looked up"))

    assert [len(each) for each in blocks] == [1, 1]


@pytest.mark.parametrize("is_kept", [True, False])
def test_a_document_that_is_asked_about_as_a_whole_is_kept_where_the_caller_wants_it(is_kept):
    bundles = merge([direct_assignment(direct_plan("What is in it?"), DOCUMENTS, is_kept=is_kept)])

    ((block,),) = share(bundles, DOCUMENTS, None)

    assert block.cacheable is is_kept


def test_the_third_call_joins_those_with_which_it_saves_most():
    made = shared(("critique", "s1", "s2"), ("critique", "s5", "s6"), ("summarization", "s5", "s6"))

    assert made == [["L1-L4 L5-L8"], ["L17-L20 L21-L23*"], ["L17-L20 L21-L23*"]]


@pytest.mark.parametrize(
    ("calls", "write", "read", "pays"),
    [(1, 1.25, 0.1, False), (2, 1.25, 0.1, True), (2, 1.9, 0.1, False), (3, 1.9, 0.1, True), (2, 1.0, 1.0, False)],
)
def test_a_prefix_pays_when_writing_and_reading_it_cost_less_than_sending_it(calls, write, read, pays):
    assert CachePrices(1_000, write, read).pays(2_000, calls) is pays


def test_a_prefix_below_the_minimum_never_pays():
    assert not CachePrices(1_000).pays(999, 50)


RANGES = st.lists(
    st.tuples(st.sampled_from(["d1", "d2"]), st.integers(1, 30), st.integers(0, 8)).map(
        lambda given: LineRange(given[0], given[1], given[1] + given[2])
    ),
    max_size=4,
)


def lines_of(ranges):
    return {(each.key, line) for each in ranges for line in range(each.first, each.last + 1)}


@given(RANGES, RANGES)
def test_common_and_remaining_lines_make_up_the_whole(ones, others):
    assert lines_of(common(ones, others)) == lines_of(ones) & lines_of(others)
    assert lines_of(without(ones, others)) == lines_of(ones) - lines_of(others)


SECTIONS = st.lists(st.sampled_from(["s1", "s2", "s3", "s4", "s5", "s6"]), min_size=1, max_size=5, unique=True)


@given(st.lists(st.tuples(st.sampled_from(["critique", "summarization"]), SECTIONS), min_size=1, max_size=5))
def test_every_call_still_shows_all_of_its_lines_once_blank_ones_aside(subtasks):
    plan = [
        {"id": str(at), "task": "t", "skill": skill, "sections": names} for at, (skill, names) in enumerate(subtasks)
    ]
    bundles = merge(assemble(plan, DOCUMENTS))

    made = share(bundles, DOCUMENTS, lambda: CACHE)

    for bundle, blocks in zip(bundles, made, strict=True):
        sent = [pair for block in blocks for pair in lines_of(block.slice.line_ranges)]
        missing = lines_of(bundle.first.slice.line_ranges) - set(sent)
        assert len(sent) == len(set(sent))
        assert not any(DOCUMENTS.find(key).lines(line, line).strip() for key, line in missing)
        assert [block.cacheable for block in blocks[1:]] == [False] * (len(blocks) - 1)
