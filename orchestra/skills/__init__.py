"""Skills: what a subtask may be sent with. `SkillLibrary.builtin().merged(own)` is the usual call."""

from orchestra.skills.catalogue import CATALOGUE_TOKENS
from orchestra.skills.library import SkillLibrary
from orchestra.skills.manifest import Manifest
from orchestra.skills.skill import Diagnostic, Skill, fold_name

__all__ = ["CATALOGUE_TOKENS", "Diagnostic", "Manifest", "Skill", "SkillLibrary", "fold_name"]
