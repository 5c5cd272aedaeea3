"""A path to its bytes."""

from __future__ import annotations

import sys
from pathlib import Path

from orchestra.errors import DocumentUnreadable


def read_path(path: str | Path) -> tuple[bytes, str]:
    """The bytes and the name of a file; "-" is standard input, named "stdin".

    A file that is missing, a directory or not permitted raises `DocumentUnreadable` with the system's reason.
    """
    if str(path) == "-":
        return sys.stdin.buffer.read(), "stdin"
    try:
        return Path(path).read_bytes(), Path(path).name
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        cause = getattr(error, "strerror", None) or str(error)
        raise DocumentUnreadable(f"{path} could not be read", cause=cause) from error
