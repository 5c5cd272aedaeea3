"""A sub-skill in a file of its folder's name, with skill.yaml beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestra.errors import SkillInvalid
from orchestra.skills import Manifest, SkillLibrary


def child_of(root: Path, **files: str) -> Manifest:
    place = root / "exam" / "subskill" / "grading"
    place.mkdir(parents=True)
    (root / "exam" / "SKILL.md").write_text("---\nname: exam\ndescription: Examines.\n---\nAsk.\n")
    (place / "grading.md").write_text("---\nname: grading\ndescription: Grades.\n---\nGrade it.\n")
    for name, text in files.items():
        (place / name.replace("_", ".")).write_text(text)
    library = SkillLibrary.from_path(root)
    (child,) = library.sub_skills(library.manifest("exam"))
    return child


def test_skill_yaml_beside_a_single_file_makes_it_a_code_skill(tmp_path: Path) -> None:
    files = {
        "skill_yaml": "type: code\nfunction: grade.py:grade\n",
        "grade_py": "def grade(answer):\n    return answer\n",
    }

    child = child_of(tmp_path, **files)

    assert (child.name, child.description, child.type) == ("grading", "Grades.", "code")
    assert SkillLibrary().load(child).function("right") == "right"


def test_a_single_file_without_skill_yaml_is_a_prompt(tmp_path: Path) -> None:
    child = child_of(tmp_path)

    assert child.type == "prompt"
    assert SkillLibrary().load(child).system_prompt == "Grade it."


def test_a_skill_yaml_that_would_run_as_something_else_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SkillInvalid, match="grading"):
        child_of(tmp_path, skill_yaml="type: nonsense\n")
