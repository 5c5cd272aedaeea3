"""The verbs by which a running skill loads more: another skill, a sub-skill of its own, a file of its folder."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import cache, partial
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from orchestra.errors import SkillInvalid, SkillNotFound, ToolFailed
from orchestra.run.skills_in_use import Loaded, tell
from orchestra.run.state import Run
from orchestra.runtime.node import Node
from orchestra.skills import Manifest, Skill, fold_name
from orchestra.skills.skill import SHIPPED
from orchestra.skills.sub_skills import PLACES

if TYPE_CHECKING:
    from orchestra.runtime.tools.tool import Tool

MORE = (*PLACES, "references", "assets")
"""What a skill's folder may hold besides itself, for it to ask for."""


def has_more(skill: Skill) -> bool:
    """Whether there is anything for the skill to load: sub-skills, or files to read."""
    manifest = skill.manifest
    if manifest is None or not skill.is_trusted:
        return False
    if manifest.children or manifest.sub_skills:
        return True
    if not manifest.file:
        return False
    folder = os.path.dirname(manifest.file)
    return _holds_more_for_good(folder) if manifest.source == SHIPPED else _holds_more(folder)


def _holds_more(folder: str) -> bool:
    return any(os.path.isdir(os.path.join(folder, place)) for place in MORE)


_holds_more_for_good = cache(_holds_more)  # of a shipped skill


def loading_skill(run: Run, node: Node) -> Tool:
    """`load_skill` over the run's library."""
    from orchestra.runtime.tools import verbs

    def load(name: str) -> str:
        try:
            manifest = run.library.manifest(name)
        except SkillNotFound:
            known = ", ".join(name for name, _ in run.library.catalogue_for(run.task))
            raise ToolFailed(f"there is no skill {name!r}", cause=f"there are {known}") from None
        _check_approval(manifest)
        return _text(run.library.reach(manifest, node.id, tell=partial(_told, run)))

    return replace(verbs.verb("load_skill"), function=load)


def loading_sub_skill(run: Run, node: Node, skill: Skill) -> Tool:
    """`load_subskill` for a skill at work: its sub-skills by name or file, and text files of its folder."""
    from orchestra.runtime.tools import verbs

    manifest = skill.manifest or Manifest.of(skill)

    def load(name: str) -> str:
        children = {child.name: child for child in run.library.sub_skills(manifest)}
        child = next((children[one] for one in _names(name) if one in children), None)
        if child is not None:
            _check_approval(child)
            return _text(run.library.reach(child, node.id, tell=partial(_told, run)))
        try:
            return run.library.read(manifest, name, node.id, tell=partial(_told, run))
        except SkillInvalid as error:
            known = f"its sub-skills are {', '.join(children) or 'none'}"
            raise ToolFailed(f"{name!r} cannot be loaded", cause=f"{error.cause or error.what}; {known}") from None

    return replace(verbs.verb("load_subskill"), function=load)


def _check_approval(manifest: Manifest) -> None:
    """A person approves the work of such a skill, and nobody would be asked for what another one does in its words."""
    if manifest.needs_approval:
        cause = "its work needs a person's approval, which is asked for where it works by itself"
        raise ToolFailed(f"the skill {manifest.name!r} is not loaded into another one", cause=cause)


def _names(written: str) -> tuple[str, ...]:
    """What a sub-skill may be called by: its name, its file, or its folder."""
    path = PurePosixPath(written)
    return tuple(map(fold_name, (written, path.stem, path.parent.name)))


def _text(skill: Skill) -> str:
    if not skill.system_prompt:
        raise ToolFailed(f"the skill {skill.name!r} has no instructions", cause="it is no prompt skill")
    return f"Skill {skill.name}:\n\n{skill.system_prompt}"


def _told(run: Run, loaded: Loaded) -> None:
    """From a worker: events are the run's own thread's."""
    run.scheduler.post(partial(tell, run, loaded))
