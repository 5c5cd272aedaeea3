"""The front matter of a SKILL.md: YAML between `---` lines, read without the body that follows it."""

from __future__ import annotations

import codecs
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from orchestra.skills.skill import Diagnostic
from orchestra.skills.yaml_text import Place

MAX_FILE_BYTES = 256 * 1024
MAX_FRONT_MATTER_BYTES = 32 * 1024

_CHUNK_BYTES = 2048
_OPENING = re.compile(rb"(?:[ \t]*\r?\n)*---[ \t]*(?:\r\n?|\n)")
_CLOSING = re.compile(rb"(?<=[\r\n])(?:---|\.\.\.)[ \t]*(?=[\r\n]|\Z)")
_LINE_END = re.compile(rb"\r\n?|\n")


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The YAML of a file, the line that it begins on, and the byte after the line that closes it."""

    yaml: str
    first_line: int
    end: int


def read_front_matter(path: Path, found: list[Diagnostic]) -> FrontMatter:
    """As much of the file as it takes to find the closing line. Raises `SkillInvalid`."""
    with open_skill_file(path) as descriptor:
        content = b""
        while True:
            chunk = os.read(descriptor, _CHUNK_BYTES)
            content += chunk
            front = _split(content, path, is_whole=not chunk)
            if front is not None:
                return _decoded(content, *front, path, found)


def has_front_matter(path: Path) -> bool:
    return _OPENING.match(_head(path)) is not None


def read_head(path: Path) -> str:
    """The first lines of a file, as far as one read goes. Raises `SkillInvalid`."""
    return lines_of(_head(path).decode("utf-8", "ignore"))


def _head(path: Path) -> bytes:
    with open_skill_file(path) as descriptor:
        return os.read(descriptor, _CHUNK_BYTES).removeprefix(codecs.BOM_UTF8)


def body_of(content: bytes, path: Path) -> tuple[str, int]:
    """The text after the front matter of a whole file, and the line that closes it. Raises `SkillInvalid`."""
    has_front = _OPENING.match(content.removeprefix(codecs.BOM_UTF8)) is not None
    _, _, end = (_split(content, path, is_whole=True) if has_front else None) or (0, 0, 0)
    return lines_of(content[end:].decode("utf-8-sig", "replace")).strip(), _lines(content[:end]) + 1


@contextmanager
def open_skill_file(path: Path) -> Iterator[int]:
    """A descriptor of a regular file of bearable size: no pipe is waited for. Raises `SkillInvalid`."""
    place = Place(str(path))
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except (OSError, ValueError) as error:
        raise place.invalid(0, "cannot be read", getattr(error, "strerror", None) or str(error)) from error
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise place.invalid(0, "is not a file")
        if status.st_size > MAX_FILE_BYTES:
            raise place.invalid(0, "is too large", f"over {MAX_FILE_BYTES // 1024} KiB")
        yield descriptor
    except OSError as error:
        raise place.invalid(0, "cannot be read", error.strerror or str(error)) from error
    finally:
        os.close(descriptor)


def read_bytes(descriptor: int, limit: int, path: str) -> bytes:
    """All that a file holds. Raises `SkillInvalid` beyond `limit` bytes, for it may have grown since it was opened."""
    content = bytearray()
    while chunk := os.read(descriptor, 65_536):
        content += chunk
        if len(content) > limit:
            raise Place(path).invalid(0, "is too large", f"over {limit // 1024} KiB")
    return bytes(content)


def lines_of(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _split(content: bytes, path: Path, *, is_whole: bool) -> tuple[int, int, int] | None:
    """Where the YAML begins and ends, and where the closing line ends; None where more of the file must be read."""
    place = Place(str(path))
    start = len(codecs.BOM_UTF8) if content.startswith(codecs.BOM_UTF8) else 0
    opening = _OPENING.match(content, start)
    if opening is None:
        is_wide = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        cause = "it is UTF-16, not UTF-8" if is_wide else "the first line is not `---`"
        raise place.invalid(1, "has no front matter", cause)
    closing = _CLOSING.search(content, opening.end())
    length = (closing.start() if closing else len(content)) - opening.end()
    if length > MAX_FRONT_MATTER_BYTES:
        raise place.invalid(1, "has too long a front matter", f"over {MAX_FRONT_MATTER_BYTES // 1024} KiB")
    if closing is not None and (is_whole or closing.end() < len(content)):
        return opening.end(), closing.start(), closing.end()
    if is_whole:
        raise place.invalid(1, "has front matter that does not end", "no second `---` line")
    return None


def _decoded(content: bytes, start: int, stop: int, end: int, path: Path, found: list[Diagnostic]) -> FrontMatter:
    first_line = _lines(content[:start]) + 1
    front = content[start:stop]
    if first_line > 2:
        found.append(Diagnostic(str(path), 1, "note", "has blank lines before its front matter"))
    try:
        text = front.decode("utf-8")
    except UnicodeDecodeError as error:
        message = "is not UTF-8; what could not be read was replaced"
        found.append(Diagnostic(str(path), _lines(front[: error.start]) + first_line, "warning", message))
        text = front.decode("utf-8", "replace")
    return FrontMatter(lines_of(text).removesuffix("\n"), first_line, end)


def _lines(content: bytes) -> int:
    return len(_LINE_END.findall(content))
