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


def skill(root: Path, name: str, more: str = "", body: str = "Name it.") -> Path:
    file = root / name / "SKILL.md"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"---\nname: {name}\ndescription: Does {name}.\n{more}---\n{body}\n", encoding="utf-8")
    return file.parent


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's own folders, and a project to stand in."""
    for name, folder in (("HOME", ""), ("XDG_CONFIG_HOME", ".config"), ("XDG_CACHE_HOME", ".cache")):
        monkeypatch.setenv(name, str(tmp_path / "home" / folder))
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path / "home"


def test_listing_by_its_name_is_what_plain_skills_does(call, folder: Path) -> None:
    plain, named = call("skills", "--skills", folder), call("skills", "list", "--skills", folder)

    assert (named.stdout, named.stderr) == (plain.stdout, plain.stderr)


def test_what_is_not_for_plans_is_marked(call, tmp_path: Path) -> None:
    skill(tmp_path, "gate", "layer: guarantee\n")
    skill(tmp_path, "hidden", "disable-model-invocation: true\n")

    done = call("skills", "--skills", tmp_path)

    assert "gate (guarantee)" in done.stdout
    assert "hidden (unlisted)" in done.stdout


def test_notes_on_the_format_are_kept_from_those_who_only_use_a_skill(call, tmp_path: Path) -> None:
    skill(tmp_path, "one", "user-invocable: true\n")

    listed, validated = call("skills", "--skills", tmp_path), call("skills", "validate", tmp_path)

    assert listed.stderr == ""
    assert f"note: {tmp_path}/one/SKILL.md:4 `user-invocable`" in validated.stdout


def test_a_skill_is_shown_with_its_sub_skills_and_its_prompt(call, tmp_path: Path) -> None:
    place = skill(tmp_path, "mail", "allowed-tools: Read\napproval: required\n")
    skill(place / "sub_skills", "tone")

    done = call("skills", "show", "Mail", "--skills", tmp_path)

    words = " ".join(done.stdout.split())
    assert (done.exit_code, done.stderr) == (0, "")
    assert "tools Read approval a person approves it first" in words
    assert "Sub-skills: tone: Does tone. Name it." in words


def test_a_skill_is_shown_as_json_with_everything_it_declares(call, tmp_path: Path) -> None:
    place = skill(tmp_path, "mail")
    (place / "skill.yaml").write_text("version: 1.10\nparameters: {required: [mailbox]}\n")
    skill(place / "sub_skills", "tone")

    shown = json.loads(call("skills", "show", "mail", "--skills", tmp_path, "--json").stdout)

    assert (shown["version"], shown["parameters"]) == ("1.10", {"required": ["mailbox"]})
    assert [child["name"] for child in shown["sub_skills"]] == ["tone"]
    assert shown["system_prompt"] == "Name it."


def test_a_skill_that_is_not_there_is_named(call) -> None:
    done = call("skills", "show", "nobody")

    assert (done.exit_code, done.stdout) == (1, "")
    assert "SKILL_NOT_FOUND: there is no skill 'nobody'" in done.stderr


def test_all_that_is_wrong_is_said_by_file_and_line(call, tmp_path: Path) -> None:
    skill(tmp_path, "good")
    skill(tmp_path, "empty", body="")
    place = skill(tmp_path, "mail")
    (place / "skill.yaml").write_text(
        "sub_skills: [{name: one, dependencies: [two]}]\nrouting: {strategy: conditional, conditions: [{if: '1 +', then: [one]}]}\n"
        "output: schemas/output.py:Output\n"
    )
    (place / "schemas").mkdir()
    (place / "schemas" / "output.py").write_text("raise SystemExit\n")
    skill(place / "sub_skills", "one", "metadata: 7\n", body="")

    done = call("skills", "validate", tmp_path)

    assert done.exit_code == 1
    lines = done.stdout.splitlines()
    assert lines[0].startswith(f"error: {tmp_path}/empty/SKILL.md:4 SKILL_INVALID: has no body")
    assert f"error: {place}/schemas/output.py has no 'Output'" in lines
    assert f"warning: {place}/sub_skills/one/SKILL.md:4 `metadata` is not a map: ignored" in lines
    assert f"error: {place}/SKILL.md 'one' depends on 'two', which is none of its sub-skills" in lines
    assert any(
        line.startswith(f"error: {place}/sub_skills/one/SKILL.md:5 SKILL_INVALID: has no body") for line in lines
    )
    assert any("condition" in line for line in lines)
    assert lines[-1] == "3 skills: 5 errors, 1 warning"


def test_validation_as_json_says_which_can_be_used(call, folder: Path) -> None:
    done = call("skills", "validate", folder, "--json")

    checked = json.loads(done.stdout)
    assert done.exit_code == 1
    assert checked["is_valid"] is False
    assert {Path(one["path"]).parent.name: one["is_usable"] for one in checked["skills"]} == {
        "bad": False,
        "tone": True,
    }


@pytest.mark.parametrize("kind", ["prompt", "code", "composite"])
def test_a_new_skill_is_valid_as_it_is(call, tmp_path: Path, kind: str) -> None:
    made = call("skills", "new", "my-skill", "--skills", tmp_path, "--type", kind)

    assert made.exit_code == 0
    assert str(tmp_path / "my-skill" / "SKILL.md") in made.stdout.splitlines()
    assert call("skills", "validate", tmp_path).stdout == "1 skill: nothing to mend\n"
    assert SkillLibrary.from_path(tmp_path)["my-skill"].manifest.type == kind


def test_what_is_there_is_not_written_over(call, tmp_path: Path) -> None:
    place = skill(tmp_path, "mine")

    done = call("skills", "new", "mine", "--skills", tmp_path)

    assert done.exit_code == 2
    assert "is there already" in done.stderr
    assert (place / "SKILL.md").read_text().endswith("Name it.\n")


@pytest.mark.parametrize("name", ["My Skill", "../up", "self", "-x", ""])
def test_a_new_skill_needs_a_name_of_the_format(call, tmp_path: Path, name: str) -> None:
    done = call("skills", "new", "--skills", tmp_path, "--", name)

    assert done.exit_code == 2
    assert list(tmp_path.iterdir()) == []


def test_a_projects_skill_is_untrusted_until_it_is_trusted_and_when_it_changes(call, home: Path) -> None:
    place = skill(Path(".agents/skills"), "theirs")

    before = call("skills", "--discover")
    trusted = call("skills", "trust", ".")
    after = call("skills", "--discover")
    (place / "SKILL.md").write_text("---\nname: theirs\ndescription: Does harm.\n---\nDo harm.\n")
    changed = call("skills", "--discover", "--json")

    assert "theirs (untrusted)" in before.stdout
    assert trusted.stdout.startswith("trusted: .agents/skills/theirs ")
    assert "theirs (untrusted)" not in after.stdout
    assert [one["is_trusted"] for one in json.loads(changed.stdout)["skills"] if one["name"] == "theirs"] == [False]


def test_trust_is_taken_back(call, home: Path) -> None:
    skill(Path(".agents/skills"), "theirs")
    call("skills", "trust", ".")

    done = call("skills", "trust", ".", "--remove", "--json")

    assert json.loads(done.stdout)["skills"][0]["was_trusted"] is True
    assert "theirs (untrusted)" in call("skills", "--discover").stdout


def test_nothing_is_discovered_unless_it_is_asked_for(call, home: Path) -> None:
    skill(Path(".agents/skills"), "theirs")

    assert "theirs" not in call("skills").stdout
    assert "theirs" in call("skills", "--discover").stdout


def test_skills_that_are_named_stand_over_those_that_are_discovered(call, home: Path, tmp_path: Path) -> None:
    skill(Path(".agents/skills"), "one")
    skill(tmp_path / "named", "one", "license: MIT\n")

    listed = json.loads(call("skills", "--discover", "--skills", tmp_path / "named", "--json").stdout)["skills"]

    assert [one["is_trusted"] for one in listed if one["name"] == "one"] == [True]
