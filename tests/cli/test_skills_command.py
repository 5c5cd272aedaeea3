"""`orchestra skills`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from orchestra.skills import SkillLibrary


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, front in (("tone", "description: Finds\x85 the tone."), ("bad", "license: MIT")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "SKILL.md").write_text(f"---\nname: {name}\n{front}\n---\nName it.\n", encoding="utf-8")
    return tmp_path


def test_the_shipped_skills_are_listed_with_their_descriptions(spawn) -> None:
    done = spawn("skills", COLUMNS="400")

    words = " ".join(done.stdout.split())
    assert (done.returncode, done.stderr) == (0, "")
    for manifest in SkillLibrary.builtin().manifests.values():
        assert manifest.name in words
        assert manifest.description in words


def test_skills_of_a_folder_follow_and_bad_ones_are_named_on_standard_error(call, folder: Path) -> None:
    done = call("skills", "--skills", folder)

    assert done.exit_code == 0
    assert done.stdout.splitlines()[-1].split() == ["tone", "Finds", "the", "tone."]
    assert done.stderr.startswith(f"error: {folder}/bad/SKILL.md:1 SKILL_INVALID")


def test_json_holds_every_field_and_the_diagnostics(call, folder: Path) -> None:
    done = call("skills", "--skills", folder, "--json")

    listed = json.loads(done.stdout)
    assert [skill["name"] for skill in listed["skills"]] == [*SkillLibrary.builtin(), "tone"]
    assert listed["skills"][-1]["source"] == str(folder / "tone" / "SKILL.md")
    assert [diagnostic["severity"] for diagnostic in listed["diagnostics"]] == ["error"]
