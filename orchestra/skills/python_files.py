"""Python of trusted skills: callables of code skills, pydantic models. Nothing of an untrusted one is run."""

from __future__ import annotations

import hashlib
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from types import ModuleType
from typing import Any, NamedTuple

from orchestra.errors import SkillInvalid
from orchestra.skills.files import read_inside
from orchestra.skills.manifest import Manifest

_lock = threading.RLock()
_is_unrun: ContextVar[bool] = ContextVar("orchestra_skills_unrun", default=False)


@contextmanager
def code_left_unrun() -> Generator[None]:
    """Within it no file of a skill is run that this process has not run already: its callables do nothing."""
    token = _is_unrun.set(True)
    try:
        yield
    finally:
        _is_unrun.reset(token)


def is_left_unrun(manifest: Manifest, path: str) -> bool:
    """Whether a file of a skill is not run here, so that nothing is known of what it holds. Raises `SkillInvalid`."""
    return _is_unrun.get() and manifest.is_trusted and _source(manifest, path).name not in sys.modules


def python_object(manifest: Manifest, reference: str) -> Any:
    """What "file.py:name" names in the skill's folder. Raises `SkillInvalid`; also where the skill is not trusted."""
    path, _, name = reference.partition(":")
    if not path.endswith(".py") or not name.isidentifier():
        raise _invalid(manifest, f"{reference!r} names no Python", "it is written as file.py:name")
    if is_left_unrun(manifest, path):
        return _nothing
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
    source = _source(manifest, path)
    with _lock:
        module = sys.modules.get(source.name)
        return module if module is not None else _run(manifest, source)


class _Source(NamedTuple):
    """A file of a skill, and the name of the module that it makes: another one for each content."""

    name: str
    where: str
    text: str


def _source(manifest: Manifest, path: str) -> _Source:
    if manifest.folder is None:
        raise _invalid(manifest, f"there is no folder to find {path} in")
    text = read_inside(manifest.folder, path)
    where = str(manifest.folder / path)
    name = "orchestra_skill_" + hashlib.sha256(f"{where} {text}".encode()).hexdigest()[:24]
    return _Source(name, where, text)


def _run(manifest: Manifest, source: _Source) -> ModuleType:
    module = ModuleType(source.name)
    module.__file__ = source.where
    sys.modules[source.name] = module  # classes look their module up
    try:
        exec(compile(source.text, source.where, "exec"), module.__dict__)
    except BaseException as error:
        del sys.modules[source.name]
        if isinstance(error, KeyboardInterrupt):
            raise
        raise _invalid(manifest, f"{source.where} cannot be run", f"{type(error).__name__}: {error}") from error
    return module


def _nothing() -> None:
    """In the place of a callable whose file is not run."""


def _invalid(manifest: Manifest, what: str, cause: str = "") -> SkillInvalid:
    return SkillInvalid(f"{manifest.source}: {what}", cause=cause, path=manifest.source, line=0)
