"""Texts of others as they may be shown: what a reader cannot see, or what would deceive him, is made visible."""

from __future__ import annotations

import re
import unicodedata

_HIDDEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u061c\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u2064"
    "\u2066-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f\ud800-\udfff]"
)
_CUT = "…"


def visible(text: str) -> str:
    """`text` with control characters, marks of direction and invisible characters as `‹U+202E›`.

    Tabs and line ends stay. Names of characters and order of the rest do not change.
    """
    return _HIDDEN.sub(lambda found: f"‹U+{ord(found[0]):04X}›", text)


def one_line(text: str, most: int) -> str:
    """The words of `text` on one line, visible, cut to `most` characters."""
    words = visible(" ".join(text[: most * 8].split()))
    return words if len(words) <= most else words[: most - 1].rstrip() + _CUT


def is_plain(character: str) -> bool:
    """Whether a character may stand in the name of a file: it is seen, and no separator of lines."""
    return unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
