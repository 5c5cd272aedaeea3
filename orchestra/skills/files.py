"""Files of a skill's folder. No path leads out of it: what was tested is what is opened."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from orchestra.errors import SkillInvalid
from orchestra.skills.front_matter import read_bytes

MAX_REFERENCE_BYTES = 1024 * 1024

_GOES_STEP_BY_STEP = os.open in os.supports_dir_fd and hasattr(os, "O_NOFOLLOW")
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)


def leads_out(path: str) -> bool:
    """Whether a relative path, by its words alone, is absolute, names a drive or climbs above where it starts."""
    written = PurePosixPath(path.replace("\\", "/"))
    if written.is_absolute() or "\0" in path or (written.parts and ":" in written.parts[0]):
        return True
    depth = 0
    for part in written.parts:
        depth += -1 if part == ".." else part != "."
        if depth < 0:
            return True
    return False


def resolve_inside(folder: Path, path: str) -> Path:
    """The file or folder that `path` names in `folder`, links followed. Raises `SkillInvalid` where it is not in it."""
    if leads_out(path):
        raise _refused(folder, path, "a path cannot leave the skill's folder")
    within = os.path.realpath(folder)
    try:
        target = Path(os.path.realpath(os.path.join(within, path), strict=True))
    except (OSError, ValueError) as error:
        raise _refused(folder, path, getattr(error, "strerror", None) or str(error)) from error
    if not target.is_relative_to(within):
        raise _refused(folder, path, "a link in it leads out of the skill's folder")
    return target


def read_inside(folder: Path, path: str, limit: int = MAX_REFERENCE_BYTES) -> str:
    """The text of a file in a skill's folder. Raises `SkillInvalid`."""
    content = bytes_inside(folder, path, limit)
    return content.decode("utf-8-sig", "replace").replace("\r\n", "\n").replace("\r", "\n")


def bytes_inside(folder: Path, path: str, limit: int = MAX_REFERENCE_BYTES) -> bytes:
    """What a file in a skill's folder holds. Raises `SkillInvalid`."""
    target = resolve_inside(folder, path)
    within = Path(os.path.realpath(folder))
    try:
        with _open_along(within, target.relative_to(within).parts) as descriptor:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise _refused(folder, path, "it is not a file")
            if status.st_size > limit:
                raise _refused(folder, path, f"it is larger than {limit // 1024} KiB")
            return read_bytes(descriptor, limit, str(target))
    except OSError as error:
        raise _refused(folder, path, error.strerror or str(error)) from error


@contextmanager
def _open_along(folder: Path, parts: tuple[str, ...]) -> Iterator[int]:
    """Step by step without following links: one that was put in the way after the test opens nothing."""
    if not _GOES_STEP_BY_STEP:
        descriptor = os.open(folder.joinpath(*parts), _FLAGS)
    else:
        descriptor = os.open(folder, _FLAGS)
        for part in parts:
            parent, descriptor = descriptor, -1
            try:
                descriptor = os.open(part, _FLAGS | os.O_NOFOLLOW, dir_fd=parent)
            finally:
                os.close(parent)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _refused(folder: Path, path: str, cause: str) -> SkillInvalid:
    return SkillInvalid(
        f"{path!r} of the skill in {folder} cannot be read",
        cause=cause,
        suggestion="Name a file in the skill's own folder.",
        path=str(folder),
        line=0,
    )
