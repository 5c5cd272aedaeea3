from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestra.document import FUZZY_THRESHOLD, Document, DocumentSet, LineRange, resolve_lines, resolve_section

TEXT = """# The Report

Opening words.

## Chapter 1: Results

Early results.

### Input/Output

Numbers of the year 2023.

## Chapter 2 - Method & Aims

How it was done.

### Results

Later results, with an astrolabe.

### 2.1 Scope of **Work**

What was in scope.

## Results 2022

Old.

## Item 7A. Market Risk

Interest.

## Item 7. Management's Discussion and Analysis of Financial Condition

Discussed at length.
"""
OTHER = "# Other\n\n## Results\n\nElsewhere.\n\n## Annex\n\nMore.\n"

ONE = DocumentSet.of(Document.from_text(TEXT, name="report.md"))
TWO = DocumentSet.of([Document.from_text(TEXT, name="report.md"), Document.from_text(OTHER, name="other.md")])
PAGED = DocumentSet.of(Document("a\nb\nc\nd\ne\n", page_starts=(1, 3, 5)))


@pytest.mark.parametrize(
    ("reference", "rung", "sections"),
    [
        ("s2", "id", ["s2"]),
        ("S2", "id", ["s2"]),
        (" [s2] ", "id", ["s2"]),
        ("[s2 L5-L12]", "id", ["s2"]),
        ("s2 | The Report > Chapter 1: Results | L5-L12", "id", ["s2"]),
        ("s2: Chapter 1: Results", "id", ["s2"]),
        ("s2: something else", "id", ["s2"]),
        ("s2.7", "id", ["s2"]),
        ("Results", "title", ["s5"]),
        ("Input/Output", "title", ["s3"]),
        ("2.1 Scope of Work", "title", ["s6"]),
        ("chapter 1:  RESULTS", "folded", ["s2"]),
        ("## Results", "folded", ["s5"]),
        ("*Results*", "title", ["s5"]),
        ("Chapter 2: Method and Aims", "folded", ["s4"]),
        ("Method & Aims", "folded", ["s4"]),
        ("Scope of Work", "folded", ["s6"]),
        ("2.1. scope of work", "folded", ["s6"]),
        ("9.9 Scope of Work", "folded", ["s6"]),
        ("2.1", "folded", ["s6"]),
        ("Item 7A", "folded", ["s8"]),
        ("ITEM 7", "folded", ["s9"]),
        ("Item 7. Managements Discussion", "folded", ["s9"]),
        ("Chapter 2 > Results", "path", ["s5"]),
        ("chapter 2/results", "path", ["s5"]),
        ("The Report > Chapter 2 - Method & Aims > Results", "path", ["s5"]),
        ("The Report > Results", "path", ["s5"]),
        ("Method & Aims » Scope of Work", "path", ["s6"]),
        ("Chapter 1 > Input/Output", "path", ["s3"]),
        ("Market Riks", "fuzzy", ["s8"]),
        ("Chapter 2 > Scope of Wrok", "fuzzy", ["s6"]),
        ("Chapter 2: Method and Aim", "fuzzy", ["s4"]),
        ("the later astrolabe", "lexical", ["s5"]),
        ("Discussion and Analysis", "lexical", ["s9"]),
    ],
)
def test_the_first_rung_that_answers_gives_the_section(reference: str, rung: str, sections: list[str]) -> None:
    resolution = resolve_section(reference, ONE)

    assert (resolution.rung, list(resolution.sections), resolution.pointer) == (rung, sections, reference)


@pytest.mark.parametrize(
    "reference",
    [
        "",
        "   ",
        "***",
        "#",
        "s99",
        "s99: Results of nothing",
        "Weather",
        "Results 2021",
        "Chapter 2 > Weather",
        "7",
        "d9:s1",
        "\0",
    ],
)
def test_what_matches_nothing_is_unresolved_and_says_so(reference: str) -> None:
    resolution = resolve_section(reference, ONE)

    assert (resolution.rung, resolution.ranges, resolution.sections) == ("unresolved", (), ())
    assert resolution.notes


def test_a_section_s_lines_are_its_own_and_its_subsections() -> None:
    assert resolve_section("s4", ONE).ranges == (LineRange("", 13, 24),)


def test_ids_may_be_a_range_of_sections_and_of_parts() -> None:
    parted = DocumentSet.of("# A\n\n" + ("word " * 300 + "\n\n") * 8)
    part = parted[0].outline.parts("s1")[1]

    assert resolve_section("s2-s3", ONE).ranges == (LineRange("", 5, 12),)
    assert resolve_section("s1.2", parted).ranges == (LineRange("", part.first_line, part.last_line),)
    assert resolve_section("s1.2", parted).sections == ("s1.2",)


def test_lines_named_after_an_id_narrow_it_where_they_lie_inside() -> None:
    assert resolve_section("s2 L6-L8", ONE).ranges == (LineRange("", 6, 8),)
    assert resolve_section("s2 L1-L8", ONE).ranges == (LineRange("", 5, 8),)
    assert resolve_section("s2 L30-L31", ONE).ranges == (LineRange("", 5, 12),)


def test_an_ambiguous_title_means_all_sections_that_bear_it_and_says_so() -> None:
    documents = DocumentSet.of("# A\n## Costs\na\n# B\n## Costs\nb\n")

    resolution = resolve_section("Costs", documents)

    assert resolution.sections == ("s2", "s4")
    assert resolution.ranges == (LineRange("", 2, 3), LineRange("", 5, 6))
    assert resolution.notes == ("2 sections match: s2, s4",)


def test_a_title_that_bears_another_number_is_no_fuzzy_match() -> None:
    assert resolve_section("Results 2023", ONE).rung != "fuzzy"
    assert resolve_section("Note 1", DocumentSet.of("# Note 12\n\nx\n")).rung == "unresolved"
    assert FUZZY_THRESHOLD == 90


def test_numbering_tells_like_titles_apart() -> None:
    documents = DocumentSet.of("# 1. Results\na\n# 2. Results\nb\n")

    assert resolve_section("2) results", documents).sections == ("s2",)
    assert resolve_section("Results", documents).sections == ("s1", "s2")
    assert resolve_section("3. Results", documents).notes == ("2 sections match: s1, s2", "its numbering differs")


def test_bookmarks_joined_on_one_line_answer_to_each_of_their_titles() -> None:
    documents = DocumentSet.of(
        Document("a\nb\n", page_starts=(1,), bookmarks=((1, "Key Figures", 1), (1, "Outlook", 1)))
    )

    assert resolve_section("Outlook", documents).sections == ("s1",)
    assert resolve_section("key figures", documents).sections == ("s1",)


@pytest.mark.parametrize(
    ("reference", "sections"),
    [
        ("Results", ["d1:s5", "d2:s2"]),
        ("d2:Results", ["d2:s2"]),
        ("D2: results", ["d2:s2"]),
        ("other.md > Results", ["d2:s2"]),
        ("OTHER.MD/Results", ["d2:s2"]),
        ("d2:s3", ["d2:s3"]),
        ("[d2:s3 L7-L9]", ["d2:s3"]),
        ("s3", ["d1:s3", "d2:s3"]),
        ("d1:Chapter 2 > Results", ["d1:s5"]),
    ],
)
def test_a_document_in_front_limits_the_search_to_it(reference: str, sections: list[str]) -> None:
    assert list(resolve_section(reference, TWO).sections) == sections


@pytest.mark.parametrize("reference", ["d2", "other.md", "Other.md"])
def test_a_document_s_name_alone_means_the_whole_of_it(reference: str) -> None:
    resolution = resolve_section(reference, TWO)

    assert (resolution.rung, resolution.ranges) == ("path", (LineRange("d2", 1, 9),))


@pytest.mark.parametrize(
    ("reference", "lines"),
    [
        ("L5-L9", (5, 9)),
        ("L5–9", (5, 9)),
        ("L5", (5, 5)),
        ("lines 5 to 9", (5, 9)),
        ("Line 7", (7, 7)),
        ("5-9", (5, 9)),
        ("[L9-L5]", (5, 9)),
        ("L30-L999", (30, 35)),
    ],
)
def test_lines_are_understood_as_a_reference(reference: str, lines: tuple[int, int]) -> None:
    resolution = resolve_section(reference, ONE)

    assert (resolution.rung, resolution.ranges) == ("lines", (LineRange("", *lines),))


@pytest.mark.parametrize(
    ("reference", "lines"),
    [
        ("page 2", (3, 4)),
        ("p. 1-2", (1, 4)),
        ("pp. 2–99", (3, 5)),
        ("Pages 3 to 3", (5, 5)),
        ("p2", (3, 4)),
        ("p1-p2", (1, 4)),
        ("[p2–p3]", (3, 5)),
    ],
)
def test_pages_are_understood_where_a_document_has_them(reference: str, lines: tuple[int, int]) -> None:
    resolution = resolve_section(reference, PAGED)

    assert (resolution.rung, resolution.ranges) == ("lines", (LineRange("", *lines),))


def test_pages_that_are_not_there_are_unresolved() -> None:
    assert resolve_section("page 4", PAGED).notes == ("page 4 lies outside the document, which has 3",)
    assert resolve_section("page 4", ONE).notes == ("the document has no pages",)


@pytest.mark.parametrize(
    ("first", "last", "lines", "notes"),
    [
        (5, 9, (5, 9), ()),
        (5, None, (5, 5), ()),
        ("5", "9", (5, 9), ()),
        ("L5", " l9 ", (5, 9), ()),
        ("L5-L9", None, (5, 9), ()),
        ("5-9", None, (5, 9), ()),
        (5.0, 9.0, (5, 9), ()),
        (9, 5, (5, 9), ("reversed: read as 5-9",)),
        (0, 9, (1, 9), ("clipped to 1-9",)),
        (-3, 9, (1, 9), ("clipped to 1-9",)),
        (30, 10**30, (30, 35), ("clipped to 30-35",)),
        (5.7, 9, (5, 9), ("5.7 read as 5",)),
        ("5.5", "9", (5, 9), ("5.5 read as 5",)),
    ],
)
def test_line_ranges_are_mended(first: object, last: object, lines: tuple[int, int], notes: tuple[str, ...]) -> None:
    resolution = resolve_lines(first, last, ONE)

    assert (resolution.rung, resolution.ranges, resolution.notes) == ("lines", (LineRange("", *lines),), notes)


@pytest.mark.parametrize(
    ("first", "last"),
    [
        (0, 0),
        (-9, -1),
        (99, 120),
        (None, 5),
        (True, 5),
        ("x", 5),
        (5, "y"),
        ([1], [2]),
        (float("nan"), 5),
        (5, float("inf")),
    ],
)
def test_line_ranges_that_cannot_be_mended_are_dropped_with_the_reason(first: object, last: object) -> None:
    resolution = resolve_lines(first, last, ONE)

    assert (resolution.rung, resolution.ranges) == ("unresolved", ())
    assert resolution.notes


def test_line_ranges_of_several_documents_name_theirs() -> None:
    named, unnamed, unknown = (resolve_lines(3, 4, TWO, key) for key in ("d2", None, "d7"))

    assert named.ranges == resolve_lines(3, 4, TWO, "other.md").ranges == (LineRange("d2", 3, 4),)
    assert unnamed.ranges == (LineRange("d1", 3, 4), LineRange("d2", 3, 4))
    assert unnamed.notes == ("no document was named: taken from d1, d2",)
    assert unknown.notes == ("no document d7",)


anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=20)
    | st.binary(max_size=5)
    | st.builds(object),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)
pieces = st.sampled_from(
    [
        "s1",
        "s9.9",
        "L5",
        "-",
        "L",
        "99",
        "d1:",
        "d2:",
        "Results",
        "Chapter 2",
        ">",
        "/",
        "page ",
        "[",
        "]",
        "#",
        " ",
        "9" * 30,
        "\0",
        "\ud800",
    ]
)


@settings(max_examples=300)
@given(anything | st.lists(pieces, max_size=6).map("".join))
def test_no_section_reference_raises(reference: Any) -> None:
    for documents in (ONE, TWO, PAGED):
        resolution = resolve_section(reference, documents)

        assert bool(resolution.ranges) == (resolution.rung != "unresolved")
        assert all(
            1 <= lines.first <= lines.last <= documents.find(lines.key).line_count for lines in resolution.ranges
        )


@given(anything, anything, st.none() | st.text(max_size=3) | st.sampled_from(["", "d1", "d2", "other.md"]))
def test_no_line_range_raises(first: object, last: object, key: str | None) -> None:
    for documents in (ONE, TWO):
        resolution = resolve_lines(first, last, documents, key)

        assert bool(resolution.ranges) == (resolution.rung == "lines")
        assert all(
            1 <= lines.first <= lines.last <= documents.find(lines.key).line_count for lines in resolution.ranges
        )


def test_an_integer_too_long_to_print_is_clipped() -> None:
    assert resolve_lines(2, 10**5000, ONE).ranges == (LineRange("", 2, 35),)
