"""Headings of a markdown text, exactly as CommonMark defines them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Heading:
    """Where a section begins. `line` is 1-indexed, `title` is plain text."""

    title: str
    level: int
    line: int
    kind: Literal["heading", "cue"] = "heading"


def harvest(text: str) -> Iterator[Heading]:
    """The top-level headings of `text` (LF line ends), in order."""
    from markdown_it import MarkdownIt

    tokens = MarkdownIt("commonmark").parse(text)
    for position, token in enumerate(tokens):
        if token.type == "heading_open" and token.level == 0 and token.map:
            yield Heading(tokens[position + 1].content, int(token.tag[1]), token.map[0] + 1)
