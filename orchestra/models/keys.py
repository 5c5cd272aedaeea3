"""API keys: carried to the wire, and nowhere else."""

from __future__ import annotations

import hashlib
import os
import re

from orchestra.errors import ModelAuth

SHORTEST_SECRET = 8
_SALT = os.urandom(16)
_KEY_SHAPES = re.compile(r"\b(?:sk|pk|key|gsk|xai|nvapi|hf)[-_][A-Za-z0-9_*.\-]{6,}|(?i:bearer)\s+[A-Za-z0-9_*.\-]{6,}")


class Credential:
    """One request header that must not be shown: its repr, its str and its attributes hide the value."""

    __slots__ = ("_reveal", "header")

    def __init__(self, header: str, value: str) -> None:
        if not (value.isascii() and value.isprintable()):
            raise ModelAuth(f"the key for {header} holds characters that no header can carry")
        self.header = header
        # A closure, so that dumping attributes (`vars`, `__slots__`, a debugger's locals) does not print the key.
        self._reveal = lambda: value

    def reveal(self) -> tuple[str, str]:
        """The header as (name, value). Call it inside the expression that sends it; keep it in no variable."""
        return self.header, self._reveal()

    def __repr__(self) -> str:
        return f"Credential({self.header!r}, ***)"

    @property
    def digest(self) -> bytes:
        """The same for the same key within this process, and of no use outside of it."""
        return hashlib.blake2b(self._reveal().encode(), key=_SALT, digest_size=16).digest()

    def scrub(self, text: str) -> str:
        """`text` without this key, however the provider quoted it."""
        secret = self._reveal().removeprefix("Bearer ")
        return text.replace(secret, "***") if len(secret) >= SHORTEST_SECRET else text


def scrub(text: str, credential: Credential | None = None) -> str:
    """`text` without the credential and without anything that has the shape of a key."""
    known_removed = credential.scrub(text) if credential else text
    return _KEY_SHAPES.sub("***", known_removed)


def display_url(url: str) -> str:
    """`url` without what may be secret in it: user, password and query."""
    scheme, separator, rest = url.partition("://")
    authority, slash, path = rest.partition("?")[0].partition("/")
    return f"{scheme}{separator}{authority.rpartition('@')[2]}{slash}{path}"
