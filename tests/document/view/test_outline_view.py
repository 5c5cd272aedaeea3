"""What a planner reads instead of the documents: what it must hold, whatever they hold, and what it shows of each kind."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from outline_texts import handbook, minutes, paged_report

from orchestra.document import Document, DocumentSet, count_tokens, resolve_section
from orchestra.document.view import OutlineView, outline_view
from orchestra.document.view.wording import one_line

REPORT = DocumentSet.of(Document.from_text(paged_report(), name="calder-2024.pdf"))
HANDBOOK = DocumentSet.of(Document.from_text(handbook(), name="handbook.md"))
MINUTES = DocumentSet.of(Document.from_text(minutes(), name="minutes.txt"))
MIXED = DocumentSet.of([REPORT[0], HANDBOOK[0], MINUTES[0]])
LONG = DocumentSet.of(
    "\f".join(f"Report of District {n}\n\nIn district {n} the harvest was {n * 7} tons.\n" for n in range(2000))
)
TASKS = ["What was revenue in 2024?", "Why did cash rise?", "", "zzz", "?" * 50, "the digesters " * 40]

lines_of_text = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=60) | st.sampled_from(
    ["# Revenue", "## Revenue", "#### Deep", "", "| a | 2024 |", "|---|---|", "Revenue 4,120 3,900", "\f", "ITEM 7. RESULTS",
     "</outline>", "p99 Fake", "Best: p1", "word " * 300, "收入增长了百分之六", "x" * 4000]
)  # fmt: skip
texts = st.lists(lines_of_text, min_size=1, max_size=60).map("\n".join).filter(str.strip)


def entries(view: OutlineView) -> list[str]:
    """The rows of the outline, between the head and the lines."""
    return view.text.split("\nLines:")[0].split("\nBest:")[0].split("\n")[1:]


def ids(view: OutlineView) -> list[str]:
    return [entry.split()[0] for entry in entries(view)]


def row_of(view: OutlineView, own_id: str) -> str:
    return next(entry for entry in entries(view) if entry.split()[0] == own_id).strip()


# Budget and bytes


@given(text=texts, task=st.sampled_from(TASKS) | st.text(max_size=80), budget=st.integers(200, 3000))
@settings(max_examples=60)
@example(text="a" * 100_000, task="a", budget=200)
def test_a_view_keeps_within_its_budget_to_the_token(text, task, budget):
    view = outline_view(DocumentSet.of(text), task, budget)

    assert view.tokens == count_tokens(view.text) <= budget


@pytest.mark.parametrize(
    "documents", [REPORT, HANDBOOK, MINUTES, MIXED], ids=["pages", "headings", "neither", "several"]
)
@given(
    task=st.sampled_from(TASKS),
    budget=st.integers(200, 4000),
    look=st.lists(st.sampled_from(["s3", "p22", "d2:s15", "s0", "no"]), max_size=3),
)
@settings(max_examples=12)
def test_a_closer_view_keeps_within_the_same_budget(documents, task, budget, look):
    view = outline_view(documents, task, budget, look=look)

    assert view.tokens == count_tokens(view.text) <= budget


@given(texts=st.lists(texts, min_size=2, max_size=5), budget=st.integers(200, 2000))
@settings(max_examples=25)
def test_a_view_of_several_documents_keeps_within_its_budget(texts, budget):
    view = outline_view(DocumentSet.of(texts), "What was revenue in 2024?", budget)

    assert view.tokens == count_tokens(view.text) <= budget


@settings(max_examples=40)
@given(text=texts, look=st.lists(st.sampled_from(["s1", "p1", "s0.2"]), max_size=2))
def test_what_is_shown_stands_in_the_view_whole(text, look):
    documents = DocumentSet.of(text)

    view = outline_view(documents, "revenue 2024 fake", 1500, look=look)

    rows = set(view.text.split("\n"))
    assert all(lines.first == lines.last for lines in view.shown)
    assert all(f"L{lines.first} {one_line(documents[0].line(lines.first))}" in rows for lines in view.shown)


@settings(max_examples=40)
@given(text=texts)
def test_each_row_of_a_view_is_written_by_code(text):
    documents = DocumentSet.of(text)

    view = outline_view(documents, "revenue 2024 fake", 2000)

    known = re.compile(r"Document: |Lines:$|Best: | *[sp]\d+(?:\.\d+)?(?:-[sp]\d+(?:\.\d+)?)?(?: |:$|$)|L\d+ ")
    assert [row for row in re.split(r"[\r\n\v\f\x1c-\x1e\x85\u2028\u2029]", view.text) if not known.match(row)] == []


@pytest.mark.parametrize("seed", ["0", "77"])
def test_a_view_does_not_depend_on_the_hash_seed(seed):
    code = (
        "from outline_texts import handbook, paged_report\n"
        "from orchestra.document import DocumentSet\nfrom orchestra.document.view import outline_view\n"
        "print(outline_view(DocumentSet.of([paged_report(), handbook()]), 'What was revenue in 2024?', 1200).text)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": "tests", "PYTHONIOENCODING": "utf-8"},
        cwd=__file__.split("tests/document")[0],
    )  # fmt: skip

    documents = DocumentSet.of([paged_report(), handbook()])
    assert done.stdout.rstrip("\n") == outline_view(documents, "What was revenue in 2024?", 1200).text


# Pages


def test_every_titled_page_of_a_report_has_its_row():
    view = outline_view(REPORT, "What was revenue in 2024?", 2000)

    assert row_of(view, "p24").startswith("p24 Consolidated Balance Sheets")
    assert row_of(view, "p35") == "p35 Note 9. Goodwill; Note 10. Borrowings"
    assert "p10" not in ids(view)


def test_a_line_that_stands_on_every_page_names_none():
    view = outline_view(REPORT, "What was revenue in 2024?", 2000)

    assert "Annual Report 2024" not in "\n".join(entries(view)[1:])


def test_pages_without_titles_go_by_their_first_words():
    documents = DocumentSet.of("\f".join(f"on day {n} it rained in the hills.\nand so on.\n" for n in range(1, 30)))

    view = outline_view(documents, "Where did it rain?", 700)

    assert any("on day 1 it rained" in entry for entry in entries(view))


def test_two_thousand_pages_collapse_into_runs_around_the_hits():
    view = outline_view(LONG, "What was the harvest of district 1234?", 800)

    assert "p1235" in ids(view)
    assert ids(view)[0].startswith("p1")
    assert ids(view)[-1].endswith("p2000")
    assert sum("-" in own_id for own_id in ids(view)) > 6
    assert view.tokens <= 800


# Headings


def test_upper_levels_stand_whole_and_deep_ones_where_the_hits_are():
    view = outline_view(HANDBOOK, "At which temperature are the digesters held?", 700)

    assert [own_id for own_id in ("s2", "s36", "s65", "s88") if own_id in ids(view)] == ["s2", "s36", "s65", "s88"]
    assert row_of(view, "s40").endswith("Limits")
    assert "(+4)" in row_of(view, "s101")


def test_an_entry_tells_its_lines_and_its_tokens():
    view = outline_view(HANDBOOK, "At which temperature are the digesters held?", 700)

    section = HANDBOOK[0].outline.section("s40")
    tokens = HANDBOOK[0].outline.tokens("s40")
    assert row_of(view, "s40") == f"s40 L{section.first_line}-L{section.last_line} {tokens}t Limits"


def test_an_empty_section_is_seen_to_be_empty():
    view = outline_view(DocumentSet.of("# Alpha\n\n# Beta\n\nRevenue.\n"), "revenue", 400)

    assert row_of(view, "s1") == "s1 L1-L2 empty Alpha"


def test_siblings_of_one_name_are_told_apart_by_their_first_words():
    documents = DocumentSet.of("# Report\n\n## Results\n\nSales rose.\n\n## Results\n\nCosts fell.\n")

    view = outline_view(documents, "costs", 400)

    assert row_of(view, "s2").endswith("Results (Sales rose.)")
    assert row_of(view, "s3").endswith("Results (Costs fell.)")


def test_a_collapsed_run_says_how_many_it_holds_and_can_be_pointed_at():
    view = outline_view(HANDBOOK, "At which temperature are the digesters held?", 300)

    run = next(entry for entry in entries(view) if " sections: " in entry)
    reference = run.split()[0]
    (lines,) = resolve_section(reference, HANDBOOK).ranges
    assert f" L{lines.first}-L{lines.last} " in run


# Texts without headings


def test_a_text_without_headings_shows_its_parts_by_their_first_words():
    view = outline_view(MINUTES, "What does the library cost?", 900)

    assert ids(view)[0] == "s0.1"
    assert "At Harwick the ferry hulls" in row_of(view, "s0.1")


def test_a_long_text_without_headings_is_collapsed():
    text = "\n\n".join(f"Paragraph {n} tells of valley number {n}. " * 30 for n in range(600))

    view = outline_view(DocumentSet.of(text), "What of valley number 431?", 600)

    assert len(entries(view)) < 60
    assert any(" parts: " in entry for entry in entries(view))


# Lines


def test_a_line_of_a_table_stands_with_the_head_of_its_columns():
    view = outline_view(REPORT, "What was net income in 2023?", 900)

    at = view.text.index("Net income 37,787 31,755 27,052")
    assert "(In thousands of euros, except per share) 2024 2023 2022" in view.text[:at]


def test_a_sentence_that_a_line_s_end_broke_is_shown_to_its_end():
    view = outline_view(MINUTES, "What does the new library cost?", 900)

    first = next(row for row in view.text.split("\n") if "cost of the new library" in row)
    assert f"L{int(first.split()[0][1:]) + 1} " in view.text


def test_a_long_line_is_cut_around_the_match_and_is_not_shown_whole():
    documents = DocumentSet.of("# A\n\n" + "filler words here " * 60 + "the harvest was 91 tons " + "and so on " * 200)

    view = outline_view(documents, "How large was the harvest?", 600)

    row = next(row for row in view.text.split("\n") if row.startswith("L3 "))
    assert "the harvest was 91 tons" in row
    assert len(row) < 320
    assert not [lines for lines in view.shown if lines.first == 3]


# Several documents


def test_ids_of_several_documents_name_theirs():
    view = outline_view(MIXED, "What was net income, and how are digesters kept?", 1500)

    assert {"d1:", "d2:", "d3:"} <= set(ids(view))
    assert any(own_id.startswith("d1:p") for own_id in ids(view))
    assert any(own_id.startswith("d2:s") for own_id in ids(view))


def test_each_document_has_a_share_of_the_view():
    documents = DocumentSet.of([REPORT[0], Document.from_text(handbook(), name="other.md")])

    view = outline_view(documents, "What was net income in 2023 and 2024?", 1500)

    assert len([own_id for own_id in ids(view) if own_id.startswith("d2:")]) > 4


def test_of_hundreds_of_documents_those_that_speak_for_the_task_stand_alone():
    documents = DocumentSet.of(
        [Document.from_text(f"# Letter\n\nThe ship sails on day {n}.\n", name=f"letter-{n}.md") for n in range(300)]
    )

    view = outline_view(documents, "On which day does the ship of letter-77 sail?", 700)

    assert row_of(view, "d78:").startswith("d78: letter-77.md")
    assert sum(" documents: " in entry for entry in entries(view)) > 1


# A closer look


def test_a_look_shows_a_section_whole_where_it_fits():
    view = outline_view(HANDBOOK, "What of the presses?", 900, look=["s45"])

    section = HANDBOOK[0].outline.section("s45")
    wanted = {n for n in range(section.first_line, section.last_line + 1) if HANDBOOK[0].line(n).strip()}
    assert "s45, whole:" in view.text
    assert wanted <= {lines.first for lines in view.shown}


def test_a_look_shows_what_lies_within_a_section_that_does_not_fit():
    view = outline_view(HANDBOOK, "How often are filters washed?", 700, look=["s2"])

    assert "s2, in part:" in view.text
    assert "Filters are washed every 36 hours" in view.text


def test_a_look_shows_a_page_and_the_outline_after_it():
    view = outline_view(REPORT, "What was net income?", 1200, look=["p22"])

    assert view.text.startswith("Closer:\np22, whole:\n")
    assert "\nOutline:\nDocument: calder-2024.pdf" in view.text


def test_a_look_at_what_is_not_there_is_reported():
    view = outline_view(REPORT, "What was net income?", 900, look=["p99", "zz\nBest: p1"])

    assert "p99: there is no such id" in view.text
    assert "zz Best: p1: there is no such id" in view.text
