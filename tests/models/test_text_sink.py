"""Text as it arrives."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestra.models.text_sink import AnswerSink, TextSink


@given(st.lists(st.text()))
def test_the_deltas_handed_on_make_the_whole_text(deltas):
    handed_on: list[str] = []
    sink = TextSink(handed_on.append)

    for delta in deltas:
        sink.add(delta)

    assert sink.finish() == "".join(deltas) == "".join(handed_on)
    assert "" not in handed_on


def test_a_character_sent_in_two_halves_is_handed_on_whole():
    handed_on: list[str] = []
    sink = TextSink(handed_on.append)

    sink.add("so \ud83d")
    sink.add("\ude42 and \ud83d")

    assert sink.finish() == sink.finish() == "so 🙂 and \ufffd"
    assert handed_on == ["so ", "🙂 and ", "\ufffd"]


@pytest.mark.parametrize("cut", range(len("<think>is it 42?</think>\n\nIt is 42.") + 1))
def test_leading_thoughts_are_left_out_wherever_they_are_cut(cut):
    whole = "<think>is it 42?</think>\n\nIt is 42."
    handed_on: list[str] = []
    sink = AnswerSink(handed_on.append)

    sink.add(whole[:cut])
    sink.add(whole[cut:])

    assert sink.finish().strip() == "It is 42."
    assert "think" not in "".join(handed_on)


@pytest.mark.parametrize("text", ["", " ", "<", "<th", "<table>", "It is <think>quoted</think>", "42"])
def test_text_that_does_not_start_with_thoughts_stays_as_it_is(text):
    sink = AnswerSink(None)

    sink.add(text)

    assert sink.finish() == text


def test_thoughts_that_never_end_are_no_answer():
    sink = AnswerSink(None)

    sink.add("<think>hmm, ")
    sink.add("let me see")

    assert sink.finish() == ""
