"""Text as the fact rules read it."""

from __future__ import annotations

import re

_MARKUP = re.compile(r"[*`]+|(?<!\w)_+|(?<!_)_+(?!\w)|\\(?=[|$%#_*\[\]()])")
_NOTE_MARKS = re.compile(r"\[\^?\d{1,3}\??\]|\^\d{1,2}\b|[¹²³⁰⁴-⁹]+")
_SPACES = re.compile(r"\s+")
_STRAIGHT = str.maketrans(
    {
        **dict.fromkeys("‘’‛′", "'"),
        **dict.fromkeys("“”„‟″«»", '"'),
        **dict.fromkeys("‐‑‒–—―−", "-"),
        **dict.fromkeys("\u00ad\u200b\u200c\u200d\ufeff", None),
        "…": "...",
    }
)


def plain(text: str) -> str:
    """Without emphasis, escapes and note marks such as [1] or [^1]; line ends stay."""
    return _NOTE_MARKS.sub("", _MARKUP.sub("", text))


def fold(text: str) -> str:
    """For comparing wordings: plain, one case, one kind of quote and dash, single spaces."""
    return _SPACES.sub(" ", plain(text).translate(_STRAIGHT)).casefold().strip()


def mask(text: str, spans: list[tuple[int, int]]) -> str:
    """The text with spans overwritten, so that no later rule reads them; offsets stay."""
    if not spans:
        return text
    pieces: list[str] = []
    position = 0
    for start, end in sorted(spans):
        if start >= position:
            pieces += (text[position:start], "\0" * (end - start))
            position = end
    return "".join([*pieces, text[position:]])
