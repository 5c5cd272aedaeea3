"""A skill's sub-skills: folders under `sub_skills/`, single files `subskill/<name>/<name>.md`, or made in Python."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from orchestra.errors import SkillInvalid
from orchestra.skills.declared import MOST_SUB_SKILLS
from orchestra.skills.files import resolve_inside
from orchestra.skills.manifest import Manifest, SubSkill
from orchestra.skills.reading import FILE_NAMES, YAML_NAME, read_manifest
from orchestra.skills.skill import fold_name
from orchestra.skills.yaml_text import Place

PLACES = ("sub_skills", "subskills", "subskill")


def own_sub_skills(manifest: Manifest) -> dict[str, Manifest | None]:
    """The manifests of a skill's sub-skills by name: those declared in their order, then those only found.

    None stands for one that is declared without a path and is not in the folder: the library may have it. No body is
    read. Raises `SkillInvalid`, naming the sub-skill, for one that is broken, missing, or not inside of the folder.
    """
    if manifest.folder is None or manifest.children:
        return {child.name: child for child in manifest.children}
    found = _found(manifest.folder)
    children: dict[str, Manifest | None] = {}
    for entry in manifest.sub_skills:
        path = resolve_inside(manifest.folder, entry.path) if entry.path else found.get(entry.name)
        children[entry.name] = _child(manifest, entry, path) if path is not None else None
    for name, path in found.items():
        if name not in children:
            children[name] = _child(manifest, SubSkill(name), path)
    return children


def with_entry(child: Manifest, entry: SubSkill) -> Manifest:
    """A child as its parent's entry has it: name, triggers and dependencies are the parent's to give."""
    return replace(
        child,
        name=entry.name,
        triggers=entry.triggers or child.triggers,
        dependencies=entry.dependencies or child.dependencies,
    )


def skill_file(folder: Path) -> Path | None:
    """What makes a folder a skill: its SKILL.md, the file that is called as it is, or a skill.yaml alone."""
    names = (*FILE_NAMES, f"{folder.name}.md", YAML_NAME)
    return next((folder / name for name in names if (folder / name).is_file()), None)


def _child(parent: Manifest, entry: SubSkill, path: Path) -> Manifest:
    assert parent.folder is not None
    if path == Path(os.path.realpath(parent.folder)):
        raise _invalid(parent, f"sub-skill {entry.name!r} leads back to the skill itself")
    file = skill_file(path) if path.is_dir() else path
    if file is None or file.suffix.lower() not in (".md", ".yaml"):
        raise _invalid(parent, f"sub-skill {entry.name!r} has no SKILL.md in {path}")
    child, _ = read_manifest(file, is_trusted=parent.is_trusted)
    return with_entry(child, entry)


def _found(folder: Path) -> dict[str, Path]:
    """Sub-skills that lie where they should, by folded name, in name order."""
    found: dict[str, Path] = {}
    for place in PLACES:
        if not os.path.isdir(folder / place):
            continue
        for path in _folders(resolve_inside(folder, place), folder):
            found.setdefault(fold_name(path.name), path)
    return {name: found[name] for name in sorted(found)}


def _folders(place: Path, folder: Path) -> Iterator[Path]:
    try:
        names = sorted(os.listdir(place))
    except OSError as error:
        raise SkillInvalid(
            f"{place} cannot be read", cause=error.strerror or str(error), path=str(place), line=0
        ) from error
    if len(names) > MOST_SUB_SKILLS * 4:
        raise Place(str(place)).invalid(0, f"holds {len(names):,} entries", "too many for sub-skills")
    within = Path(os.path.realpath(folder))
    for name in names:
        if (place / name).is_dir():
            path = resolve_inside(within, str((place / name).relative_to(within)))
            if skill_file(path) is not None and path != within:
                yield path


def _invalid(parent: Manifest, what: str) -> SkillInvalid:
    return SkillInvalid(f"{parent.source}: {what}", path=parent.source, line=0)
