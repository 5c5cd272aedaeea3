"""Skills that a run reaches: each is read when it is first needed, once, and the run says so."""

from __future__ import annotations

from orchestra.document import count_tokens
from orchestra.run.state import Run
from orchestra.runtime.calls import model_name
from orchestra.runtime.events import SkillLoaded
from orchestra.runtime.node import Node
from orchestra.skills import Skill
from orchestra.skills.manifest import Manifest

Place = tuple[str, str]
"""Where a manifest comes from, and its name: sub-skills of different skills may have the same name."""


def load(run: Run, manifest: Manifest, node: Node) -> Skill:
    """The skill of a manifest, on behalf of `node`. Raises `SkillInvalid`."""
    place = _place(manifest)
    if place not in run.loaded_skills:
        skill = run.loaded_skills[place] = run.library.load(manifest, model=model_name(run.worker))
        if manifest.body is not None:
            tokens = count_tokens(skill.system_prompt)
            run.stream.emit(SkillLoaded, node_id=node.id, skill=manifest.name, path=str(manifest.body), tokens=tokens)
    return run.loaded_skills[place]


def sub_skills(run: Run, manifest: Manifest) -> dict[str, Manifest]:
    """The manifests of a skill's sub-skills by name, read when the skill is reached. Raises `SkillInvalid`."""
    place = _place(manifest)
    if place not in run.reached_sub_skills:
        run.reached_sub_skills[place] = {each.name: each for each in run.library.sub_skills(manifest)}
    return run.reached_sub_skills[place]


def _place(manifest: Manifest) -> Place:
    return manifest.source if manifest.folder is None else str(manifest.folder), manifest.name
