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

_DROPPED = frozenset(
    {"script", "style", "noscript", "template", "nav", "svg", "math", "iframe", "object", "button", "input", "select"}
    | {"textarea", "img", "picture", "video", "audio"}
)
# For each tag: the open tags that it ends, up to the nearest of these containers.
_ENDS = {
    "td": ({"td", "th"}, {"table"}),
    "th": ({"td", "th"}, {"table"}),
    "tr": ({"td", "th", "tr"}, {"table"}),
    "li": ({"li"}, {"ul", "ol"}),
    "dt": ({"dt", "dd"}, {"dl"}),
    "dd": ({"dt", "dd"}, {"dl"}),
    "p": ({"p"}, {"td", "th", "li", "div", "section", "article", "blockquote", "body"}),
}
_DECLARED = re.compile(rb"""<meta[^>]+charset\s*=\s*["']?\s*([\w.:-]+)""", re.IGNORECASE)
_DECLARED_WITHIN = 4096
_XML_DECLARATION = re.compile(r"\s*<\?xml\b[^>]*>")
_HIDDEN = re.compile(r"display\s*:\s*none", re.IGNORECASE)
_KEPT_LINK = re.compile(r"(?:https?|mailto):", re.IGNORECASE)
_BLANK_LINES = re.compile(r"\n(?:[ \t]*\n){2,}")
_TRAILING_SPACES = re.compile(r"(?<![ \t])[ \t]+\n")
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
    """Take out what is no text, and make what remains plain: superscripts, links, tables."""
    for tag in [tag for tag in soup.find_all(True) if tag.name in _DROPPED or _is_hidden(tag)]:
        tag.extract()
    # One walk for all names: on filings of many megabytes a search of the tree for each takes long.
    by_name: dict[str, list[Any]] = {}
    for tag in soup.find_all(True):
        by_name.setdefault(tag.name, []).append(tag)
        if tag.name in _ENDS:
            _end_implied(tag)
    for tag in by_name.get("a", ()):
        if not _KEPT_LINK.match(str(tag.get("href") or "")):
            tag.unwrap()
    for tag in by_name.get("sup", ()):
        _mark_superscript(tag)
    for table in by_name.get("table", ()):
        if table.find("table"):
            _make_blocks(table)
        else:
            _make_text(table)


def _end_implied(tag: Any) -> None:
    """Move a tag out of those that it ends by itself: HTML lets `</td>` and its like be left out."""
    ended, container = _ENDS[tag.name]
    while True:
        around = next((parent for parent in tag.parents if parent.name in ended or parent.name in container), None)
        if around is None or around.name in container:
            return
        around.insert_after(tag.extract())


def _is_hidden(tag: Any) -> bool:
    return bool(tag.attrs) and ("hidden" in tag.attrs or _HIDDEN.search(str(tag.attrs.get("style", ""))) is not None)


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


def _make_text(table: Any) -> None:
    """A table becomes its pipe table, so that its cells are walked no more."""
    text = pipe_table(table)
    table.clear()
    table.append(text)


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
            return f"\n\n{el.get_text()}\n\n"

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
