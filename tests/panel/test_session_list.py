"""The list of sessions as it is shown, and titles as they are taken."""

from __future__ import annotations

import pytest

from orchestra.errors import InputInvalid
from orchestra.panel.view.session_list import LONGEST_TITLE, checked_title, run_rows, session_row
from orchestra.store import RunSummary, SessionRecord


@pytest.mark.parametrize(
    ("title", "first_task", "shown"),
    [
        ("Margins", "What drove the margin?", "Margins"),
        ("", "What\n drove   the margin?", "What drove the margin?"),
        ("", "", "New session"),
        ("   ", "", "New session"),
        ("", "x" * 500, "x" * 59 + "…"),
        ("a\u202eb", "", "a‹U+202E›b"),
    ],
)
def test_a_session_is_called_by_its_title_or_its_first_task(title: str, first_task: str, shown: str) -> None:
    assert session_row(SessionRecord("s1", title, 0.0, 2, first_task)).title == shown


def test_each_status_has_a_sign_and_a_word() -> None:
    statuses = ("running", "waiting", "completed", "partial", "failed", "cancelled")
    runs = [RunSummary(status, "task", "", status, (), (), {}, 0.0, None, None) for status in statuses]

    rows = run_rows(runs)

    assert [(row.sign, row.word) for row in rows] == [
        ("▸", "running"),
        ("…", "waiting"),
        ("✓", "completed"),
        ("!", "partly completed"),
        ("✗", "failed"),
        ("✗", "cancelled"),
    ]


@pytest.mark.parametrize(
    ("given", "kept"), [("  Margins  of\u00a0the year ", "Margins of the year"), ("", ""), ("é" * 200, "é" * 200)]
)
def test_a_title_is_kept_as_one_line(given: str, kept: str) -> None:
    assert checked_title(given) == kept


@pytest.mark.parametrize("title", ["a\x00b", "a\nb", "a\u2028b", "\x1b[31m", "x" * (LONGEST_TITLE + 1)])
def test_a_title_that_is_none_is_refused(title: str) -> None:
    with pytest.raises(InputInvalid, match="the title"):
        checked_title(title)
