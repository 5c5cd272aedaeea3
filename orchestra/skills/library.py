"""The skills a run may use: the shipped ones, those of folders, and the caller's own, in one mapping."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, cast

from orchestra.errors import SkillInvalid, SkillNotFound
from orchestra.skills.skill import Diagnostic, Skill, fold_name

SKIPPED_FOLDERS = frozenset({".git", "node_modules"})
_FILE_NAMES = ("SKILL.md", "skill.md")

GENERIC = Skill(
    name="assistant",
    description="Answers a question that no other skill fits.",
    system_prompt=(
        "Answer the question directly, in the first sentence. Then give only the evidence that the answer rests on. "
        "Where you infer rather than report, say so."
    ),
    source="builtin",
)


class SkillLibrary(Mapping[str, Skill]):
    """Skills by name, immutable. Lookups fold case, `_` and `-`; order is that of the planner's catalogue."""

    def __init__(self, skills: Iterable[Skill] = (), diagnostics: Iterable[Diagnostic] = ()) -> None:
        self._skills = {skill.name: skill for skill in skills}
        self.diagnostics = tuple(diagnostics)

    @classmethod
    def builtin(cls) -> SkillLibrary:
        """The skills that ship with the package. Read once per process."""
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

        A later skill takes the place of an earlier one of the same name. In a folder of skills a bad one is
        left out, with an error in `diagnostics`. Raises `SkillInvalid` for a folder that is a bad skill itself,
        holds no skill, or does not exist.
        """
        skills: dict[str, Skill] = {}
        diagnostics: list[Diagnostic] = []
        for folder in map(Path, folders):
            for skill, found in _read_folder(folder):
                diagnostics += found
                if skill is None:
                    continue
                if skill.name in skills:
                    message = f"takes the place of {skills[skill.name].source}, which has the same name"
                    diagnostics.append(Diagnostic(skill.source, 0, "warning", message))
                skills[skill.name] = skill
        return cls(skills.values(), diagnostics)

    def merged(self, custom: Mapping[str, str | Mapping[str, Any] | Skill]) -> SkillLibrary:
        """This library with `custom` skills over it: dicts, plain strings (the prompt), `Skill`s, or a library.

        A custom skill takes the place of one of the same name. Raises `SkillInvalid`.
        """
        from orchestra.skills.custom import custom_skill

        skills = dict(self._skills)
        for name, definition in custom.items():
            skill = custom_skill(name, definition)
            skills[skill.name] = skill
        return SkillLibrary(skills.values(), (*self.diagnostics, *getattr(custom, "diagnostics", ())))

    @property
    def catalogue(self) -> tuple[tuple[str, str], ...]:
        """(name, description) of each skill that a planner may choose."""
        return tuple((skill.name, skill.description) for skill in self._skills.values() if skill.is_listed)

    def get_or_generic(self, name: str) -> tuple[Skill, bool]:
        """The skill of that name and True, or a generic one and False, unless that was what the name meant."""
        skill = self._skills.get(fold_name(name))
        return (GENERIC, fold_name(name) == GENERIC.name) if skill is None else (skill, True)

    def __getitem__(self, name: str) -> Skill:
        return self._skills[fold_name(name)]

    def __iter__(self) -> Iterator[str]:
        return iter(self._skills)

    def __len__(self) -> int:
        return len(self._skills)

    def __repr__(self) -> str:
        return f"SkillLibrary({', '.join(self._skills)})"


def _read_folder(folder: Path) -> Iterator[tuple[Skill | None, tuple[Diagnostic, ...]]]:
    """Each skill with what was found in its file; None in its place when it is no skill."""
    from orchestra.skills.front_matter import read_skill

    alone = folder if folder.is_file() and folder.name in _FILE_NAMES else _skill_file(folder)
    if alone:
        yield read_skill(alone)
        return
    files = _skill_files(folder)
    if not files:
        raise SkillInvalid(
            f"{folder} holds no skill",
            cause="no SKILL.md in it or in the folders directly in it"
            if folder.is_dir()
            else "there is no such folder",
            suggestion="Name a folder with a SKILL.md, or a folder of such folders.",
        )
    for file in files:
        try:
            yield read_skill(file)
        except SkillInvalid as error:
            message = f"{error.code}: {error.what}" + (f" ({error.cause})" if error.cause else "")
            yield None, (Diagnostic(str(file), error.details.get("line", 0), "error", message),)


def _skill_files(folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    try:
        inside = sorted(child for child in folder.iterdir() if child.name not in SKIPPED_FOLDERS and child.is_dir())
    except OSError as error:
        raise SkillInvalid(f"{folder} cannot be read", cause=error.strerror or str(error)) from error
    return [file for file in map(_skill_file, inside) if file]


def _skill_file(folder: Path) -> Path | None:
    return next((folder / name for name in _FILE_NAMES if (folder / name).is_file()), None)


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
    return SkillLibrary((replace(skill, source="builtin") for skill in library.values()), library.diagnostics)
