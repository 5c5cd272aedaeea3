"""Outlines of files, each made once for as long as its file stays as it is."""

from __future__ import annotations

import threading
from collections import OrderedDict
from pathlib import Path

from orchestra.document import Document
from orchestra.panel.view.outlines import DocumentOutline, outline_of

MOST_KEPT = 64

_Key = tuple[str, int, int]


class OutlineCache:
    """Thread-safe. One file is converted at a time: a second reader of the same file waits for the first."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[_Key, DocumentOutline] = OrderedDict()

    def outline(self, path: Path) -> DocumentOutline:
        """Raises what `Document.from_path` does."""
        with self._lock:
            key = _key(path)
            known = self._kept.get(key)
            if known is None:
                known = outline_of(Document.from_path(path))
                self._kept[key] = known
                while len(self._kept) > MOST_KEPT:
                    self._kept.popitem(last=False)
            self._kept.move_to_end(key)
            return known


def _key(path: Path) -> _Key:
    try:
        found = path.stat()
    except OSError:  # reading it says why
        return str(path), 0, 0
    return str(path), found.st_mtime_ns, found.st_size
