"""Session ids in paths. A caller of the function may choose any text as an id; a path cannot hold any text."""

from __future__ import annotations

import base64
import binascii
import re

from starlette.convertors import Convertor, register_url_convertor

_PLAIN = re.compile(r"[A-Za-z0-9_-]{1,64}")


def session_key(session_id: str) -> str:
    """The id as one segment of a path."""
    if _PLAIN.fullmatch(session_id):
        return session_id
    return "~" + base64.urlsafe_b64encode(session_id.encode("utf-8", "surrogatepass")).decode().rstrip("=")


def session_of(key: str) -> str:
    """The reverse of `session_key`; what is no key is an id that no session has."""
    if not key.startswith("~"):
        return key
    try:
        return base64.urlsafe_b64decode(key[1:] + "=" * (-len(key[1:]) % 4)).decode("utf-8", "surrogatepass")
    except (binascii.Error, ValueError):
        return key


class SessionConvertor(Convertor[str]):
    """`{sid:session}` in a route gives the id of the session."""

    regex = "[A-Za-z0-9_~-]+"

    def convert(self, value: str) -> str:
        return session_of(value)

    def to_string(self, value: str) -> str:
        return session_key(value)


register_url_convertor("session", SessionConvertor())
