"""Makes the files beside it. Needs reportlab, pypdf and python-docx, which the tests do not.

pip install reportlab pypdf python-docx && python tests/data/make.py
"""

from __future__ import annotations

import io
import struct
import zlib
from pathlib import Path

from docx import Document
from docx.shared import Inches
from pypdf import PdfReader, PdfWriter
from reportlab.lib.pagesizes import A5
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

HERE = Path(__file__).parent
LEADING = 12
PAGES = [
    [
        (14, "Harbour Report 2024"),
        (24, "1. Summary"),
        (18, "Revenue rose to $1.2 billion in 2024, an increase of 20 percent over"),
        (LEADING, "the year before. The \ufb01rst quarter was the strongest."),
        (18, "The harbour has three terminals and 412 employees. Each terminal"),
        (LEADING, "keeps its own crew, its own cranes and its own"),
        (LEADING, "customs office, and opens every day of the year."),
    ],
    [
        (14, "2. Results"),
        (18, "(in millions) 2024 2023"),
        (18, "Revenue $ 1,200 $ 1,000"),
        (18, "Expenses (900) (800)"),
        (24, "2.1 Outlook"),
        (18, "Management expects growth of 3% to 5% in 2025."),
        (LEADING, "See the notes for the assumptions, and the appendix for"),
        (LEADING, "the model that the harbour authority has used since 2019."),
        (LEADING, "It is revised each spring."),
    ],
    [],
    [(14, "Notes"), (18, "Growth assumes stable tonnage.")],
]
BOOKMARKS = [(0, "Summary", 0), (0, "Results", 1), (1, "Outlook", 1), (0, "Appendix", 3)]


def draw_pages(canvas: Canvas) -> None:
    for number, lines in enumerate(PAGES):
        for level, title, page in BOOKMARKS:
            if page == number:
                canvas.bookmarkPage(title)
                canvas.addOutlineEntry(title, title, level)
        height = 560.0
        canvas.setFont("Helvetica", 10)
        for gap, line in lines:
            height -= gap
            canvas.drawString(40, height, line.replace("\ufb01", "fi"))
        if not lines:
            canvas.drawImage(ImageReader(io.BytesIO(make_png())), 40, 40, 200, 200)
        canvas.showPage()


def make_pdf() -> bytes:
    target = io.BytesIO()
    canvas = Canvas(target, pagesize=A5, invariant=True)
    draw_pages(canvas)
    canvas.save()
    return target.getvalue()


def make_encrypted(pdf: bytes) -> bytes:
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(pdf)))
    writer.encrypt("secret", algorithm="RC4-128")
    target = io.BytesIO()
    writer.write(target)
    return target.getvalue()


def make_scan() -> bytes:
    target = io.BytesIO()
    canvas = Canvas(target, pagesize=A5, invariant=True)
    canvas.drawImage(ImageReader(io.BytesIO(make_png())), 40, 40, 200, 200)
    canvas.showPage()
    canvas.save()
    return target.getvalue()


def make_png() -> bytes:
    """A grey square of 4 by 4."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    header = struct.pack(">IIBBBBB", 4, 4, 8, 0, 0, 0, 0)
    rows = zlib.compress(b"".join(b"\0" + b"\x80" * 4 for _ in range(4)))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def make_docx() -> bytes:
    document = Document()
    document.add_heading("Harbour Report", 0)
    document.add_heading("Summary", 1)
    paragraph = document.add_paragraph("Revenue rose to ")
    paragraph.add_run("$1.2 billion").bold = True
    paragraph.add_run(" in 2024.")
    document.add_heading("Terminals", 2)
    document.add_paragraph("North", style="List Bullet")
    document.add_paragraph("South", style="List Bullet")
    document.add_heading("Results", 1)
    table = document.add_table(rows=3, cols=3)
    cells = [["", "2024", "2023"], ["Revenue | total", "1,200", "1,000"], ["Expenses", "(900)", "(800)"]]
    for row, texts in zip(table.rows, cells, strict=True):
        for cell, text in zip(row.cells, texts, strict=True):
            cell.text = text
    document.add_picture(io.BytesIO(make_png()), width=Inches(1))
    target = io.BytesIO()
    document.save(target)
    return target.getvalue()


def main() -> None:
    pdf = make_pdf()
    (HERE / "report.pdf").write_bytes(pdf)
    (HERE / "encrypted.pdf").write_bytes(make_encrypted(pdf))
    (HERE / "scan.pdf").write_bytes(make_scan())
    (HERE / "report.docx").write_bytes(make_docx())
    (HERE / "image.png").write_bytes(make_png())


if __name__ == "__main__":
    main()
