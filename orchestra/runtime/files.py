"""Files that a tool asks for by a path: resolved, tested, and opened so that what was tested is what is opened.

A path is resolved first, symbolic links and `..` included, then held against the roots. What it resolved to is then
walked to from the top of the file system, each folder opened within the one before it and no symbolic link followed:
a link that was put there in the meantime fails. What is opened must be a regular file, told by what is open and not by
its name. Files of the kernel (`/proc`, `/sys`, `/dev`) are never opened.

A file is written beside its place and then put there in one step, under its own name: a link or a second name that
stands there is replaced, and what it leads to stays as it is. Whoever reads meanwhile sees the old file or the new one.

Two names of one file cannot be told apart for reading: a hard link within a root is a file of that root.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
import unicodedata
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Literal

from orchestra.errors import PermissionDenied

NEVER_WRITTEN = frozenset({"orchestra.toml", "skill.md", "skill.yaml", "skill.yml"})
"""Names of files that say what may be done; no permission to write holds for them."""

_KERNEL_FOLDERS = ("/proc", "/sys", "/dev") if os.name == "posix" else ()
_CAN_WALK = os.open in os.supports_dir_fd and hasattr(os, "O_NOFOLLOW") and hasattr(os, "O_DIRECTORY")
_FOLDER = (
    getattr(os, "O_PATH", os.O_RDONLY)
    | getattr(os, "O_DIRECTORY", 0)
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
)
_FILE = (
    getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)
_CHANGED = frozenset({errno.ELOOP, errno.ENOTDIR})


@dataclass(frozen=True, slots=True)
class Roots:
    """Where files may be: in `allowed` folders, or those very files (None: anywhere), and not in `refused` ones.

    All are resolved paths.
    """

    allowed: tuple[Path, ...] | None = ()
    refused: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class Place:
    """A path that was tested: absolute, without symbolic links when it was. `refused` are the refused places themselves
    (device and number on it), for they may go by other names.
    """

    path: Path
    shown: str
    refused: frozenset[tuple[int, int]] = frozenset()


@contextmanager
def open_permitted(path: str | Path, roots: Roots, mode: Literal["read", "write"] = "read") -> Generator[BinaryIO]:
    """The file at `path`, open in binary; relative paths are from the working directory.

    With "write", what is written takes the file's place when the block ends without an error, folders on the way
    made. Raises `PermissionDenied` for whatever is not a regular file within the roots, and `OSError` for what is
    permitted and cannot be done.
    """
    place = resolve_permitted(path, roots, mode)
    with _reading(place) if mode == "read" else _writing(place) as file:
        yield file


def resolve_permitted(path: str | Path, roots: Roots, mode: Literal["read", "write"] = "read") -> Place:
    """Where `path` leads to now, if that is permitted. Raises `PermissionDenied`."""
    shown = os.fspath(path)
    _check_text(shown)
    try:
        if mode == "read":
            found = Path(os.path.realpath(shown))
        else:  # the last name is what will be replaced, be it a link
            folder, name = os.path.split(shown)
            if name in ("", ".", ".."):
                raise _denied(shown, "it ends with no name of a file")
            found = Path(os.path.realpath(folder or "."), name)
            if found.is_symlink():
                raise _denied(shown, "a symbolic link is not written through")
            if _folded(name) in NEVER_WRITTEN:
                raise _denied(shown, f"{name} says what may be done, and is not written by what it binds")
    except (OSError, ValueError) as error:
        raise _denied(shown, f"it cannot be resolved: {error}") from None
    _check_place(found, shown, roots)
    return Place(found, shown, _identities(roots.refused))


def _check_text(path: str) -> None:
    if not path.strip():
        raise _denied(path, "it is empty")
    if any(unicodedata.category(each) in ("Cc", "Cs") for each in path):
        raise _denied(path, "it holds a character that no name has")
    if path.startswith("~"):
        raise _denied(path, "`~` stands for nothing here")
    if os.name == "nt" and any(_is_odd_on_windows(part) for part in Path(path).parts[1:]):
        raise _denied(path, "a name ends with a dot or a blank, names a device or a stream")


def _is_odd_on_windows(name: str) -> bool:
    device = name.split(".")[0].strip().upper()
    is_device = device in ("CON", "PRN", "AUX", "NUL") or (device[:3] in ("COM", "LPT") and device[3:].isdigit())
    return name != ".." and (name.endswith((".", " ")) or ":" in name or is_device)


def _check_place(found: Path, shown: str, roots: Roots) -> None:
    if any(found.is_relative_to(folder) for folder in _KERNEL_FOLDERS):
        raise _denied(shown, "it is no file on a disk")
    if any(_is_below(found, root) for root in roots.refused):
        raise _denied(shown, "it is in a place that is refused")
    if roots.allowed is not None and not any(found.is_relative_to(root) for root in roots.allowed):
        raise _denied(shown, "it is in none of the places that are permitted")


def _identities(places: tuple[Path, ...]) -> frozenset[tuple[int, int]]:
    found: set[tuple[int, int]] = set()
    for place in places:
        with suppress(OSError):  # it need not exist
            status = place.stat()
            found.add((status.st_dev, status.st_ino))
    return frozenset(found)


def _is_below(path: Path, root: Path) -> bool:
    """As the most forgiving file system compares names."""
    parts, wanted = [_folded(part) for part in path.parts], [_folded(part) for part in root.parts]
    return parts[: len(wanted)] == wanted


def _folded(name: str) -> str:
    return unicodedata.normalize("NFKC", name).casefold().rstrip(". ")


@contextmanager
def _reading(place: Place) -> Generator[BinaryIO]:
    with _folder_of(place) as (folder, name):
        descriptor = _open_file(place, folder, name)
    with os.fdopen(descriptor, "rb") as file:
        yield file


def _open_file(place: Place, folder: int | None, name: str) -> int:
    """A descriptor of the regular file with this name, tested again once it is open."""
    with _told(place):
        _check_regular(os.lstat(name) if folder is None else os.stat(name, dir_fd=folder, follow_symlinks=False), place)
        descriptor = os.open(name, os.O_RDONLY | _FILE, dir_fd=folder)
    try:
        opened = os.fstat(descriptor)
        _check_regular(opened, place)
        _check_identity(opened, place)
        if folder is None:
            _check_unmoved(opened, place)
        if os.name == "posix":
            os.set_blocking(descriptor, True)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _check_regular(found: os.stat_result, place: Place) -> None:
    if stat.S_ISLNK(found.st_mode):
        raise _changed(place)
    if not stat.S_ISREG(found.st_mode):
        raise _denied(place.shown, "it is no regular file")


def _check_identity(found: os.stat_result, place: Place) -> None:
    """Refuse what is a refused place under another name: another case, another form, a second mount."""
    if (found.st_dev, found.st_ino) in place.refused:
        raise _denied(place.shown, "it is in a place that is refused")


def _check_unmoved(found: os.stat_result, place: Place) -> None:
    """Where folders cannot be walked: what is open is what the tested path still leads to."""
    if Path(os.path.realpath(place.path)) != place.path or not os.path.samestat(found, os.lstat(place.path)):
        raise _changed(place)


@contextmanager
def _folder_of(place: Place, *, makes: bool = False) -> Generator[tuple[int | None, str]]:
    """The folder that holds the tested place, open, and the name there; the whole path where that cannot be done."""
    if not _CAN_WALK:
        if makes:
            place.path.parent.mkdir(parents=True, exist_ok=True)
        yield None, str(place.path)
        return
    top, *folders = place.path.parts[:-1] or (os.sep,)
    with _told(place):
        current = os.open(top, _FOLDER)
    try:
        for name in folders:
            with _told(place):
                deeper = _enter(name, current, makes=makes)
            os.close(current)
            current = deeper
            _check_identity(os.fstat(current), place)
        yield current, place.path.name
    finally:
        os.close(current)


def _enter(name: str, within: int, *, makes: bool) -> int:
    try:
        return os.open(name, _FOLDER, dir_fd=within)
    except FileNotFoundError:
        if not makes:
            raise
        with suppress(FileExistsError):
            os.mkdir(name, dir_fd=within)
        return os.open(name, _FOLDER, dir_fd=within)


@contextmanager
def _writing(place: Place) -> Generator[BinaryIO]:
    with _folder_of(place, makes=True) as (folder, name):
        with _told(place):
            mode = _mode_of_old(place, folder, name)
        temporary = f".orchestra-{secrets.token_hex(8)}.tmp"
        if folder is None:
            temporary = str(place.path.parent / temporary)
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _FILE, mode or 0o666, dir_fd=folder)
        try:
            with os.fdopen(descriptor, "wb") as file:
                yield file
                file.flush()
                if mode is not None and hasattr(os, "fchmod"):
                    os.fchmod(descriptor, mode)
                os.fsync(descriptor)
            _mode_of_old(place, folder, name)
            os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            with suppress(FileNotFoundError):
                os.unlink(temporary, dir_fd=folder)
            raise


def _mode_of_old(place: Place, folder: int | None, name: str) -> int | None:
    """The permission bits of the file that is replaced; None where there is none. Raises for what is no file."""
    try:
        old = os.lstat(name) if folder is None else os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    _check_regular(old, place)
    _check_identity(old, place)
    return stat.S_IMODE(old.st_mode) & 0o777


@contextmanager
def _told(place: Place) -> Generator[None]:
    """A symbolic link that is met on the way to a resolved path was put there after the test."""
    try:
        yield
    except OSError as error:
        if error.errno in _CHANGED:
            raise _changed(place) from None
        raise


def _changed(place: Place) -> PermissionDenied:
    return _denied(place.shown, "it changed while it was opened")


def _denied(path: str, reason: str) -> PermissionDenied:
    return PermissionDenied(f"{path!r} is not permitted", cause=reason)
