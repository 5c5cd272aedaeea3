"""Which skills of projects a user trusts, bound to what their folders hold: a changed skill is a stranger again.

One small file for each trusted folder, under the user's configuration, so that processes need not agree on who writes.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from pathlib import Path

from orchestra.errors import SkillInvalid

MOST_FILES = 2_000
MOST_BYTES = 64 * 1024 * 1024

_FORMAT = "orchestra-trust-1"


def trust_folder() -> Path:
    """Where trust is kept: under the platform's configuration directory of the user."""
    from platformdirs import user_config_path

    return user_config_path("orchestra", appauthor=False) / "trusted-skills"


def trust(folder: Path) -> str:
    """Trust the skill in `folder` as it is now, and give the digest that says what that is. Raises `SkillInvalid`."""
    real = Path(os.path.realpath(folder))
    digest = folder_digest(real)
    place = trust_folder()
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    file = _file_of(real)
    written = file.with_suffix(f".{os.getpid()}.tmp")
    written.write_text(json.dumps({"format": _FORMAT, "folder": str(real), "digest": digest}), encoding="utf-8")
    written.chmod(0o600)
    written.replace(file)
    return digest


def distrust(folder: Path) -> bool:
    """Take trust back. False where there was none."""
    file = _file_of(Path(os.path.realpath(folder)))
    is_there = file.is_file()
    file.unlink(missing_ok=True)
    return is_there


def trusted_digest(folder: Path) -> str:
    """The digest that `folder` was trusted with, if it still holds just that; else nothing."""
    real = Path(os.path.realpath(folder))
    try:
        kept = json.loads(_file_of(real).read_text(encoding="utf-8"))
        if kept["format"] != _FORMAT or kept["folder"] != str(real):
            return ""
        return kept["digest"] if folder_digest(real) == kept["digest"] else ""
    except (OSError, ValueError, KeyError, TypeError, RecursionError, SkillInvalid):
        return ""


def folder_digest(folder: Path) -> str:
    """SHA-256 over names, kinds and contents of all that a folder holds; a link counts by where it points.

    Raises `SkillInvalid` for a folder too large to answer for, or with something in it that is neither file nor folder.
    """
    digest = hashlib.sha256(_FORMAT.encode())
    left = [MOST_FILES, MOST_BYTES]
    _add_folder(digest, Path(os.path.realpath(folder)), "", left)
    return digest.hexdigest()


def _add_folder(digest: hashlib._Hash, folder: Path, inside: str, left: list[int]) -> None:
    try:
        names = sorted(os.listdir(folder))
        for name in names:
            left[0] -= 1
            path, label = folder / name, f"{inside}/{name}"
            kind = os.lstat(path).st_mode
            if left[0] < 0:
                raise _too_much(folder, f"over {MOST_FILES:,} files")
            if stat.S_ISDIR(kind):
                _entry(digest, "folder", label, b"")
                _add_folder(digest, path, label, left)
            elif stat.S_ISLNK(kind):
                _entry(digest, "link", label, os.fsencode(os.readlink(path)))
            elif stat.S_ISREG(kind):
                _entry(digest, "file", label, _content(path, left))
            else:
                raise _too_much(path, "it is neither a file nor a folder")
    except OSError as error:
        raise _too_much(folder, error.strerror or str(error)) from error


def _content(path: Path, left: list[int]) -> bytes:
    left[1] -= os.stat(path).st_size
    if left[1] < 0:
        raise _too_much(path, f"over {MOST_BYTES // 1024 // 1024} MiB in its folder")
    return path.read_bytes()


def _entry(digest: hashlib._Hash, kind: str, label: str, content: bytes) -> None:
    name = os.fsencode(label)
    digest.update(f"{kind} {len(name)} {len(content)} ".encode() + name + hashlib.sha256(content).digest())


def _file_of(real: Path) -> Path:
    return trust_folder() / f"{hashlib.sha256(os.fsencode(real)).hexdigest()[:32]}.json"


def _too_much(path: Path, cause: str) -> SkillInvalid:
    return SkillInvalid(f"{path} cannot be trusted", cause=cause, path=str(path), line=0)
