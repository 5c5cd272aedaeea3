"""Ids and names as addresses carry them."""

from __future__ import annotations

from urllib.parse import quote


def well_formed(text: str) -> str:
    """`text` with `?` for each lone surrogate, which no address and no page can hold."""
    return text.encode("utf-8", "replace").decode()


def in_address(text: str) -> str:
    """`text` as one value of a query, or one segment of a path; read back it is `well_formed(text)`."""
    return quote(well_formed(text), safe="")
