"""Documents as a run needs them: converted once, kept in memory, and on disk for the next run.

A PDF takes seconds to convert. What comes out is kept as JSON under a folder, named after the hash of the file's
bytes and of the converters' code; a file there that cannot be read is made anew.
"""

from __future__ import annotations

import hashlib
import os
import threading
from functools import cache
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from orchestra.document import Document
from orchestra.document import convert as converters
from orchestra.document.convert import Converted, convert, read_path


def default_cache() -> Path:
    """`orchestra/benchmarks` in the user's cache folder."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "orchestra" / "benchmarks"


class Documents:
    """The documents of a run, by path. Thread-safe."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._documents: dict[Path, Document] = {}
        self._lock = threading.Lock()

    def get(self, path: Path) -> Document:
        """The document of a file. Raises `DocumentUnreadable`."""
        with self._lock:
            if path not in self._documents:
                self._documents[path] = self._read(path)
            return self._documents[path]

    def _read(self, path: Path) -> Document:
        data, name = read_path(path)
        if path.suffix.lower() != ".pdf":
            return _document(convert(data, name), name)
        kept = self._folder / f"{hashlib.sha256(data).hexdigest()[:32]}-{_converters_hash()}.json"
        converted = _load(kept)
        if converted is None:
            converted = convert(data, name)
            _save(kept, converted)
        return _document(converted, name)


@cache
def _converters_hash() -> str:
    digest = hashlib.sha256()
    for path in sorted(Path(converters.__path__[0]).glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


_CONVERTED = TypeAdapter(Converted)


def _document(converted: Converted, name: str) -> Document:
    return Document(
        converted.text,
        name=name,
        media_type=converted.media_type,
        warnings=converted.warnings,
        page_starts=converted.page_starts,
        bookmarks=converted.bookmarks,
    )


def _load(path: Path) -> Converted | None:
    try:
        return _CONVERTED.validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return None


def _save(path: Path, converted: Converted) -> None:
    """Written beside and moved, so that no run ever reads half a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(f".{os.getpid()}-{threading.get_ident()}.tmp")
    draft.write_bytes(_CONVERTED.dump_json(converted))
    draft.replace(path)
