"""Headings of a markdown text, exactly as CommonMark defines them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from orchestra.document.commonmark import Environment, plain_text
from orchestra.document.heading import Heading
from orchestra.document.stretches import blocks_around

_SUSPECT_LINE = r"[ \t]*+(?:#{1,6}(?:[ \t]|$)|```|~~~|<[A-Za-z/!?]|=++[ \t]*+$|-++[ \t]*+$)"
_DEFINITION_LINE = r"(?:[ \t>*+-]|\d{1,9}[.)])*+\[(?:[^\]\\\n]|\\.)*+(?:\]:|\\?$)"
_SUSPECT = re.compile(f"^{_SUSPECT_LINE}", re.MULTILINE)
_SUSPECT_OR_DEFINITION = re.compile(f"^(?:{_SUSPECT_LINE}|{_DEFINITION_LINE})", re.MULTILINE)
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
    for line, block, _ in blocks_around(text, suspect, definitions, front_matter_end(text)):
        opening = block.tokens[0]
        if opening.type == "heading_open":
            yield Heading(block.tokens[1].content, int(opening.tag[1]), line + block.line)


def _title(content: str, definitions: Environment) -> str:
    text = plain_text(content, definitions) if _MARKUP.search(content) else content
    return text.strip()


def front_matter_end(text: str) -> int:
    """Offset after the YAML front matter that begins on line 1; 0 without one."""
    found = _FRONT_MATTER.match(text)
    return found.end() if found else 0
