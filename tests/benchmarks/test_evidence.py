"""Gold evidence, and whether prompts held it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.evidence import AnyOf, Gold, Heading, Lines, Page, Quote, is_recalled
from orchestra.document import Document, LineRange
from orchestra.errors import InputInvalid

TEXT = "# Report\n\n## Revenue\n\nRevenue was $40 million\nin 2025.\n\n## Auditor\n\nMiller & Stone LLP audits.\n"
DOCUMENT = Document.from_text(TEXT, name="report.md")
PAGED = Document("a\nb\n\nc\nd\n", name="paged.pdf", page_starts=(1, 4))


def lines(*ranges: tuple[int, int]) -> list[LineRange]:
    return [LineRange("", first, last) for first, last in ranges]


def test_evidence_is_recalled_when_one_prompt_held_all_its_lines() -> None:
    gold = [Gold.of(Lines(3, 6), DOCUMENT)]

    assert is_recalled(gold, [lines((1, 2)), lines((3, 6))])


def test_two_prompts_with_half_a_page_each_do_not_make_a_page() -> None:
    gold = [Gold.of(Lines(3, 6), DOCUMENT)]

    assert not is_recalled(gold, [lines((1, 4)), lines((5, 9))])


def test_ranges_of_one_prompt_count_together() -> None:
    gold = [Gold.of(Lines(3, 6), DOCUMENT)]

    assert is_recalled(gold, [lines((1, 4), (5, 9))])


def test_items_may_stand_in_different_prompts() -> None:
    gold = [Gold.of(Lines(5, 5), DOCUMENT), Gold.of(Lines(10, 10), DOCUMENT)]

    assert is_recalled(gold, [lines((5, 5)), lines((10, 10))])


def test_every_item_is_needed() -> None:
    gold = [Gold.of(Lines(5, 5), DOCUMENT), Gold.of(Lines(10, 10), DOCUMENT)]

    assert not is_recalled(gold, [lines((5, 5))])


def test_blank_lines_need_not_be_shown() -> None:
    gold = [Gold.of(Lines(3, 7), DOCUMENT)]

    assert is_recalled(gold, [lines((3, 3), (5, 6))])


def test_any_alternative_of_an_item_will_do() -> None:
    gold = [Gold.of(AnyOf((Lines(5, 5), Lines(10, 10))), DOCUMENT)]

    assert is_recalled(gold, [lines((10, 10))])


def test_nothing_is_recalled_from_no_prompt() -> None:
    assert not is_recalled([Gold.of(Lines(5, 5), DOCUMENT)], [])


@given(st.integers(1, 10), st.integers(1, 10), st.integers(1, 10), st.integers(1, 10))
def test_a_wider_prompt_never_recalls_less(first: int, last: int, start: int, end: int) -> None:
    gold = [Gold.of(Lines(min(first, last), max(first, last)), DOCUMENT)]
    narrow = lines((min(start, end), max(start, end)))

    assert is_recalled(gold, [[*narrow, LineRange("", 1, 10)]]) or not is_recalled(gold, [narrow])
    assert is_recalled(gold, [lines((1, 10))])


def test_a_page_is_its_lines() -> None:
    assert Page(2).ranges(PAGED) == (LineRange("", 4, 5),)


def test_a_quote_is_found_across_lines_wherever_it_stands() -> None:
    twice = Document.from_text("one two\nthree\n\none  two three\n")

    assert Quote("one two three").ranges(twice) == (LineRange("", 1, 2), LineRange("", 4, 4))


def test_a_section_is_named_by_its_path_with_or_without_the_title_of_the_document() -> None:
    assert Heading("Revenue").ranges(DOCUMENT) == Heading("Report > Revenue").ranges(DOCUMENT) == (LineRange("", 3, 7),)


@pytest.mark.parametrize(
    ("evidence", "said"),
    [
        (Lines(9, 99), "no lines 9-99 in report.md"),
        (Page(1), "no page 1 in report.md"),
        (Quote("Ernst audits"), "the quote 'Ernst audits' is not in report.md"),
        (Heading("Costs"), "no section 'Costs' in report.md"),
    ],
)
def test_evidence_that_is_not_in_the_document_is_an_error(evidence: Lines | Page | Quote | Heading, said: str) -> None:
    with pytest.raises(InputInvalid, match=said):
        evidence.ranges(DOCUMENT)
