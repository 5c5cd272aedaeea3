"""The documents of a session and the files below a root, as they are listed."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from orchestra.panel.shelves.roots import Listing
from orchestra.panel.shelves.shelf import ShelfDocument
from orchestra.panel.view.visible import one_line, visible

_KINDS = {"pdf": "PDF", "docx": "DOCX", "html": "HTML", "text": "text"}
_SOURCES = {"upload": "uploaded", "root": "from the workspace", "named": "named at the start"}
_LONGEST_NAME = 160


@dataclass(frozen=True, slots=True)
class ShelfRow:
    """`original` is what the file was called elsewhere, where that differs."""

    id: str
    name: str
    kind: str
    size: str
    source: str
    original: str


@dataclass(frozen=True, slots=True)
class BrowsedRow:
    name: str
    path: str
    is_folder: bool
    size: str
    is_added: bool


@dataclass(frozen=True, slots=True)
class Browsed:
    """A folder that is looked into. `roots` are (number, name), `trail` (name, path) of the folders above it.

    `more` is how many to show next time, 0 if all are shown; `left_off`: the folder holds more names than are read.
    """

    root: int
    root_name: str
    path: str
    roots: tuple[tuple[int, str], ...]
    trail: tuple[tuple[str, str], ...]
    rows: tuple[BrowsedRow, ...]
    more: int
    left_off: bool


def shelf_rows(documents: Sequence[ShelfDocument]) -> list[ShelfRow]:
    return [
        ShelfRow(
            id=document.id,
            name=visible(document.name),
            kind=_KINDS[document.kind],
            size=bytes_text(document.size),
            source=_SOURCES[document.source],
            original="" if document.original == document.name else one_line(document.original, _LONGEST_NAME),
        )
        for document in documents
    ]


def browsed(listing: Listing, folders: Sequence[Path], added: Collection[Path], *, shown: int, at_once: int) -> Browsed:
    """`added` are the places of the files that are on the shelf already."""
    root = folders[listing.root]
    rows = tuple(
        BrowsedRow(
            visible(entry.name),
            entry.path,
            entry.is_folder,
            "" if entry.is_folder else bytes_text(entry.size),
            (root / entry.path if entry.path else root) in added,
        )
        for entry in listing.entries[:shown]
    )
    return Browsed(
        root=listing.root,
        root_name=visible(root.name or str(root)),
        path=listing.path,
        roots=tuple((number, visible(folder.name or str(folder))) for number, folder in enumerate(folders)),
        trail=tuple((visible(name), path) for name, path in listing.trail),
        rows=rows,
        more=shown + at_once if len(listing.entries) > shown else 0,
        left_off=listing.left_off,
    )


def bytes_text(size: int) -> str:
    """`340 bytes`, `12 kB`, `3.4 MB`."""
    if size < 1000:
        return f"{size} bytes"
    return f"{size / 1000:,.0f} kB" if size < 999_500 else f"{size / 1_000_000:,.1f} MB"
