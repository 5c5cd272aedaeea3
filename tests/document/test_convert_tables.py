"""HTML tables to pipe tables."""

from __future__ import annotations

import pytest

from orchestra.document.convert import convert


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ("<tr><th>A<th>B</tr><tr><td>1<td>2</tr>", "| A | B |\n| --- | --- |\n| 1 | 2 |\n"),
        ("<tr><td>A</tr><tr><td>B | C</tr>", "A\n\nB | C\n"),
        ("<tr><td>A<td>B</tr><tr><td>1</tr>", "| A | B |\n| --- | --- |\n| 1 |  |\n"),
        ("<tr><td><td>B</tr><tr><td>1<td>2</tr><tr><td> <td></tr>", "|  | B |\n| --- | --- |\n| 1 | 2 |\n"),
        ("<tr><td>A<td>$<td>5<td>)</tr>", "| A | $5) |\n| --- | --- |\n"),
        ("<tr><td>A<td>(5<td>)%</tr>", "| A | (5)% |\n| --- | --- |\n"),
        ("<tr><td>A<td>$<td>free</tr>", "| A | $ | free |\n| --- | --- | --- |\n"),
        ("<tr><td>A<td>word<td>%</tr>", "| A | word | % |\n| --- | --- | --- |\n"),
        ("<tr><td>Price<td>$<td><td><td>5</tr>", "| Price | $ | 5 |\n| --- | --- | --- |\n"),
        (
            "<tr><td>A<td colspan=2>2024</tr><tr><td>x<td>1<td></tr><tr><td>y<td><td>2</tr>",
            "| A | 2024 |\n| --- | --- |\n| x | 1 |\n| y | 2 |\n",
        ),
        (
            "<tr><td>A<td colspan=2>2024</tr><tr><td>x<td>1<td>2</tr>",
            "| A | 2024 |  |\n| --- | --- | --- |\n| x | 1 | 2 |\n",
        ),
        ("<tr><td>A<td colspan=many>B</tr><tr><td>1<td>2</tr>", "| A | B |\n| --- | --- |\n| 1 | 2 |\n"),
        ("<tr><td><p>two</p><p>lines</p><td>B<br>b</tr>", "| two lines | B b |\n| --- | --- |\n"),
        ("<caption>Sales</caption><tr><td>A<td>B</tr>", "Sales\n\n| A | B |\n| --- | --- |\n"),
    ],
)
def test_a_table_keeps_its_texts_and_loses_its_padding(rows: str, expected: str) -> None:
    converted = convert(f"<html><table>{rows}</table></html>".encode(), "page.html")

    assert converted.text == expected


def test_a_cell_that_claims_thousands_of_columns_is_cut_down() -> None:
    markup = "<html><table><tr><td colspan=99999>A<td>B</tr><tr><td>1<td>2</tr></table></html>"

    converted = convert(markup.encode(), "page.html")

    assert converted.text.startswith("| A |")
    assert len(converted.text) < 1000
