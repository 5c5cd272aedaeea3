from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestra.document import Document, DocumentSet, count_tokens
from orchestra.errors import DocumentUnreadable


def test_a_text_is_normalised_and_says_what_was_replaced() -> None:
    document = Document.from_text("\ufeffa\r\nb\rc\0d")

    assert document.text == "a\nb\nc\ufffdd"
    assert any("NUL" in warning for warning in document.warnings)


def test_bytes_are_decoded() -> None:
    document = Document.from_text("é\n".encode(), name="x.md")

    assert (document.text, document.name, document.media_type) == ("é\n", "x.md", "text/markdown")


@pytest.mark.parametrize(
    ("text", "count"), [("", 0), ("a", 1), ("a\n", 1), ("\n", 1), ("a\nb", 2), ("a\n\n", 2), ("\n\n\n", 3), ("a\fb", 1)]
)
def test_a_final_newline_starts_no_further_line(text: str, count: int) -> None:
    assert Document.from_text(text).line_count == count


@given(st.text(st.sampled_from("ab\n\f\u2028é"), max_size=30), st.integers(-2, 12), st.integers(-2, 12))
def test_lines_are_those_between_line_feeds(text: str, first: int, last: int) -> None:
    lines = text.removesuffix("\n").split("\n") if text else []
    document = Document.from_text(text)

    assert [document.line(number) for number in range(1, document.line_count + 1)] == lines
    assert document.lines(first, last) == "\n".join(lines[max(first, 1) - 1 : max(last, 0)])


@pytest.mark.parametrize("number", [0, -1, 3])
def test_a_line_that_is_not_there_is_an_error(number: int) -> None:
    with pytest.raises(IndexError):
        Document.from_text("a\nb\n").line(number)


def test_form_feeds_begin_pages() -> None:
    document = Document.from_text("one\nmore\n\ftwo\ntext\f\nthree\n")

    assert document.page_starts == (1, 3, 5)
    assert [document.page_of(line) for line in (1, 2, 3, 4, 5)] == [1, 1, 2, 2, 3]


def test_a_text_without_pages_has_no_page() -> None:
    assert Document.from_text("one\n").page_of(1) is None


def test_what_is_made_once_is_kept() -> None:
    document = Document.from_text("# A\n\ntext\n")

    assert document.outline is document.outline
    assert document.index is document.index
    assert DocumentSet.of(document) is DocumentSet.of(document)
    assert DocumentSet.of(document).annotated_text is DocumentSet.of([document]).annotated_text


def test_a_document_serves_several_threads() -> None:
    document = Document.from_text("# A\n\n" + "text word\n\n" * 2000 + "# B\n")

    with ThreadPoolExecutor(8) as pool:
        outlines = list(pool.map(lambda _: document.outline.sections, range(32)))
        hits = list(pool.map(lambda _: document.index.search("word"), range(32)))

    assert all(outline == outlines[0] for outline in outlines)
    assert all(hit == hits[0] for hit in hits)


def test_a_path_is_read_and_a_text_is_not(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("# In the file\n")

    from_path, from_text = DocumentSet.of(path), DocumentSet.of("a.md")

    assert (from_path[0].name, from_path[0].text) == ("a.md", "# In the file\n")
    assert (from_text[0].name, from_text[0].text) == ("document", "a.md")


def test_a_missing_file_says_which_and_why(tmp_path: Path) -> None:
    with pytest.raises(DocumentUnreadable, match=r"gone\.md.*No such file"):
        Document.from_path(tmp_path / "gone.md")


@pytest.mark.parametrize("context", [[], (), "", " \n\t\n", ["text", "  "], [Document("")]])
def test_a_context_without_text_is_unreadable(context: str | list[str]) -> None:
    with pytest.raises(DocumentUnreadable):
        DocumentSet.of(context)


def test_one_document_needs_no_key() -> None:
    documents = DocumentSet.of(["only"])

    assert documents.keys == ("",)
    assert documents.qualify("", "s1") == "s1"
    assert documents.find("") is documents.find("document") is documents[0]


def test_several_documents_have_keys_and_names_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "report.md"
    path.write_text("# R\n")
    documents = DocumentSet.of(["first", path, "second", path, Document("x", name="report.md")])

    assert documents.keys == ("d1", "d2", "d3", "d4", "d5")
    assert documents.names == ("document-1", "report.md", "document-2", "report.md (2)", "report.md (3)")
    assert documents.find("d4") is documents.find("report.md (2)") is documents[3]
    assert documents.qualify("d2", "s1") == "d2:s1"


@pytest.mark.parametrize("key", ["d3", "", "nothing"])
def test_an_unknown_key_is_an_error(key: str) -> None:
    documents = DocumentSet.of(["a", "b"])

    with pytest.raises(KeyError):
        documents.find(key)
    with pytest.raises(KeyError):
        documents.name_of(key)


def test_the_annotated_text_marks_where_sections_begin() -> None:
    text = "intro\n# A\na\n## B\nb\n"

    assert DocumentSet.of(text).annotated_text == (
        "Document: document\n[s0 L1-L1]\nintro\n[s1 L2-L5]\n# A\na\n[s2 L4-L5]\n## B\nb"
    )


def test_the_annotated_text_of_several_documents_says_which() -> None:
    assert DocumentSet.of(["# A\na\n", "b\n"]).annotated_text == (
        "Document d1: document-1\n[d1:s1 L1-L2]\n# A\na\n\nDocument d2: document-2\n[d2:s0 L1-L1]\nb"
    )


def test_the_annotated_text_marks_parts_of_long_sections() -> None:
    document = Document.from_text("# A\n\n" + ("word " * 300 + "\n\n") * 8)
    parts = document.outline.parts("s1")

    text = DocumentSet.of(document).annotated_text

    assert f"[s1 L1-L{document.line_count}]\n[s1.1 L1-L{parts[0].last_line}]\n# A\n" in text
    assert f"[s1.2 L{parts[1].first_line}-L{parts[1].last_line}]\nword" in text


def test_tokens_of_a_set_are_those_of_its_annotated_text() -> None:
    documents = DocumentSet.of("# A\n\nsome text\n")

    assert documents.tokens == count_tokens(documents.annotated_text)
    assert documents[0].tokens == count_tokens(documents[0].text)


def test_the_hash_of_a_set_depends_on_texts_names_and_order() -> None:
    one, two = Document("a", name="x"), Document("b", name="y")

    hashes = {
        DocumentSet(documents).sha256
        for documents in ([one, two], [two, one], [one], [Document("a", name="z"), two], [Document("c", name="x"), two])
    }

    assert len(hashes) == 5
    assert DocumentSet([Document("a", name="x")]).sha256 == one.alone.sha256


@pytest.mark.parametrize("text", ["\ud800", "a\udfffb", "\0"])
def test_tokens_of_odd_text_are_counted(text: str) -> None:
    assert count_tokens(text) >= 1
