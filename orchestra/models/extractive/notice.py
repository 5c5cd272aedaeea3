"""What the engine says about itself, once in every answer."""

from __future__ import annotations

NOTICE = "The built-in engine quotes the document; it does not reason."


def with_notice(text: str) -> str:
    return f"{text}\n\n*{NOTICE}*"


def without_notice(text: str) -> str:
    return text.replace(f"*{NOTICE}*", "").strip()
