"""What the panel remembers of a session's documents: a folder for each session, a small file for each document.

FOLDER/SESSION/ID.json            one document: `Kept`
FOLDER/SESSION/SHA256/NAME        the copy of its content, under a safe name
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import secrets
import shutil
import time
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from orchestra.panel.shelves.kept_files import Kind, remove_copy
from orchestra.panel.view.names import safe_name

log = logging.getLogger("orchestra.panel")

Source = Literal["upload", "root", "named"]

_ID = re.compile(r"[0-9a-f]{32}")
_LONGEST_ORIGINAL = 1000


class Kept(BaseModel):
    """What is known of a document. `original` is what others called it, `place` where a file came from, `stamp` what
    that file was when it was copied. Without `sha256` there is no copy: it is read at its place.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    source: Source
    name: str = Field(min_length=1, max_length=200)
    original: str
    kind: Kind
    size: int = Field(ge=0)
    order: int = 0
    sha256: str = Field(default="", pattern=r"^(?:[0-9a-f]{64})?$")
    place: str = ""
    stamp: tuple[int, int, int] | None = None

    @property
    def is_sound(self) -> bool:
        """Whether the name can be that of a copy, and nothing else."""
        return self.name == safe_name(self.name)


class Entries:
    """The remembered documents of one session. Not for several threads at once."""

    def __init__(self, folder: Path, session_id: str) -> None:
        """A session's id is any text, and never a name on a disk."""
        self.folder = folder / id_of("session", session_id)

    @property
    def is_begun(self) -> bool:
        return self.folder.is_dir()

    def begin(self) -> bool:
        """False if another has begun it meanwhile."""
        self.folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            self.folder.mkdir(mode=0o700)
        except FileExistsError:
            return False
        return True

    def all(self) -> dict[str, Kept]:
        """By id, in the order of adding."""
        found: list[tuple[str, Kept]] = []
        for file in self.folder.glob("*.json"):
            kept = _read(file)
            if kept is not None:
                found.append((file.stem, kept))
        return dict(sorted(found, key=lambda each: (each[1].order, each[0])))

    def append(self, document_id: str, kept: Kept) -> Kept:
        """Put a document behind all others."""
        order = max([time.time_ns(), *(each.order + 1 for each in self.all().values())])
        return self.write(document_id, kept.model_copy(update={"order": order}))

    def write(self, document_id: str, kept: Kept) -> Kept:
        unfinished = self.folder / f".unfinished-{secrets.token_hex(8)}"
        try:
            unfinished.write_text(kept.model_dump_json(), encoding="utf-8")
            os.replace(unfinished, self.folder / f"{document_id}.json")
        finally:
            unfinished.unlink(missing_ok=True)
        return kept

    def remove(self, document_id: str) -> None:
        """With its copy, unless another document has the same."""
        kept = self.all().get(document_id)
        (self.folder / f"{document_id}.json").unlink(missing_ok=True)
        if kept is not None:
            self.drop_copy(kept)

    def drop_copy(self, kept: Kept) -> None:
        """Remove a copy that no document has any more."""
        if kept.sha256 and all((each.sha256, each.name) != (kept.sha256, kept.name) for each in self.all().values()):
            remove_copy(self.folder, kept.sha256, kept.name)

    def remove_all(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def path(self, kept: Kept) -> Path:
        """Where a document can be read."""
        return self.folder / kept.sha256 / kept.name if kept.sha256 else Path(kept.place)


def id_of(kind: str, text: str) -> str:
    """A name on a disk for any text: 128 bits of its hash, in hex."""
    return hashlib.sha256(f"{kind}\0{text}".encode("utf-8", "surrogatepass")).hexdigest()[:32]


def shortened(original: str) -> str:
    """A name by others as it is kept."""
    return original[:_LONGEST_ORIGINAL].encode("utf-8", "replace").decode()


def _read(file: Path) -> Kept | None:
    try:
        kept = Kept.model_validate_json(file.read_bytes())
    except FileNotFoundError:  # removed meanwhile
        return None
    except (OSError, ValidationError):
        log.warning("%s does not describe a document, and is left out", file, exc_info=True)
        return None
    return kept if kept.is_sound and _ID.fullmatch(file.stem) else None
