"""Copies of files that the panel keeps: received beside their place, named by their content, whole or not at all."""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Literal

from orchestra.document.convert import kind_of
from orchestra.errors import DocumentUnreadable, InputInvalid

Kind = Literal["pdf", "docx", "html", "text"]

_AT_ONCE = 1 << 18  # bytes
_HEAD = 1 << 16  # bytes by which a file that is no archive says what it is
_ZIP = b"PK"


@dataclass(frozen=True, slots=True)
class Received:
    """A file that has arrived whole, and is not kept yet. `size` in bytes."""

    name: str
    sha256: str
    size: int
    kind: Kind
    folder: Path
    unfinished: Path

    def keep(self) -> Path:
        """Put it to `FOLDER/SHA256/NAME`."""
        place = self.folder / self.sha256
        with _told(self.name):
            with suppress(FileExistsError):
                place.mkdir(mode=0o700)
            os.replace(self.unfinished, place / self.name)
        return place / self.name


@contextmanager
def received(source: BinaryIO, name: str, folder: Path, *, limit: int) -> Iterator[Received]:
    """What `source` holds, in a file of `folder` that only this user may read, and that goes unless it is kept.

    `DocumentUnreadable` for what is no document, or cannot be written; `InputInvalid` for more than `limit` bytes.
    """
    unfinished = folder / f".unfinished-{secrets.token_hex(8)}"
    try:
        with _told(name):
            sha256, size = _copied(source, unfinished, name, limit)
            with unfinished.open("rb") as file:
                kind = kind_at(file, name)
        yield Received(name, sha256, size, kind, folder, unfinished)
    finally:
        unfinished.unlink(missing_ok=True)


def remove_copy(folder: Path, sha256: str, name: str) -> None:
    """Remove what was kept; a copy that is gone is no error."""
    with suppress(OSError):
        (folder / sha256 / name).unlink()
        (folder / sha256).rmdir()


def kind_at(file: BinaryIO, name: str) -> Kind:
    """What an open file is, by its bytes. `DocumentUnreadable` for what cannot be converted."""
    head = file.read(_HEAD)
    if head.startswith(_ZIP):  # the list of what an archive holds stands at its end
        head += file.read()
    kind = kind_of(head, name)
    return "text" if kind == "plain" else kind


def too_large(name: str, limit: int) -> InputInvalid:
    """What is said of an upload, or a file, beyond the limit."""
    shown = f"{limit / 2**20:,.0f} MB" if limit >= 2**20 else f"{limit:,} bytes"
    return InputInvalid(
        f"{name} is too large",
        cause=f"over {shown}",
        suggestion="Divide it, or name it when the panel is started: `orchestra panel DOC`.",
    )


def _copied(source: BinaryIO, target: Path, name: str, limit: int) -> tuple[str, int]:
    digest, size = hashlib.sha256(), 0
    with os.fdopen(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        while block := source.read(_AT_ONCE):
            size += len(block)
            if size > limit:
                raise too_large(name, limit)
            digest.update(block)
            file.write(block)
    return digest.hexdigest(), size


@contextmanager
def _told(name: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise DocumentUnreadable(
            f"{name} could not be kept",
            cause=error.strerror or str(error),
            suggestion="Check that there is room, and that the folder of the store can be written to.",
        ) from error
