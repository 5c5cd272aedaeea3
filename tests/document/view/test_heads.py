"""Which lines a table's row is shown with, so that its figures are not read under the wrong column."""

from __future__ import annotations

import pytest

from orchestra.document import Document
from orchestra.document.view.heads import heads_of, is_head

QUARTERLY = """Condensed Balance Sheets
$ in millions (unaudited)

July 29, 2023 January 28, 2023 July 30, 2022
Assets
Current assets
Cash and cash equivalents $ 1,093 $ 1,874 $ 840
Receivables, net 856 1,141 840
Other, net - 1
Inventories 5,651 5,140 6,045
"""
CASH_FLOWS = """Statements of Cash Flows
(in millions)

Six Months Ended
July 29, 2023 July 30, 2022
Operating activities
Adjustments to reconcile net earnings to total cash provided by operating activities:
Depreciation and amortization 471 452
Cash at end of period $ 1,491 $ 1,152
"""
BROKEN_HEAD = """Hierarchy July 29, 2023

January 28,
2023 July 30, 2022
Money market funds 104 280 1
"""
PER_SHARE = """(In thousands, except per share) 2024 2023
Net income 37,787 31,755
Earnings per share:
Basic 2.36 1.97
"""
PIPES = """*Dollars in millions*

|  | 2025 | 2024 |
| --- | ---: | ---: |
| Revenue | 2,839.5 | 2,593.9 |
"""
WORDS = """Growth by segment
Sales grew in all of the segments, as the table that follows here shows in detail for the year.

Consumer Pharmaceutical Medical Total
United States (1.9)% 1.0% (2.3)% (0.6)%
International (5.8)% 14.9% 8.6% 11.5%
"""
QUARTERS = """(In thousands)
Year Ended December 31, 2019
First
Quarter
Second
Quarter
Net sales 59,700 63,404
"""


@pytest.mark.parametrize(
    ("text", "row", "heads"),
    [
        (QUARTERLY, 7, (2, 4)),
        (QUARTERLY, 10, (2, 4)),
        (CASH_FLOWS, 9, (2, 4, 5)),
        (BROKEN_HEAD, 5, (1, 3, 4)),
        (PER_SHARE, 2, (1,)),
        (PER_SHARE, 4, (1, 3)),
        (PIPES, 5, (1, 3)),
        (WORDS, 6, (4,)),
        (QUARTERS, 7, (1, 2, 3, 4, 5, 6)),
        (WORDS, 2, ()),
        ("Revenue was $40 million.\nCosts were $32 million.\n", 2, ()),
    ],
)
def test_a_row_is_shown_with(text, row, heads):
    assert heads_of(Document.from_text(text), row, 1) == heads


def test_a_head_on_another_page_is_not_taken():
    document = Document.from_text(f"{QUARTERLY}\fPayables 5,471 4,210 5,104\n")

    assert heads_of(document, 11, document.page_starts[1]) == ()


def test_running_text_ends_the_search():
    text = "2024 2023\nOf the ships that were handed over in the course of the year, two were ferries for Norway.\n\nYards 4 3\n"

    assert heads_of(Document.from_text(text), 4, 1) == ()


@pytest.mark.parametrize(
    ("text", "line", "expected"),
    [(QUARTERLY, 4, False), (PER_SHARE, 1, True), (PER_SHARE, 2, False), (PIPES, 3, True), (PIPES, 5, False)],
)
def test_a_line_that_only_names_columns_is_told_from_a_row(text, line, expected):
    assert is_head(Document.from_text(text), line) is expected
