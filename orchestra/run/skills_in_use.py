"""The library of one run: a body is read when the run reaches it, once, and the run says so."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from orchestra.document import count_tokens
from orchestra.errors import SkillInvalid
from orchestra.runtime.events import SkillLoaded
from orchestra.skills import Skill, SkillLibrary
from orchestra.skills.files import read_inside
from orchestra.skills.manifest import Manifest
from orchestra.skills.skill import SHIPPED

if TYPE_CHECKING:
    from orchestra.run.state import Run
    from orchestra.runtime.node import Node


@dataclass(frozen=True, slots=True)
class Loaded:
    """Text of a skill that the run has read for a node: its body, or a file of its folder."""

    manifest: Manifest
    node_id: str
    path: str
    text: str
    has_lost_trust: bool = False


Told = Callable[[Loaded], None]


class SkillsInUse(SkillLibrary):
    """What a library gives a run. Skills, sub-skills and files are read once, whoever asks. Thread-safe.

    `model` is the one that skills are prompts for; `tell` hears, on the thread that asked, what was read.
    """

    def __init__(self, library: SkillLibrary, model: str, tell: Told) -> None:
        super().__init__(library.manifests.values(), library.diagnostics, shelf=library.shelf)
        self._model = model
        self._tell = tell
        self._lock = threading.RLock()
        self._skills: dict[tuple[str, str, int], Skill] = {}
        self._files: dict[tuple[str, str], str] = {}
        self._below: dict[tuple[str, str, int], tuple[Manifest, ...]] = {}

    def load(self, manifest: Manifest, *, model: str = "") -> Skill:
        return self.reach(manifest, "run", model=model)

    def reach(self, manifest: Manifest, node_id: str, *, tell: Told | None = None, model: str = "") -> Skill:
        """The skill, read now if it was not yet. Raises `SkillInvalid`, each time anew."""
        key = _key(manifest)
        with self._lock:
            if key in self._skills:
                return self._skills[key]
            skill = self._skills[key] = super().load(manifest, model=model or self._model)
        if manifest.given is None:
            from orchestra.skills.loading import prompt_file

            variant = None if manifest.source == SHIPPED else prompt_file(manifest, model or self._model)
            path = variant or manifest.file
            lost = manifest.is_trusted and not skill.is_trusted
            (tell or self._tell)(Loaded(manifest, node_id, str(path), skill.system_prompt, lost))
        return skill

    def sub_skills(self, manifest: Manifest) -> tuple[Manifest, ...]:
        key = _key(manifest)
        with self._lock:
            if key not in self._below:
                self._below[key] = super().sub_skills(manifest)
            return self._below[key]

    def read(self, manifest: Manifest, path: str, node_id: str, *, tell: Told | None = None) -> str:
        """A text file of a skill's folder, such as `references/terms.md`. Raises `SkillInvalid`."""
        if manifest.folder is None:
            raise SkillInvalid(f"skill {manifest.name!r} has no files", cause="it was made in memory")
        key = (manifest.file, path)
        with self._lock:
            if key in self._files:
                return self._files[key]
            text = self._files[key] = read_inside(manifest.folder, path)
        (tell or self._tell)(Loaded(manifest, node_id, str(manifest.folder / path), text))
        return text


async def load(run: Run, manifest: Manifest, node: Node) -> Skill:
    """The skill of a manifest, on behalf of `node`. Raises `SkillInvalid`."""
    return run.library.reach(manifest, node.id)


def sub_skills(run: Run, manifest: Manifest, node: Node) -> dict[str, Manifest]:
    """The manifests of a skill's sub-skills by name, read when the skill is reached. Raises `SkillInvalid`."""
    return {child.name: child for child in run.library.sub_skills(manifest)}


def tell(run: Run, loaded: Loaded) -> None:
    """What a run says of a skill that it has read. On the run's own thread."""
    if run.stream.is_heard:
        tokens = _tokens_of(loaded.text)
        run.stream.emit(
            SkillLoaded, node_id=loaded.node_id, skill=loaded.manifest.name, path=loaded.path, tokens=tokens
        )
    if loaded.has_lost_trust:
        what = f"{loaded.manifest.name} has changed since it was trusted, and is not any more"
        run.warn("SKILL_CHANGED", what, loaded.node_id)


@lru_cache(maxsize=256)
def _tokens_of(text: str) -> int:
    return count_tokens(text)


def _key(manifest: Manifest) -> tuple[str, str, int]:
    return manifest.file, manifest.name, id(manifest.given) if manifest.given is not None else 0
