"""Names of files: what an uploaded file may be called on disk and in citations."""

from __future__ import annotations

import re
import unicodedata

from orchestra.panel.view.visible import is_plain

_LONGEST = 120  # bytes
_LONGEST_SUFFIX = 12  # characters
_SEPARATORS = re.compile(r"[/\\]")
_RESERVED = re.compile(r'[<>:"|?*]')
_DEVICE = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)", re.IGNORECASE)
_NAMELESS = "document"

SUFFIXES = (
    *(".md", ".markdown", ".mdown", ".mkd", ".mdx", ".qmd", ".rmd", ".txt", ".text", ".rst", ".adoc", ".org"),
    *(".log", ".csv", ".tsv", ".pdf", ".docx", ".html", ".htm", ".xhtml"),
)
"""By which a file is offered as a document; what it is, its bytes say."""


def safe_name(original: str) -> str:
    """The last part of a path as a name that every file system takes, and that cannot deceive a reader.

    What is neither seen nor a blank is left out, what a file system reserves becomes `_`. Never empty, hidden, or
    longer than 120 bytes; the suffix stays.
    """
    last = _SEPARATORS.split(original)[-1]
    seen = "".join(each for each in unicodedata.normalize("NFC", last) if is_plain(each) or each in "\t\n")
    name = _RESERVED.sub("_", " ".join(seen.split())).strip(" .")
    if _DEVICE.match(name):
        name = f"_{name}"
    stem, dot, suffix = name.rpartition(".")
    if not dot or not stem or len(suffix) > _LONGEST_SUFFIX:
        return _cut(name, _LONGEST) or _NAMELESS
    ending = f".{suffix}"
    return f"{_cut(stem, _LONGEST - len(ending.encode())) or _NAMELESS}{ending}"


def is_offered(name: str) -> bool:
    """Whether a file's name says that it is a document."""
    return name.lower().endswith(SUFFIXES)


def _cut(text: str, most: int) -> str:
    return text.encode()[:most].decode("utf-8", "ignore").rstrip(" .")
