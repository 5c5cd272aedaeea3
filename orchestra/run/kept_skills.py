"""The skills of a run as its store keeps them: where those of folders are, what those in memory hold, and the order."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from orchestra.errors import SkillInvalid, StoreDamaged
from orchestra.settings import Skills
from orchestra.skills import Skill, SkillLibrary
from orchestra.skills.manifest import Manifest
from orchestra.skills.skill import SHIPPED

_FEW = 20  # skills beside one another that are found one by one
_KEPT_FIELDS = tuple(
    field.name
    for field in fields(Skill)
    if field.name not in ("name", "function", "parameters", "output", "output_model", "manifest")
)


class MadeSkill(BaseModel):
    """A skill that was made in memory. `has_code`: it holds what no store can keep, and must be given again."""

    name: str
    has_code: bool = False
    fields: dict[str, Any]


class SkillFolder(BaseModel):
    """Skills by name that `folder` holds, or is. `digests` bind trusted ones to what their folders held."""

    folder: str
    names: tuple[str, ...]
    untrusted: tuple[str, ...] = ()
    digests: dict[str, str] = {}


class KeptSkills(BaseModel):
    """`names` are those of the whole library, in order, for the order reaches prompts."""

    names: tuple[str, ...] = ()
    made: tuple[MadeSkill, ...] = ()
    folders: tuple[SkillFolder, ...] = ()

    @classmethod
    def of(cls, library: SkillLibrary) -> KeptSkills:
        """No body is read."""
        own = [manifest for manifest in library.manifests.values() if manifest.source != SHIPPED]
        made = tuple(_made(manifest) for manifest in own if manifest.given is not None or not manifest.file)
        in_files = [manifest for manifest in own if manifest.given is None and manifest.file]
        return cls(names=tuple(library.manifests), made=made, folders=tuple(_folders(in_files)))

    def library(self, given: Skills | None) -> SkillLibrary:
        """The library as it was, with skills that are given now in the place of those of the same name.

        Raises `SkillInvalid` where one holds code or is in a folder that is gone, and is not given.
        """
        now = SkillLibrary.of(given)
        known = dict(now.manifests)
        own = {name for name, manifest in known.items() if manifest.source != SHIPPED}
        for skill in self.made:
            if skill.name not in own:
                known[skill.name] = Manifest.of(_skill(skill))
        for folder in self.folders:
            known.update((name, found) for name, found in _found(folder, own) if name not in own)
        return self._in_order(known, now)

    def library_left(self, given: Skills | None) -> SkillLibrary:
        """`library`, as far as it can be had: what held code does nothing, and what is gone is left out."""
        now = SkillLibrary.of(given)
        known = dict(now.manifests)
        own = {name for name, manifest in known.items() if manifest.source != SHIPPED}
        for skill in self.made:
            if skill.name not in own and skill.fields:
                known[skill.name] = Manifest.of(_skill_without_code(skill))
        for folder in self.folders:
            for name in folder.names:
                with suppress(SkillInvalid):
                    known.update(_found(folder.model_copy(update={"names": (name,)}), own))
        return self._in_order(known, now)

    def _in_order(self, known: Mapping[str, Manifest], now: SkillLibrary) -> SkillLibrary:
        names = dict.fromkeys((*self.names, *known))
        return SkillLibrary((known[name] for name in names if name in known), now.diagnostics)


def _made(manifest: Manifest) -> MadeSkill:
    skill = manifest.given
    if skill is None or manifest.is_composite or manifest.children:
        return MadeSkill(name=manifest.name, has_code=True, fields={})
    fields = {name: getattr(skill, name) for name in _KEPT_FIELDS}
    return MadeSkill(name=manifest.name, has_code=skill.function is not None, fields=fields)


def _skill(made: MadeSkill) -> Skill:
    if made.has_code:
        raise SkillInvalid(
            f"the skill {made.name!r} of the run holds what a store cannot keep",
            cause="it has code or sub-skills that were made in memory",
            suggestion="Pass it again, as skills=.",
        )
    return _with_fields(made)


def _skill_without_code(made: MadeSkill) -> Skill:
    skill = _with_fields(made)
    return replace(skill, function=_nothing) if made.has_code else skill


def _nothing() -> None:
    """In the place of code that is not here."""


def _with_fields(made: MadeSkill) -> Skill:
    known: dict[str, Any] = {name: value for name, value in made.fields.items() if name in _KEPT_FIELDS}
    if isinstance(known.get("allowed_tools"), list):
        known["allowed_tools"] = tuple(known["allowed_tools"])
    try:
        return Skill(made.name, **known)
    except TypeError as error:
        raise StoreDamaged(f"the skill {made.name!r} of the run cannot be read", cause=str(error)) from None


def _folders(manifests: Iterable[Manifest]) -> Iterable[SkillFolder]:
    beside: dict[Path, list[Manifest]] = defaultdict(list)
    for manifest in manifests:
        beside[Path(manifest.file).absolute().parent.parent].append(manifest)
    for folder, group in beside.items():
        if len(group) > _FEW:
            yield _folder(folder, group)
        else:
            yield from (_folder(Path(manifest.file).absolute().parent, [manifest]) for manifest in group)


def _folder(folder: Path, manifests: list[Manifest]) -> SkillFolder:
    return SkillFolder(
        folder=str(folder),
        names=tuple(manifest.name for manifest in manifests),
        untrusted=tuple(manifest.name for manifest in manifests if not manifest.is_trusted),
        digests={manifest.name: manifest.digest for manifest in manifests if manifest.digest},
    )


def _found(folder: SkillFolder, own: set[str]) -> Iterable[tuple[str, Manifest]]:
    missing = [name for name in folder.names if name not in own]
    if not missing:
        return
    found: Mapping[str, Manifest] = {}
    if Path(folder.folder).is_dir():
        found = SkillLibrary.from_path(folder.folder).manifests
    for name in missing:
        if name not in found:
            raise SkillInvalid(
                f"the skill {name!r} of the run is not there any more",
                cause=f"it was in {folder.folder}",
                suggestion="Put it back, or pass it, as skills=.",
            )
        is_trusted = name not in folder.untrusted
        yield name, replace(found[name], is_trusted=is_trusted, digest=folder.digests.get(name, ""))
