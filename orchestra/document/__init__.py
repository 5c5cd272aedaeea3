"""Text to outline, pointers to lines, lines to slices, claims to evidence. Pure: no network, clock or randomness."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from orchestra.document.document import Document, DocumentSet
from orchestra.document.outline import Outline, Part, Section, Unit
from orchestra.document.pointers import FUZZY_THRESHOLD, LineRange, Resolution, resolve_lines, resolve_section
from orchestra.document.search import Hit, LexicalIndex
from orchestra.document.slices import Passage, Slice, best_parts, cut, whole
from orchestra.document.tokens import count_tokens

if TYPE_CHECKING:
    from orchestra.document.citing import Citation, cite, locate, unsupported
    from orchestra.document.grammar import Facts, facts
    from orchestra.document.marks import Mark, parse_citations

__all__ = [
    "FUZZY_THRESHOLD",
    "Citation",
    "Document",
    "DocumentSet",
    "Facts",
    "Hit",
    "LexicalIndex",
    "LineRange",
    "Mark",
    "Outline",
    "Part",
    "Passage",
    "Resolution",
    "Section",
    "Slice",
    "Unit",
    "best_parts",
    "cite",
    "count_tokens",
    "cut",
    "facts",
    "locate",
    "parse_citations",
    "resolve_lines",
    "resolve_section",
    "unsupported",
    "whole",
]

# what judges answers is not needed to read documents, so it is loaded when it is asked for
_LATER = {
    "Citation": "citing",
    "Facts": "grammar",
    "Mark": "marks",
    "cite": "citing",
    "facts": "grammar",
    "locate": "citing",
    "parse_citations": "marks",
    "unsupported": "citing",
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
