"""The skills a run may use: the shipped ones, those of folders, and the caller's own, in one mapping."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, cast

from orchestra.errors import SkillInvalid, SkillNotFound
from orchestra.skills.catalogue import CATALOGUE_TOKENS, Shelf
from orchestra.skills.manifest import Manifest
from orchestra.skills.skill import SHIPPED, Diagnostic, Skill, fold_name

GENERIC = Skill(
    name="assistant",
    description="Answers a question that no other skill fits.",
    system_prompt=(
        "Answer the question directly, in the first sentence. Then give only the evidence that the answer rests on. "
        "Where you infer rather than report, say so."
    ),
    source=SHIPPED,
)


class SkillLibrary(Mapping[str, Skill]):
    """Skills by name, immutable. Lookups fold case, `_` and `-`; order is that of the planner's catalogue.

    A library knows manifests. Looking a skill up reads its body, anew each time: a run reads each once, and a process
    each that ships. So does going through `values()` or `items()`; `manifests` is for those who need no bodies.
    """

    def __init__(
        self,
        skills: Iterable[Skill | Manifest] = (),
        diagnostics: Iterable[Diagnostic] = (),
        *,
        shelf: Shelf | None = None,
    ) -> None:
        manifests = (skill if isinstance(skill, Manifest) else Manifest.of(skill) for skill in skills)
        self._manifests = {manifest.name: manifest for manifest in manifests}
        self.shelf = shelf or Shelf(tuple(self._manifests.values()))
        self.diagnostics = tuple(diagnostics)

    @classmethod
    def builtin(cls) -> SkillLibrary:
        """The skills that ship with the package. Their manifests are read once per process."""
        return _load_builtin(_builtin_folder())

    @classmethod
    def of(cls, skills: SkillLibrary | Mapping[str, str | Mapping[str, Any] | Skill] | None) -> SkillLibrary:
        """What a caller may pass, merged over the built-in skills: custom ones, a library, or None."""
        builtin = cls.builtin()
        if isinstance(skills, SkillLibrary) and skills.keys() >= builtin.keys():
            return skills
        if skills is not None and not isinstance(cast("object", skills), Mapping):
            raise SkillInvalid(
                f"the skills are given as {type(skills).__name__}", cause="expected a dict by name, or a SkillLibrary"
            )
        return builtin.merged(skills) if skills else builtin

    @classmethod
    def from_path(cls, *folders: str | Path) -> SkillLibrary:
        """The skills in `folders`, each one skill (it holds a SKILL.md) or a folder of such.

        Only front matter and skill.yaml are read. A skill that the caller names so is trusted. A later skill takes the
        place of an earlier one of the same name. In a folder of skills a bad one is left out, with an error in
        `diagnostics`. Raises `SkillInvalid` for a folder that is a bad skill itself, holds no skill, or does not exist.
        """
        from orchestra.skills.index import Entry

        entries: list[Entry] = []
        for folder in map(Path, folders):
            entries += _read_folder(folder)
        return cls._of_entries(entries)

    @classmethod
    def discover(cls, project: str | Path = ".", *, home: Path | None = None) -> SkillLibrary:
        """The skills in the conventional places of a project and of the user: `.agents/skills` and `.claude/skills`.

        A project's skill takes the place of the user's of the same name, and is not trusted until the user says so
        (`orchestra skills trust`). The search is bounded in depth and number of folders; what is wrong is in
        `diagnostics`.
        """
        from orchestra.skills.discovery import discovered

        return cls._of_entries(discovered(Path(project), home))

    @classmethod
    def from_registry(cls, registry: Mapping[str, Any], base: str | Path | None = None) -> SkillLibrary:
        """Skills written in Python, nested as in `orchestra.skills.registry`; their paths start from `base`.

        Raises `SkillInvalid`.
        """
        from orchestra.skills.registry import manifests_of

        return cls(manifests_of(registry, Path(base) if base is not None else None))

    @classmethod
    def _of_entries(cls, entries: Iterable[Any]) -> SkillLibrary:
        manifests: dict[str, Manifest] = {}
        diagnostics: list[Diagnostic] = []
        for manifest, found in entries:
            diagnostics += found
            if manifest is None:
                continue
            if manifest.name in manifests:
                message = f"takes the place of {manifests[manifest.name].source}, which has the same name"
                diagnostics.append(Diagnostic(manifest.source, 0, "warning", message))
            manifests[manifest.name] = manifest
        return cls(manifests.values(), diagnostics)

    def merged(self, custom: Mapping[str, str | Mapping[str, Any] | Skill]) -> SkillLibrary:
        """This library with `custom` skills over it: dicts, plain strings (the prompt), `Skill`s, or a library.

        A custom skill takes the place of one of the same name. Raises `SkillInvalid`.
        """
        manifests = dict(self._manifests)
        if isinstance(custom, SkillLibrary):
            manifests.update(custom._manifests)
        else:
            from orchestra.skills.custom import custom_skill

            for name, definition in custom.items():
                skill = custom_skill(name, definition)
                manifests[skill.name] = Manifest.of(skill)
        return SkillLibrary(manifests.values(), (*self.diagnostics, *getattr(custom, "diagnostics", ())))

    @property
    def manifests(self) -> Mapping[str, Manifest]:
        """What is known of each skill before it is loaded, by folded name."""
        return MappingProxyType(self._manifests)

    @property
    def catalogue(self) -> tuple[tuple[str, str], ...]:
        """(name, description) of each skill that a planner may choose."""
        return self.shelf.all

    def catalogue_for(self, task: str, tokens: int = CATALOGUE_TOKENS) -> tuple[tuple[str, str], ...]:
        """The catalogue; where it takes more than `tokens`, the best matches for the task. See `Shelf.fitting`."""
        return self.shelf.fitting(task, tokens)

    def manifest(self, name: str) -> Manifest:
        """Raises `SkillNotFound`."""
        found = self._manifests.get(fold_name(name))
        if found is None:
            raise SkillNotFound(f"there is no skill {name!r}")
        return found

    def sub_skills(self, manifest: Manifest) -> tuple[Manifest, ...]:
        """The manifests of a skill's sub-skills, no body read: those it declares, in order, then others of its folder.

        One that is declared without a path and is not in the folder is the library's own of that name. Raises
        `SkillInvalid` for one that is broken, and `SkillNotFound` for one that is nowhere.
        """
        from orchestra.skills.sub_skills import own_sub_skills, with_entry

        entries = {entry.name: entry for entry in manifest.sub_skills}
        return tuple(
            child if child is not None else with_entry(self.manifest(name), entries[name])
            for name, child in own_sub_skills(manifest).items()
        )

    def load(self, manifest: Manifest, *, model: str = "") -> Skill:
        """The skill of a manifest: body (or the variant for that model), schemas, callable. Raises `SkillInvalid`."""
        from orchestra.skills.loading import load

        return load(manifest, model=model)

    def get_or_generic(self, name: str) -> tuple[Skill, bool]:
        """The skill of that name and True, or a generic one and False, unless that was what the name meant."""
        folded = fold_name(name)
        return (self[folded], True) if folded in self._manifests else (GENERIC, folded == GENERIC.name)

    def __getitem__(self, name: str) -> Skill:
        return self.load(self._manifests[fold_name(name)])

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and fold_name(name) in self._manifests

    def __iter__(self) -> Iterator[str]:
        return iter(self._manifests)

    def __len__(self) -> int:
        return len(self._manifests)

    def __eq__(self, other: object) -> bool:
        return self._manifests == other._manifests if isinstance(other, SkillLibrary) else NotImplemented

    __hash__ = None  # pyright: ignore[reportAssignmentType] - it is a mapping

    def __repr__(self) -> str:
        return f"SkillLibrary({', '.join(self._manifests)})"


def _read_folder(folder: Path) -> list[Any]:
    """Each skill with what was found in its file; None in its place when it is no skill."""
    from orchestra.skills.index import Entry, index
    from orchestra.skills.reading import FILE_NAMES, read_manifest

    alone = folder if folder.is_file() and folder.name in FILE_NAMES else _skill_file(folder)
    if alone:
        return [Entry(*read_manifest(alone))]
    entries = index(folder) if folder.is_dir() else []
    if not entries:
        raise SkillInvalid(
            f"{folder} holds no skill",
            cause="no SKILL.md in it or in the folders directly in it"
            if folder.is_dir()
            else "there is no such folder",
            suggestion="Name a folder with a SKILL.md, or a folder of such folders.",
        )
    return entries


def _skill_file(folder: Path) -> Path | None:
    from orchestra.skills.reading import FILE_NAMES

    return next((folder / name for name in FILE_NAMES if (folder / name).is_file()), None)


@cache
def _builtin_folder() -> Path:
    package = Path(__file__).parents[1]
    places = (package / "_skill_library", package.parent / "skill_library")  # a wheel, a checkout
    found = next((place for place in places if place.is_dir()), None)
    if found is None:
        raise SkillNotFound("the shipped skills are missing", suggestion="Install the package again.")
    return found


@lru_cache(maxsize=2)
def _load_builtin(folder: Path) -> SkillLibrary:
    library = SkillLibrary.from_path(folder)
    manifests = (replace(manifest, source=SHIPPED) for manifest in library.manifests.values())
    return SkillLibrary(manifests, library.diagnostics)
