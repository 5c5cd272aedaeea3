"""Tables as filed: rows set with spaces, the heads of years above them, and the rows that a measure needs."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestra.document import Document, DocumentSet, LineRange, cut, whole
from orchestra.models.blocks import SliceBlock, Task
from orchestra.models.extractive import ExtractiveModel
from orchestra.models.extractive.heads import columns_of
from orchestra.models.extractive.measures import measures_in
from orchestra.models.extractive.periods import spelt_out
from orchestra.models.extractive.questions import split
from orchestra.models.extractive.statements import Statement, read
from orchestra.models.protocol import ModelRequest

STATEMENTS = """Harbor Tools, Inc.
Consolidated Balance Sheets
(In millions, except par value)

December 31,
2021 2020
Assets
Cash and cash equivalents $ 604 $ 560
Receivables, net of allowances of $40 and $42 963 978
Inventories (Note 5) 281 345
Total current assets 1,848 1,883
Property, plant and equipment — net 797 713
Total assets $ 2,645 $ 2,596
Liabilities
Accounts payable $ 80 $ 90
Total current liabilities 397 433
\f
Harbor Tools, Inc.
Consolidated Statements of Income
(In millions)
Years ended December 31, 2021 2020 2019
Net sales $ 3,100 $ 2,900 $ 2,700
Cost of sales 1,900 1,800 1,750
Operating income 410 390 350
Net income $ 300 $ 280 $ 240
"""


@pytest.fixture(scope="module")
def filed() -> DocumentSet:
    return DocumentSet.of(Document.from_text(STATEMENTS, name="harbor"))


def replied(documents: DocumentSet, task: str, *ranges: LineRange) -> str:
    shown = cut(ranges, documents) if ranges else whole(documents)
    return ExtractiveModel().complete(ModelRequest((SliceBlock(shown), Task(task)), purpose="subtask")).text


def rows(text: str) -> list[Statement]:
    return [each for each in read(text.split("\n"), 1, is_paged=True) if each.is_row]


@pytest.mark.parametrize(
    ("line", "columns"),
    [
        ("(In millions, except per share data) 2018 2017", ("2018", "2017")),
        ("Fiscal Years Ended January 28, 2017 January 30, 2016", ("January 28, 2017", "January 30, 2016")),
        ("Q4 ($ in Millions) 2022 2021 % Change", ("2022", "2021", "% Change")),
        ("June 30, 2023 2022", ("June 30, 2023", "2022")),
        ("driven by growth in 2021 and 2022", ()),
        ("Increases in 2022 and 2021 were due", ()),
        ("Revenue rose in 2022, after 2021.", ()),
        ("Year ended December 31,", ()),
        ("Total 2,022 2,021", ()),
    ],
)
def test_a_line_of_years_heads_columns(line: str, columns: tuple[str, ...]) -> None:
    assert columns_of(line) == columns


@pytest.mark.parametrize(
    ("line", "cells"),
    [
        ("Total assets $117,359 $112,362", ("Total assets", "$117,359", "$112,362")),
        ("Gross margin 23.1 % 22.0 %", ("Gross margin", "23.1%", "22.0%")),
        ("Organic change (3.2 %) 9.2 %", ("Organic change", "(3.2%)", "9.2%")),
        ("Balance at June 30, 2022 $ 97 $ 3", ("Balance at June 30, 2022", "$97", "$3")),
        ("Other, net (1,234) —", ("Other, net", "(1,234)", "—")),
        ("Revenue ........ 5.0 ....... 6.0", ("Revenue", "5.0", "6.0")),
        ("Restructuring — cost of sales — 3 —", ("Restructuring — cost of sales", "—", "3", "—")),
    ],
)
def test_a_row_is_a_label_and_the_figures_at_its_end(line: str, cells: tuple[str, ...]) -> None:
    (row,) = rows(line)

    assert row.cells == cells


def test_dates_that_stand_one_below_the_other_head_columns() -> None:
    (row,) = rows("August 29,\n2021\n\nAugust 30,\n2020\nASSETS\nTotal assets 59,268 55,556")

    assert row.header == ("", "August 29, 2021", "August 30, 2020")
    assert row.header_lines == range(1, 6)


def test_figures_within_a_label_are_no_columns(filed: DocumentSet) -> None:
    row = rows(STATEMENTS)[1]

    assert row.cells == ("Receivables, net of allowances of $40 and $42", "963", "978")


def test_a_row_under_columns_that_are_not_all_known_has_no_head() -> None:
    (row,) = rows("2021 2020\n\nSales by region\n($ in Millions) 2021 2020 Reported Operational\nEurope 5.0 6.0")

    assert row.header == ()


def test_a_label_that_began_on_the_line_before_is_made_whole() -> None:
    (row,) = rows("Adjustments to reconcile net income to net cash\nprovided by operating activities 5 6")

    assert row.label == "Adjustments to reconcile net income to net cash provided by operating activities"
    assert (row.first_line, row.last_line) == (1, 2)


@settings(max_examples=80, deadline=None)
@given(st.lists(st.integers(0, 999_999), min_size=2, max_size=6))
def test_every_figure_of_a_row_is_a_cell(figures: list[int]) -> None:
    (row,) = rows("Total sales " + " ".join(f"{figure:,}" for figure in figures))

    assert row.cells[1:] == tuple(f"{figure:,}" for figure in figures)


def test_a_long_line_of_leaders_is_read_at_once() -> None:
    assert rows("Contents " + ". " * 190 + "x") == []


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What was capex in FY2018?", "What was capex in 2018?"),
        ("Did it grow between FY20 and FY 21?", "Did it grow between 2020 and 2021?"),
        ("What changed in Q2 of 2024?", "What changed in second quarter  of 2024?"),
        ("The average from 2016 to 2018", "The average from 2016, 2017, 2018"),
        ("From 1990 - 2020", "From 1990 - 2020"),
    ],
)
def test_periods_are_spelt_out(question: str, expected: str) -> None:
    assert spelt_out(question) == expected


def test_a_row_is_quoted_under_its_year_with_its_unit(filed: DocumentSet) -> None:
    reply = replied(filed, "What is the year end FY2020 net PPNE of Harbor Tools? Answer in USD billions.")

    assert "Property, plant and equipment — net, 2020: 713 (in millions, except par value) [L3, L6, L12]" in reply


def test_a_computed_measure_is_answered_with_the_rows_that_it_needs(filed: DocumentSet) -> None:
    reply = replied(filed, "What was the working capital ratio in 2021?")

    assert "| Total current assets | 1,848 | 1,883 |" in reply
    assert "| Total current liabilities | 397 | 433 |" in reply


def test_several_years_are_all_quoted(filed: DocumentSet) -> None:
    reply = replied(filed, "What was the average net profit margin from FY2019 to FY2021?")

    assert "| Net sales | $3,100 | $2,900 | $2,700 |" in reply
    assert "| Net income | $300 | $280 | $240 |" in reply
    assert "INSUFFICIENT" not in reply


def test_a_row_that_a_computation_lacks_is_named(filed: DocumentSet) -> None:
    reply = replied(filed, "What was the EBITDA margin in 2021?")

    assert "Operating income" in reply
    assert "INSUFFICIENT: no row of depreciation and amortization." in reply


def test_a_year_that_no_head_has_is_named(filed: DocumentSet) -> None:
    reply = replied(filed, "What was the average operating income from 2014 to 2016?")

    assert "INSUFFICIENT: no row of figures of 2014, 2015, 2016." in reply


def test_a_table_goes_on_from_one_passage_into_the_next(filed: DocumentSet) -> None:
    parts = [SliceBlock(cut([LineRange("", first, last)], filed)) for first, last in ((1, 13), (14, 16))]
    task = Task("What were total current liabilities in 2020?")

    reply = ExtractiveModel().complete(ModelRequest((*parts, task), purpose="subtask")).text

    assert "Total current liabilities, 2020: 433" in reply


def test_a_definition_says_which_rows_are_needed() -> None:
    (question,) = split("What is the flux ratio? Define flux ratio as accounts payable divided by total assets.")

    named = {row for measure in measures_in(question) for row in measure.rows}
    assert {"accounts payable", "total assets"} <= named


def test_where_to_look_asks_for_no_rows() -> None:
    (question,) = split(
        "What are total assets? Assume the perspective of an investment analyst. Base your answer on the cash flow statement."
    )

    named = {row for measure in measures_in(question) for row in measure.rows}
    assert named == {"total assets"}
