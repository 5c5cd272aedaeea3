from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from orchestra.document.view.wording import CUT, clipped, first_words, joined, one_line


@given(text=st.text(), width=st.integers(2, 60))
def test_a_clipped_line_keeps_within_its_width_and_begins_as_before(text, width):
    short = clipped(text, width)

    assert len(short) <= width
    assert text.startswith(short.removesuffix(CUT))


@given(titles=st.lists(st.text(min_size=1, max_size=30), max_size=6), width=st.integers(4, 90))
def test_joined_titles_pass_their_width_by_a_third_of_it_at_most(titles, width):
    assert len(joined(titles, width)) <= width + width // 3


@given(text=st.text())
def test_one_line_holds_no_line_end_and_no_control_character(text):
    line = one_line(text)

    assert line.splitlines() in ([], [line])
    assert not any(ord(character) < 32 or 127 <= ord(character) < 160 for character in line)


def test_first_words_pass_over_blank_lines_rules_and_markup():
    assert first_words(["", "---", "> **Note** that", "more"], 40) == "**Note** that"


def test_titles_are_joined_as_far_as_they_fit():
    assert joined(["Note 9. Goodwill", "Note 10. Borrowings", "Note 11"], 40) == "Note 9. Goodwill; Note 10. Borrowings"
