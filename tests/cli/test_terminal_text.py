"""Nothing that a document or a model says is obeyed by a terminal."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestra.cli.terminal import as_json, clean, one_line


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain, with\ttab\nand é, 漢, 🙂", "plain, with\ttab\nand é, 漢, 🙂"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b[2J\x1b[1;1Hgone", "gone"),
        ("a\x1b]0;title\x07b", "ab"),
        ("a\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\b", "alinkb"),
        ("a\x1bP+q544e\x1b\\b", "ab"),
        ("\x9b31mred", "red"),
        ("one\rtwo", "onetwo"),
        ("one\r\ntwo", "one\ntwo"),
        ("bell\x07 back\x08 del\x7f nul\x00", "bell back del nul"),
        ("a\x1bcb", "ab"),
        ("safe\u202egnp.exe", "safegnp.exe"),
        ("\x1b", ""),
    ],
)
def test_what_a_terminal_would_obey_is_taken_out(text: str, shown: str) -> None:
    assert clean(text) == shown


@given(st.text())
def test_cleaned_text_holds_no_control_but_tab_and_line_feed(text: str) -> None:
    controls = {chr(code) for code in (*range(0x20), *range(0x7F, 0xA0))} - {"\t", "\n"}

    assert not controls & set(clean(text))


@given(st.text(alphabet=st.characters(codec="utf-8", categories=["L", "N", "P", "S", "Zs"])))
def test_text_without_controls_is_kept_as_it_is(text: str) -> None:
    assert clean(text) == text


@given(st.dictionaries(st.text(), st.text()))
def test_json_holds_no_control_and_reads_back_equal(value: dict[str, str]) -> None:
    text = as_json(value)

    assert clean(text) == text
    assert json.loads(text) == value


def test_one_line_is_one_line() -> None:
    assert one_line("a\n  b\x1b[31m\tc") == "a b c"
