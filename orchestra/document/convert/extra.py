"""The converters' libraries: an optional extra, imported when the first such file is read."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from orchestra.errors import DocumentUnreadable

INSTALL = "Run: pip install 'orchestra[documents]'"


def load(module: str, name: str, kind: str) -> ModuleType:
    """The module, or `DocumentUnreadable` that says which command installs it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise DocumentUnreadable(
            f"{name} is {kind}, and the library that reads it is missing", cause=str(error), suggestion=INSTALL
        ) from error
