"""Citation marks: [L120-L134] and the other ways in which models write it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from orchestra.document.ranges import LineRange

_BRACKETS = re.compile(r"\[([^\[\]\n]{2,300})\]|\((?=[^()\n]*\bL\d)([^()\[\]\n]{2,300})\)")
_SEPARATORS = re.compile(r"\s*(?:[,;&]|\band\b)\s*")
_LEAD = re.compile(r"^(?:see|cf\.?|sources?:?|from|refs?[.:]?)\s+", re.IGNORECASE)
_DASH = r"\s*(?:[-‐‑–—−]|\bto\b|\.\.)\s*"
_LINE = r"(?:L|l|[Ll]ines?\s*|ll?\.\s*)"
_SECTION = r"s\d+(?:\.\d+)?"
# A document's key or name, a section's id, lines: each may be missing.
_ITEM = re.compile(
    rf"(?:(?P<key>[^:\s]+):\s*|(?P<name>(?!{_SECTION}\b)[^:]*[^:\s]):?\s+)??(?P<section>{_SECTION})?\s*"
    rf"(?:(?<!\w){_LINE}(?P<first>\d{{1,9}})(?:{_DASH}{_LINE}?(?P<last>\d{{1,9}}))?)?"
)
_HEAD_LINES = re.compile(r"(?:\S+:)?L\d[\dL\s,;–-]*")
_FOLLOWING = re.compile(rf"(?P<first>\d{{1,9}})(?:{_DASH}{_LINE}?(?P<last>\d{{1,9}}))?")


@dataclass(frozen=True, slots=True)
class Mark:
    """A citation mark: where it stands in the text, and the lines it names, or sections where it names no lines.

    Keys and names of documents are as written; nothing is clipped. `sections` are (key, id).
    """

    start: int
    end: int
    ranges: tuple[LineRange, ...]
    sections: tuple[tuple[str, str], ...] = ()


def parse_citations(text: str) -> tuple[Mark, ...]:
    """The marks of a text, in order.

    Known: [L5-L9], [L5–9], [L5], [L1-L3, L8], [lines 5-9], [d2:L5-L9], [report.pdf: L5], [s12 L5-L9],
    [s12 | Results | L5-L9], [s12], (L5-L9). A reversed range is turned round. Other brackets are no marks.
    """
    return tuple(_marks(text))


def mark_spans(text: str) -> list[tuple[int, int]]:
    """Where the marks of a text stand."""
    return [(mark.start, mark.end) for mark in _marks(text)]


def _marks(text: str) -> Iterator[Mark]:
    for match in _BRACKETS.finditer(text):
        ranges, sections = _read(match[1] or match[2])
        if ranges or sections:
            yield Mark(match.start(), match.end(), ranges, () if ranges else sections)


def _read(body: str) -> tuple[tuple[LineRange, ...], tuple[tuple[str, str], ...]]:
    """The ranges and sections that a bracket names; none when anything else is in it."""
    key, ranges, sections = "", list[LineRange](), list[tuple[str, str]]()
    if "|" in body:
        key, body = _read_breadcrumb(body)
    for item in _SEPARATORS.split(_LEAD.sub("", body.strip())):
        following = _FOLLOWING.fullmatch(item) if ranges else None
        match = following or _ITEM.fullmatch(item)
        if match is None:
            return (), ()
        parts = match.groupdict()
        key = parts.get("key") or parts.get("name") or key
        if parts["first"]:
            ends = int(parts["first"]), int(parts["last"] or parts["first"])
            ranges.append(LineRange(key, min(ends), max(ends)))
        elif parts.get("section"):
            sections.append((key, parts["section"]))
        else:
            return (), ()
    return tuple(ranges), tuple(sections)


def _read_breadcrumb(body: str) -> tuple[str, str]:
    """The document's key and the lines in a copy of a passage's head, "d2:s12 | Results | d2:L5-L9 | p. 3"."""
    crumbs = [crumb.strip() for crumb in body.split("|")]
    lines = (crumb for crumb in crumbs[1:] if _HEAD_LINES.fullmatch(crumb))
    return crumbs[0].rpartition(":")[0], next(lines, crumbs[-1])
