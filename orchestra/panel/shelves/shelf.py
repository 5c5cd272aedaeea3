"""The shelf: which documents a session has, in the order in which they were added.

Uploads, and files below the roots that the policy allows, are copied: what was tested is what a run reads. A file below
a root is looked at anew before each run. A document that was named on the command line is read where it is.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from orchestra.errors import InputInvalid, OrchestraError, RunNotFound
from orchestra.panel.shelves.entries import Entries, Kept, Source, id_of, shortened
from orchestra.panel.shelves.kept_files import Kind, Received, kind_at, received
from orchestra.panel.shelves.outline_cache import OutlineCache
from orchestra.panel.shelves.roots import DocumentRoots
from orchestra.panel.view.names import safe_name
from orchestra.panel.view.outlines import DocumentOutline
from orchestra.skills.policy import Policy

UPLOAD_LIMIT = 50 * 2**20  # bytes of one document
MOST_DOCUMENTS = 100
"""Of one session."""


@dataclass(frozen=True, slots=True)
class ShelfDocument:
    """A document of a session. `name` is what citations call it, `path` where it can be read, `size` in bytes.

    `original` is what the file was called, or where it lies: text of others. `source` says how it came here, `place`
    where the file of a document that was not uploaded is.
    """

    id: str
    name: str
    path: Path
    size: int
    kind: Kind
    source: Source
    original: str
    place: Path | None = None


class Shelf:
    """The documents of all sessions. Thread-safe; several panels may share one `home`."""

    def __init__(
        self,
        home: Path,
        *,
        documents: Sequence[Path] = (),
        policy: Policy | None = None,
        upload_limit: int = UPLOAD_LIMIT,
    ) -> None:
        self._folder = home / "uploads"
        self._lock = threading.RLock()
        self._outlines = OutlineCache()
        self.upload_limit = upload_limit
        self.named: tuple[Path, ...] = tuple(dict.fromkeys(path.absolute() for path in documents))
        self.roots = DocumentRoots(Policy() if policy is None else policy)

    def begin(self, session_id: str) -> None:
        """Give a session that is new here the documents that were named on the command line, for good."""
        with self._lock:
            self._begun(session_id)

    def documents(self, session_id: str) -> list[ShelfDocument]:
        """In the order of adding. A session that is new here has those that were named on the command line."""
        with self._lock:
            entries = Entries(self._folder, session_id)
            return [_shown(entries, document_id, kept) for document_id, kept in self._kept(entries).items()]

    def document(self, session_id: str, document_id: str) -> ShelfDocument:
        """`RunNotFound` for one that this session does not have."""
        found = next((each for each in self.documents(session_id) if each.id == document_id), None)
        if found is None:
            raise _no_document()
        return found

    def paths(self, session_id: str) -> list[Path]:
        """What a run reads, in the order of adding; copies of files below roots are brought up to date.

        `PermissionDenied` or `DocumentUnreadable` for a file that may not be read any more, or is not there.
        """
        with self._lock:
            entries = Entries(self._folder, session_id)
            return [self._fresh(entries, document_id, kept) for document_id, kept in self._kept(entries).items()]

    def outline(self, session_id: str, document_id: str) -> DocumentOutline:
        """The document's outline, read once. Raises what `Document.from_path` does."""
        with self._lock:
            entries = Entries(self._folder, session_id)
            kept = self._kept(entries).get(document_id)
            if kept is None:
                raise _no_document()
            path = self._fresh(entries, document_id, kept)
        return self._outlines.outline(path)

    def upload(self, session_id: str, original: str, content: BinaryIO) -> ShelfDocument:
        """Keep a file that was sent; the same content once. `InputInvalid` and `DocumentUnreadable` say why not."""
        with self._lock:
            entries = self._begun(session_id)
        with received(content, safe_name(original), entries.folder, limit=self.upload_limit) as file, self._lock:
            document_id = id_of("upload", file.sha256)
            known = entries.all().get(document_id)
            if known is None:
                _check_room(entries)
                file.keep()
                known = entries.append(document_id, _of_file(file, "upload", original))
            return _shown(entries, document_id, known)

    def add(self, session_id: str, root: int, path: str) -> ShelfDocument:
        """A file below a root. Raises `PermissionDenied`, `DocumentUnreadable`, `InputInvalid`."""
        with self._lock:
            entries = self._begun(session_id)
            with self.roots.open(root, path) as (file, place):
                document_id = id_of("file", str(place))
                known = entries.all().get(document_id)
                if known is None:
                    _check_room(entries)
                    known = self._copy(entries, document_id, file, place, path)
            return _shown(entries, document_id, known)

    def add_named(self, session_id: str, number: int) -> ShelfDocument:
        """One of the documents that were named on the command line. `InputInvalid` for a number that none has."""
        if not 0 <= number < len(self.named):
            raise InputInvalid("no such document was named when the panel was started")
        path = self.named[number]
        document_id = id_of("file", str(path))
        with self._lock:
            entries = self._begun(session_id)
            known = entries.all().get(document_id)
            if known is None:
                _check_room(entries)
                known = entries.append(document_id, _of_named(path))
            return _shown(entries, document_id, known)

    def remove(self, session_id: str, document_id: str) -> None:
        """`RunNotFound` for a document that this session does not have."""
        with self._lock:
            entries = self._begun(session_id)
            if document_id not in entries.all():
                raise _no_document()
            entries.remove(document_id)

    def remove_session(self, session_id: str) -> None:
        """Everything that is kept for a session; one without documents is no error."""
        with self._lock:
            Entries(self._folder, session_id).remove_all()

    def named_beside(self, session_id: str) -> list[tuple[int, Path]]:
        """(number, path) of the documents that were named on the command line and are not on the session's shelf."""
        ids = {each.id for each in self.documents(session_id)}
        return [(number, path) for number, path in enumerate(self.named) if id_of("file", str(path)) not in ids]

    def _begun(self, session_id: str) -> Entries:
        entries = Entries(self._folder, session_id)
        if not entries.is_begun and entries.begin():
            for document_id, kept in self._at_first().items():
                entries.append(document_id, kept)
        return entries

    def _kept(self, entries: Entries) -> dict[str, Kept]:
        """What a session has; to look begins nothing."""
        return entries.all() if entries.is_begun else self._at_first()

    def _at_first(self) -> dict[str, Kept]:
        return {id_of("file", str(path)): _of_named(path) for path in self.named[:MOST_DOCUMENTS]}

    def _fresh(self, entries: Entries, document_id: str, kept: Kept) -> Path:
        """Where to read a document; its copy as its file is now, if it is that of a file below a root."""
        if kept.source != "root":
            return entries.path(kept)
        with self.roots.reopen(Path(kept.place)) as file:
            if _stamp(file) == kept.stamp and entries.path(kept).is_file():
                return entries.path(kept)
            renewed = self._copy(entries, document_id, file, Path(kept.place), kept.original, kept)
        return entries.path(renewed)

    def _copy(
        self, entries: Entries, document_id: str, file: BinaryIO, place: Path, original: str, old: Kept | None = None
    ) -> Kept:
        stamp = _stamp(file)
        with received(file, safe_name(place.name), entries.folder, limit=self.upload_limit) as copy:
            copy.keep()
            made = _of_file(copy, "root", original or place.name).model_copy(
                update={"place": str(place), "stamp": stamp}
            )
        if old is None:
            return entries.append(document_id, made)
        renewed = entries.write(document_id, made.model_copy(update={"order": old.order}))
        entries.drop_copy(old)
        return renewed


def _shown(entries: Entries, document_id: str, kept: Kept) -> ShelfDocument:
    return ShelfDocument(
        id=document_id,
        name=kept.name,
        path=entries.path(kept),
        size=kept.size,
        kind=kept.kind,
        source=kept.source,
        original=kept.original or kept.name,
        place=Path(kept.place) if kept.place else None,
    )


def _of_file(file: Received, source: Source, original: str) -> Kept:
    return Kept(
        source=source,
        name=file.name,
        original=shortened(original),
        kind=file.kind,
        size=file.size,
        sha256=file.sha256,
    )


def _of_named(path: Path) -> Kept:
    """What is wrong with the file, whoever reads it will say."""
    try:
        with path.open("rb") as file:
            kind, size = kind_at(file, path.name), os.fstat(file.fileno()).st_size
    except (OSError, OrchestraError):
        kind, size = "text", 0
    return Kept(
        source="named", name=safe_name(path.name), original=shortened(str(path)), kind=kind, size=size, place=str(path)
    )


def _stamp(file: BinaryIO) -> tuple[int, int, int]:
    found = os.fstat(file.fileno())
    return found.st_mtime_ns, found.st_size, found.st_ino


def _check_room(entries: Entries) -> None:
    if len(entries.all()) >= MOST_DOCUMENTS:
        raise InputInvalid(
            f"a session holds at most {MOST_DOCUMENTS} documents", suggestion="Remove some, or begin another session."
        )


def _no_document() -> RunNotFound:
    return RunNotFound(
        "this session has no such document", suggestion="It was removed, or is another session's: load the page again."
    )
