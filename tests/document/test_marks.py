"""Citation marks, and the stretch of text that each stands for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestra.document import LineRange, parse_citations
from orchestra.document.citing.claims import claims
from orchestra.document.sentences import blocks, sentences


@pytest.mark.parametrize(
    ("mark", "ranges"),
    [
        ("[L5-L9]", ["L5-L9"]),
        ("[L5–L9]", ["L5-L9"]),
        ("[L5—9]", ["L5-L9"]),
        ("[L5]", ["L5"]),
        ("[L9-L5]", ["L5-L9"]),
        ("[L1-L3, L8]", ["L1-L3", "L8"]),
        ("[L1; 8-9]", ["L1", "L8-L9"]),
        ("[L5 and L7]", ["L5", "L7"]),
        ("[lines 5-9]", ["L5-L9"]),
        ("[line 5 to line 9]", ["L5-L9"]),
        ("[see L5]", ["L5"]),
        ("(L5-L9)", ["L5-L9"]),
        ("[d2:L5-L9]", ["d2:L5-L9"]),
        ("[d2:L5, L9; d1:L3]", ["d2:L5", "d2:L9", "d1:L3"]),
        ("[report.pdf: L5]", ["report.pdf:L5"]),
        ("[My report.pdf L5]", ["My report.pdf:L5"]),
        ("[s12 L5-L9]", ["L5-L9"]),
        ("[s12.3, L5]", ["L5"]),
        ("[d2:s12 L5]", ["d2:L5"]),
        ("[s12 | Results, and more > North | L5-L9]", ["L5-L9"]),
        ("[d2:s12 | Results | d2:L5-L9 | p. 3]", ["d2:L5-L9"]),
        ("[d2:s12 | L1 of the fleet | L5]", ["d2:L5"]),
    ],
)
def test_a_mark_is_read_in_the_ways_that_models_write_it(mark: str, ranges: list[str]) -> None:
    (found,) = parse_citations(f"Before {mark} after.")

    assert [str(line_range) for line_range in found.ranges] == ranges
    assert (found.start, found.end) == (7, 7 + len(mark))


def test_a_mark_of_sections_without_lines_names_the_sections() -> None:
    (found,) = parse_citations("As told [s12, d2:s3.1].")

    assert found.ranges == ()
    assert found.sections == (("", "s12"), ("d2", "s3.1"))


@pytest.mark.parametrize(
    "text",
    ["[1]", "[12-14]", "[abc]", "[x: y]", "(see 5)", "[Note L5 z]", "[]", "[L]", "array[5]", "(12)", "[L5", "[^1]"],
)
def test_other_brackets_are_no_marks(text: str) -> None:
    assert parse_citations(f"Before {text} after") == ()


@given(st.text(alphabet="[]()Lls:|,;-–0123456789d. andto\n", max_size=60))
def test_no_brackets_are_too_odd(text: str) -> None:
    marks = parse_citations(text)

    assert all(text[mark.start] in "[(" and text[mark.end - 1] in "])" for mark in marks)
    assert all(line_range.first <= line_range.last for mark in marks for line_range in mark.ranges)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Costs fell. Sales rose [L1].", ["Sales rose"]),
        ("Sales rose. [L1] Costs fell. [L2]", ["Sales rose.", "Costs fell."]),
        ("Sales rose 5% [L1] and costs fell 3% [L2].", ["Sales rose 5%", "and costs fell 3%"]),
        ("Sales rose in May [L1][L2].", ["Sales rose in May"]),
        ("Sales rose in May [L1] and [L2].", ["Sales rose in May"]),
        ("[L1] Sales rose in May.", ["Sales rose in May."]),
        ("As the report says [L1], sales rose in May.", ["As the report says, sales rose in May."]),
        ("Costs fell very sharply [L1], while sales rose in May.", ["Costs fell very sharply"]),
        ("It fell [L1]. Sales rose in May [L2].", ["It fell", "Sales rose in May"]),
        ("Sales rose in May. It fell. [L1] Costs fell in June.", ["It fell."]),
        ("Mr. Smith of Acme Inc. left in the U.S. in May [L1].", ["Mr. Smith of Acme Inc. left in the U.S. in May"]),
        ("It grew 3.5 percent. No. 5 closed early [L1].", ["No. 5 closed early"]),
        ("- **Sales** rose in May [L1]\n- Costs fell in June [L2]", ["Sales rose in May", "Costs fell in June"]),
        ("1. Sales rose in May [L1]\n2) Costs fell in June [L2]", ["Sales rose in May", "Costs fell in June"]),
        ("## Sales rose in May [L1]\nCosts fell in June [L2]", ["Sales rose in May", "Costs fell in June"]),
        ("| Sales | 5 | [L1] |\n| Costs | 3 | [L2] |", ["Sales | 5", "Costs | 3"]),
        ("| Sales | 5 [L1] | 4 [L2] |", ["Sales | 5", "Sales | | 4"]),
        ("Sales rose\nin May [L1].", ["Sales rose in May"]),
        ("Sales rose in May.\n\n[L1]", ["Sales rose in May."]),
        ("Sales rose in May.\n\nCosts fell in June [L1].", ["Costs fell in June"]),
    ],
)
def test_a_claim_is_the_text_that_its_mark_stands_for(text: str, expected: list[str]) -> None:
    found = list(claims(text, parse_citations(text)))

    assert [claim.text for claim in found] == expected


@given(st.text(alphabet="ab .!?\n|-#*[]L12,", max_size=80))
def test_every_mark_belongs_to_one_claim_in_order(text: str) -> None:
    marks = parse_citations(text)

    assert [mark for claim in claims(text, marks) for mark in claim.marks] == list(marks)


@given(st.text(max_size=200))
def test_blocks_and_sentences_hold_every_word_once_in_order(text: str) -> None:
    spans = [span for first, last in blocks(text) for span in sentences(text, first, last)]

    assert "".join("".join(text[start:end].split()) for start, end in spans) == "".join(text.split())


def test_a_range_shows_as_a_citation_writes_it() -> None:
    assert [str(LineRange("", 5, 5)), str(LineRange("d2", 5, 9))] == ["L5", "d2:L5-L9"]
