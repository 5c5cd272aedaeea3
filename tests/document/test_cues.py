from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestra.document import Document
from orchestra.document.titles import is_contents_row, read_title

PROSE = "The company makes glue and sells it to people who mend things, in shops and by post."

REPORT = f"""\fACME HOLDINGS ANNUAL REPORT
UNITED STATES
FORM 10-K

INDEX
PART I
Item 1. Business 3
Item 2. Properties ........ 4
PART II
Item 7. Management's Discussion and Analysis 5
Item 8. Financial Statements 6
1
\fACME HOLDINGS ANNUAL REPORT
PART I

Item 1. Business

{PROSE}

Our Markets

{PROSE}
Item 8 of Part II, which comes later, holds the figures that this
paragraph is about.
2
\fACME HOLDINGS ANNUAL REPORT
PART II
ITEM 7. MANAGEMENT'S DISCUSSION AND ANALYSIS

{PROSE}

Results Compared
2023 2022
Sales 10 9

Year Ended June 30

{PROSE}
3
\fACME HOLDINGS ANNUAL REPORT
CONSOLIDATED BALANCE SHEETS
(in millions)

Cash 10 12
Goods 20 21
Total 30 33
4
"""


def cues_of(text: str) -> list[tuple[str, int]]:
    return [(section.title, section.level) for section in Document.from_text(text).outline.sections if section.title]


def test_a_report_gets_its_items_and_statements_as_sections() -> None:
    outline = Document.from_text(REPORT).outline

    found = [(section.title, section.level, section.first_line, section.last_line) for section in outline.sections[1:]]

    assert found == [
        ("UNITED STATES", 3, 2, 2),
        ("FORM 10-K", 3, 3, 4),
        ("INDEX", 3, 5, 13),
        ("PART I", 1, 14, 26),
        ("Item 1. Business", 2, 16, 26),
        ("Our Markets", 4, 20, 26),
        ("PART II", 1, 27, 47),
        ("ITEM 7. MANAGEMENT'S DISCUSSION AND ANALYSIS", 2, 28, 47),
        ("CONSOLIDATED BALANCE SHEETS", 3, 41, 47),
    ]


def test_running_heads_are_no_cues() -> None:
    assert not any("ACME" in title for title, _ in cues_of(REPORT))


def test_a_head_that_runs_over_one_section_s_pages_names_it_once() -> None:
    pages = [f"ACME\n{PROSE}\n{PROSE}" for _ in range(6)]
    notes = [f"NOTES TO THE STATEMENTS (Continued)\n{PROSE}\n{PROSE}" for _ in range(4)]
    text = "\n\f".join([*pages, notes[0].replace(" (Continued)", ""), *notes[1:]])

    named = [(title, level) for title, level in cues_of(text) if not title.startswith("Page")]

    assert named == [("NOTES TO THE STATEMENTS", 1)]


def test_a_label_at_the_head_of_pages_gives_way_to_its_title() -> None:
    pages = [f"PART II\nItem 7\n\n{PROSE}\n{PROSE} {'x' * number}\n" for number in range(4)]
    first = f"PART II\nItem 7\n\nITEM 7. DISCUSSION\n\n{PROSE}\n"

    found = cues_of("\f".join([f"{PROSE}\n", first, *pages]))

    assert found == [("PART II", 1), ("ITEM 7. DISCUSSION", 2)]


def test_a_statement_may_stand_under_its_owner_s_name_at_the_top_of_a_page() -> None:
    text = f"{PROSE}\n\f3M Glue, Inc.\nConsolidated Balance Sheets\nAt year's end\nCash 1 2\nGoods 3 4\n"

    assert ("Consolidated Balance Sheets", 1) in cues_of(text)


def test_numbered_headings_nest_by_their_numbers() -> None:
    text = "\n\n".join(
        f"{title}\n\n{PROSE}" for title in ("1. Introduction", "1.1 Scope", "1.1.1 Terms used", "2. Method")
    )

    assert cues_of(text) == [("1. Introduction", 1), ("1.1 Scope", 2), ("1.1.1 Terms used", 3), ("2. Method", 1)]


def test_sentences_of_a_numbered_list_are_no_cues() -> None:
    text = "1. First we look at the numbers.\n2. Then we write them down;\n\n3. At last we go home, and rest.\n"

    assert cues_of(text) == []


def test_a_label_takes_the_title_of_the_next_line() -> None:
    text = f"ARTICLE 5\n\nMISCELLANEOUS\n\n{PROSE}\n\nITEM 7.\nMANAGEMENT'S DISCUSSION\n{PROSE}\n"

    assert [title for title, _ in cues_of(text)] == ["ARTICLE 5 MISCELLANEOUS", "ITEM 7 MANAGEMENT'S DISCUSSION"]


def test_a_title_that_breaks_off_takes_the_next_line() -> None:
    text = f"CONSOLIDATED STATEMENTS OF\nCOMPREHENSIVE INCOME\n\n{PROSE}\n"

    assert [title for title, _ in cues_of(text)] == ["CONSOLIDATED STATEMENTS OF COMPREHENSIVE INCOME"]


def test_the_heads_of_columns_are_no_cues() -> None:
    text = f"{PROSE}\n\nGross\n\nUnrealized\n\nGains\n\n12 13\n14 15\n"

    assert cues_of(text) == []


def test_names_in_a_row_are_a_list() -> None:
    text = f"{PROSE}\n\nJane Smith\nJohn Miller\nAda Stone\nMax Field\n\n{PROSE}\n"

    assert cues_of(text) == []


def test_pages_are_sections_where_nothing_else_is() -> None:
    text = f"{PROSE}\n\f{PROSE}\n{PROSE}\n\f{PROSE}\n"

    sections = Document.from_text(text).outline.sections

    assert [(section.title, section.first_line, section.last_line) for section in sections] == [
        ("Page 1", 1, 1),
        ("Page 2", 2, 3),
        ("Page 3", 4, 4),
    ]


def test_few_cues_on_many_pages_leave_the_pages_sections() -> None:
    pages = [f"{PROSE} {'x' * number}\n{PROSE}\n" for number in range(20)]

    sections = Document.from_text("\f".join(["PART I\n" + pages[0], *pages[1:]])).outline.sections

    assert [section.title for section in sections][:3] == ["PART I", "Page 2", "Page 3"]
    assert sections[0].children[:2] == ("s2", "s3")


def test_plain_text_without_any_cue_is_one_section() -> None:
    sections = Document.from_text(f"{PROSE}\n\n{PROSE}\n").outline.sections

    assert [section.id for section in sections] == ["s0"]


def test_markdown_headings_leave_cues_alone() -> None:
    assert cues_of(f"# Title\n\nITEM 7. DISCUSSION\n\n{PROSE}\n") == [("Title", 1)]


def test_a_text_in_pages_has_no_markdown() -> None:
    document = Document(f"# of shares\n---\n{PROSE}\n", page_starts=(1,))

    assert [section.title for section in document.outline.sections] == ["Page 1"]


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("PART II", "label"),
        ("ITEM 7. MANAGEMENT’S DISCUSSION AND ANALYSIS", "label"),
        ("Item 1A. Risk Factors", "label"),
        ("Note 12 - Leases", "label"),
        ("Note 1 — Description of Business", "label"),
        ("Article 5", "label"),
        ("Chapter 3: The Sea", "label"),
        ("第二章 结果", "label"),
        ("1.2 Scope", "numbered"),
        ("3) Method", "numbered"),
        ("IV. Results", "numbered"),
        ("CONSOLIDATED BALANCE SHEETS", "capitals"),
        ("FORM 10-K", "capitals"),
        ("Liquidity and Capital Resources", "words"),
        ("Consolidated Balance Shee t", "words"),
    ],
)
def test_lines_that_look_like_titles(line: str, kind: str) -> None:
    title = read_title(line)

    assert title is not None
    assert title.kind == kind


@pytest.mark.parametrize(
    "line",
    [
        "",
        "This is a sentence.",
        "Item 8 of Part II, “Financial Statements”",
        "Section 13 or 15(d) of the Securities Exchange Act",
        "Item 1. Business 3",
        "Liquidity .......... 19",
        "Net sales $ 32,765 $ 31,657",
        "Delaware 91-1646860",
        "31. December 2019",
        "Current Assets:",
        "1. First do this, then do that.",
        "By: /s/ Jane Smith",
        "☒ ANNUAL REPORT",
        "(in millions)",
        "USD",
        "Page",
        "Shares Amount Treasury Stock Additional Paid-In Capital",
        "x" * 500,
    ],
)
def test_lines_that_do_not_look_like_titles(line: str) -> None:
    assert read_title(line) is None


@pytest.mark.parametrize(
    ("line", "is_row"),
    [
        ("Item 7. Discussion and Analysis 19", True),
        ("Business . . . . . . 3", True),
        ("Preface iv", True),
        ("Item 7", False),
        ("Sales 10 9", False),
        ("December 31", False),
        ("The year was 2019", False),
    ],
)
def test_rows_of_a_table_of_contents_end_in_a_page(line: str, is_row: bool) -> None:
    assert is_contents_row(line) is is_row


@given(
    st.lists(
        st.sampled_from(["", "PART I", "Item 1. Business", "A Title", "text here", "1.2 Scope", "\f", "X 3"]),
        max_size=30,
    )
)
def test_levels_are_dense_from_one(lines: list[str]) -> None:
    levels = {level for _, level in cues_of("\n".join(lines))}

    assert levels == set(range(1, len(levels) + 1))


@given(st.text(st.sampled_from("AaBb1. \n\f-—:$(第章"), max_size=80))
def test_any_plain_text_has_an_outline(text: str) -> None:
    document = Document.from_text(text)

    assert sum(section.body_last_line - section.first_line + 1 for section in document.outline.sections) == (
        document.line_count
    )
