"""An answer's marks, mapped and judged."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestra.document import Citation, Document, DocumentSet, LineRange, cite, facts, locate
from orchestra.document.citing.quoting import best_quote

DATA = Path(__file__).parent.parent / "data"
TEXT = """# Harbour plc, annual report

The harbour has three terminals and 412 employees. Jane Smith is the chief executive.

## Results

| (in millions) | 2024 | 2023 |
| --- | --- | --- |
| Revenue | 1,200 | 1,000 |
| Expenses | (900) | (800) |
| Profit | 300 | 200 |

Revenue rose 20% in 2024. On March 3, 2024 the board met. "We grew well," she said.
Costs were stable in the north but declined in the south.
"""
FRAGMENTS = [
    "Revenue", "rose", "fell", "by", "5.2%", "(1,577)", "$1.2 billion", "-3", "in", "March 3, 2024", "“some words”",
    "not", "Jane Smith", "Q3 2024", "the", "and", "12-month", "to", "about", "10-K", "FY18", "SEC", "loss", "2018",
    "(in millions) 2024 2023", "12 10",
]  # fmt: skip
REPORT = Document.from_text(TEXT, name="harbour.md").alone
PAIR = DocumentSet.of(
    [Document.from_text("# One\n\nSales 5.", name="one.md"), Document.from_text("Sales 7.", name="two.md")]
)


def only(text: str, documents: DocumentSet = REPORT) -> Citation:
    (citation,) = cite(text, documents)[1]
    return citation


def test_marks_become_numbers_and_doubtful_ones_are_shown_as_such() -> None:
    answer = "Revenue was $1.2 billion in 2024 [L9], with 413 employees [L3]. Profit was 300 in 2024 [L11]."

    text, citations = cite(answer, REPORT)

    assert text == "Revenue was $1.2 billion in 2024 [1], with 413 employees [2?]. Profit was 300 in 2024 [3]."
    assert [citation.number for citation in citations] == [1, 2, 3]


def test_the_same_lines_share_a_number_while_their_judgement_is_the_same() -> None:
    answer = "Revenue was 1,200 in 2024 [L9]. It was 1,000 in 2023 [L9]. It was 7 in 2022 [L9]."

    text, citations = cite(answer, REPORT)

    assert text == "Revenue was 1,200 in 2024 [1]. It was 1,000 in 2023 [1]. It was 7 in 2022 [2?]."
    assert citations[0].claim == "Revenue was 1,200 in 2024\nIt was 1,000 in 2023"


def test_a_citation_says_where_and_what() -> None:
    citation = only("The board met on 3 March 2024 [L13-L14].")

    assert citation == Citation(
        number=1,
        key="",
        document="harbour.md",
        first_line=13,
        last_line=14,
        page=None,
        quote='Revenue rose 20% in 2024. On March 3, 2024 the board met. "We grew well," she said.',
        status="verified",
        claim="The board met on 3 March 2024",
        reason="",
    )


def test_a_derived_number_comes_with_its_formula() -> None:
    citation = only("The profit margin was 25% in 2024 [L9-L11].")

    assert (citation.status, citation.reason) == ("derived", "300 / 1,200 = 25%")


def test_an_unverified_claim_names_what_is_missing() -> None:
    citation = only("John Smith leads 413 employees [L3].")

    assert (citation.status, citation.reason) == ("unverified", "not in the lines: John Smith, 413")


def test_marks_side_by_side_are_judged_together() -> None:
    text, citations = cite("Jane Smith earned a profit of 300 [L3][L11].", REPORT)

    assert text == "Jane Smith earned a profit of 300 [1][2]."
    assert [citation.status for citation in citations] == ["verified", "verified"]


def test_a_mark_over_several_ranges_becomes_one_number_each() -> None:
    text, _ = cite("Jane Smith earned a profit of 300 [L3, L11].", REPORT)

    assert text == "Jane Smith earned a profit of 300 [1][2]."


def test_a_number_from_another_years_column_is_doubted() -> None:
    citation = only("Revenue was 1,000 in 2024 [L9].")

    assert (citation.status, citation.reason) == ("unverified", "1,000 stands under 2023 in the table")


def test_a_rows_years_and_scale_may_stand_in_the_head_of_a_plain_table_above() -> None:
    document = Document.from_text(
        "Results (Millions) 2018 2017\nSales $ 90 $ 80\nNet income 5,363 4,869\n", name="a.txt"
    )

    right = only("Net income was $5,363 million in 2018 [L3].", document.alone)
    wrong = only("Net income was $5,363 million in 2017 [L3].", document.alone)

    assert (right.status, wrong.status) == ("verified", "unverified")


def test_a_number_that_prose_states_too_is_not_doubted_for_its_column() -> None:
    document = Document.from_text(
        "| | 2024 | 2023 |\n|-|-|-|\n| Sales | 12 | 10 |\nIt had been 10 in 2024.", name="a.md"
    )

    assert only("Sales were 10 in 2024 [L3-L4].", document.alone).status == "verified"


def test_a_row_of_other_width_than_its_head_tells_no_year() -> None:
    document = Document.from_text("(in millions) 2024 2023\nSales 12 10 20\n", name="a.txt")

    assert only("Sales were 10 in 2024 [L2].", document.alone).status == "verified"


def test_a_year_in_a_rows_own_label_is_no_columns_year() -> None:
    document = Document.from_text("(in millions) 2018 2017\nNotes due 2025 1,000 900\n", name="a.txt")

    assert only("Notes due 2025 were $1,000 million [L2].", document.alone).status == "verified"
    assert only("Notes due 2025 were $900 million in 2017 [L2].", document.alone).status == "verified"
    assert only("Notes due 2025 were $900 million in 2018 [L2].", document.alone).status == "unverified"


def test_the_head_of_a_pipe_table_reaches_its_scale_and_all_its_rows() -> None:
    rows = "".join(f"| Item | {number}00 | {number}70 |\n" for number in range(11, 30))
    document = Document.from_text(f"*In millions*\n\n| | 2024 | 2023 |\n|-|-|-|\n{rows}", name="a.md")

    last = document.line_count
    assert only(f"The item was $2.9 billion in 2024 [L{last}].", document.alone).status == "verified"
    assert only(f"The item was $2.9 billion in 2023 [L{last}].", document.alone).status == "unverified"
    assert only(f"The item was $2.9 million in 2024 [L{last}].", document.alone).status == "unverified"


def test_the_quote_is_the_line_that_holds_most_of_the_claim() -> None:
    assert only("Profit was 300 in 2024, revenue 1,200 [L9-L13].").quote == "| Revenue | 1,200 | 1,000 |"
    assert only("Costs declined in the south [L12-L14].").quote.startswith("Costs were stable")


def test_a_capital_that_a_word_has_from_its_place_makes_no_name() -> None:
    documents = Document.from_text("Sales were 5.1 here.\nThe pricing discipline of our buyers is well known.").alone

    assert only("Pricing Discipline: sales were 5.1 [L1].", documents).status == "verified"
    assert only("Northern Discipline: sales were 5.1 [L1].", documents).status == "unverified"
    assert only("Sales under Pricing Discipline were 5.1 [L1].", documents).status == "unverified"


def test_names_may_stand_in_the_titles_above_but_numbers_may_not() -> None:
    documents = Document.from_text("# Northport 77\n\nSales were 5.1 here.\n").alone

    named = only("Sales in Northport were 5.1 [L3].", documents)
    numbered = only("Sales in Northport were 77 [L3].", documents)

    assert (named.status, numbered.status) == ("verified", "unverified")


@pytest.mark.parametrize(
    ("mark", "first", "last", "reason"),
    [
        ("[L99]", 14, 14, "harbour.md ends at L14"),
        ("[L0]", 1, 1, "harbour.md ends at L14"),
        ("[d4:L3]", 3, 3, "there is no document d4"),
        ("[s99]", 1, 1, "harbour.md ends at L14"),
    ],
)
def test_a_mark_that_leads_nowhere_is_kept_and_doubted(mark: str, first: int, last: int, reason: str) -> None:
    citation = only(f"It has 412 employees {mark}.")

    assert (citation.first_line, citation.last_line) == (first, last)
    assert (citation.status, citation.reason) == ("unverified", reason)


def test_a_range_that_runs_past_the_end_is_clipped_and_judged() -> None:
    citation = only("Costs declined in the south [L14-L90].")

    assert (citation.first_line, citation.last_line, citation.status) == (14, 14, "verified")


def test_a_mark_over_very_many_lines_proves_nothing() -> None:
    documents = Document.from_text("Sales were 5.\n" * 2000).alone

    citation = only("Sales were 5 [L1-L2000].", documents)

    assert citation.reason == "the mark covers more than 1000 lines"


def test_a_section_stands_for_its_lines() -> None:
    citation = only("Profit was 300 in 2024 [s2].")

    assert (citation.first_line, citation.last_line, citation.status) == (5, 14, "verified")


@pytest.mark.parametrize(
    ("mark", "key", "name", "status"),
    [
        ("[d1:L3]", "d1", "one.md", "verified"),
        ("[one.md: L3]", "d1", "one.md", "verified"),
        ("[d2:L1]", "d2", "two.md", "unverified"),
        ("[L3]", "", "", "unverified"),
    ],
)
def test_several_documents_are_told_apart(mark: str, key: str, name: str, status: str) -> None:
    citation = only(f"Sales were 5 {mark}.", PAIR)

    assert (citation.key, citation.document, citation.status) == (key, name, status)


def test_a_citation_into_a_pdf_has_its_page() -> None:
    documents = DocumentSet.of(DATA / "report.pdf")
    line = next(n for n in range(1, documents[0].line_count + 1) if documents[0].line(n).startswith("Revenue $"))

    citation = only(f"Revenue was $1.2 billion in 2024 [L{line}].", documents)

    assert (citation.page, citation.status) == (2, "verified")


def test_a_long_line_is_quoted_around_the_fact() -> None:
    documents = Document.from_text("word " * 100 + "sales were 5,123 then " + "word " * 100).alone

    quote = only("Sales were 5,123 [L1].", documents).quote

    assert "sales were 5,123 then" in quote
    assert len(quote) <= 202
    assert quote.startswith("…")


def test_a_text_without_marks_stays_as_it_is() -> None:
    assert cite("No marks [1] here.", REPORT) == ("No marks [1] here.", ())


@given(st.lists(st.lists(st.sampled_from(FRAGMENTS), min_size=1, max_size=8).map(" ".join), min_size=1, max_size=6))
def test_a_line_copied_out_of_the_document_is_verified(lines: list[str]) -> None:
    documents = Document.from_text("\n".join(lines)).alone
    answer = "\n".join(f"- {line} [L{number}]" for number, line in enumerate(lines, start=1))

    _, citations = cite(answer, documents)

    assert {citation.status for citation in citations} == {"verified"}


@given(st.lists(st.sampled_from(["word", "sales", "5,123", "a" * 90, "", "\n"]), min_size=1, max_size=80).map(" ".join))
def test_a_quote_is_a_stretch_of_one_line_of_at_most_200_characters(lines: str) -> None:
    quote = best_quote(facts("Sales were 5,123 here."), lines)

    assert len(quote.strip("…")) <= 200
    assert any(quote.strip("…").strip() in line for line in lines.split("\n"))


@given(st.lists(st.sampled_from(["[L3]", "[L9-L11]", "[d7:L1]", "[s1]", "sales", "300", ".", "\n", "|", "- ", "2024"])))
def test_every_mark_becomes_numbers_that_count_from_one(pieces: list[str]) -> None:
    text, citations = cite(" ".join(pieces), REPORT)

    assert [citation.number for citation in citations] == list(range(1, len(citations) + 1))
    assert all(f"[{c.number}?]" in text if c.status == "unverified" else f"[{c.number}]" in text for c in citations)
    assert "[L" not in text


@pytest.mark.parametrize(
    ("claim", "found"),
    [
        ("Revenue was $1,200 million in 2024.", "L9"),
        ("412", "L3"),
        ("Jane Smith leads Harbour plc.", "L3"),
        ("Profit was 300 and expenses 900.", "L10-L11"),
        ("Costs declined in the south.", "L14"),
        ("Revenue was about $1.2 billion.", "L9"),
        ("It has 3 terminals.", "L3"),
        ("Jane Smith.", "L3"),
        ('She said "we grew well".', "L13"),
        ("The board met in March 2024.", "L13"),
    ],
)
def test_the_smallest_lines_that_hold_a_claim_are_found(claim: str, found: str) -> None:
    assert str(locate(claim, REPORT)) == found


@pytest.mark.parametrize(
    "claim",
    ["Profit was 200 in 2024.", "Revenue was 7.", "Nothing of this is told anywhere else.", "It is so.", ""],
)
def test_what_no_lines_hold_is_not_found(claim: str) -> None:
    assert locate(claim, REPORT) is None


def test_a_claim_may_spread_over_five_lines_but_not_over_six() -> None:
    documents = Document.from_text("North 311\n\n\n\nSouth 422\nEast 533\n").alone

    assert str(locate("North has 311, South 422.", documents)) == "L1-L5"
    assert locate("North has 311, East 533.", documents) is None


def test_the_line_that_shares_most_words_wins_then_the_first() -> None:
    documents = Document.from_text("Costs 311\nSales 311\nSales 311\n").alone

    assert str(locate("Sales were 311.", documents)) == "L2"


def test_the_search_stays_within_the_ranges_it_is_given() -> None:
    assert locate("Profit was 300.", REPORT, [LineRange("", 1, 10)]) is None
    assert locate("Profit was 300.", REPORT, [LineRange("", 11, 12)]) == LineRange("", 11, 11)


def test_the_document_that_holds_a_claim_is_found_among_several() -> None:
    assert str(locate("Sales were 7.", PAIR)) == "d2:L1"
