"""Python of trusted skills: callables of code skills, pydantic models. Nothing of an untrusted one is run."""

from __future__ import annotations

import hashlib
import sys
import threading
from types import ModuleType
from typing import Any

from orchestra.errors import SkillInvalid
from orchestra.skills.files import read_inside
from orchestra.skills.manifest import Manifest

_lock = threading.RLock()


def python_object(manifest: Manifest, reference: str) -> Any:
    """What "file.py:name" names in the skill's folder. Raises `SkillInvalid`; also where the skill is not trusted."""
    path, _, name = reference.partition(":")
    if not path.endswith(".py") or not name.isidentifier():
        raise _invalid(manifest, f"{reference!r} names no Python", "it is written as file.py:name")
    module = python_module(manifest, path)
    if not hasattr(module, name):
        raise _invalid(manifest, f"there is no {name!r} in {path}")
    return getattr(module, name)


def python_module(manifest: Manifest, path: str) -> ModuleType:
    """A Python file of a skill's folder, run once for each content. Raises `SkillInvalid`."""
    if not manifest.is_trusted:
        raise SkillInvalid(
            f"the code of skill {manifest.name!r} is not run",
            cause="the skill is not trusted",
            suggestion=f"Read it, then `orchestra skills trust {manifest.folder}`.",
            path=manifest.source,
            line=0,
        )
    if manifest.folder is None:
        raise _invalid(manifest, f"there is no folder to find {path} in")
    source = read_inside(manifest.folder, path)
    where = str(manifest.folder / path)
    name = "orchestra_skill_" + hashlib.sha256(f"{where} {source}".encode()).hexdigest()[:24]
    with _lock:
        module = sys.modules.get(name)
        return module if module is not None else _run(manifest, name, where, source)


def _run(manifest: Manifest, name: str, where: str, source: str) -> ModuleType:
    module = ModuleType(name)
    module.__file__ = where
    sys.modules[name] = module  # classes look their module up
    try:
        exec(compile(source, where, "exec"), module.__dict__)
    except BaseException as error:
        del sys.modules[name]
        if isinstance(error, KeyboardInterrupt):
            raise
        raise _invalid(manifest, f"{where} cannot be run", f"{type(error).__name__}: {error}") from error
    return module


def _invalid(manifest: Manifest, what: str, cause: str = "") -> SkillInvalid:
    return SkillInvalid(f"{manifest.source}: {what}", cause=cause, path=manifest.source, line=0)
