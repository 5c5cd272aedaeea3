"""Names and texts of others: nothing hidden in them reaches a reader, a disk, or a citation."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestra.panel.view.names import is_offered, safe_name
from orchestra.panel.view.visible import one_line, visible


@pytest.mark.parametrize(
    ("original", "name"),
    [
        ("report.md", "report.md"),
        ("C:\\Users\\me\\Annual Report.PDF", "Annual Report.PDF"),
        ("../../etc/passwd", "passwd"),
        ("a/b/..", "document"),
        ("", "document"),
        (".htaccess", "htaccess"),
        ("<script>alert(1)<", "_script_alert(1)_"),
        ('q"1|2?*.txt', "q_1_2__.txt"),
        ("inv\u202efdp.exe", "invfdp.exe"),
        ("a\x00\r\nb.md", "a b.md"),
        ("con.md", "_con.md"),
        ("报告.docx", "报告.docx"),
        ("x" * 300 + ".html", "x" * 115 + ".html"),
        ("name.", "name"),
        (". .md", "md"),
    ],
)
def test_a_name_is_made_safe(original: str, name: str) -> None:
    assert safe_name(original) == name


@given(st.text(alphabet=st.characters(), max_size=300))
def test_whatever_a_file_is_called_its_name_is_one_harmless_segment(original: str) -> None:
    name = safe_name(original)

    assert name
    assert len(name.encode()) <= 125
    assert not name.startswith(".")
    assert not set(name) & set('/\\<>:"|?*')
    assert all(unicodedata.category(each)[0] != "C" for each in name)
    assert safe_name(name) == name


def test_what_deceives_a_reader_is_made_visible() -> None:
    assert visible("a\u202eb\x1b[31m\u200bc\td\n") == "a‹U+202E›b‹U+001B›[31m‹U+200B›c\td\n"
    assert visible("Zoë 👩‍🔬 שלום") == "Zoë 👩‍🔬 שלום"


@given(st.text())
def test_what_is_visible_stays_so(text: str) -> None:
    assert visible(visible(text)) == visible(text)


def test_a_text_of_many_lines_becomes_one_that_fits() -> None:
    assert one_line("What\n  drove\tit?", 40) == "What drove it?"
    assert one_line("word " * 100, 12) == "word word w…"


@pytest.mark.parametrize(
    ("name", "is_one"), [("A.PDF", True), ("a.md", True), ("a.svg", False), ("a.exe", False), ("md", False)]
)
def test_files_are_offered_by_what_their_names_say(name: str, is_one: bool) -> None:
    assert is_offered(name) is is_one
