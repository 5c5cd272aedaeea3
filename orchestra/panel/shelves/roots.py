"""The folders that the workspace's policy lets runs read: looked into, and opened so that what was tested is opened."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from orchestra.errors import DocumentUnreadable, PermissionDenied
from orchestra.panel.view.names import is_offered
from orchestra.runtime.files import Roots, open_permitted, resolve_permitted
from orchestra.skills.permissions import OWN_FILES, Grants, PermissionSet, Root
from orchestra.skills.policy import Policy

MOST_SCANNED = 20_000
"""Names of one folder that are looked at; what stands beyond is said to be there."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A folder, or a file that may be a document. `path` is relative to the root, with `/`; `size` in bytes."""

    name: str
    path: str
    is_folder: bool
    size: int = 0


@dataclass(frozen=True, slots=True)
class Listing:
    """A folder of a root: folders first, each in the order of names. `left_off`: there are names beyond."""

    root: int
    path: str
    entries: tuple[Entry, ...]
    left_off: bool = False

    @property
    def trail(self) -> tuple[tuple[str, str], ...]:
        """(name, path) of each folder on the way down, without the root."""
        parts = PurePosixPath(self.path).parts
        return tuple((part, "/".join(parts[: number + 1])) for number, part in enumerate(parts))


class DocumentRoots:
    """What `policy` allows to be read unasked, as `folders`: resolved paths, of folders or of single files.

    Where a policy allows everything, that is the folder that it stands in.
    """

    def __init__(self, policy: Policy) -> None:
        nothing = PermissionSet(
            tools=Grants.of(()), read=Grants.of(()), write=Grants.of(()), hosts=Grants.of(()), models=Grants.of(())
        )
        read: Grants[Root] = policy.permissions(nothing).read
        is_all = read.allowed is None or Root(()) in read.allowed
        allowed = [Root.at(policy.folder)] if is_all else sorted(read.allowed or (), key=str)
        self.folders: tuple[Path, ...] = tuple(root.path for root in allowed if root.parts != (OWN_FILES,))
        self._refused = tuple(root.path for root in (*read.refused, *read.asked))

    def listing(self, root: int, path: str = "") -> Listing:
        """What a folder of a root holds, without hidden files, links, and files that are no documents.

        `PermissionDenied` for what is outside, `DocumentUnreadable` for what cannot be read.
        """
        place = resolve_permitted(self._joined(root, path), self._roots(root)).path
        if place.is_file():
            name = place.name
            return Listing(root, path, (Entry(name, path, is_folder=False, size=place.stat().st_size),))
        found: list[Entry] = []
        with _told(path or str(place)), os.scandir(place) as names:
            for count, each in enumerate(names):
                if count >= MOST_SCANNED:
                    return Listing(root, path, _in_order(found), left_off=True)
                entry = self._entry(root, path, each)
                if entry is not None:
                    found.append(entry)
        return Listing(root, path, _in_order(found))

    @contextmanager
    def open(self, root: int, path: str) -> Iterator[tuple[BinaryIO, Path]]:
        """A file of a root, open in binary, and its resolved path. Raises what `listing` does."""
        joined = self._joined(root, path)
        roots = self._roots(root)
        with _told(path or str(joined)), open_permitted(joined, roots) as file:
            yield file, resolve_permitted(joined, roots).path

    @contextmanager
    def reopen(self, path: Path) -> Iterator[BinaryIO]:
        """A file that was opened before, if it may still be read."""
        with _told(path.name), open_permitted(path, Roots(self.folders, self._refused)) as file:
            yield file

    def _roots(self, root: int) -> Roots:
        return Roots((self.folders[root],), self._refused)

    def _joined(self, root: int, path: str) -> Path:
        """Raises `PermissionDenied` for a root that is none, and a path that does not lead down."""
        if not 0 <= root < len(self.folders):
            raise PermissionDenied("there is no such root", cause="the policy allows none with this number")
        parts = PurePosixPath(path.replace("\\", "/")).parts
        if path.startswith(("/", "\\", "~")) or ".." in parts or os.path.splitdrive(path)[0]:
            raise PermissionDenied(f"{path!r} is not permitted", cause="it does not lead down from its root")
        return self.folders[root].joinpath(*parts) if parts else self.folders[root]

    def _entry(self, root: int, folder: str, found: os.DirEntry[str]) -> Entry | None:
        path = f"{folder}/{found.name}" if folder else found.name
        is_hidden = found.name.startswith(".") or found.is_symlink()
        if is_hidden or self._is_refused(Path(found.path)) or not _is_text(found.name):
            return None
        try:
            if found.is_dir(follow_symlinks=False):
                return Entry(found.name, path, is_folder=True)
            if found.is_file(follow_symlinks=False) and is_offered(found.name):
                return Entry(found.name, path, is_folder=False, size=found.stat(follow_symlinks=False).st_size)
        except OSError:  # it went away meanwhile
            return None
        return None

    def _is_refused(self, path: Path) -> bool:
        return any(path.is_relative_to(refused) for refused in self._refused)


def _in_order(entries: list[Entry]) -> tuple[Entry, ...]:
    return tuple(sorted(entries, key=lambda each: (not each.is_folder, each.name.casefold(), each.name)))


def _is_text(name: str) -> bool:
    """Whether a page can hold the name, and give it back."""
    return name.isprintable() and "\\" not in name


@contextmanager
def _told(name: str) -> Iterator[None]:
    """What the system says, as an error of ours."""
    try:
        yield
    except OSError as error:
        raise DocumentUnreadable(f"{name} could not be read", cause=error.strerror or str(error)) from error
