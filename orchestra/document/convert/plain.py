"""Markdown and plain text."""

from __future__ import annotations

from pathlib import PurePath

from orchestra.document.convert.converted import Converted
from orchestra.document.decode import decode
from orchestra.document.long_lines import with_lines
from orchestra.errors import DocumentUnreadable

# A text without a suffix, such as standard input, is taken for markdown: plain text is markdown too.
_MARKDOWN_SUFFIXES = frozenset({"", ".md", ".markdown", ".mdown", ".mkd", ".mdx", ".qmd", ".rmd"})


def convert_plain(data: bytes, name: str) -> Converted:
    """A text as it is, decoded."""
    try:
        text, warnings = decode(data)
    except DocumentUnreadable as error:
        raise DocumentUnreadable(f"{name} holds no text", cause=error.cause, suggestion=error.suggestion) from error
    text, divided = with_lines(text)
    is_markdown = PurePath(name).suffix.lower() in _MARKDOWN_SUFFIXES
    return Converted(text, "text/markdown" if is_markdown else "text/plain", warnings + divided)
