"""Text to outline, pointers to lines, lines to slices. Pure: no network, clock or randomness."""

from __future__ import annotations

from orchestra.document.document import Document, DocumentSet
from orchestra.document.outline import Outline, Part, Section, Unit
from orchestra.document.pointers import FUZZY_THRESHOLD, LineRange, Resolution, resolve_lines, resolve_section
from orchestra.document.search import Hit, LexicalIndex
from orchestra.document.slices import Passage, Slice, best_parts, cut, whole
from orchestra.document.tokens import count_tokens

__all__ = [
    "FUZZY_THRESHOLD",
    "Document",
    "DocumentSet",
    "Hit",
    "LexicalIndex",
    "LineRange",
    "Outline",
    "Part",
    "Passage",
    "Resolution",
    "Section",
    "Slice",
    "Unit",
    "best_parts",
    "count_tokens",
    "cut",
    "resolve_lines",
    "resolve_section",
    "whole",
]
