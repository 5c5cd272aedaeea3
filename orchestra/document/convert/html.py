"""HTML to markdown, through BeautifulSoup and markdownify; tables become pipe tables."""

from __future__ import annotations

import codecs
import re
from functools import lru_cache
from typing import Any

from orchestra.document.convert.converted import Converted
from orchestra.document.convert.extra import load
from orchestra.document.convert.tables import pipe_table
from orchestra.document.decode import decode, normalise

MEDIA_TYPE = "text/html"

_DROPPED = re.findall(
    r"\w+",
    "script style noscript template nav svg math iframe object button input select textarea img picture video audio",
)
_DECLARED = re.compile(rb"""<meta[^>]+charset\s*=\s*["']?\s*([\w.:-]+)""", re.IGNORECASE)
_DECLARED_WITHIN = 4096
_XML_DECLARATION = re.compile(r"\s*<\?xml\b[^>]*>")
_HIDDEN = re.compile(r"display\s*:\s*none", re.IGNORECASE)
_KEPT_LINK = re.compile(r"(?:https?|mailto):", re.IGNORECASE)
_BLANK_LINES = re.compile(r"\n(?:[ \t]*\n){2,}")
_TRAILING_SPACES = re.compile(r"[ \t]+\n")
_ODD_SPACES = re.compile("[\u00a0\u2007\u202f]")

_TOO_DEEP = "the page is nested too deeply to keep its headings and tables; only its text is read"


def convert_html(data: bytes, name: str) -> Converted:
    """The text of a page as markdown: no scripts, navigation, images or hidden parts, links only to the web.

    The page's title becomes its first heading when the body has none of level 1.
    """
    markup, warnings = _decode_html(data)
    text, more_warnings = to_markdown(markup, name, "an HTML page")
    return Converted(text, MEDIA_TYPE, warnings + more_warnings)


def to_markdown(markup: str, name: str, kind: str) -> tuple[str, tuple[str, ...]]:
    """Markdown of HTML markup, and warnings. `name` and `kind` say what is read when the extra is missing."""
    bs4 = load("bs4", name, kind)
    markdownify = load("markdownify", name, kind)
    soup = bs4.BeautifulSoup(_XML_DECLARATION.sub("", markup, count=1), "html.parser")
    title = _take_title(soup)
    _prune(soup)
    try:
        text, warnings = _converter(markdownify.MarkdownConverter)().convert_soup(soup), ()
    except RecursionError:
        text, warnings = soup.get_text("\n"), (_TOO_DEEP,)
    text = _tidy(text)
    if title and not soup.find("h1"):
        text = f"# {title}\n\n{text}"
    return text, warnings


def _take_title(soup: Any) -> str:
    """The title's text; the head leaves the tree."""
    title = " ".join(soup.title.get_text().split()) if soup.title else ""
    for head in soup.find_all(["head", "title"]):
        head.decompose()
    return title


def _prune(soup: Any) -> None:
    """Take out what is no text, and make what remains plain: superscripts, links, tables used for layout."""
    for tag in soup.find_all(_DROPPED):
        tag.decompose()
    for tag in soup.find_all(_is_hidden):
        if not tag.decomposed:
            tag.decompose()
    for tag in soup.find_all("a"):
        if not _KEPT_LINK.match(str(tag.get("href") or "")):
            tag.unwrap()
    for tag in soup.find_all("sup"):
        _mark_superscript(tag)
    for table in soup.find_all("table"):
        if table.find("table"):
            _make_blocks(table)


def _is_hidden(tag: Any) -> bool:
    return tag.has_attr("hidden") or _HIDDEN.search(str(tag.get("style") or "")) is not None


def _mark_superscript(tag: Any) -> None:
    """A raised digit gets "^" before it, so that no number or word grows by its footnote."""
    before = tag.find_previous(string=True)
    if tag.get_text(strip=True)[:1].isdigit() and before and before[-1:].isalnum():
        tag.insert(0, "^")
    tag.unwrap()


def _make_blocks(table: Any) -> None:
    """A table that holds tables lays out the page: its cells become blocks."""
    pieces = table.find_all(["thead", "tbody", "tfoot", "tr", "td", "th"])
    for tag in (table, *(piece for piece in pieces if piece.find_parent("table") is table)):
        tag.name = "div"


@lru_cache(maxsize=1)
def _converter(base: Any) -> Any:
    """markdownify's converter with our tables; made on demand because the library is optional."""

    class Converter(base):
        class Options:
            heading_style = "atx"
            bullets = "-"
            escape_asterisks = False
            escape_underscores = False
            autolinks = False

        def convert_table(self, el: Any, text: str, parent_tags: Any) -> str:
            table = pipe_table(el)
            return f"\n\n{table}\n\n" if table else "\n\n"

    return Converter


def _decode_html(data: bytes) -> tuple[str, tuple[str, ...]]:
    """By byte order mark, then as UTF-8, then as declared, then as Windows-1252, which the web falls back to."""
    if data.startswith((codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return decode(data)
    declared = _DECLARED.search(data[:_DECLARED_WITHIN])
    names = [declared[1].decode("ascii", "replace").lower()] if declared else []
    for encoding in ("utf-8", *names, "windows-1252"):
        try:
            text = data.decode("windows-1252" if encoding in ("iso-8859-1", "latin-1", "latin1") else encoding)
        except (UnicodeDecodeError, LookupError):
            continue
        clean, warnings = normalise(text)
        return clean, warnings if encoding == "utf-8" else (f"read as {encoding}, not UTF-8", *warnings)
    return decode(data)


def _tidy(text: str) -> str:
    text = _ODD_SPACES.sub(" ", text)
    text = _TRAILING_SPACES.sub("\n", text)
    return _BLANK_LINES.sub("\n\n", text).strip() + "\n"
