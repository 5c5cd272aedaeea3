"""The prompts, kept as files beside this one. They are product: a change shows in the golden tests."""

from __future__ import annotations

from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).with_name("prompts")


@cache
def prompt(name: str) -> str:
    """The text of `prompts/<name>.md`, without the final newline."""
    return (_FOLDER / f"{name}.md").read_text(encoding="utf-8").rstrip("\n")
