"""What a permission set lists: tools, roots of files, hosts and models. Each kind is a partial order with a meet.

An entry says what it `allows`, and, where it takes something away, what it `refuses`; whatever it allows it also
refuses, and more where that cannot be told. `meet` allows exactly what both of its operands allow, None nothing.
"""

from __future__ import annotations

import os
import re
import unicodedata
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

from orchestra.errors import InputInvalid
from orchestra.skills.permissions.arguments import ArgumentPattern

Asked = TypeVar("Asked", contravariant=True)

_TOOL = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:/-]{0,127}")
_HOST = re.compile(r"[a-z0-9_:](?:[a-z0-9_.:-]{0,251}[a-z0-9_:])?")
_MODEL = re.compile(r"[^\x00-\x20\x7f*]{1,200}")
OWN_FILES = "@skill"
"""The files of the skill at hand, whichever it is."""


class Entry(Protocol[Asked]):
    """What the four kinds have in common."""

    def allows(self, asked: Asked, /) -> bool: ...
    def refuses(self, asked: Asked, /) -> bool: ...
    def covers(self, other: Any, /) -> bool: ...
    def meet(self, other: Any, /) -> Any: ...
    def concerns(self, other: Any, /) -> bool:
        """Whether it could refuse something that `other` allows."""
        ...

    def takes_all(self, other: Any, /) -> bool:
        """Whether it refuses all that `other` allows."""
        ...


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool by the name that the model gave, and the text of its first parameter (None where that is no text)."""

    name: str
    subject: str | None = None


@dataclass(frozen=True, slots=True)
class Name:
    """A name, or with `*` at its end all that begin like it."""

    text: str

    def allows(self, asked: str) -> bool:
        return asked.startswith(self.text[:-1]) if self.text.endswith("*") else asked == self.text

    def refuses(self, asked: str) -> bool:
        return Name(_folded_name(self.text)).allows(_folded_name(asked))

    def covers(self, other: Name) -> bool:
        return self == other or (self.text.endswith("*") and other.text.startswith(self.text[:-1]))

    def meet(self, other: Name) -> Name | None:
        if self.covers(other):
            return other
        return self if other.covers(self) else None

    def concerns(self, other: Name) -> bool:
        return Name(_folded_name(self.text)).meet(Name(_folded_name(other.text))) is not None

    def takes_all(self, other: Name) -> bool:
        return self.covers(other)

    def __str__(self) -> str:
        return self.text


def _folded_name(text: str) -> str:
    """One case, one kind of dash, nothing that is not seen; character by character, so that beginnings stay such."""
    seen = (each for each in text if unicodedata.category(each) not in ("Cf", "Cc"))
    return "".join(unicodedata.normalize("NFKC", each).casefold() for each in seen).replace("-", "_")


@dataclass(frozen=True, slots=True)
class ToolRule:
    """`Read`, `Bash(git:*)`, `mcp__files__*`: a tool by its exact name, and what all patterns allow of its argument."""

    name: Name
    patterns: frozenset[ArgumentPattern] = frozenset()

    @classmethod
    def parse(cls, text: str) -> ToolRule:
        """One tool as the Agent Skills format writes it. Raises `InputInvalid`."""
        if text.strip() == "*":
            return cls(Name("*"))
        name, bracket, rest = text.strip().partition("(")
        if not _TOOL.fullmatch(name[:-1] if name.endswith("*") and len(name) > 1 else name):
            raise InputInvalid(f"{text!r} names no tool", suggestion="Write it as `Bash(git:*)` or `Read`.")
        if not bracket:
            return cls(Name(name))
        if not rest.endswith(")"):
            raise InputInvalid(f"{text!r} names no tool", cause="its bracket is not closed")
        pattern = ArgumentPattern.parse(rest[:-1])
        return cls(Name(name), frozenset() if pattern is None else frozenset({pattern}))

    def allows(self, asked: ToolCall) -> bool:
        if not self.name.allows(asked.name) or not _TOOL.fullmatch(asked.name):
            return False
        subject = asked.subject
        return not self.patterns or (subject is not None and all(each.allows(subject) for each in self.patterns))

    def refuses(self, asked: ToolCall) -> bool:
        if not self.name.refuses(asked.name):
            return False
        subject = asked.subject
        return subject is None or all(each.refuses(subject) for each in self.patterns)

    def covers(self, other: ToolRule) -> bool:
        return self.name.covers(other.name) and all(
            any(pattern.covers(each) for each in other.patterns) for pattern in self.patterns
        )

    def meet(self, other: ToolRule) -> ToolRule | None:
        name = self.name.meet(other.name)
        both = self.patterns | other.patterns
        if name is None or any(one.excludes(another) for one in self.patterns for another in other.patterns):
            return None
        return ToolRule(
            name, frozenset(one for one in both if not any(one != each and one.covers(each) for each in both))
        )

    def concerns(self, other: ToolRule) -> bool:
        return self.name.concerns(other.name)

    def takes_all(self, other: ToolRule) -> bool:
        return not self.patterns and self.name.covers(other.name)

    def __str__(self) -> str:
        return f"{self.name}({' and '.join(sorted(map(str, self.patterns)))})" if self.patterns else str(self.name)


@dataclass(frozen=True, slots=True)
class HostName:
    """`example.com`, or `*.example.com` for every host below it, itself not included. Ports do not count."""

    text: str

    @classmethod
    def parse(cls, text: str) -> HostName:
        """Raises `InputInvalid`."""
        host = folded_host(text)
        if not _HOST.fullmatch(host.removeprefix("*.")):
            raise InputInvalid(f"{text!r} is no host", suggestion="Write it as `api.example.com` or `*.example.com`.")
        return cls(host)

    def allows(self, asked: str) -> bool:
        host = folded_host(asked)
        return host.endswith(self.text[1:]) and host != self.text[1:] if self.text[0] == "*" else host == self.text

    def refuses(self, asked: str) -> bool:
        return self.allows(asked)

    def covers(self, other: HostName) -> bool:
        return self == other or (self.text[0] == "*" and other.text.removeprefix("*").endswith(self.text[1:]))

    def meet(self, other: HostName) -> HostName | None:
        if self.covers(other):
            return other
        return self if other.covers(self) else None

    def concerns(self, other: HostName) -> bool:
        return self.meet(other) is not None

    def takes_all(self, other: HostName) -> bool:
        return self.covers(other)

    def __str__(self) -> str:
        return self.text


def folded_host(host: str) -> str:
    """As DNS compares it."""
    return host.strip().lower().removesuffix(".").strip("[]")


@dataclass(frozen=True, slots=True)
class Root:
    """A file or a folder with all that is in it, by its resolved path; `@skill` (see `OWN_FILES`); without parts, all.

    Whether a path really leads there is for `open_permitted` to say, which looks at the file system.
    """

    parts: tuple[str, ...]

    @classmethod
    def at(cls, path: str | Path, folder: str | Path = ".") -> Root:
        """The place that `path` leads to now, symbolic links followed; a relative one from `folder`.

        Raises `InputInvalid` for a pattern: a root holds all that is below it.
        """
        text = os.fspath(path)
        if text == OWN_FILES:
            return cls((OWN_FILES,))
        if not text.strip() or "*" in text or "\0" in text:
            raise InputInvalid(f"{text!r} is no root", suggestion="Name a folder or a file, without `*`.")
        try:
            return cls(Path(os.path.realpath(Path(folder, Path(text).expanduser()))).parts)
        except (RuntimeError, OSError, ValueError) as error:  # no such user, a name that no file can have
            raise InputInvalid(f"{text!r} is no root", cause=str(error)) from None

    @property
    def path(self) -> Path:
        return Path(*self.parts)

    def allows(self, asked: Path) -> bool:
        return asked.parts[: len(self.parts)] == self.parts and ".." not in asked.parts

    def refuses(self, asked: Path) -> bool:
        return ".." in asked.parts or _folded(asked.parts)[: len(self.parts)] == _folded(self.parts)

    def covers(self, other: Root) -> bool:
        return other.parts[: len(self.parts)] == self.parts

    def meet(self, other: Root) -> Root | None:
        if self.covers(other):
            return other
        return self if other.covers(self) else None

    def concerns(self, other: Root) -> bool:
        return Root(_folded(self.parts)).meet(Root(_folded(other.parts))) is not None

    def takes_all(self, other: Root) -> bool:
        return self.covers(other)

    def __str__(self) -> str:
        return str(self.path) if self.parts else "*"


def _folded(parts: tuple[str, ...]) -> tuple[str, ...]:
    """As the most forgiving file system compares them."""
    return tuple(unicodedata.normalize("NFKC", part).casefold().rstrip(". ") for part in parts)


def model_named(text: str) -> Name:
    """`anthropic:claude-sonnet-5-5`, or `anthropic:*`. Raises `InputInvalid`."""
    if not _MODEL.fullmatch(text[:-1] if text.endswith("*") and len(text) > 1 else text):
        raise InputInvalid(f"{text!r} names no model", suggestion="Write it as `anthropic:claude-sonnet-5-5`.")
    return Name(text)
