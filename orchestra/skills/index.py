"""The manifests of a folder of skills, remembered between processes by the mtime and size of their files.

What is remembered lies in the user's cache directory, one file for each folder; one that is damaged is made anew.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, NotRequired

from pydantic import ConfigDict, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict

from orchestra.errors import SkillInvalid
from orchestra.skills.manifest import Execution, Layer, Manifest, ModelTier, Routing, SkillType, SubSkill
from orchestra.skills.reading import FILE_NAMES, YAML_NAME, as_diagnostic, read_manifest
from orchestra.skills.skill import Diagnostic, Severity
from orchestra.skills.yaml_text import Place

SKIPPED_FOLDERS = frozenset({".git", "node_modules"})
MOST_SKILLS = 50_000
FEWEST_REMEMBERED = 64
"""Fewer are read faster than they are remembered."""

_FORMAT = "orchestra-skills-1"
_UNREADABLE = (0, 0, 0)  # it is there, and whoever reads it is told why it cannot be
_SAME_TICK_NS = 50_000_000  # a file changed again so soon may have kept its mtime


class Entry(NamedTuple):
    """One skill of a folder: its manifest, None where there is none to be had, and what was found."""

    manifest: Manifest | None
    diagnostics: tuple[Diagnostic, ...]


Stamp = tuple[int, int, int]
"""mtime and ctime in nanoseconds, size in bytes."""


@with_config(ConfigDict(extra="forbid"))
class _Written(TypedDict):
    """Fields of a manifest that are not the default."""

    name: str
    description: str
    type: NotRequired[SkillType]
    version: NotRequired[str]
    triggers: NotRequired[tuple[str, ...]]
    sub_skills: NotRequired[tuple[SubSkill, ...]]
    routing: NotRequired[Routing]
    execution: NotRequired[Execution]
    parameters: NotRequired[dict[str, Any]]
    output: NotRequired[dict[str, Any]]
    data_flow: NotRequired[tuple[str, ...]]
    function: NotRequired[str]
    layer: NotRequired[Layer]
    dependencies: NotRequired[tuple[str, ...]]
    blocks_on_failure: NotRequired[bool]
    eco_mode_skip: NotRequired[bool]
    applies: NotRequired[str]
    model_tier: NotRequired[ModelTier]
    output_hint: NotRequired[str]
    max_tokens: NotRequired[int]
    allowed_tools: NotRequired[tuple[str, ...]]
    needs_approval: NotRequired[bool]
    max_turns: NotRequired[int]
    timeout_s: NotRequired[float]
    retries: NotRequired[int]
    is_listed: NotRequired[bool]


Row = tuple[str, Stamp, Stamp | None, _Written | None, tuple[tuple[str, int, Severity, str], ...]]
"""File name within the folder of skills; stamps of it and of its skill.yaml; manifest; diagnostics."""


@with_config(ConfigDict(extra="forbid"))
class _Memory(TypedDict):
    format: str
    folder: str
    rows: list[Row]


@dataclass(frozen=True, slots=True)
class _SkillFile:
    name: str
    path: str
    stamps: tuple[Stamp, Stamp | None]


def index(folder: Path) -> list[Entry]:
    """The skills directly in `folder`, in name order; from memory where their files did not change.

    Never a body is read. Raises `SkillInvalid` if the folder itself cannot be read.
    """
    files = list(_skill_files(folder))
    is_worth_it = len(files) >= FEWEST_REMEMBERED
    remembered = _recall(folder) if is_worth_it else {}
    entries: list[Entry] = []
    rows: list[Row] = []
    is_new = len(remembered) != len(files)
    now = time.time_ns()
    base = os.path.abspath(folder) + os.sep
    for file in files:
        row = remembered.get(file.name)
        if row is None or (row[1], row[2]) != file.stamps:
            entry, is_new = _read(Path(file.path)), True
            if is_worth_it and now - max(max(stamp[:2]) for stamp in file.stamps if stamp) > _SAME_TICK_NS:
                rows.append(_row(file, entry))
        else:
            entry = _entry(row, file.path, base + file.name)
            rows.append(row)
        entries.append(entry)
    if is_worth_it and is_new:
        _remember(folder, rows)
    return entries


def _read(path: Path) -> Entry:
    try:
        return Entry(*read_manifest(path))
    except SkillInvalid as error:
        return Entry(None, (as_diagnostic(error, str(path)),))


def _skill_files(folder: Path) -> Iterator[_SkillFile]:
    try:
        inside = sorted(entry.name for entry in os.scandir(folder) if is_folder(entry))
    except OSError as error:
        raise Place(str(folder)).invalid(0, "cannot be read", error.strerror or str(error)) from error
    if len(inside) > MOST_SKILLS:
        raise Place(str(folder)).invalid(0, f"holds {len(inside):,} folders", f"at most {MOST_SKILLS:,}")
    for name in inside:
        if name in SKIPPED_FOLDERS:
            continue
        below = f"{folder}{os.sep}{name}{os.sep}"
        for file_name in (*FILE_NAMES, YAML_NAME):
            path = below + file_name
            stamp = _stamp(path)
            if stamp is not None:
                beside = _stamp(below + YAML_NAME) if file_name != YAML_NAME else None
                yield _SkillFile(f"{name}/{file_name}", path, (stamp, beside))
                break


def is_folder(entry: os.DirEntry[str]) -> bool:
    """Also by a link; one that leads in circles is none."""
    try:
        return entry.is_dir()
    except OSError:
        return False


def _stamp(path: str) -> Stamp | None:
    try:
        status = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError:
        return _UNREADABLE
    if stat.S_ISLNK(status.st_mode):
        try:
            status = os.stat(path)
        except OSError:
            return _UNREADABLE
    return status.st_mtime_ns, status.st_ctime_ns, status.st_size


@cache
def _adapter() -> TypeAdapter[_Memory]:
    return TypeAdapter(_Memory)


@cache
def _defaults() -> dict[str, Any]:
    bare = Manifest("", "")
    return {field.name: getattr(bare, field.name) for field in fields(Manifest)}


def _memory_file(folder: Path) -> Path:
    from platformdirs import user_cache_path

    name = hashlib.sha256(os.fsencode(os.path.abspath(folder))).hexdigest()[:32]
    return user_cache_path("orchestra", appauthor=False) / "skills" / f"{name}.json"


def _recall(folder: Path) -> dict[str, Row]:
    try:
        memory = _adapter().validate_json(_memory_file(folder).read_bytes())
    except (OSError, ValidationError, ValueError, RecursionError):
        return {}
    if memory["format"] != _FORMAT or memory["folder"] != os.path.abspath(folder):
        return {}
    return {row[0]: row for row in memory["rows"]}


def _remember(folder: Path, rows: list[Row]) -> None:
    """Whole or not at all: processes that write at once each leave a file that can be read."""
    memory: _Memory = {"format": _FORMAT, "folder": os.path.abspath(folder), "rows": rows}
    file = _memory_file(folder)
    written = file.with_name(f"{file.stem}.{os.getpid()}.{time.monotonic_ns()}.tmp")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        written.write_bytes(_adapter().dump_json(memory))
        written.replace(file)
    except (OSError, ValueError):  # it is read anew the next time
        with contextlib.suppress(OSError):
            written.unlink(missing_ok=True)


def _row(file: _SkillFile, entry: Entry) -> Row:
    defaults = _defaults()
    written: Any = None
    if entry.manifest is not None:
        written = {
            name: value
            for name in _Written.__annotations__
            if (value := getattr(entry.manifest, name)) != defaults[name] or name in ("name", "description")
        }
    found: Any = tuple((one.path.removeprefix(file.path), *one[1:]) for one in entry.diagnostics)
    return (file.name, file.stamps[0], file.stamps[1], written, found)


def _entry(row: Row, path: str, file: str) -> Entry:
    found = tuple(Diagnostic(one[0] if os.path.isabs(one[0]) else path + one[0], *one[1:]) for one in row[4] or ())
    if row[3] is None:
        return Entry(None, found)
    return Entry(Manifest(**row[3], source=path, file=file), found)
