"""Which kind a file is: by its first bytes, then by its suffix."""

from __future__ import annotations

import codecs
import io
import re
import zipfile
from pathlib import PurePath
from typing import Literal

from orchestra.errors import DocumentUnreadable

Kind = Literal["pdf", "docx", "html", "plain"]

_HEAD_BYTES = 4096
_PDF_WITHIN = 1024  # readers accept a PDF whose header stands within its first kilobyte

_HTML_SUFFIXES = frozenset({".html", ".htm", ".xhtml", ".xht"})
_HTML_OPENING = re.compile(
    r"\s*(?:<\?xml\b[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype\s+html\b|html\b|head\b|body\b)", re.IGNORECASE | re.DOTALL
)
_ANY_TAG = re.compile(r"<[a-zA-Z!/][^>]*>")

_SAVE_AS = "Save it as DOCX, PDF or text first."
_UNPACK = "Unpack it, and pass the files in it."
_RECOGNISE = "Run text recognition (OCR) on it first, and pass the text."

# (first bytes, what the file is, what to do)
_OTHER_KINDS: tuple[tuple[bytes, str, str], ...] = (
    (b"{\\rtf", "an RTF file", _SAVE_AS),
    (b"\x89PNG\r\n\x1a\n", "a PNG image", _RECOGNISE),
    (b"\xff\xd8\xff", "a JPEG image", _RECOGNISE),
    (b"GIF8", "a GIF image", _RECOGNISE),
    (b"II*\0", "a TIFF image", _RECOGNISE),
    (b"MM\0*", "a TIFF image", _RECOGNISE),
    (b"BM", "a BMP image", _RECOGNISE),
    (b"RIFF", "a RIFF media file", _RECOGNISE),
    (b"\x1f\x8b", "a gzip archive", _UNPACK),
    (b"BZh", "a bzip2 archive", _UNPACK),
    (b"\xfd7zXZ\0", "an xz archive", _UNPACK),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive", _UNPACK),
    (b"Rar!\x1a\x07", "a RAR archive", _UNPACK),
    (b"\x28\xb5\x2f\xfd", "a zstd archive", _UNPACK),
    (b"SQLite format 3\0", "an SQLite database", _SAVE_AS),
    (b"PAR1", "a Parquet file", _SAVE_AS),
    (b"%!PS", "a PostScript file", _SAVE_AS),
    (b"\x7fELF", "a program", ""),
    (b"MZ", "a program", ""),
)
# (a member of the zip, what the file is)
_ZIP_KINDS: tuple[tuple[str, str], ...] = (
    ("xl/workbook.xml", "an Excel workbook"),
    ("ppt/presentation.xml", "a PowerPoint presentation"),
    ("META-INF/container.xml", "an EPUB book"),
    ("content.xml", "an OpenDocument file"),
)
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_PRINTABLE_PREFIXES = frozenset({b"BM", b"MZ", b"BZh", b"RIFF", b"GIF8", b"PAR1"})


def kind_of(data: bytes, name: str) -> Kind:
    """The kind of a file that can be converted; `DocumentUnreadable` names any other kind."""
    head = data[:_HEAD_BYTES]
    if not head.strip(b"\0 \t\r\n\f\v\xef\xbb\xbf"):
        _refuse_blank(data, name)
    suffix = PurePath(name).suffix.lower()
    if head.lstrip().startswith(b"%PDF-") or (suffix == ".pdf" and b"%PDF-" in head[:_PDF_WITHIN]):
        return "pdf"
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _kind_of_zip(data, name)
    if head.startswith(_OLE):
        raise _legacy_office(data, name)
    for prefix, what, suggestion in _OTHER_KINDS:
        if head.startswith(prefix) and (prefix not in _PRINTABLE_PREFIXES or b"\0" in head):
            raise DocumentUnreadable(f"{name} is {what}", cause="its first bytes say so", suggestion=suggestion)
    return "html" if _is_html(head, suffix) else "plain"


def _refuse_blank(data: bytes, name: str) -> None:
    if not data:
        raise DocumentUnreadable(f"{name} is empty", cause="it has 0 bytes")
    if not data.strip(b" \t\r\n\f\v\xef\xbb\xbf"):
        raise DocumentUnreadable(f"{name} is empty", cause=f"its {len(data)} bytes are blank")


def _kind_of_zip(data: bytes, name: str) -> Kind:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = set(archive.namelist())
    except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
        raise DocumentUnreadable(f"{name} is a damaged zip or DOCX file", cause=str(error)) from error
    if "word/document.xml" in members:
        return "docx"
    what = next((what for member, what in _ZIP_KINDS if member in members), "")
    if what:
        raise DocumentUnreadable(f"{name} is {what}", cause="of zipped formats only DOCX is read", suggestion=_SAVE_AS)
    raise DocumentUnreadable(
        f"{name} is a zip archive, but no DOCX file", cause="it has no word/document.xml", suggestion=_UNPACK
    )


def _legacy_office(data: bytes, name: str) -> DocumentUnreadable:
    """An Office file from before 2007, or a newer one that is encrypted: both are OLE containers."""
    if "EncryptedPackage".encode("utf-16-le") in data:
        return DocumentUnreadable(
            f"{name} is an encrypted Office file",
            cause="it asks for a password",
            suggestion="Save it without a password.",
        )
    return DocumentUnreadable(
        f"{name} is an Office file of the old binary kind (.doc, .xls, .ppt)",
        cause="it is an OLE container",
        suggestion=_SAVE_AS,
    )


def _is_html(head: bytes, suffix: str) -> bool:
    encoding = "utf-16" if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "utf-8"
    text = head.decode(encoding, "replace").removeprefix("\ufeff")
    if _HTML_OPENING.match(text):
        return True
    return suffix in _HTML_SUFFIXES and _ANY_TAG.search(text) is not None
