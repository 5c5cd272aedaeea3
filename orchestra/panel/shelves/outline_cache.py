"""Outlines of files, each made once for as long as its file stays as it is."""

from __future__ import annotations

from pathlib import Path

from orchestra.document import Document
from orchestra.panel.memo import Memo
from orchestra.panel.stamps import Stamp, stamp
from orchestra.panel.view.outlines import DocumentOutline, outline_of

MOST_KEPT = 64


class OutlineCache:
    """Thread-safe. A second reader of a file waits for the first."""

    def __init__(self) -> None:
        self._outlines: Memo[Stamp, DocumentOutline] = Memo(MOST_KEPT)

    def outline(self, path: Path) -> DocumentOutline:
        """Raises what `Document.from_path` does."""
        return self._outlines.value(stamp(path), lambda: outline_of(Document.from_path(path)))
