from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestra.document import Document
from orchestra.planning.assemble import assemble, fingerprint
from orchestra.skills import Skill

TEXT = "\n".join(
    line for number in range(1, 9) for line in (f"# Chapter {number}", "", f"Body of chapter {number}.", "")
)
DOCUMENT = Document.from_text(TEXT, name="book.md")


def one(pointers, **options):
    return assemble([{"id": "1", "task": "What of it?", "context_pointers": pointers}], DOCUMENT, **options)[0]


def ranges(assignment):
    return [str(lines) for lines in assignment.slice.line_ranges]


def test_sections_and_line_ranges_may_be_mixed_and_overlap():
    assignment = one({"sections": ["Chapter 2", "s2"], "line_ranges": [[7, 9], [30, 31]]})

    assert ranges(assignment) == ["L5-L8", "L9", "L30-L31"]


def test_self_answered_subtasks_need_no_assignment():
    plan = [{"task": "a", "skill": "self", "answer": "x"}, {"task": "b", "sections": ["s1"]}]

    assert [assignment.subtask.task for assignment in assemble(plan, DOCUMENT)] == ["b"]


def test_a_pointer_that_fails_beside_one_that_resolves_is_only_noted():
    assignment = one({"sections": ["Chapter 3", "zzzz qqqq"]})

    assert ranges(assignment) == ["L9-L12"]
    assert [resolution.rung for resolution in assignment.resolutions] == ["title", "unresolved"]


@pytest.mark.parametrize(("on_unresolved", "fallback"), [("full", "full"), ("search", "search"), ("error", "")])
def test_what_happens_when_nothing_resolves_is_the_caller_s_choice(on_unresolved, fallback):
    plan = [{"id": "1", "task": "What is in the body of chapter 5?", "sections": ["zzzz qqqq"]}]

    (assignment,) = assemble(plan, DOCUMENT, on_unresolved=on_unresolved)

    assert assignment.fallback == fallback
    assert (assignment.error is not None) == (on_unresolved == "error")


def test_a_document_that_does_not_fit_is_searched_instead():
    assignment = one({"sections": []}, context_tokens=20)

    assert assignment.fallback in ("search", "")
    assert assignment.slice.tokens < DOCUMENT.tokens


def test_a_skill_s_bound_on_tokens_is_a_ceiling():
    skill = Skill("short", "d", "p", max_tokens=300)
    (assignment,) = assemble([{"task": "t", "skill": "short", "sections": ["s1"]}], DOCUMENT, {"short": skill})

    assert assignment.request(max_tokens=2048).max_tokens == 300
    assert assignment.request(max_tokens=100).max_tokens == 100


@given(
    sections=st.lists(
        st.sampled_from(["s1", "Chapter 4", "chapter 8", "s99", "Chapter"]) | st.text(max_size=12), max_size=4
    ),
    bounds=st.lists(
        st.lists(st.integers(-5, 50) | st.text(max_size=3) | st.none() | st.floats(), max_size=3), max_size=3
    ),
)
def test_slices_hold_only_lines_of_the_document_once_each_in_order(sections, bounds):
    assignment = one({"sections": sections, "line_ranges": bounds})

    lines = [n for passage in assignment.slice.passages for n in range(passage.first_line, passage.last_line + 1)]
    assert lines == sorted(set(lines))
    assert all(1 <= number <= DOCUMENT.line_count for number in lines)
    assert fingerprint([assignment]) == fingerprint([one({"sections": sections, "line_ranges": bounds})])
