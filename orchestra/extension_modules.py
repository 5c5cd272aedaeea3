"""Compiled modules of other packages, without what those packages load around them."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from threading import Lock
from types import ModuleType

_ONE_AT_A_TIME = Lock()


def extension_module(package: str, name: str) -> ModuleType:
    """`package.name`, while the package's own `__init__` stays unread: some load for a second what nobody asked for.

    The package may be imported before or later, and finds the same module. Thread-safe. ImportError if there is none.
    """
    whole = f"{package}.{name}"
    with _ONE_AT_A_TIME:
        if whole in sys.modules:
            return sys.modules[whole]
        around = find_spec(package)
        found = PathFinder.find_spec(whole, around.submodule_search_locations) if around else None
        if found is None or found.loader is None:
            return import_module(whole)
        module = module_from_spec(found)
        found.loader.exec_module(module)
        return sys.modules.setdefault(whole, module)
