"""Outlines as they are shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestra.document import Document
from orchestra.errors import DocumentUnreadable
from orchestra.panel.shelves.outline_cache import OutlineCache
from orchestra.panel.view.outlines import MOST_KEPT, Branch, branches, outline_of


def _titles(tree: tuple[Branch, ...]) -> list[object]:
    return [(each.heading.title, _titles(each.branches)) for each in tree]


def test_headings_stand_within_headings_with_their_lines_and_tokens() -> None:
    outline = outline_of(Document("# A\n\nText.\n\n## B\n\n### C\n\n## D\n\n# E\n", name="a.md"))

    assert _titles(branches(outline.headings)) == [("A", [("B", [("C", [])]), ("D", [])]), ("E", [])]
    first = outline.headings[0]
    assert (first.first_line, first.last_line, first.page) == (1, 10, None)
    assert 0 < (first.tokens or 0) <= outline.tokens
    assert (outline.line_count, outline.heading_count, outline.is_exact) == (11, 5, True)


def test_a_level_that_is_left_out_breaks_nothing() -> None:
    outline = outline_of(Document("### Deep first\n\n# Then high\n\n#### Deep again\n"))

    assert _titles(branches(outline.headings)) == [("Deep first", []), ("Then high", [("Deep again", [])])]


def test_any_first_part_of_an_outline_is_a_tree() -> None:
    outline = outline_of(Document("# A\n## B\n### C\n## D\n# E\n## F\n"))

    counts = [str(_titles(branches(outline.headings[:shown]))).count("[") - 1 for shown in range(7)]

    assert counts == [0, 1, 2, 3, 4, 5, 6]


def test_bookmarks_of_any_depth_are_shown_at_a_bounded_one() -> None:
    marks = tuple((level, f"Level {level}", level) for level in range(1, 3_000))
    document = Document("line\n" * 3_000, page_starts=(1, 10), bookmarks=marks)

    outline = outline_of(document)

    assert max(heading.depth for heading in outline.headings) == 6
    assert _titles(branches(outline.headings))
    assert outline.page_count == 2
    assert [heading.page for heading in outline.headings[:12]][8:] == [1, 2, 2, 2]


def test_an_outline_of_a_hundred_thousand_headings_is_cut_and_counted() -> None:
    outline = outline_of(Document("# H\n" * 100_000))

    assert len(outline.headings) == MOST_KEPT
    assert outline.heading_count == 100_000
    assert outline.headings[0].tokens is None or len("# H\n" * 100_000) <= 400_000


def test_hostile_titles_are_one_visible_line() -> None:
    outline = outline_of(Document("# A\u202eB " + "x" * 500 + "\n"))

    assert outline.headings[0].title.startswith("A‹U+202E›B x")
    assert len(outline.headings[0].title) == 160


def test_a_file_is_read_again_only_when_it_has_changed(tmp_path: Path) -> None:
    cache, path = OutlineCache(), tmp_path / "a.md"
    path.write_text("# One\n")
    first = cache.outline(path)

    assert cache.outline(path) is first
    path.write_text("# Another\n")
    assert cache.outline(path).headings[0].title == "Another"
    path.unlink()
    with pytest.raises(DocumentUnreadable):
        cache.outline(path)
