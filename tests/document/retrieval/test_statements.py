"""Statements: the pages that print one are told from those that mention it."""

from __future__ import annotations

import pytest

from orchestra.document import Document, DocumentSet
from orchestra.document.retrieval.scores import best
from orchestra.document.retrieval.shelf import Shelf
from orchestra.document.retrieval.statements import statement_places
from orchestra.document.retrieval.vocabulary import read_vocabulary


def ranked(documents: DocumentSet, name: str) -> list[tuple[int, float]]:
    """(page, score) from the surest one."""
    scores = statement_places(tuple(read_vocabulary().statements.values()), Shelf(documents))[name]
    return [(row + 1, scores[row]) for row in best(scores, 10)]


@pytest.mark.parametrize(("name", "page"), [("balance sheet", 4), ("income statement", 5), ("cash flow statement", 6)])
def test_the_page_with_rows_and_title_is_the_statement(report: DocumentSet, name: str, page: int) -> None:
    found = ranked(report, name)

    assert found[0][0] == page
    assert found[0][1] > 2 * max([score for _, score in found[1:]], default=0.0)


def test_a_table_of_contents_is_no_statement(report: DocumentSet) -> None:
    assert 1 not in [page for page, _ in ranked(report, "balance sheet")]


def test_prose_with_some_rows_is_no_statement(report: DocumentSet) -> None:
    pages = report[0].text.split("\f")
    prose = "\n".join(
        f"The lamps of year {number} were sold to many people in Hull and elsewhere." for number in range(60)
    )
    document = Document.from_text(
        "\f".join((f"{pages[3]}\nDeferred revenue 10 9\n{prose}\n", "Other matters.\n", pages[3]))
    )

    assert ranked(document.alone, "balance sheet")[0][0] == 3


def test_the_first_of_two_alike_is_the_statement(report: DocumentSet) -> None:
    text = report[0].text
    balance_sheet = text.split("\f")[3].replace("Goodwill 90 90", "Goodwill 90 90\nDeferred revenue 10 9")
    document = Document.from_text(f"{text}\fNote 9. Restated\f{balance_sheet}")

    found = ranked(document.alone, "balance sheet")

    assert [page for page, _ in found[:2]] == [4, 9]


def test_a_page_that_goes_on_with_a_statement_counts_more_than_a_stray_table(report: DocumentSet) -> None:
    pages = report[0].text.split("\f")
    rows = pages[5].splitlines()
    first, second = "\n".join([*rows[:6], ""]), "\n".join(["Further Flows", *rows[6:]])
    split = [first, second]
    apart = [first, "Note 1. Lamps\nLamps are made of glass.\n", second]

    joined = dict(ranked(Document.from_text("\f".join(split)).alone, "cash flow statement"))
    parted = dict(ranked(Document.from_text("\f".join(apart)).alone, "cash flow statement"))

    assert joined[2] > parted[3]


def test_a_section_of_a_markdown_report_can_be_a_statement() -> None:
    document = Document.from_text(
        "# Report\n\nTotal assets grew.\n\n## Balance Sheets\n\n| | 2020 |\n|-|-|\n| Total assets | 4,300 |\n| Goodwill | 90 |\n"
    )

    assert ranked(document.alone, "balance sheet")[0][0] == 2


def test_a_text_without_figures_has_no_statement() -> None:
    document = Document.from_text("# Balance sheet\n\nThe total assets of a poem are its words.\n")

    assert not ranked(document.alone, "balance sheet")
