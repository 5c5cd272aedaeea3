"""Skills in the conventional places: found within bounds, and not trusted until their content is."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestra.errors import SkillInvalid
from orchestra.skills import SkillLibrary, discovery, trust
from orchestra.skills.discovery import MOST_DEPTH, skill_files_in


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


def put(place: Path, name: str, description: str = "Does it.", body: str = "Do it.") -> Path:
    file = place / name / "SKILL.md"
    file.parent.mkdir(parents=True)
    file.write_text(f"---\nname: {name}\ndescription: {description}\n---\n{body}\n", encoding="utf-8")
    return file.parent


def test_the_four_places_are_read_and_the_projects_hold(project: Path, home: Path) -> None:
    put(home / ".agents" / "skills", "mine")
    put(home / ".claude" / "skills", "shared", "The user's.")
    put(project / ".claude" / "skills", "shared", "The project's.")
    put(project / ".agents" / "skills", "theirs")

    library = SkillLibrary.discover(project)

    assert set(library) == {"mine", "shared", "theirs"}
    assert library.manifest("shared").description == "The project's."
    assert {name: manifest.is_trusted for name, manifest in library.manifests.items()} == {
        "mine": True,
        "shared": False,
        "theirs": False,
    }
    (replaced,) = library.diagnostics
    assert "takes the place of" in replaced.message


def test_agents_stands_before_claude(project: Path) -> None:
    put(project / ".claude" / "skills", "one", "Claude's.")
    put(project / ".agents" / "skills", "one", "Agents'.")

    assert SkillLibrary.discover(project).manifest("one").description == "Agents'."


def test_a_home_that_is_the_project_is_the_users(home: Path) -> None:
    put(home / ".agents" / "skills", "mine")

    assert SkillLibrary.discover(home).manifest("mine").is_trusted


def test_where_there_is_nothing_nothing_is_found(project: Path) -> None:
    library = SkillLibrary.discover(project)

    assert (len(library), library.diagnostics) == (0, ())


def test_the_search_is_bounded_in_depth_and_says_so(project: Path) -> None:
    place = project / ".agents" / "skills"
    put(place / "/".join("abcd"), "deep-enough")
    put(place / "/".join("abcdefg"), "too-deep")

    library = SkillLibrary.discover(project)

    assert list(library) == ["deep-enough"]
    assert [found.message for found in library.diagnostics] == [
        f"is {MOST_DEPTH} folders deep: what is below is not searched"
    ]


def test_the_search_is_bounded_in_folders_and_says_so(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discovery, "MOST_FOLDERS", 10)
    for number in range(20):
        put(project / ".agents" / "skills", f"skill-{number:02}")

    library = SkillLibrary.discover(project)

    assert len(library) == 9
    assert "holds more than 10 folders" in library.diagnostics[0].message


def test_what_is_no_place_for_skills_is_not_searched_and_circles_end(project: Path) -> None:
    place = project / ".agents" / "skills"
    put(place, "one")
    put(place / "node_modules", "two")
    put(place / ".git", "three")
    put(place / "one" / "sub_skills", "four")
    (place / "circle").symlink_to(place)

    library = SkillLibrary.discover(project)

    assert list(library) == ["one"]


def test_the_bounds_are_those_of_discovery_only(tmp_path: Path) -> None:
    put(tmp_path / "/".join("abcdefgh"), "deep")

    assert list(SkillLibrary.from_path(tmp_path / "/".join("abcdefgh"))) == ["deep"]


def test_one_bad_skill_of_a_project_hides_none(project: Path) -> None:
    put(project / ".agents" / "skills", "good")
    put(project / ".agents" / "skills", "bad", description="")

    library = SkillLibrary.discover(project)

    assert list(library) == ["good"]
    assert [found.severity for found in library.diagnostics] == ["error"]


def test_trust_holds_as_long_as_the_content_does(project: Path) -> None:
    folder = put(project / ".agents" / "skills", "one")
    trust.trust(folder)

    before = SkillLibrary.discover(project).manifest("one")
    (folder / "scripts").mkdir()
    after = SkillLibrary.discover(project).manifest("one")

    assert (before.is_trusted, bool(before.digest)) == (True, True)
    assert (after.is_trusted, after.digest) == (False, "")


@pytest.mark.parametrize(
    "change",
    [
        lambda folder: (folder / "SKILL.md").write_text("---\nname: one\ndescription: Does it.\n---\nDo harm.\n"),
        lambda folder: (folder / "references" / "terms.md").write_text("Other terms"),
        lambda folder: (folder / "references" / "terms.md").rename(folder / "references" / "words.md"),
        lambda folder: (folder / "references" / "terms.md").unlink(),
        lambda folder: (folder / "more.md").write_text(""),
        lambda folder: (folder / "more.md").symlink_to("/etc/passwd"),
    ],
    ids=["body", "file", "name", "removal", "empty file", "link"],
)
def test_a_change_of_any_kind_ends_trust_and_undoing_it_brings_it_back(project: Path, change) -> None:
    folder = put(project / ".agents" / "skills", "one")
    (folder / "references").mkdir()
    (folder / "references" / "terms.md").write_text("Terms")
    trust.trust(folder)

    change(folder)

    assert trust.trusted_digest(folder) == ""
    trust.trust(folder)
    assert trust.trusted_digest(folder) != ""


def test_a_skill_that_changes_after_it_was_listed_is_loaded_without_trust(project: Path) -> None:
    folder = put(project / ".agents" / "skills", "one")
    trust.trust(folder)
    library = SkillLibrary.discover(project)
    (folder / "SKILL.md").write_text("---\nname: one\ndescription: Does it.\n---\nDo harm.\n")

    skill = library["one"]

    assert library.manifest("one").is_trusted
    assert (skill.system_prompt, skill.is_trusted) == ("Do harm.", False)


def test_trust_is_of_a_place_too(project: Path, tmp_path: Path) -> None:
    trust.trust(put(project / ".agents" / "skills", "one"))
    copy = put(tmp_path / "copy", "one")

    assert trust.trusted_digest(copy) == ""


def test_trust_can_be_taken_back(project: Path) -> None:
    folder = put(project / ".agents" / "skills", "one")
    trust.trust(folder)

    assert trust.distrust(folder) is True
    assert trust.distrust(folder) is False
    assert trust.trusted_digest(folder) == ""


@pytest.mark.parametrize("damage", ["", "{}", "[]", "no JSON", '{"format": "orchestra-trust-1", "digest": 7}'])
def test_a_damaged_record_trusts_nothing(project: Path, home: Path, damage: str) -> None:
    folder = put(project / ".agents" / "skills", "one")
    trust.trust(folder)
    (record,) = (home / ".config" / "orchestra" / "trusted-skills").iterdir()
    record.write_text(damage)

    assert trust.trusted_digest(folder) == ""


def test_a_folder_too_large_to_answer_for_is_not_trusted(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trust, "MOST_BYTES", 10)
    folder = put(project / ".agents" / "skills", "one")

    with pytest.raises(SkillInvalid, match="cannot be trusted"):
        trust.trust(folder)


def test_sub_skills_are_trusted_as_their_parent_is(project: Path) -> None:
    folder = put(project / ".agents" / "skills", "one")
    put(folder / "sub_skills", "below")
    library = SkillLibrary.discover(project)

    (child,) = library.sub_skills(library.manifest("one"))

    assert child.is_trusted is False


def test_skills_that_the_caller_names_are_trusted(tmp_path: Path) -> None:
    put(tmp_path / ".agents" / "skills", "one")

    assert SkillLibrary.from_path(tmp_path / ".agents" / "skills").manifest("one").is_trusted


def test_a_folder_of_any_kind_is_searched_for_what_to_trust(project: Path) -> None:
    one = put(project / ".agents" / "skills", "one")
    two = put(project, "two")

    assert skill_files_in(project) == [two / "SKILL.md", one / "SKILL.md"]
    assert skill_files_in(one) == [one / "SKILL.md"]
    with pytest.raises(SkillInvalid, match="holds no skill"):
        skill_files_in(project / "nowhere")
