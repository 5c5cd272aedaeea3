"""What a page of the panel may hold, whatever others have written: judged by its tags and attributes."""

from __future__ import annotations

import re
from collections import Counter

from html_for_tests import Read

from orchestra.panel.view.visible import visible

_TAGS = frozenset(
    [
        "html",
        "head",
        "meta",
        "title",
        "link",
        "script",
        "body",
        "header",
        "nav",
        "main",
        "aside",
        "section",
        "article",
        "footer",
        "h1",
        "h2",
        "h3",
        "p",
        "a",
        "b",
        "em",
        "strong",
        "s",
        "code",
        "pre",
        "blockquote",
        "q",
        "ul",
        "ol",
        "li",
        "dl",
        "dt",
        "dd",
        "br",
        "hr",
        "table",
        "caption",
        "colgroup",
        "col",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "details",
        "summary",
        "form",
        "label",
        "input",
        "textarea",
        "select",
        "option",
        "button",
        "output",
        "meter",
        "time",
        "mark",
        "span",
        "div",
        "svg",
        "defs",
        "pattern",
        "g",
        "rect",
        "line",
        "circle",
        "path",
        "text",
        "tspan",
        "title",
        "desc",
    ]
)
_OUR_SCRIPT = re.compile(r"/static/[a-z0-9./-]+\.js")
_OUR_STYLE = re.compile(r"/static/[a-z]+\.css|data:,")
_OWN = re.compile(r"(?:/(?![/\\])|#|\?)[^\s\"'<>`\\]*|")
_WEB = re.compile(r"https?://[^\s\"<>`]+")
_ADDRESSES = (
    "href",
    "action",
    "src",
    "formaction",
    "hx-get",
    "hx-post",
    "hx-push-url",
    "data-fetch",
    "data-live",
    "data-logs-copy",
)
_ANY_TEXT = ("value", "placeholder", "data-stream-of", "data-kept", "data-logs", "data-graph", "data-player")
"""Attributes that hold a text as it is on record, since it is sent back or compared."""
_HTMX = frozenset(
    [
        "hx-get",
        "hx-post",
        "hx-trigger",
        "hx-target",
        "hx-swap",
        "hx-sync",
        "hx-ext",
        "hx-include",
        "hx-encoding",
        "hx-disabled-elt",
        "hx-disinherit",
        "hx-push-url",
    ]
)
_EDITED = re.compile(r"<textarea[^>]*>.*?</textarea>", re.DOTALL)  # what is edited is sent back as it was
_NAMES = re.compile(
    r"[a-z][a-z-]*|viewBox|patternUnits|patternTransform|[xy][12]?|viewbox|patternunits|patterntransform"
)


def faults(page: str, *, is_whole: bool = False) -> list[str]:
    """All that a text of others has made of a page beyond text; empty for a page that is as it must be."""
    read = Read(page)
    found = [fault for tag, attributes in read.tags for fault in _of_tag(tag, attributes)]
    ids = Counter(value for _, attributes in read.tags for name, value in attributes.items() if name == "id")
    found += [f"the id {name!r} stands {count} times" for name, count in ids.items() if count > 1]
    if is_whole and (read.names & {"html"}) and len(read.attributes("body")) != 1:
        found.append("another body")
    if "1337" in page:
        found.append("a template was evaluated")
    lines = Read(_EDITED.sub("", page)).text.split("\n")
    hidden = [line for line in lines if visible(line) != line]
    found += [f"a letter that is not seen: {visible(line)!r}"[:300] for line in hidden]
    return found


def _of_tag(tag: str, attributes: dict[str, str | None]) -> list[str]:
    found: list[str] = []
    if tag not in _TAGS:
        found.append(f"<{tag}>")
    if tag == "script" and not _OUR_SCRIPT.fullmatch(attributes.get("src") or ""):
        found.append(f"a script: {attributes}")
    if tag == "link" and not _OUR_STYLE.fullmatch(attributes.get("href") or ""):
        found.append(f"a link: {attributes}")
    if tag == "meta" and "http-equiv" in attributes:
        found.append(f"a meta: {attributes}")
    for name, value in attributes.items():
        found += _of_attribute(tag, name, value or "")
    return found


def _of_attribute(tag: str, name: str, value: str) -> list[str]:
    if not _NAMES.fullmatch(name) or name.startswith("on") or name in ("style", "srcdoc", "form"):
        return [f"<{tag} {name}={value[:80]!r}>"]
    if name.startswith("hx-") and name not in _HTMX:
        return [f"<{tag} {name}={value[:80]!r}>"]
    if name in _ADDRESSES and tag not in ("script", "link"):
        is_ours = _OWN.fullmatch(value) is not None
        is_web = tag == "a" and name == "href" and _WEB.fullmatch(value) is not None
        return [] if is_ours or is_web else [f"<{tag} {name}={value[:120]!r}>"]
    if name.startswith("hx-") and not value.startswith("#") and ("[" in value or "owned" in value):
        return [f"<{tag} {name}={value[:80]!r}>"]
    if name not in _ANY_TEXT and visible(value) != value:
        return [f"<{tag} {name}={visible(value)[:120]!r}> holds a letter that is not seen"]
    return []
