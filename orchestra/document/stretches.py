"""A markdown text read only where it matters, with markdown-it-py's block parser.

Parsing everything is slow and keeps every token. Two observations make it cheap without a second grammar:

- What is looked for (a top-level heading) and what could hide it (a fence, an HTML block) begins at a line that can
  be told by its first characters. Stretches without such a *suspect* line hold nothing.
- At a *joint* every open block but a top-level fence or HTML block is over: a line without indent after a blank
  line, or one that always starts a block anew. What lies between two joints is parsed by itself.

So the text is crossed from suspect to suspect at the speed of a regular expression, and the parser sees only the
stretch around each. A fence that outlasts its stretch is followed to its end; an HTML block makes the stretch grow.
Where there is no joint for millions of characters, a line end does as one, so that memory stays bounded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from orchestra.document.commonmark import Block, Environment, blocks

LONGEST_STRETCH = 2_000_000  # characters on either side of a suspect line

_JOINT = re.compile(
    r"^(?:[ \t]*+\n(?=[^ \t\n])"
    r"|(?=#{1,6}(?:[ \t]|$)|(?:[-+*]|1[.)])[ \t]++[^ \t\n]|```[^`\n]*+$|~~~))",
    re.MULTILINE,
)


def blocks_around(
    text: str, suspect: re.Pattern[str], environment: Environment, start: int = 0
) -> Iterator[tuple[int, Block, int]]:
    """The top-level blocks of the stretches of `text[start:]` that hold a match of `suspect`, in order.

    Each with the line of `text`, from 1, that the lines of its tokens count from, and with the number of its lines
    where it is a fence that outlasts its stretch, else 0. An HTML block may come twice, the second time longer.
    """
    position, reach = start, 0
    line, counted = 1, 0
    while found := suspect.search(text, position):
        first = _last_joint(text, position, found)
        position = end = _next_joint(text, max(found.end(), reach))
        line, counted = line + text.count("\n", counted, first), first
        for block in blocks(text[first:end], environment):
            opening = block.tokens[0]
            fence_lines = 0
            if block.reaches_end and end < len(text):
                if opening.type == "fence":
                    position = _after_fence(text, first + block.offset, opening.markup)
                    fence_lines = text.count("\n", first + block.offset, position - 1) + 1
                elif opening.type == "html_block" and end - first < LONGEST_STRETCH:
                    # read again, with twice as much: geometric growth stays linear
                    position, reach = first + block.offset, end + (end - first)
            yield line, block, fence_lines


def _last_joint(text: str, position: int, suspect: re.Match[str]) -> int:
    """The last joint up to the suspect's line; `position` is one."""
    if suspect.start() - position > LONGEST_STRETCH:
        position = text.rfind("\n", position, suspect.start() - LONGEST_STRETCH) + 1 or position
    line_end = text.find("\n", suspect.end())
    for joint in _JOINT.finditer(text, position, line_end if line_end >= 0 else len(text)):
        position = joint.end()
    return position


def _next_joint(text: str, position: int) -> int:
    """The first joint after the line that holds `position`, else the end of the text."""
    line_end = text.find("\n", position)
    if line_end < 0:
        return len(text)
    furthest = line_end + LONGEST_STRETCH
    joint = _JOINT.search(text, line_end + 1, furthest)
    if joint:
        return joint.end()
    return text.find("\n", furthest) + 1 or len(text)


def _after_fence(text: str, start: int, markup: str) -> int:
    """Offset after the line that closes the fence opened at `start`, else the end of the text."""
    closing = re.compile(rf"^ {{0,3}}{markup[0]}{{{len(markup)},}}[ \t]*$", re.MULTILINE)
    found = closing.search(text, text.index("\n", start) + 1)
    return min(found.end() + 1, len(text)) if found else len(text)
