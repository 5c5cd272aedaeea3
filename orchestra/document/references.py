"""Section references as planners write them, taken apart: which document, an id, lines, pages, or a title."""

from __future__ import annotations

import re
from dataclasses import dataclass

_LONGEST = 2000
_WRAPPING = " \t\r\n\"'`“”‘’*"
_RANGE = r"(?P<first>\d{1,12})(?:\s*(?:[-–—:]|to)\s*(?:[dD]\d+:)?[lL]?(?P<last>\d{1,12}))?"
_ID = re.compile(
    r"(?P<id>[sS]\d{1,9}(?:\.\d{1,9})?)(?:\s*(?:[-–—]|to)\s*(?:[dD]\d+:)?(?P<to>[sS]\d{1,9}(?:\.\d{1,9})?))?"
)
_LINES = re.compile(rf"(?:(?:[lL]ines?|LINES?)\s*|[lL]\.?\s?){_RANGE}")
_BARE_LINES = re.compile(r"(?P<first>\d{1,12})\s*[-–—]\s*(?P<last>\d{1,12})")
_TO_PAGE = r"(?:\s*(?:[-–—:]|to)\s*(?:d\d+:)?(?:p\.?)?(?P<last>\d{1,12}))?"
_PAGES = re.compile(rf"(?:pages?|pp?\.?)\s*(?P<first>\d{{1,12}}){_TO_PAGE}", re.IGNORECASE)
_LINES_AFTER_ID = re.compile(rf".*?\b[lL]{_RANGE}\s*\]?")
_STEPS = (re.compile(r"\s*[>›»→|]\s*|\s+::\s+"), re.compile(r"\s*/\s*"), re.compile(r"\s*[>›»→|/]\s*"))


@dataclass(frozen=True, slots=True)
class Id:
    """ "s12", "s12.3", "s3-s5", or an id before other text, as in a marker or a breadcrumb."""

    first: str
    last: str
    rest: str
    lines: tuple[int, int] | None


def readable(reference: str) -> str:
    """A reference without what wraps it, encodable, of a bearable length."""
    text = reference[:_LONGEST].encode("utf-8", "replace").decode("utf-8").strip(_WRAPPING)
    if text.startswith("[") and text.endswith("]"):
        text = text[1:-1].strip(_WRAPPING)
    return text


def read_id(text: str) -> Id | None:
    """The id at the front of a reference; None when it does not begin with one."""
    found = _ID.match(text)
    if not found or (found.end() < len(text) and (text[found.end()].isalnum() or text[found.end()] == "_")):
        return None
    first = found["id"].lower()
    rest = text[found.end() :].strip(" \t|:,–—-]")
    lines = _LINES_AFTER_ID.fullmatch(rest)
    span = (int(lines["first"]), int(lines["last"] or lines["first"])) if lines else None
    return Id(first, (found["to"] or first).lower(), rest, span)


def read_lines(text: str) -> tuple[str, str] | None:
    """("120", "134") of "L120-L134", "lines 120-134", "L120" or "120-134"."""
    found = _LINES.fullmatch(text) or _BARE_LINES.fullmatch(text)
    return (found["first"], found["last"] or found["first"]) if found else None


def read_pages(text: str) -> tuple[int, int] | None:
    """(12, 14) of "pages 12-14", "p. 12-14", "p12-p14"; (12, 12) of "page 12"."""
    found = _PAGES.fullmatch(text)
    return (int(found["first"]), int(found["last"] or found["first"])) if found else None


def read_paths(text: str) -> list[tuple[str, ...]]:
    """The ways to take "Chapter 2 > Results" or "Chapter 2/Results" apart, each of two steps or more."""
    ways = (tuple(step for step in separator.split(text) if step) for separator in _STEPS)
    return list(dict.fromkeys(way for way in ways if len(way) > 1))
