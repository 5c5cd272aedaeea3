"""DOCX to markdown: mammoth gives HTML by the document's styles, the HTML converter the rest."""

from __future__ import annotations

import io
import re
import zipfile
from typing import Any

from orchestra.document.convert.converted import Converted
from orchestra.document.convert.extra import load
from orchestra.document.convert.html import to_markdown
from orchestra.document.decode import normalise
from orchestra.errors import DocumentUnreadable

MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"

# Mammoth builds a tree of the XML, some twenty times its size; a book of 1,000 pages has about 10 MB.
MAX_XML_BYTES = 32 * 2**20

_ENCRYPTED_FLAG = 1
_STYLES = """
p[style-name='Title'] => h1:fresh
p[style-name='Subtitle'] => p:fresh
p[style-name='heading 7'] => h6:fresh
p[style-name='heading 8'] => h6:fresh
p[style-name='heading 9'] => h6:fresh
"""


def convert_docx(data: bytes, name: str) -> Converted:
    """The text of a DOCX file as markdown, images left out, footnotes at the end.

    Refused with `DocumentUnreadable`: an encrypted or damaged file, and one whose XML parts declare more than
    `MAX_XML_BYTES` when unpacked.
    """
    mammoth = load("mammoth", name, "a DOCX file")
    _refuse_unsafe(data, name)
    try:
        markup: str = mammoth.convert_to_html(
            io.BytesIO(data), style_map=_STYLES, convert_image=mammoth.images.img_element(_no_image)
        ).value
    except Exception as error:  # mammoth lets whatever its XML and zip readers raise through
        raise DocumentUnreadable(f"{name} is a damaged DOCX file", cause=f"{type(error).__name__}: {error}") from error
    text, warnings = to_markdown(markup, name, "a DOCX file")
    clean, more_warnings = normalise(text)
    return Converted(clean, MEDIA_TYPE, warnings + more_warnings)


def _no_image(_image: Any) -> dict[str, str]:
    return {}


def _refuse_unsafe(data: bytes, name: str) -> None:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = archive.infolist()
    if any(member.flag_bits & _ENCRYPTED_FLAG for member in members):
        raise DocumentUnreadable(
            f"{name} is an encrypted DOCX file",
            cause="it asks for a password",
            suggestion="Save it without a password.",
        )
    size = sum(member.file_size for member in members if re.search(r"\.(?:xml|rels)$", member.filename, re.IGNORECASE))
    if size > MAX_XML_BYTES:
        raise DocumentUnreadable(
            f"{name} would unpack to {size:,} bytes of XML",
            cause=f"at most {MAX_XML_BYTES:,} are read, so that a file made to exhaust the memory cannot",
            suggestion="Split the document, or save it as text.",
        )
