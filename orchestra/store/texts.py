"""How values become what both databases can hold, and come back the same."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import pydantic_core
from pydantic import BaseModel
from sqlalchemy import Text
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator

from orchestra.errors import InputInvalid, StoreDamaged

# PostgreSQL holds no NUL, neither database a lone surrogate; SUBSTITUTE begins how they are written
_UNSTORABLE = re.compile("[\x00\x1a\ud800-\udfff]")
_WRITTEN = re.compile("\x1a([0-9a-f]{4})")


def to_json(value: Any) -> str:
    """JSON text of plain values (mappings, sequences, texts, numbers, truth values and None) and of pydantic's models.

    What has no JSON form raises `InputInvalid`: nothing is ever pickled.
    """
    try:
        return pydantic_core.to_json(value, inf_nan_mode="constants").decode()
    except ValueError:
        return _with_escapes(value)


def from_json(text: str) -> Any:
    """What `to_json` was given. `StoreDamaged` when the text is no JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise StoreDamaged("a record of the store is not JSON", cause=str(error)) from error


def storable(text: str) -> str:
    """`text` as both databases can hold it; `restored` is the inverse."""
    if text.isprintable() or not _UNSTORABLE.search(text):
        return text
    return _UNSTORABLE.sub(lambda found: f"\x1a{ord(found[0]):04x}", text)


def restored(text: str) -> str:
    if "\x1a" not in text:
        return text
    return _WRITTEN.sub(lambda found: chr(int(found[1], 16)), text)


class Words(TypeDecorator[str]):
    """Any text of Python."""

    impl = Text
    cache_ok = True

    @staticmethod
    def bound(value: str | None) -> str | None:
        """What is written for a value."""
        return None if value is None else storable(value)

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        return self.bound(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> str | None:
        return None if value is None else restored(value)


class JsonText(TypeDecorator[Any]):
    """A JSON value as text; None is NULL."""

    impl = Text
    cache_ok = True

    @staticmethod
    def bound(value: Any) -> str | None:
        """What is written for a value."""
        return None if value is None else to_json(value)

    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:
        return self.bound(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:
        return None if value is None else from_json(value)


def _with_escapes(value: Any) -> str:
    """For texts with lone surrogates, which JSON holds as escapes only."""
    try:
        return json.dumps(value, separators=(",", ":"), default=_plain)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputInvalid("a value cannot be stored", cause=str(error)) from error


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    raise TypeError(f"{type(value).__name__} has no JSON form")
