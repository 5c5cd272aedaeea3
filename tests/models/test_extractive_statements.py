"""How lines become statements: sentences, rows, items, each with its lines and headings."""

from __future__ import annotations

import pytest

from orchestra.models.extractive.statements import Statement, is_figure, read


def statements(text: str, titles: tuple[str, ...] = ()) -> list[Statement]:
    return read(text.split("\n"), 1, titles=titles)


def texts(text: str) -> list[str]:
    return [statement.text for statement in statements(text)]


def test_sentences_that_run_over_lines_keep_their_first_and_last_line() -> None:
    first, second = statements("One two\nthree. Four\nfive.")

    assert (first.text, first.first_line, first.last_line) == ("One two three.", 1, 2)
    assert (second.text, second.first_line, second.last_line) == ("Four five.", 2, 3)


@pytest.mark.parametrize(
    "text",
    [
        "Mr. Renck joined Acme Inc. in March.",
        "See No. 5 for details.",
        "J. Smith and A. B. Jones signed.",
        "The U.S. Treasury agreed.",
        "It costs $4.50 today.",
    ],
)
def test_an_abbreviation_ends_no_sentence(text: str) -> None:
    assert texts(text) == [text]


def test_headings_make_the_titles_of_what_stands_below() -> None:
    text = "# A\n\nOne.\n\n## B\n\nTwo.\n\n### C\n\nThree.\n\n## D\n\nFour."

    assert [each.titles for each in statements(text)] == [("A",), ("A", "B"), ("A", "B", "C"), ("A", "D")]


def test_a_heading_that_the_caller_named_is_not_counted_twice() -> None:
    (one, two) = statements("## B\n\nOne.\n\n### C\n\nTwo.", titles=("A", "B"))

    assert one.titles == ("A", "B")
    assert two.titles == ("A", "B", "C")


def test_a_heading_of_the_same_level_replaces_the_title_that_the_caller_gave() -> None:
    (one, two) = statements("One.\n\n## E\n\nTwo.", titles=("A", "B"))

    assert one.titles == ("A", "B")
    assert two.titles == ("A", "E")


def test_a_bold_start_is_a_title_of_its_paragraph() -> None:
    (statement,) = statements("**Gliwice.** The plant makes pumps.", titles=("Sites",))[1:]

    assert statement.titles == ("Sites", "Gliwice")
    assert statement.text == "The plant makes pumps."


def test_a_row_knows_its_header_and_the_caption_above_its_table() -> None:
    (row,) = statements("*Dollars in millions*\n\n| Item | 2025 |\n| --- | ---: |\n| Revenue | 5.0 |")

    assert (row.cells, row.header, row.header_line) == (("Revenue", "5.0"), ("Item", "2025"), 3)
    assert (row.caption, row.caption_line, row.first_line) == ("Dollars in millions", 1, 5)
    assert row.label == "Revenue"


def test_a_row_shorter_than_its_header_is_filled_up() -> None:
    (row,) = statements("| a | b | c |\n| - | --- | --- |\n| x |")

    assert row.cells == ("x", "", "")


def test_an_escaped_bar_stays_in_its_cell() -> None:
    (row,) = statements("| a | b |\n| --- | --- |\n| x \\| y | z |")

    assert row.cells == ("x | y", "z")


def test_a_line_of_figures_set_with_spaces_is_a_row_under_the_years_above() -> None:
    row = statements("                 2025     2024\n\nTotal revenue  $ 2,839.5  2,593.9")[-1]

    assert row.cells == ("Total revenue", "$2,839.5", "2,593.9")
    assert row.header == ("", "2025", "2024")
    assert row.header_line == 1


def test_list_items_are_statements_without_their_marks() -> None:
    found = statements("- one\n- two\n\n1. three")

    assert [(each.text, each.is_item) for each in found] == [("one", True), ("two", True), ("three", True)]


def test_code_is_read_line_by_line_without_its_fence() -> None:
    found = statements("```\n# no heading\nx = 1\n```\nText.")

    assert [(each.text, each.is_code) for each in found] == [("# no heading", True), ("x = 1", True), ("Text.", False)]


def test_a_comment_and_the_line_under_a_heading_say_nothing() -> None:
    assert texts("<!-- a\nb -->\n\nTitle\n===\n\nText.") == ["Title", "Text."]


@pytest.mark.parametrize(("cell", "expected"), [("1,234.5", True), ("(12.0)", True), ("–", True), ("3.4x", True), ("June 2029", False)])  # fmt: skip
def test_a_figure_is_told_from_words(cell: str, expected: bool) -> None:
    assert is_figure(cell) is expected
