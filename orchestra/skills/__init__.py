"""Skills: what a subtask may be sent with. `SkillLibrary.builtin().merged(own)` is the usual call."""

from orchestra.skills.library import SkillLibrary
from orchestra.skills.skill import Diagnostic, Skill, fold_name

__all__ = ["Diagnostic", "Skill", "SkillLibrary", "fold_name"]
