"""The verbs of ours: what they show of documents and files, and under which numbers."""

from __future__ import annotations

import os

import pytest

from orchestra.document import Document, DocumentSet, count_tokens
from orchestra.errors import DocumentUnreadable, PermissionDenied, ToolFailed
from orchestra.runtime.files import Roots
from orchestra.runtime.tools import verbs
from orchestra.runtime.tools.given import VERBS, GivenTools

TEXT = """# Report

## Revenue

Revenue was $40 million in 2025.

## Costs

Costs rose because steel became dearer.
"""
LONG = "# Long\n\n" + "\n".join(f"Sentence {number} says nothing of interest to anybody." for number in range(900))


def documents(*texts: str) -> DocumentSet:
    return DocumentSet.of([Document.from_text(text, name=f"{n}.md") for n, text in enumerate(texts, start=1)])


def section(reference: str, *texts: str) -> str:
    return verbs.reading_section(documents(*texts or (TEXT,))).function(section=reference)


@pytest.mark.parametrize("reference", ["Costs", "s3", "[s3]", "Report > Costs", "L7-L9", "lines 7 to 9"])
def test_a_section_is_read_by_whatever_names_it_with_the_numbers_of_its_lines(reference):
    text = section(reference)

    assert text.startswith("<excerpts>\n[s3 | Report | L7-L")
    assert "\n9| Costs rose because steel became dearer.\n</excerpts>" in text


def test_a_section_among_several_documents_carries_its_documents_key():
    text = section("d2:Costs", LONG, TEXT)

    assert "[d2:s3 | 2.md > Report | d2:L7-L" in text


def test_a_long_section_is_shown_from_its_beginning_and_what_is_left_can_be_asked_for():
    text = section("Long", LONG)
    shown, _, left = text.partition("\nNot shown, for it is long: ")
    rest = section(left, LONG)

    assert count_tokens(shown) <= verbs.SECTION_TOKENS + 50
    first = int(left.removeprefix("L").partition("-")[0])
    assert f"Sentence {first - 4} says" in shown
    assert f"Sentence {first - 3} says" not in shown
    assert f"\n{first}| Sentence {first - 3} says" in rest


def test_a_line_that_is_longer_than_all_is_shown_all_the_same():
    assert "word word" in section("L1", "word " * 9_000)


def test_what_is_not_there_is_said_with_the_reason():
    with pytest.raises(ToolFailed, match="'Weather' is not in the document") as caught:
        section("Weather")

    assert caught.value.cause


def test_a_search_shows_the_best_places_within_its_bound():
    search = verbs.searching(documents(TEXT, LONG)).function

    assert "Costs rose because steel became dearer." in search(query="why is steel dearer")
    assert count_tokens(search(query="sentence of interest to anybody")) <= verbs.SEARCH_TOKENS + 50
    with pytest.raises(ToolFailed, match="no line fits"):
        search(query="zzz")


def test_a_file_is_read_from_a_line_on_as_far_as_it_fits(tmp_path):
    tmp_path = tmp_path.resolve()
    (tmp_path / "short.txt").write_bytes("caf\u00e9\n".encode("utf-16"))
    (tmp_path / "long.txt").write_text(LONG)
    read = verbs.reading_file(Roots((tmp_path,))).function

    assert read(path=str(tmp_path / "short.txt")) == "<file>\ncaf\u00e9\n\n</file>"
    beginning = read(path=str(tmp_path / "long.txt"))
    assert count_tokens(beginning) <= verbs.FILE_TOKENS + 50
    assert "[cut: the first" in beginning
    assert beginning.endswith("\nFrom line 1 of 902.")
    assert "Sentence 899 says" in read(path=str(tmp_path / "long.txt"), first_line=890)
    assert "Sentence 899 says" in read(path=str(tmp_path / "long.txt"), first_line=10**9)


def test_files_outside_the_roots_missing_ones_and_binary_ones_are_not_read(tmp_path):
    tmp_path = tmp_path.resolve()
    (tmp_path / "image.png").write_bytes(bytes(range(32)) * 99)
    read = verbs.reading_file(Roots((tmp_path,))).function

    with pytest.raises(PermissionDenied):
        read(path="/etc/hostname")
    with pytest.raises(ToolFailed, match="cannot be read"):
        read(path=str(tmp_path / "none.txt"))
    with pytest.raises(DocumentUnreadable):
        read(path=str(tmp_path / "image.png"))


def test_a_file_is_written_whole_in_place_of_what_was_there(tmp_path):
    tmp_path = tmp_path.resolve()
    place = tmp_path / "note.txt"
    place.write_text("what was there")
    earlier = os.stat(place).st_ino
    write = verbs.writing_file(Roots((tmp_path,))).function

    said = write(path=str(place), content="Brn\u011bnsk\u00e1 \ud800")

    assert said == "wrote 12 bytes"
    assert place.read_text("utf-8") == "Brn\u011bnsk\u00e1 ?"
    assert os.stat(place).st_ino != earlier
    assert [each.name for each in tmp_path.iterdir()] == ["note.txt"]
    with pytest.raises(PermissionDenied):
        write(path=str(tmp_path.parent / "elsewhere.txt"), content="")


def test_every_verb_has_a_schema_of_its_own_and_may_be_done_twice():
    made = [verbs.verb(name) for name in VERBS]

    assert [tool.name for tool in made] == list(VERBS)
    assert all(tool.is_idempotent for tool in made)
    assert GivenTools.of(VERBS).names == VERBS
