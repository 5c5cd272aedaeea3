from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestra.document import Document, DocumentSet, LineRange, cut
from orchestra.document.long_lines import LONGEST_KEPT, LONGEST_LINE, shortened, with_lines

SENTENCES = "The plant at Kestrel Point produced 8,417 units. Nobody had expected this! "
WORDS = st.sampled_from(["word ", "a sentence. ", "x" * 450, "結果。", "1,", "\t", "é", "\n"])


def without_spaces(text: str) -> str:
    return "".join(text.split())


def test_a_text_without_line_ends_is_divided_at_the_ends_of_sentences() -> None:
    document = Document.from_text(SENTENCES * 5_000)

    assert document.line_count > 900
    assert {document.line(number)[-1] for number in range(1, document.line_count)} <= {".", "!"}
    assert max(len(document.line(number)) for number in range(1, document.line_count + 1)) <= 402
    assert "hardly any line ends" in document.warnings[0]


def test_a_file_without_line_ends_is_divided_too(tmp_path: Path) -> None:
    path = tmp_path / "transcript.txt"
    path.write_text(SENTENCES * 5_000)

    document = Document.from_path(path)

    assert document.line_count > 900
    assert "hardly any line ends" in document.warnings[0]


@pytest.mark.parametrize("piece", ["x", "word ", '{"key":1},', "結果。", "a. "])
def test_whatever_has_no_line_ends_gets_short_lines(piece: str) -> None:
    text = piece * (2 * LONGEST_LINE)

    divided, warnings = with_lines(text)

    assert max(map(len, divided.split("\n"))) <= 402
    assert without_spaces(divided) == without_spaces(text)
    assert len(warnings) == 1


@settings(max_examples=25)
@given(st.lists(WORDS, min_size=1, max_size=40))
def test_dividing_changes_only_white_space(pieces: list[str]) -> None:
    text = "".join(pieces) + "".join(pieces).replace("\n", " ") * LONGEST_LINE

    divided, _ = with_lines(text[: 3 * LONGEST_LINE])

    assert without_spaces(divided) == without_spaces(text[: 3 * LONGEST_LINE])


def test_a_page_of_text_on_one_line_is_divided_and_a_long_paragraph_is_not() -> None:
    page, paragraph = SENTENCES * (LONGEST_KEPT // len(SENTENCES) + 1), "word " * (LONGEST_KEPT // 5)

    assert Document.from_text(page).line_count > 20
    assert Document.from_text(paragraph).line_count == 1


def test_a_text_with_lines_keeps_them_however_long_one_is() -> None:
    text = "# A\n\n" + "text\n" * 40_000 + "x" * 400_000 + "\n"

    document = Document.from_text(text)

    assert document.text == text
    assert document.warnings == ()


def test_a_slice_shows_the_ends_of_an_endless_line() -> None:
    text = "before\n" + "x" * (2 * LONGEST_LINE) + "END\nafter\n" + "text\n" * LONGEST_LINE

    shown = cut([LineRange("", 1, 3)], DocumentSet.of(text))

    assert shown.tokens < 2_000
    assert "197,503 characters left out" in shown.text
    assert "END\nafter" in shown.text
    assert shown.passages[0].text.count("\n") == 2


def test_lines_of_common_length_are_shown_whole() -> None:
    text = "x" * LONGEST_LINE + "\n" + "y" * LONGEST_LINE

    assert shortened(text) == text
