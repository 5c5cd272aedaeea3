"""Files to text: what kind a file is, and one converter for each kind."""

from __future__ import annotations

from collections.abc import Callable

from orchestra.document.convert.converted import Converted
from orchestra.document.convert.docx import convert_docx
from orchestra.document.convert.html import convert_html
from orchestra.document.convert.kinds import Kind, kind_of
from orchestra.document.convert.pdf import convert_pdf
from orchestra.document.convert.plain import convert_plain
from orchestra.document.convert.reading import read_path
from orchestra.errors import DocumentUnreadable

__all__ = ["Converted", "convert", "kind_of", "read_path"]

_CONVERTERS: dict[Kind, Callable[[bytes, str], Converted]] = {
    "pdf": convert_pdf,
    "docx": convert_docx,
    "html": convert_html,
    "plain": convert_plain,
}


def convert(data: bytes, name: str) -> Converted:
    """The text of a file, by what its bytes show first and what its name says second.

    `DocumentUnreadable` says why there is none: empty, encrypted, damaged, a scan, of another kind, or the
    extra `orchestra[documents]` is not installed.
    """
    converted = _CONVERTERS[kind_of(data, name)](data, name)
    if not converted.text or converted.text.isspace():
        raise DocumentUnreadable(f"{name} holds no text", cause="nothing is left of it once converted")
    return converted
