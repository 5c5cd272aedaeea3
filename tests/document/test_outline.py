from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestra.document import Document, Outline, Part, Section, count_tokens

TEXT = "before\n\n# A\na\n## B\nb\n### C\nc\n## B\nd\n# D\n"

headings = st.builds("{} {}".format, st.sampled_from(["#", "##", "###", "######"]), st.sampled_from("abc"))
line = st.one_of(
    headings, st.sampled_from(["", "text", "Title", "===", "```", "- item", "\f", "ITEM 1. Name", "1.2 Scope"])
)
texts = st.lists(line, min_size=1, max_size=40).map("\n".join)


def outline_of(text: str) -> Outline:
    return Document.from_text(text).outline


@given(texts)
def test_roots_cover_every_line_and_children_lie_inside(text: str) -> None:
    document = Document.from_text(text)
    outline = document.outline

    edges = [(0, 0), *((root.first_line, root.last_line) for root in outline.roots), (document.line_count + 1, 0)]
    nested = [(outline.section(child), section) for section in outline.sections for child in section.children]

    assert all(before[1] + 1 == after[0] for before, after in pairwise(edges))
    assert all(
        parent.body_last_line < child.first_line and child.last_line <= parent.last_line and child.parent == parent.id
        for child, parent in nested
    )


@given(texts)
def test_own_texts_partition_the_document(text: str) -> None:
    document = Document.from_text(text)

    lines = [
        number
        for section in document.outline.sections
        for number in range(section.first_line, section.body_last_line + 1)
    ]

    assert lines == list(range(1, document.line_count + 1))


@given(texts)
def test_a_section_runs_to_the_next_heading_of_equal_or_higher_level(text: str) -> None:
    document = Document.from_text(text)
    titled = [section for section in document.outline.sections if section.kind != "start"]

    ends = [
        next((other.first_line - 1 for other in titled[position + 1 :] if other.level <= section.level), None)
        for position, section in enumerate(titled)
    ]

    assert [section.last_line for section in titled] == [end or document.line_count for end in ends]


@given(texts)
def test_the_innermost_section_of_a_line_holds_it_in_its_own_text(text: str) -> None:
    document = Document.from_text(text)

    holders = [(number, document.outline.at(number)) for number in range(1, document.line_count + 1)]

    assert all(section.first_line <= number <= section.body_last_line for number, section in holders)


def test_sections_carry_their_place_in_the_tree() -> None:
    outline = outline_of(TEXT)

    section = outline.section("s3")

    assert section == Section("s3", "C", 3, ("A", "B", "C"), 7, 8, 8, "s2", (), "heading")
    assert [one.id for one in outline.roots] == ["s0", "s1", "s5"]
    assert outline.section("s1").children == ("s2", "s4")
    assert (outline.section("s1").body_last_line, outline.section("s1").last_line) == (4, 10)


def test_the_text_before_the_first_heading_is_a_section_without_a_title() -> None:
    start = outline_of(TEXT).sections[0]

    assert start == Section("s0", "", 1, (), 1, 2, 2, None, (), "start")


def test_a_text_that_begins_with_a_heading_has_no_start_section() -> None:
    assert [section.id for section in outline_of("# A\n").sections] == ["s1"]


def test_an_empty_text_has_no_sections() -> None:
    outline = outline_of("")

    assert outline.sections == ()
    with pytest.raises(LookupError):
        outline.at(1)


def test_sections_and_parts_are_found_by_id() -> None:
    outline = outline_of("# A\n\n" + ("word " * 300 + "\n\n") * 8)

    section, part = outline.get("s1"), outline.get("s1.2")

    assert isinstance(section, Section)
    assert isinstance(part, Part)
    assert part.section == section.id == "s1"


@pytest.mark.parametrize("ref", ["", "s", "s9", "s01", "x1", "s1.1", "s1.0", "s-1", "S1", "s١", "s1.", "1"])
def test_an_id_that_is_not_there_is_none(ref: str) -> None:
    assert outline_of(TEXT).get(ref) is None


def test_tokens_count_subsections_too() -> None:
    document = Document.from_text(TEXT)

    assert document.outline.tokens("s1") == count_tokens(document.lines(3, 10))


def test_lines_outside_the_text_count_to_its_nearest_section() -> None:
    outline = outline_of(TEXT)

    assert (outline.at(-5).id, outline.at(99).id) == ("s0", "s5")


def test_bookmarks_are_headings_where_a_file_has_them() -> None:
    marks = ((1, "One", 1), (2, " Two\n b ", 3), (9, "Deep", 4), (1, "Three", 6), (2, "Same", 6), (1, "Gone", 99))
    document = Document("a\n# no\nb\nc\nd\ne\n", page_starts=(1,), bookmarks=marks)

    found = [
        (section.title, section.level, section.first_line, section.last_line) for section in document.outline.sections
    ]

    assert found == [("One", 1, 1, 5), ("Two b", 2, 3, 5), ("Deep", 6, 4, 5), ("Three / Same", 1, 6, 6)]
