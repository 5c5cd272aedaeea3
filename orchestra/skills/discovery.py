"""Skills where clients keep them by convention: `.agents/skills` and `.claude/skills`, of the project and of the user.

A project's place stands before the user's. A project's skills are untrusted until the user trusts what they hold.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path

from orchestra.errors import SkillInvalid
from orchestra.skills.index import SKIPPED_FOLDERS, Entry, is_folder
from orchestra.skills.reading import FILE_NAMES, as_diagnostic, read_manifest
from orchestra.skills.skill import Diagnostic
from orchestra.skills.sub_skills import skill_file
from orchestra.skills.trust import trusted_digest

PLACES = (".agents/skills", ".claude/skills")
MOST_DEPTH = 5
MOST_FOLDERS = 2_000


@dataclass(frozen=True, slots=True)
class Place:
    """A folder that may hold skills, and whether it is the user's own."""

    folder: Path
    is_of_user: bool


def places(project: Path, home: Path | None = None) -> tuple[Place, ...]:
    """The conventional places, the one that holds last. A project that is the home folder has only the user's."""
    home = home or Path.home()
    of_user = [Place(home / place, True) for place in reversed(PLACES)]
    if os.path.realpath(project) == os.path.realpath(home):
        return tuple(of_user)
    return (*of_user, *(Place(project / place, False) for place in reversed(PLACES)))


def discovered(project: Path, home: Path | None = None) -> list[Entry]:
    """What the conventional places hold, the one that takes the place of others last. Never raises."""
    found: list[Entry] = []
    for place in places(project, home):
        diagnostics: list[Diagnostic] = []
        files = _skill_files(place.folder, diagnostics)
        if diagnostics:
            found.append(Entry(None, tuple(diagnostics)))
        found.extend(_entry(file, place) for file in files)
    return found


def skill_files_in(folder: Path) -> list[Path]:
    """The files of the skills that a folder is, holds directly, or keeps in the conventional places.

    Raises `SkillInvalid` where there is none.
    """
    file = skill_file(folder)
    if file is not None:
        return [file]
    found: list[Path] = []
    if folder.is_dir():
        with os.scandir(folder) as entries:
            inside = sorted(entry.name for entry in entries if is_folder(entry) and entry.name not in SKIPPED_FOLDERS)
        found = [file for name in inside if (file := skill_file(folder / name)) is not None]
        found += [file for place in PLACES for file in _skill_files(folder / place, [])]
    if not found:
        raise SkillInvalid(
            f"{folder} holds no skill",
            cause="no SKILL.md in it, in the folders directly in it, or in .agents/skills or .claude/skills",
            suggestion="Name a skill's folder, a folder of such folders, or a project.",
            path=str(folder),
            line=0,
        )
    return found


def _entry(file: Path, place: Place) -> Entry:
    try:
        manifest, diagnostics = read_manifest(file, is_trusted=place.is_of_user)
        if not place.is_of_user:
            digest = trusted_digest(file.parent)
            manifest = replace(manifest, is_trusted=bool(digest), digest=digest)
    except SkillInvalid as error:
        return Entry(None, (as_diagnostic(error, str(file)),))
    return Entry(manifest, diagnostics)


def _skill_files(folder: Path, diagnostics: list[Diagnostic]) -> list[Path]:
    """Each SKILL.md below `folder`, in order of path. What a skill's folder holds is its own, and not searched."""
    files: list[Path] = []
    seen: set[str] = set()
    waiting = [(folder, 0)]
    while waiting:
        place, depth = waiting.pop(0)
        real = os.path.realpath(place)
        if real in seen or not os.path.isdir(real):
            continue
        if len(seen) >= MOST_FOLDERS:
            message = f"holds more than {MOST_FOLDERS:,} folders: the rest is not searched"
            diagnostics.append(Diagnostic(str(folder), 0, "warning", message))
            break
        seen.add(real)
        own = next((place / name for name in FILE_NAMES if os.path.lexists(place / name)), None)
        if own is not None:
            files.append(own)
            continue
        try:
            below = sorted(entry.name for entry in os.scandir(place) if is_folder(entry))
        except OSError as error:
            diagnostics.append(Diagnostic(str(place), 0, "warning", f"cannot be read: {error.strerror or error}"))
            continue
        below = [name for name in below if name not in SKIPPED_FOLDERS]
        if below and depth >= MOST_DEPTH:
            message = f"is {MOST_DEPTH} folders deep: what is below is not searched"
            diagnostics.append(Diagnostic(str(place), 0, "warning", message))
            continue
        waiting.extend((place / name, depth + 1) for name in below)
    return sorted(files)
