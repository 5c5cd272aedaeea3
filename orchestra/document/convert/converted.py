"""What a converter gives."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Converted:
    """The text of a file, with LF line ends, and what else its format carries.

    `page_starts`: the 1-indexed first line of each page, strictly rising; empty without pages.
    `bookmarks`: (level from 1, title, 1-indexed line), in the file's order; empty without a bookmark tree.
    """

    text: str
    media_type: str
    warnings: tuple[str, ...] = ()
    page_starts: tuple[int, ...] = ()
    bookmarks: tuple[tuple[int, str, int], ...] = ()
