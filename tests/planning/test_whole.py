from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestra.document import DocumentSet, LineRange, cut
from orchestra.models.blocks import Finding
from orchestra.planning.assemble import assemble
from orchestra.planning.whole import (
    findings_tokens,
    grouped,
    join_request,
    joined_finding,
    map_reduce_estimate,
    map_reduce_plan,
    of_parts,
    pieces,
)

LINES = st.sampled_from(
    [
        "# Chapter",
        "## Section",
        "",
        "Some words of it.",
        "More words, and longer ones than before. " * 8,
        "| a | b |",
        "L1-L2",
    ]
)
TEXTS = st.lists(LINES, min_size=1, max_size=60).map("\n".join).filter(str.strip)


def lines_of(ranges):
    return [(lines.key, number) for lines in ranges for number in range(lines.first, lines.last + 1)]


def every_line(documents):
    return [(key, number) for key, _, document in documents.items() for number in range(1, document.line_count + 1)]


@settings(max_examples=60, deadline=None)
@given(texts=st.lists(TEXTS, min_size=1, max_size=3), paged=st.booleans(), limit=st.integers(30, 400))
def test_the_parts_hold_every_line_once_in_order_and_resolve_to_exactly_their_lines(texts, paged, limit):
    documents = DocumentSet.of([text.replace("# Chapter", "\f# Chapter") if paged else text for text in texts])

    assignments = assemble(map_reduce_plan(documents, "Sum up.", "summarization", piece_tokens=limit), documents)

    shown = [line for assignment in assignments for line in lines_of(assignment.slice.line_ranges)]
    assert shown == every_line(documents)


def test_a_heading_that_reads_like_the_lines_of_a_part_is_not_taken_for_them():
    documents = DocumentSet.of(["# One\n", "# Spine\n\nWords.\n\n# L1-L7\n\nThe lumbar discs.\n"])

    (assignment,) = assemble(map_reduce_plan(documents, "Sum up.", "critique"), documents)

    assert [str(lines) for lines in assignment.slice.line_ranges] == ["d1:L1", "d2:L1-L4", "d2:L5-L7"]


@settings(max_examples=60, deadline=None)
@given(texts=st.lists(TEXTS, min_size=1, max_size=3), limit=st.integers(30, 400))
def test_a_part_keeps_its_limit_unless_it_is_one_line(texts, limit):
    documents = DocumentSet.of(texts)

    parts = pieces(documents, limit)

    too_long = [part for part in parts if cut(part, documents).tokens > limit]
    assert all(len(lines_of(part)) == 1 for part in too_long)


def test_parts_are_even_and_begin_at_headings():
    text = "\n".join(f"## Section {n}\n\n" + "Words of it, and more. " * 12 + "\n" for n in range(40))
    documents = DocumentSet.of(text)

    parts = pieces(documents, 1_000)

    sizes = [cut(part, documents).tokens for part in parts]
    assert len(parts) == 5
    assert max(sizes) < 1.3 * min(sizes)
    assert all(documents[0].line(part[0].first).startswith("## ") for part in parts)


def test_a_chapter_s_beginning_is_a_better_boundary_than_an_even_one():
    chapters = ["\n".join(f"## Section\n\n{'Words of it, and more. ' * 12}\n" for _ in range(n)) for n in (9, 11)]
    documents = DocumentSet.of(f"# One\n\n{chapters[0]}\n# Two\n\n{chapters[1]}")

    parts = pieces(documents, 1_200)

    assert [documents[0].line(part[0].first) for part in parts] == ["# One", "# Two"]


def test_a_part_says_which_it_is_and_what_it_is_for():
    documents = DocumentSet.of("# One\n\nWords of it.\n\n# Two\n\nOther words.\n")

    plan = map_reduce_plan(documents, "Is {count} {task} sound?", "critique", piece_tokens=32)

    assert len(plan.subtasks) == 2
    assert "part 2 of 2" in plan.subtasks[1].task
    assert plan.subtasks[1].task.endswith("The task: Is {count} {task} sound?")
    assert plan.subtasks[1].context_pointers.line_ranges == [[5, 7]]


@settings(deadline=None)
@given(lengths=st.lists(st.integers(1, 60), max_size=20), room=st.integers(20, 200))
def test_groups_keep_order_and_room(lengths, room):
    findings = [Finding(str(n), "q", "word " * length) for n, length in enumerate(lengths, start=1)]

    groups = grouped(findings, room)

    assert [finding for group in groups for finding in group] == findings
    assert all(len(group) == 1 or findings_tokens(group) <= room for group in groups)


def test_findings_of_parts_are_told_by_their_numbers_and_one_reason_is_given_once():
    failed = [Finding(str(n), "long words", "no reply (BUDGET_EXCEEDED)", is_missing=True) for n in (2, 3)]

    named = of_parts([Finding("1", "long words", "a [L1]"), *failed, Finding("4", "long words", "b [L9]")])

    assert [(each.id, each.task, each.is_missing) for each in named] == [
        ("1", "part 1 of 4", False),
        ("2-3", "parts 2 to 3", True),
        ("4", "part 4 of 4", False),
    ]
    assert joined_finding(named, "c").task == "parts 1 to 4"


def test_a_joining_call_reads_the_findings_and_the_task():
    request = join_request("Sum up.", [Finding("1", "part 1 of 2", "a [L1]")], max_tokens=50)

    assert [block.kind for block in request.blocks] == ["instructions", "findings", "task"]
    assert (request.purpose, request.max_tokens) == ("synthesis", 50)


@pytest.mark.parametrize(("tokens", "calls"), [(1_000, 1), (100_000, 8), (25_000_000, 1_683)])
def test_what_reading_it_all_would_take_is_told_beforehand(tokens, calls):
    estimated, usage = map_reduce_estimate(tokens)

    assert estimated == calls
    assert tokens < usage.input_tokens < 1.2 * tokens + 1_000


def test_the_estimate_is_near_what_the_plan_sends():
    text = "\n".join(f"## Section {n}\n\n" + "Words of it, and more of them. " * 60 + "\n" for n in range(200))
    documents = DocumentSet.of(text)

    calls, _ = map_reduce_estimate(documents.size.tokens, piece_tokens=4_000)

    assert abs(calls - 1 - len(pieces(documents, 4_000))) <= 2


def test_a_line_that_no_part_can_hold_is_a_part_alone():
    documents = DocumentSet.of("short\n" + "word " * 500 + "\nshort again\n")

    assert LineRange("", 2, 2) in [lines for part in pieces(documents, 100) for lines in part]
