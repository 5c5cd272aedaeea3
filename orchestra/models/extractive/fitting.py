"""Replies made to fit the tokens that they may take."""

from __future__ import annotations

import re

from orchestra.document import count_tokens

_HEAD = re.compile(r"\*\*.+\*\*|#{2,6} .+")


def fitted(text: str, max_tokens: int) -> str:
    """The first lines of a text that `max_tokens` hold; of several answers under heads, the first lines of each.

    The shorter answers are kept whole, the longer ones share what is left.
    """
    if count_tokens(text) <= max_tokens:
        return text
    answers = _answers(text)
    room, kept = max_tokens, dict.fromkeys(range(len(answers)), "")
    for left, at in enumerate(sorted(kept, key=lambda at: count_tokens(answers[at]))):
        kept[at] = _within(answers[at], room // (len(answers) - left))
        room -= count_tokens(f"{kept[at]}\n")
    return _within("\n".join(kept.values()), max_tokens)


def _answers(text: str) -> list[str]:
    """The text cut before each head."""
    found: list[list[str]] = [[]]
    for line in text.split("\n"):
        if _HEAD.fullmatch(line) and found[-1]:
            found.append([])
        found[-1].append(line)
    return ["\n".join(lines) for lines in found]


def _within(text: str, max_tokens: int) -> str:
    lines = text.split("\n")
    while len(lines) > 1 and count_tokens("\n".join(lines)) > max_tokens:
        lines.pop()
    return "\n".join(lines)
