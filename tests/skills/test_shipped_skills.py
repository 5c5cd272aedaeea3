"""The prompts that ship. A change in one shows as a difference in `golden/`."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestra.skills import SkillLibrary
from orchestra.skills.loading import read_skill

GOLDEN = Path(__file__).parent / "golden"
SHIPPED = Path(__file__).parents[2] / "skill_library"
NAMES = sorted(path.stem for path in GOLDEN.glob("*.txt"))


@pytest.mark.parametrize("name", NAMES)
def test_a_shipped_prompt_is_the_one_on_record(name: str) -> None:
    expected = (GOLDEN / f"{name}.txt").read_text(encoding="utf-8")

    assert SkillLibrary.builtin()[name].system_prompt + "\n" == expected


def test_every_shipped_skill_is_on_record() -> None:
    assert [name for name, _ in SkillLibrary.builtin().catalogue] == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_shipped_skill_keeps_to_the_format_and_to_its_size(name: str) -> None:
    skill, diagnostics = read_skill(SHIPPED / name / "SKILL.md")

    assert diagnostics == ()
    assert 80 <= len(skill.system_prompt.split()) <= 180
    assert len(skill.description.split()) <= 27
    assert skill.description.count(".") == 1
    assert "use " in skill.description
    assert skill.output_hint
    assert skill.layer == "execution"
    assert skill.max_tokens is not None
    assert skill.max_tokens >= 2048


def test_conditions_of_shipped_skills_speak_of_the_mode_alone():
    conditions = {each.applies for each in SkillLibrary.builtin().manifests.values() if each.applies}

    assert conditions == {"mode == 'deep-work'"}
