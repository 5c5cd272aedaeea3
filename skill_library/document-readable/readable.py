"""Whether documents can be read, and are no larger than can be worked on."""

from __future__ import annotations

import re
from typing import Any

from orchestra.skills.code import CodeContext

MOST_CHARACTERS = 400_000_000
MOST_UNREADABLE = 0.2  # share of what is looked at
LOOKED_AT = 20_000  # characters at the beginning and in the middle
CONTROLS = bytes(code for code in range(32) if code not in b"\t\n\x0c\r")
UNREADABLE = re.compile(r"[\ue000-\uf8ff\ufffd]+")


def readable(context: CodeContext) -> dict[str, Any]:
    """`{"ok": ..., "reason": ...}`."""
    for document in context.documents or ():
        length = len(document.text)
        if length > MOST_CHARACTERS:
            return {
                "ok": False,
                "reason": f"{document.name} has {length:,} characters; at most {MOST_CHARACTERS:,} can be worked on",
            }
        middle = length // 2
        seen = document.text[:LOOKED_AT] + document.text[middle : middle + LOOKED_AT]
        share = unreadable(seen) / max(1, len(seen))
        if share > MOST_UNREADABLE:
            return {
                "ok": False,
                "reason": f"{share:.0%} of {document.name} is characters that cannot be read: is it a text?",
            }
    return {"ok": True, "reason": ""}


def unreadable(text: str) -> int:
    """Characters that no reader can do anything with: controls, private ones, and what stands for lost ones."""
    plain = text.encode("ascii", "ignore")
    controls = len(plain) - len(plain.translate(None, CONTROLS))
    return controls if text.isascii() else controls + sum(map(len, UNREADABLE.findall(text)))
