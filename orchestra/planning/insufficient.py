"""What a reply says is missing: its lines that begin with INSUFFICIENT, told from what it did find."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from orchestra.document import parse_citations

_MARK = "INSUFFICIENT"
_NOUN = r"(?i:[ \t]+(?:excerpts?|information|context|evidence|data))?"
_ITEM = r"(?:[-*+•]|\d{1,2}[.)])[ \t]+"
# In capitals a colon, a dash or nothing may follow; in small letters, where it is a word like others, a colon must.
_MARKER = re.compile(
    rf"[ \t]{{0,3}}(?:{_ITEM}|#{{1,6}}[ \t]+)?[*_`]{{0,3}}"
    rf"(?:INSUFFICIENT{_NOUN}[*_`]{{0,3}}[ \t]*(?:[:：]|[–—-]|\.?$)|(?i:insufficient){_NOUN}[*_`]{{0,3}}[ \t]*[:：])"
    r"(?P<missing>.*)"
)
_FENCE = re.compile(r"[ \t]{0,3}(?P<fence>```|~~~)")
_LIST_ITEM = re.compile(rf"[ \t]*{_ITEM}")
_BEGINS_ANEW = re.compile(r"[ \t]*(?:[>|#]|\*\*|__)")
_NOTHING = re.compile(r"none|no|n/?a|nil|nothing(?: else)?(?: is| was)?(?: missing)?", re.IGNORECASE)
_HEADING = re.compile(r"[ \t]*(?:#{1,6}[ \t].*|\*\*[^*]+\*\*:?|__[^_]+__:?|[-*_]{3,})?[ \t]*")

_Open = Literal["", "paragraph", "list"]


@dataclass(frozen=True, slots=True)
class Shortfall:
    """`missing` is "" where a reply does not say what; `found` is "" where nothing but headings is left of it."""

    missing: str
    found: str


def shortfall(reply: str) -> Shortfall | None:
    """What a reply lacks by its own account, and what it found; None when it lacks nothing.

    Read are lines that begin with INSUFFICIENT, in any dress (bold, a list item, a heading, small letters before a
    colon), and what runs on below them; several are joined by "; ". Not those in a code fence or a block quote, which
    show other people's words, nor one that says "none".
    """
    missing: list[str] = []
    others: list[str] = []
    open_: _Open = ""
    for line, is_fenced in _fenced(reply.splitlines()):
        marker = None if is_fenced else _MARKER.fullmatch(line)
        if marker:
            missing.append(_plain(marker["missing"]))
            open_ = "paragraph" if missing[-1] else "list"
        elif open_ and not is_fenced and _runs_on(line, open_):
            item = _LIST_ITEM.sub("", line)
            missing[-1] += ("; " if missing[-1] and item != line else " ") + _plain(item)
        else:
            open_ = open_ if open_ == "list" and not line.strip() and not missing[-1] else ""
            others.append(line)
    real = [said.strip() for said in missing if not _is_nothing(said)]
    return Shortfall("; ".join(dict.fromkeys(filter(None, real))), _without_headings_alone(others)) if real else None


def _is_nothing(said: str) -> bool:
    return _NOTHING.fullmatch(said.strip().rstrip(".!")) is not None


def missing_in(reply: str) -> str | None:
    """What a reply says is missing, "" where it does not say what; None when it lacks nothing. See `shortfall`."""
    found = shortfall(reply)
    return None if found is None else found.missing


def for_readers(reply: str) -> str:
    """A reply as an answer: what begins with INSUFFICIENT, which is a word between us and models, is told as missing.

    One that says "none" is left out. Small letters stay: in a text for readers they may be words like others.
    """
    if _MARK not in reply:
        return reply
    bare = "" if missing_in(reply) else "what was asked for."
    lines: list[str] = []
    for line, is_fenced in _fenced(reply.splitlines()):
        marker = None if is_fenced or _MARK not in line else _MARKER.fullmatch(line)
        missing = "" if marker is None else _plain(marker["missing"])
        if marker is None:
            lines.append(line)
        elif not _is_nothing(missing):
            lines.append(f"Missing: {missing or bare}".rstrip())
    return "\n".join(lines).strip() or reply


def _fenced(lines: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """Each line, and whether it stands in a code fence or is the edge of one."""
    open_ = ""
    for line in lines:
        edge = _FENCE.match(line)
        yield line, bool(open_ or edge)
        if edge and open_ in ("", edge["fence"]):
            open_ = "" if open_ else edge["fence"]


def _runs_on(line: str, open_: _Open) -> bool:
    """Whether a line goes on saying what is missing: in the same paragraph, or in the list under a bare marker."""
    if not line.strip() or parse_citations(line) or _BEGINS_ANEW.match(line):
        return False
    return open_ == "list" or not _LIST_ITEM.match(line)


def _without_headings_alone(lines: Sequence[str]) -> str:
    if all(_HEADING.fullmatch(line) for line in lines):
        return ""
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def _plain(text: str) -> str:
    return text.strip().strip("*_`").strip()
