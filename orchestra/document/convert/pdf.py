"""PDF, through PDFium: text by pages, paragraphs told apart by their spacing, the bookmark tree."""

from __future__ import annotations

import ctypes
import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from orchestra.document.convert.converted import Converted
from orchestra.document.convert.extra import load
from orchestra.document.convert.pdf_lines import Row, join_hyphens, paragraphs, tidy
from orchestra.errors import DocumentUnreadable

MEDIA_TYPE = "application/pdf"
_PASSWORD_ERROR, _SECURITY_ERROR = 4, 5  # FPDF_ERR_PASSWORD and FPDF_ERR_SECURITY of fpdfview.h
_NAMED_PAGES = 10

# PDFium is not thread-safe, in all its documents together.
_LOCK = threading.Lock()


@dataclass(frozen=True, slots=True)
class _Page:
    lines: tuple[str, ...]
    is_scan: bool = False
    error: str = ""


def convert_pdf(data: bytes, name: str) -> Converted:
    """The text of a PDF in its own reading order, one line of text for each line of print.

    A blank line stands between paragraphs (where the line spacing widens) and between pages; a page without text
    is one blank line. A bookmark stands at the line on its page that holds its title, else at the page's first.
    """
    pdfium = load("pypdfium2", name, "a PDF")
    with _LOCK:
        document = _open(pdfium, data, name)
        try:
            pages = [_read_page(pdfium, document, index) for index in range(len(document))]
            marks = list(_bookmarks(pdfium, document))
        finally:
            document.close()
    if not any(page.lines for page in pages):
        raise _no_text(pages, name)

    lines: list[str] = []
    starts: list[int] = []
    for page in pages:
        starts.append(len(lines) + 1)
        lines += (*page.lines, "")
    text = join_hyphens("\n".join(lines))
    lines = text.split("\n")
    return Converted(text, MEDIA_TYPE, _warnings(pages), tuple(starts), _place(marks, lines, starts))


def _open(pdfium: Any, data: bytes, name: str) -> Any:
    try:
        return pdfium.PdfDocument(data)
    except pdfium.PdfiumError as error:
        if error.err_code in (_PASSWORD_ERROR, _SECURITY_ERROR):
            raise DocumentUnreadable(
                f"{name} is an encrypted PDF", cause="it asks for a password", suggestion="Save it without a password."
            ) from error
        raise DocumentUnreadable(f"{name} is a damaged PDF", cause=str(error)) from error


def _read_page(pdfium: Any, document: Any, index: int) -> _Page:
    try:
        page = document[index]
    except pdfium.PdfiumError as error:
        return _Page((), error=str(error))
    try:
        textpage = page.get_textpage()
        lines = tuple(paragraphs(list(_rows(pdfium.raw, textpage))))
        textpage.close()
        if lines:
            return _Page(lines)
        images = page.get_objects(filter=[pdfium.raw.FPDF_PAGEOBJ_IMAGE], max_depth=3)
        return _Page((), is_scan=next(iter(images), None) is not None)
    except pdfium.PdfiumError as error:
        return _Page((), error=str(error))
    finally:
        page.close()


def _rows(raw: Any, textpage: Any) -> Iterator[Row]:
    """The lines of a page, each with the height of the base lines under its first and its last character."""
    x, y = ctypes.c_double(), ctypes.c_double()

    def base_line(offset: int) -> float:
        raw.FPDFText_GetCharOrigin(textpage, raw.FPDFText_GetCharIndexFromTextIndex(textpage, offset), x, y)
        return y.value

    offset = 0
    # Only "\r\n" ends a line; a bare "\n" is how some fonts spell a space.
    for line in textpage.get_text_range(errors="replace").split("\r\n"):
        text = tidy(line)
        if text:
            first = offset + len(line) - len(line.lstrip())
            last = offset + len(line.rstrip()) - 1
            yield Row(text, base_line(first), base_line(last))
        offset += len(line) + 2


def _bookmarks(pdfium: Any, document: Any) -> Iterator[tuple[int, str, int]]:
    """(level from 1, title, page index) of each bookmark that leads to a page."""
    for mark in document.get_toc():
        try:
            target = mark.get_dest()
            page = target.get_index() if target else None
        except pdfium.PdfiumError:  # a bookmark to another file, or to a page that is not there
            continue
        title = tidy(mark.get_title())
        if page is not None and title:
            yield mark.level + 1, title, page


def _place(marks: list[tuple[int, str, int]], lines: list[str], starts: list[int]) -> tuple[tuple[int, str, int], ...]:
    ends = [*(start - 1 for start in starts[1:]), len(lines)]
    placed: list[tuple[int, str, int]] = []
    for level, title, page in marks:
        if not 0 <= page < len(starts):
            continue
        after = placed[-1][2] if placed else 0
        placed.append((level, title, _line_of(title, lines, starts[page], ends[page], after)))
    return tuple(placed)


def _line_of(title: str, lines: list[str], first: int, last: int, after: int) -> int:
    """The line among first..last that holds the title, best a line below the bookmark before; else `first`."""
    wanted = _folded(title)
    on_page = [(number, _folded(lines[number - 1])) for number in range(first, last + 1)]
    below = [pair for pair in on_page if pair[0] > after]
    for candidates in (below, on_page):
        for number, line in candidates:
            if line == wanted:
                return number
        for number, line in candidates:
            is_wrapped = len(line) >= 4 and wanted.startswith(line)
            if wanted and (line.startswith(wanted) or is_wrapped):
                return number
        for number, line in candidates:
            if wanted and wanted in line:
                return number
    return first


def _folded(text: str) -> str:
    return "".join(re.findall(r"\w+", text.casefold()))


def _no_text(pages: list[_Page], name: str) -> DocumentUnreadable:
    errors = [page.error for page in pages if page.error]
    if errors:
        return DocumentUnreadable(f"{name} is a damaged PDF", cause=f"none of its pages could be read: {errors[0]}")
    what = "only images, as a scan does" if any(page.is_scan for page in pages) else "nothing that is text"
    return DocumentUnreadable(
        f"{name} holds no text",
        cause=f"its {len(pages)} pages hold {what}",
        suggestion="Run text recognition (OCR) on it first, then pass the recognised PDF or its text.",
    )


def _warnings(pages: list[_Page]) -> tuple[str, ...]:
    scans = [number for number, page in enumerate(pages, 1) if page.is_scan]
    broken = [number for number, page in enumerate(pages, 1) if page.error]
    found = [
        (scans, "without text, only images (text recognition would be needed)"),
        (broken, "which could not be read"),
    ]
    return tuple(f"{_page_list(numbers)} {what}" for numbers, what in found if numbers)


def _page_list(numbers: list[int]) -> str:
    shown = ", ".join(str(number) for number in numbers[:_NAMED_PAGES])
    rest = f" and {len(numbers) - _NAMED_PAGES} more" if len(numbers) > _NAMED_PAGES else ""
    return f"{'page' if len(numbers) == 1 else 'pages'} {shown}{rest}"
