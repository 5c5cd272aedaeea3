"""What changes when a file does."""

from __future__ import annotations

from pathlib import Path

Stamp = tuple[str, int, int]


def stamp(path: Path) -> Stamp:
    """Of a file that is not there too: reading it says why."""
    try:
        status = path.stat()
    except OSError:
        return str(path), 0, 0
    return str(path), status.st_mtime_ns, status.st_size
