"""Headings of a markdown text, exactly as CommonMark defines them, found with markdown-it-py's block parser.

Parsing everything is slow and keeps every token. Two observations make it cheap without a second grammar:

- A top-level heading needs a line that could be one (`#`, or an underline of `=` or `-`), and what could hide it
  (a fence, an HTML block) needs a line that opens that. Stretches without such a *suspect* line have no headings.
- At a *joint* every open block but a top-level fence or HTML block is over: a line without indent after a blank
  line, or one that always starts a block anew. What lies between two joints is parsed by itself.

So the text is crossed from suspect to suspect at the speed of a regular expression, and the parser sees only the
stretch around each. A fence that outlasts its stretch is followed to its end; an HTML block makes the stretch grow.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from orchestra.document.commonmark import Environment, blocks, plain_text
from orchestra.document.heading import Heading

_SUSPECT_LINE = r"[ \t]*+(?:#{1,6}(?:[ \t]|$)|```|~~~|<|=++[ \t]*+$|-++[ \t]*+$)"
_DEFINITION_LINE = r"(?:[ \t>*+-]|\d{1,9}[.)])*+\[(?:[^\]\\\n]|\\.)*+(?:\]:|\\?$)"
_SUSPECT = re.compile(f"^{_SUSPECT_LINE}", re.MULTILINE)
_SUSPECT_OR_DEFINITION = re.compile(f"^(?:{_SUSPECT_LINE}|{_DEFINITION_LINE})", re.MULTILINE)
_JOINT = re.compile(
    r"^(?:[ \t]*+\n(?=[^ \t\n])"
    r"|(?=#{1,6}(?:[ \t]|$)|(?:[-+*]|1[.)])[ \t]++[^ \t\n]|```[^`\n]*+$|~~~))",
    re.MULTILINE,
)
_FRONT_MATTER = re.compile(
    r"---[ \t]*+\n(?=(?:#[^\n]*+\n)*+[\w$@\"'])"
    r"(?:(?:(?:[ \t]|#|- |[}\]])[^\n]*+|[\"']?[\w$@./-]++(?: [\w-]++){0,3}[\"']?:(?:[ \t][^\n]*+)?|)\n)*+"
    r"(?:---|\.\.\.)[ \t]*+(?:\n|\Z)"
)
_MARKUP = re.compile(r"[\\`*_\[\]<>&!\n]")


def harvest(text: str) -> tuple[Heading, ...]:
    """The top-level headings of `text` (LF line ends), in order; those in quotes, lists and front matter are none."""
    found = tuple(_scan(text, _SUSPECT, {}))
    definitions: Environment = {}
    if "]:" in text and any("[" in heading.title for heading in found):
        for _ in _scan(text, _SUSPECT_OR_DEFINITION, definitions):
            pass
    return tuple(replace(heading, title=_title(heading.title, definitions)) for heading in found)


def _scan(text: str, suspect: re.Pattern[str], definitions: Environment) -> Iterator[Heading]:
    """Headings, their titles still with markup, from the stretches that hold a suspect line."""
    position, reach = front_matter_end(text), 0
    line, counted = 1, 0
    while found := suspect.search(text, position):
        start = _last_joint(text, position, found)
        position = end = _next_joint(text, max(found.end(), reach))
        line, counted = line + text.count("\n", counted, start), start
        for block in blocks(text[start:end], definitions):
            opening = block.tokens[0]
            if opening.type == "heading_open":
                yield Heading(block.tokens[1].content, int(opening.tag[1]), line + block.line)
            if not block.reaches_end or end == len(text):
                continue
            if opening.type == "fence":
                position = _after_fence(text, start + block.offset, opening.markup)
            elif opening.type == "html_block":  # read again, with twice as much: geometric growth stays linear
                position, reach = start + block.offset, end + (end - start)


def _title(content: str, definitions: Environment) -> str:
    text = plain_text(content, definitions) if _MARKUP.search(content) else content
    return text.strip()


def front_matter_end(text: str) -> int:
    """Offset after the YAML front matter that begins on line 1; 0 without one."""
    found = _FRONT_MATTER.match(text)
    return found.end() if found else 0


def _last_joint(text: str, position: int, suspect: re.Match[str]) -> int:
    """The last joint up to the suspect's line; `position` is one."""
    line_end = text.find("\n", suspect.end())
    for joint in _JOINT.finditer(text, position, line_end if line_end >= 0 else len(text)):
        position = joint.end()
    return position


def _next_joint(text: str, position: int) -> int:
    """The first joint after the line that holds `position`, else the end of the text."""
    line_end = text.find("\n", position)
    joint = _JOINT.search(text, line_end + 1) if line_end >= 0 else None
    return joint.end() if joint else len(text)


def _after_fence(text: str, start: int, markup: str) -> int:
    """Offset after the line that closes the fence opened at `start`, else the end of the text."""
    closing = re.compile(rf"^ {{0,3}}{markup[0]}{{{len(markup)},}}[ \t]*$", re.MULTILINE)
    found = closing.search(text, text.index("\n", start) + 1)
    return min(found.end() + 1, len(text)) if found else len(text)
