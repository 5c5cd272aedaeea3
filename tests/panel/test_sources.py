"""The lines that an answer cites, among those around them."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestra.document import Citation, Document
from orchestra.errors import DocumentUnreadable, StoreDamaged
from orchestra.panel.view.sources import MOST_LINES, citations_of, document_position, excerpts, judged, source_of

TEXT = Document("\n".join(f"line {number}" for number in range(1, 101)), name="a.md")
PAGES = Document("\n".join(f"line {number}" for number in range(1, 31)), name="a.pdf", page_starts=(1, 11, 21))


def _citation(**fields: object) -> Citation:
    given = {
        "number": 1,
        "key": "",
        "document": "a.md",
        "first_line": 20,
        "last_line": 21,
        "page": None,
        "quote": "line 20",
        "status": "verified",
        "claim": "It says 20.",
        "reason": "",
    }
    return Citation(**{**given, **fields})  # type: ignore[arg-type]


def test_lines_stand_among_those_around_them() -> None:
    (excerpt,) = excerpts(TEXT, [(20, 21)], before=2, after=1)

    assert [(line.number, line.text, line.is_meant) for line in excerpt.lines] == [
        (18, "line 18", False),
        (19, "line 19", False),
        (20, "line 20", True),
        (21, "line 21", True),
        (22, "line 22", False),
    ]
    assert (excerpt.above, excerpt.below) == (17, 78)


def test_ranges_that_touch_are_one_excerpt_and_others_tell_what_lies_between() -> None:
    shown = excerpts(TEXT, [(50, 50), (10, 10), (13, 13)], before=1, after=1)

    assert [(each.lines[0].number, each.lines[-1].number, each.above, each.below) for each in shown] == [
        (9, 14, 8, 34),
        (49, 51, 34, 49),
    ]
    assert [line.number for line in shown[0].lines if line.is_meant] == [10, 13]


def test_what_is_outside_the_document_is_left_out() -> None:
    assert excerpts(TEXT, [(101, 200), (9, 3)]) == ()
    assert [line.number for line in excerpts(TEXT, [(99, 500)], before=0)[0].lines] == [99, 100]


def test_pages_are_told_where_they_begin() -> None:
    (excerpt,) = excerpts(PAGES, [(12, 12)], before=3, after=0)

    assert [(line.number, line.page) for line in excerpt.lines] == [(9, 1), (10, None), (11, 2), (12, None)]
    assert source_of(PAGES, [(9, 21)]).places == "pages 1–3, lines 9–21"
    assert source_of(PAGES, [(12, 12)]).places == "page 2, line 12"


@given(
    st.lists(st.tuples(st.integers(1, 5_000), st.integers(1, 5_000)), max_size=30),
    st.integers(0, 400),
    st.integers(0, 400),
)
def test_lines_are_shown_once_in_order_and_never_too_many(
    ranges: list[tuple[int, int]], before: int, after: int
) -> None:
    document = Document("x\n" * 4_000)

    shown = excerpts(document, ranges, before=before, after=after)

    numbers = [line.number for excerpt in shown for line in excerpt.lines]
    assert numbers == sorted(set(numbers))
    assert len(numbers) <= MOST_LINES
    assert all(earlier.below == later.above > 0 for earlier, later in pairwise(shown))


def test_more_lines_than_are_shown_are_told() -> None:
    source = source_of(Document("x\n" * 5_000), [(1, 4_000)])

    assert source.left_off
    assert sum(len(excerpt.lines) for excerpt in source.excerpts) == MOST_LINES


def test_hostile_lines_are_visible_and_bounded() -> None:
    (excerpt,) = excerpts(Document(f"\u202eevil\n{'x' * 10_000}"), [(1, 2)])

    assert excerpt.lines[0].text == "‹U+202E›evil"
    assert len(excerpt.lines[1].text) == 4_002


@pytest.mark.parametrize(
    ("names", "key", "position"),
    [
        (("a.md",), "", 0),
        (("a.md", "b.md"), "", None),
        (("a.md", "b.md"), "d2", 1),
        (("a.md", "d1"), "d1", 0),
        (("d1",), "d1", 0),
        (("a.md", "b.md"), "b.md", 1),
        (("a.md", "b.md"), "d3", None),
        (("a.md", "b.md"), "d0", None),
        (("a.md", "b.md"), "d²", None),
        (("a.md",), "other.md", None),
        ((), "", None),
    ],
)
def test_a_document_is_found_by_key_or_name(names: tuple[str, ...], key: str, position: int | None) -> None:
    assert document_position(names, key) == position


@pytest.mark.parametrize(
    ("status", "reason", "sign", "word", "shown"),
    [
        ("verified", "", "✓", "verified", "The lines state what the claim says."),
        ("derived", "10 is 7 + 3", "≈", "derived", "10 is 7 + 3."),
        ("unverified", "the number 7 is missing", "?", "unverified", "The number 7 is missing."),
    ],
)
def test_a_judgement_has_a_sign_a_word_and_a_reason(status: str, reason: str, sign: str, word: str, shown: str) -> None:
    told = judged(_citation(status=status, reason=reason, claim="One.\nTwo."))

    assert (told.sign, told.word, told.reason, told.claims) == (sign, word, shown, ("One.", "Two."))


def test_a_source_knows_those_beside_it() -> None:
    citations = [_citation(number=number) for number in (1, 2, 3)]

    shown = source_of(TEXT, [(20, 21)]).with_citation(citations, 1)

    assert (shown.previous, shown.next, shown.position, shown.count) == (1, 3, 2, 3)
    assert source_of(TEXT, [(20, 21)]).with_citation(citations, 0).previous is None
    assert source_of(TEXT, [(20, 21)]).with_citation(citations, 2).next is None


def test_without_its_document_a_source_says_why() -> None:
    error = DocumentUnreadable("a.md is not in the store any more")

    shown = source_of(None, [(20, 21)], error=error).with_citation([_citation()], 0)

    assert (shown.name, shown.places, shown.excerpts, shown.error) == ("a.md", "lines 20–21", (), error)


def test_citations_of_a_result_are_read_and_damaged_ones_are_named() -> None:
    kept = {"citations": [{name: getattr(_citation(), name) for name in Citation.__slots__}]}

    assert citations_of(kept, "r1") == [_citation()]
    assert citations_of(None, "r1") == []
    with pytest.raises(StoreDamaged, match="citation of run r1"):
        citations_of({"citations": [{"number": "x"}]}, "r1")
