"""Report terms: ours, those that users add, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestra.document import DocumentSet
from orchestra.document.retrieval import find
from orchestra.document.retrieval.vocabulary import VARIABLE, Need, read_vocabulary
from orchestra.errors import InputInvalid

LUMENS = """
[[statement]]
name = "light report"
titles = ["statement of light"]
rows = ["lumens"]

[[term]]
asked = ["brightness"]
needs = [{ statement = "light report", rows = ["lumens"] }, { words = ["People"] }]
"""


@pytest.fixture
def added(tmp_path: Path) -> Path:
    path = tmp_path / "terms.toml"
    path.write_text(LUMENS, encoding="utf-8")
    return path


def test_our_terms_lead_from_a_ratio_to_the_statements_it_needs() -> None:
    needs = read_vocabulary().asked["day", "payable", "outstanding"]

    assert [need.statement for need in needs] == ["balance sheet", "income statement"]


def test_every_statement_of_ours_can_be_named() -> None:
    vocabulary = read_vocabulary()

    assert set(vocabulary.named.values()) == set(vocabulary.statements)


def test_a_file_comes_on_top_of_ours(added: Path) -> None:
    vocabulary = read_vocabulary(added)

    assert vocabulary.asked["brightness",] == (
        Need(statement="light report", rows=("lumens",)),
        Need(words=("People",)),
    )
    assert vocabulary.asked["goodwill",] == read_vocabulary().asked["goodwill",]
    assert vocabulary.named["statement", "of", "light"] == "light report"


def test_a_term_of_a_file_replaces_ours(tmp_path: Path) -> None:
    path = tmp_path / "terms.toml"
    path.write_text('[[term]]\nasked = ["Goodwill"]\nneeds = [{ words = ["kindness"] }]\n', encoding="utf-8")

    assert read_vocabulary(path).asked["goodwill",] == (Need(words=("kindness",)),)


def test_a_statement_of_the_same_name_gains_entries(tmp_path: Path) -> None:
    path = tmp_path / "terms.toml"
    path.write_text('[[statement]]\nname = "balance sheet"\nrows = ["lamps in stock"]\n', encoding="utf-8")

    rows = read_vocabulary(path).statements["balance sheet"].rows

    assert rows[-1] == "lamps in stock"
    assert "total assets" in rows


def test_a_search_uses_the_file_that_it_is_given(report: DocumentSet, added: Path) -> None:
    assert not find("brightness", report).places
    assert find("brightness", report, vocabulary=added).places[0].place.id == "p7"


def test_a_search_uses_the_file_that_the_environment_names(
    report: DocumentSet, added: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, str(added))

    assert find("brightness", report).places[0].place.id == "p7"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[[term]", "no TOML"),
        ('[[term]]\nasked = ["a b"]\n', "term.0.needs"),
        ("[[term]]\nasked = []\nneeds = [{ words = ['x'] }]\n", "term.0.asked"),
        ('[[term]]\nasked = ["a b"]\nneeds = [{}]\n', "term.0.needs.0"),
        ('[[term]]\nasked = ["..."]\nneeds = [{ words = ["x"] }]\n', "term.0.asked.0"),
        ('[[term]]\nasked = ["a b"]\nneeds = [{ lines = ["x"] }]\n', "term.0.needs.0.lines"),
        ('[[term]]\nasked = ["a b"]\nneeds = [{ statement = "balance" }]\n', "'balance'"),
        ("[[terms]]\n", "terms"),
        ('[[statement]]\ntitles = ["x"]\n', "statement.0.name"),
    ],
)
def test_a_file_of_another_form_is_refused_with_the_place(tmp_path: Path, text: str, why: str) -> None:
    path = tmp_path / "terms.toml"
    path.write_text(text, encoding="utf-8")

    with pytest.raises(InputInvalid, match=r"terms\.toml") as caught:
        read_vocabulary(path)

    assert why in str(caught.value)


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputInvalid, match="cannot be read"):
        read_vocabulary(tmp_path / "absent.toml")


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "terms.toml"
    path.write_bytes(b"\xff\xfe\x00")

    with pytest.raises(InputInvalid, match="cannot be read"):
        read_vocabulary(path)
