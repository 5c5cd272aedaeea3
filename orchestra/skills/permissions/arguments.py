"""What a pattern says about a tool's argument: `git:*` in `Bash(git:*)`.

The argument is that of the tool's first parameter, if it is a text; a tool's other arguments are free, so a tool whose
others matter is better allowed whole or not at all. A pattern is written in one of three ways:

| pattern | allows |
| --- | --- |
| `git status` | this text, to the letter |
| `git commit:*` | texts whose first words are `git commit`, blanks between them |
| `docs/*.md` | texts like this, where `*` stands for any run of characters |

What stands for `:*` or `*` holds none of ``; & | < > ( ) $ ` `` and no control character, line ends included: with one
of these a shell would start another command or write a file. A text with a `..` between slashes fits no `*` within
a pattern. Whatever cannot be told is not allowed. A program that starts others (`env`, `xargs`, `git -c alias...`) is
as wide as they are: name its first words, not only the program.

Refusing is the other way round: whatever might be meant is refused. A refused `git push:*` or `git push` is found
among a text's words, through quotes, case, paths before a program and forms of one character; and a text with one of
the characters above, which may hide anything, or one that is very long, is refused by every pattern of its tool.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Literal

from orchestra.errors import InputInvalid

LONGEST_PATTERN = 500
LONGEST_TEXT = 10_000  # that is searched for what is refused
_RISKY = re.compile(r"[;&|<>()$`\x00-\x1f\x7f-\x9f\u2028\u2029]")
_UP = re.compile(r"(?:^|[\s/\\=:'\"])\.\.(?:$|[\s/\\'\"])")
_QUOTES = re.compile(r"[\"'\\^]")


@dataclass(frozen=True, slots=True, order=True)
class ArgumentPattern:
    """One pattern. `text` is a prefix's words with one blank between them, else as it was written."""

    kind: Literal["exact", "glob", "prefix"]
    text: str

    @classmethod
    def parse(cls, text: str) -> ArgumentPattern | None:
        """None for `*` and `:*`, which allow any argument. Raises `InputInvalid`."""
        if text in ("*", ":*"):
            return None
        if len(text) > LONGEST_PATTERN:
            raise InputInvalid("an argument's pattern is too long", cause=f"over {LONGEST_PATTERN} characters")
        if not text.strip():
            raise InputInvalid("an argument's pattern is empty", suggestion="Leave the brackets out to allow any.")
        if not text.endswith(":*"):
            return cls("glob" if "*" in text else "exact", text)
        words = " ".join(word for word in text[:-2].split(" ") if word)
        if "*" in words or _RISKY.search(words) or not words:
            raise InputInvalid(f"the pattern {text!r} does not begin with plain words")
        return cls("prefix", words)

    def __str__(self) -> str:
        return f"{self.text}:*" if self.kind == "prefix" else self.text

    def allows(self, text: str) -> bool:
        if self.kind == "exact":
            return text == self.text
        if self.kind == "prefix":
            wanted = self.text.split(" ")
            return not _RISKY.search(text) and [word for word in text.split(" ") if word][: len(wanted)] == wanted
        return not _UP.search(text) and _fits(self.text.split("*"), text)

    def refuses(self, text: str) -> bool:
        if len(text) > LONGEST_TEXT or _RISKY.search(text) or self.allows(text):
            return True
        pattern = _plain(self.text)
        holds = _fits_somewhere if self.kind == "glob" else _has_words
        return any(holds(pattern, form) for form in _forms(text))

    def covers(self, other: ArgumentPattern) -> bool:
        """Whether all that `other` allows is known to be allowed. A partial order."""
        if self == other:
            return True
        if other.kind == "exact":
            return self.allows(other.text)
        return self.kind == other.kind == "prefix" and f"{other.text} ".startswith(f"{self.text} ")

    def excludes(self, other: ArgumentPattern) -> bool:
        """Whether no text is known to be allowed by both."""
        if self.covers(other) or other.covers(self):
            return False
        return "exact" in (self.kind, other.kind) or self.kind == other.kind == "prefix"


def _fits(pieces: list[str], text: str) -> bool:
    """Whether `text` is `pieces` with harmless text between them. Each is looked for once, from the left."""
    first, *middle, last = pieces
    if not (text.startswith(first) and text.endswith(last) and len(text) >= len(first) + len(last)):
        return False
    at, end = len(first), len(text) - len(last)
    for piece in middle:
        found = text.find(piece, at, end)
        if found < 0 or _RISKY.search(text, at, found):
            return False
        at = found + len(piece)
    return not _RISKY.search(text, at, end)


def _forms(text: str) -> tuple[str, ...]:
    """A text as a shell or a file system may read it, and without the path before each of its words."""
    slashed = text.replace("\\", "/")
    names = " ".join(word.rstrip("/").rsplit("/", 1)[-1] for word in slashed.split())
    return (_plain(text), _plain(slashed), _plain(names))


def _plain(text: str) -> str:
    """Quotes and what is not seen gone, one blank, one case, one form of each character, no `./`."""
    seen = "".join(each for each in text if unicodedata.category(each) != "Cf")
    folded = _QUOTES.sub("", unicodedata.normalize("NFKC", seen).casefold())
    return " ".join(re.sub(r"(^|[ /])(?:\./+)+", r"\1", re.sub(r"//+", "/", " ".join(folded.split()))).split())


def _has_words(words: str, text: str) -> bool:
    return f" {words} " in f" {text} "


def _fits_somewhere(pattern: str, text: str) -> bool:
    """Whether a word of `text` begins like a glob, and the rest of the glob follows in order."""
    first, *rest = pattern.split("*")
    return any(text.startswith(first, at) and _follows(rest, text, at + len(first)) for at in _word_starts(text))


def _word_starts(text: str) -> list[int]:
    return [0, *(found.end() for found in re.finditer(" ", text))]


def _follows(pieces: list[str], text: str, at: int) -> bool:
    for piece in pieces:
        found = text.find(piece, at)
        if found < 0:
            return False
        at = found + len(piece)
    return True
