"""Files to text, on small real files that tests/data/make.py made."""

from __future__ import annotations

import io
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from orchestra.document import Document
from orchestra.document.convert import convert, read_path
from orchestra.document.convert.docx import MAX_XML_BYTES
from orchestra.document.convert.pdf_lines import Row, join_hyphens, paragraphs, tidy
from orchestra.errors import DocumentUnreadable

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
DATA = Path(__file__).parent.parent / "data"
FILINGS = Path(__file__).parents[2].parent / "shared" / "data" / "financebench" / "pdfs"


def read(name: str) -> bytes:
    return (DATA / name).read_bytes()


def zipped(**members: str) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name.replace("__", "/"), content)
    return target.getvalue()


def test_a_pdf_gives_its_lines_with_paragraphs_and_pages() -> None:
    converted = convert(read("report.pdf"), "report.pdf")

    lines = converted.text.split("\n")
    assert converted.media_type == "application/pdf"
    assert converted.warnings == ("page 3 without text, only images (text recognition would be needed)",)
    assert [lines[start - 1] for start in converted.page_starts] == ["Harbour Report 2024", "2. Results", "", "Notes"]
    assert "\n\nThe harbour has three terminals and 412 employees. Each terminal\nkeeps its own crew" in converted.text
    assert "the year before. The first quarter was the strongest.\n\n" in converted.text


def test_bookmarks_stand_at_the_line_that_holds_their_title_else_at_their_page() -> None:
    converted = convert(read("report.pdf"), "report.pdf")

    lines = converted.text.split("\n")
    placed = [(level, title, lines[line - 1]) for level, title, line in converted.bookmarks]
    assert placed == [
        (1, "Summary", "1. Summary"),
        (1, "Results", "2. Results"),
        (2, "Outlook", "2.1 Outlook"),
        (1, "Appendix", "Notes"),
    ]


def test_a_document_from_a_pdf_knows_the_page_of_a_line() -> None:
    document = Document.from_path(DATA / "report.pdf")

    line = next(number for number in range(1, document.line_count + 1) if "Revenue $ 1,200" in document.line(number))
    assert document.page_of(line) == 2
    assert document.page_of(document.line_count) == 4


def test_an_encrypted_pdf_says_that_it_is_encrypted() -> None:
    with pytest.raises(DocumentUnreadable, match=r"encrypted PDF .*password"):
        convert(read("encrypted.pdf"), "encrypted.pdf")


def test_a_scan_says_that_text_recognition_is_needed() -> None:
    with pytest.raises(DocumentUnreadable, match=r"holds no text .*scan.*OCR"):
        convert(read("scan.pdf"), "scan.pdf")


def test_a_pdf_may_begin_with_other_bytes() -> None:
    assert convert(b"junk\n" + read("report.pdf"), "report.pdf").media_type == "application/pdf"


def test_a_cut_pdf_says_that_it_is_damaged() -> None:
    with pytest.raises(DocumentUnreadable, match="damaged PDF"):
        convert(b"%PDF-1.7\nno more", "cut.pdf")


def test_pdfs_are_read_from_many_threads_at_once() -> None:
    data = read("report.pdf")

    with ThreadPoolExecutor(4) as pool:
        texts = {converted.text for converted in pool.map(lambda _: convert(data, "report.pdf"), range(16))}

    assert texts == {convert(data, "report.pdf").text}


def test_docx_becomes_markdown_with_headings_and_pipe_tables() -> None:
    converted = convert(read("report.docx"), "report.docx")

    assert converted.text == (
        "# Harbour Report\n\n# Summary\n\nRevenue rose to **$1.2 billion** in 2024.\n\n"
        "## Terminals\n\n- North\n- South\n\n# Results\n\n"
        "|  | 2024 | 2023 |\n| --- | --- | --- |\n| Revenue \\| total | 1,200 | 1,000 |\n| Expenses | (900) | (800) |\n"
    )


def test_html_becomes_markdown_without_scripts_navigation_and_hidden_parts() -> None:
    converted = convert(read("report.html"), "report.html")

    assert converted.media_type == "text/html"
    assert converted.text == (
        "# Harbour Report\n\n## Summary\n\nRevenue rose to **$1.2 billion**^1 in 2024,\n"
        "see the notes and [the report](https://example.org/report). Capacity is 1,577^2 boats.\n\n"
        "## Results\n\n|  | 2024 | 2023 |\n| --- | --- | --- |\n| Revenue | $1,200 | $1,000 |\n"
        "| Expenses | (900) | (800) |\n| Margin | 25% | 20% |\n\n"
        "## Terminals\n\n- North\n- South\n\n| Name | Berths |\n| --- | --- |\n| North \\| old | 12 |\n"
    )


def test_a_page_nested_too_deeply_keeps_its_text() -> None:
    markup = "<html>" + "<div>" * 3000 + "deep down" + "</div>" * 3000

    converted = convert(markup.encode(), "deep.html")

    assert converted.text == "deep down\n"
    assert "nested too deeply" in converted.warnings[0]


@pytest.mark.parametrize(
    ("markup", "text", "warnings"),
    [
        (b"<html><meta charset=iso-8859-1><p>caf\xe9</html>", "caf\u00e9\n", ("read as iso-8859-1, not UTF-8",)),
        (b"<html><p>\x93quoted\x94</html>", "\u201cquoted\u201d\n", ("read as windows-1252, not UTF-8",)),
        ("<html><p>caf\u00e9</html>".encode("utf-16"), "caf\u00e9\n", ()),
        (b"<html><meta charset=nonsense><p>plain</html>", "plain\n", ()),
    ],
)
def test_html_is_decoded_as_browsers_do(markup: bytes, text: str, warnings: tuple[str, ...]) -> None:
    converted = convert(markup, "page.html")

    assert (converted.text, converted.warnings) == (text, warnings)


@pytest.mark.parametrize(
    ("data", "name", "media_type"),
    [
        (b"# Title\n", "notes.md", "text/markdown"),
        (b"# Title\n", "stdin", "text/markdown"),
        (b"a,b\n1,2\n", "table.csv", "text/plain"),
        (b"BM is how this note begins", "note.txt", "text/plain"),
        (b"<p>fragment", "page.htm", "text/html"),
        (b"A file of this kind begins with %PDF-1.7.", "notes.txt", "text/plain"),
        (b"<p>not a page", "notes.md", "text/markdown"),
        (b"\xef\xbb\xbf \n<!-- made by hand -->\n<!DOCTYPE HTML><title>T</title><p>text", "page", "text/html"),
    ],
)
def test_the_kind_is_told_by_content_then_by_suffix(data: bytes, name: str, media_type: str) -> None:
    assert convert(data, name).media_type == media_type


@pytest.mark.parametrize(
    ("data", "name", "message"),
    [
        (b"", "empty.md", "empty.md is empty .*0 bytes"),
        (b" \n\t\r\n", "blank.txt", "blank.txt is empty .*blank"),
        (b"\x89PNG\r\n\x1a\n\0\0", "image.pdf", "PNG image .*OCR"),
        (OLE + b"\0" * 99, "old.doc", "old binary kind .*Save it as DOCX"),
        (OLE + "EncryptedPackage".encode("utf-16-le"), "locked.docx", "encrypted Office"),
        (b"{\\rtf1 text}", "letter.rtf", "RTF file"),
        (b"PK\x03\x04 cut", "cut.docx", "damaged zip"),
        (zipped(**{"a.txt": "x"}), "files.zip", "zip archive, but no DOCX"),
        (zipped(**{"xl__workbook.xml": "x"}), "sheet.docx", "Excel workbook"),
        (zipped(**{"word__document.xml": "<w:document"}), "broken.docx", "damaged DOCX"),
        (b"\0\1\2\3" * 99, "data.bin", "data.bin holds no text .*control codes"),
        (b"<html><script>only()</script></html>", "app.html", "holds no text"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_says_why(data: bytes, name: str, message: str) -> None:
    with pytest.raises(DocumentUnreadable, match=message):
        convert(data, name)


def test_a_docx_that_would_unpack_to_too_much_is_refused() -> None:
    bomb = zipped(**{"word__document.xml": " " * (MAX_XML_BYTES + 1)})

    with pytest.raises(DocumentUnreadable, match=f"unpack to {MAX_XML_BYTES + 1:,} bytes"):
        convert(bomb, "bomb.docx")


@pytest.mark.parametrize(
    ("file", "module"),
    [("report.pdf", "pypdfium2"), ("report.docx", "mammoth"), ("report.html", "bs4"), ("report.html", "markdownify")],
)
def test_a_missing_extra_is_named_with_its_command(monkeypatch: pytest.MonkeyPatch, file: str, module: str) -> None:
    monkeypatch.setitem(sys.modules, module, None)

    with pytest.raises(DocumentUnreadable, match=r"pip install 'orchestra\[documents\]'"):
        convert(read(file), file)


def test_a_missing_file_and_a_directory_say_so(tmp_path: Path) -> None:
    with pytest.raises(DocumentUnreadable, match="No such file"):
        read_path(tmp_path / "absent.md")
    with pytest.raises(DocumentUnreadable, match="Is a directory"):
        read_path(tmp_path)


def test_a_dash_reads_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"# piped")))

    assert read_path("-") == (b"# piped", "stdin")


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("of\ufb01ce\u00a0 and  \ufb02oor ", "office and floor"),
        ("\uf0b7 item", "\u2022 item"),
        ("FORM\n10-K", "FORM 10-K"),
        ("a\u200bb\u00ad", "ab"),
    ],
)
def test_lines_of_print_lose_what_only_print_needs(line: str, text: str) -> None:
    assert tidy(line) == text


def test_a_wider_gap_begins_a_paragraph_but_not_between_rows_of_numbers() -> None:
    rows = [
        Row(text, y, y)
        for text, y in [
            ("a", 130),
            ("b", 120),
            ("c", 110),
            ("d", 100),
            ("e", 80),
            ("A 1 2", 60),
            ("B 3 4", 40),
            ("C", 90),
        ]
    ]

    assert list(paragraphs(rows)) == ["a", "b", "c", "d", "", "e", "", "A 1 2", "B 3 4", "", "C"]


@pytest.mark.parametrize(
    ("text", "joined"),
    [
        ("infor\ufffemation about information", "information about information"),
        ("long\ufffeterm debt is long-term", "long-term debt is long-term"),
        ("cost\ufffeeffective is effective at this cost", "cost-effective is effective at this cost"),
        ("unseen syl\ufffelables", "unseen syllables"),
        ("COVID\ufffe19", "COVID-19"),
        ("Regulation S\ufffeT", "Regulation S-T"),
        ("on the F\ufffe35\ufffeA, and at the end\ufffe", "on the F-35-A, and at the end-"),
    ],
)
def test_a_word_parted_at_a_line_end_is_joined_as_the_document_writes_it(text: str, joined: str) -> None:
    assert join_hyphens(text) == joined


@pytest.mark.skipif(not FILINGS.is_dir(), reason="the filings are not here")
def test_a_filing_keeps_its_pages_and_its_rows() -> None:
    document = Document.from_path(FILINGS / "3M_2018_10K.pdf")

    row = "Purchases of property, plant and equipment (PP&E) (1,577) (1,373) (1,420)"
    found = [number for number in range(1, document.line_count + 1) if document.line(number) == row]
    assert [document.page_of(line) for line in found] == [49, 60]
    assert len(document.page_starts) == 160
