"""The mapping of skills: the shipped ones, those of folders, the caller's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestra.errors import SkillInvalid
from orchestra.skills import Skill, SkillLibrary

BUILTIN = (
    "analytical-comparison",
    "causal-reasoning",
    "classification",
    "critique",
    "fact-extraction",
    "gap-analysis",
    "structured-synthesis",
    "summarization",
)


@pytest.fixture
def add_skill(tmp_path: Path):
    def add(name: str, front: str | None = None, under: str = "mine") -> Path:
        folder = tmp_path / under / name
        folder.mkdir(parents=True)
        content = front or f"---\nname: {name}\ndescription: Does {name}.\n---\nDo {name}."
        (folder / "SKILL.md").write_text(content, encoding="utf-8")
        return folder

    return add


def test_the_eight_skills_of_plans_ship_without_a_diagnostic() -> None:
    library = SkillLibrary.builtin()

    assert tuple(name for name, _ in library.catalogue) == BUILTIN
    assert library.diagnostics == ()


def test_the_shipped_library_is_read_once() -> None:
    first = SkillLibrary.builtin()

    assert SkillLibrary.builtin() is first


@pytest.mark.parametrize("name", ["fact_extraction", "Fact-Extraction", "fact extraction", "FACT_EXTRACTION"])
def test_a_name_is_found_with_case_and_separators_folded(name: str) -> None:
    library = SkillLibrary.builtin()

    assert library[name].name == "fact-extraction"
    assert name in library


@pytest.mark.parametrize("name", ["no-such-skill", "", "self"])
def test_an_unknown_name_gives_the_generic_skill(name: str) -> None:
    skill, is_known = SkillLibrary.builtin().get_or_generic(name)

    assert (skill.name, is_known) == ("assistant", False)
    assert skill.system_prompt


def test_a_known_name_gives_its_skill() -> None:
    skill, is_known = SkillLibrary.builtin().get_or_generic("Causal_Reasoning")

    assert (skill.name, is_known) == ("causal-reasoning", True)


def test_custom_skills_follow_the_shipped_ones_in_the_callers_order() -> None:
    library = SkillLibrary.builtin().merged({"zeta": "Do zeta.", "Legal_Risk": "Do law."})

    assert [name for name, _ in library.catalogue] == [*BUILTIN, "zeta", "legal-risk"]
    assert library.catalogue[-1] == ("legal-risk", "Do law.")


def test_merging_leaves_the_library_it_starts_from_alone() -> None:
    library = SkillLibrary.builtin()

    library.merged({"zeta": "Do zeta."})

    assert "zeta" not in library


def test_a_custom_skill_takes_the_place_of_a_shipped_one() -> None:
    library = SkillLibrary.builtin().merged({"Fact_Extraction": {"description": "Ours.", "system_prompt": "Our way."}})

    assert library["fact-extraction"].system_prompt == "Our way."
    assert library.catalogue[BUILTIN.index("fact-extraction")] == ("fact-extraction", "Ours.")
    assert len(library) == len(SkillLibrary.builtin())


def test_a_dict_gives_every_field() -> None:
    definition = {
        "description": "Finds\nlegal risk.",
        "system_prompt": " Name the risk. ",
        "output_hint": "a list",
        "max_tokens": 700,
        "layer": "enhancement",
        "allowed_tools": "read_section, Bash(git:*)",
        "needs_approval": True,
        "max_turns": 4,
        "timeout_s": 30,
        "retries": 1,
    }

    library = SkillLibrary().merged({"legal_risk": definition})

    assert library["legal-risk"] == Skill(
        "legal-risk",
        "Finds legal risk.",
        "Name the risk.",
        "a list",
        "enhancement",
        700,
        "custom",
        allowed_tools=("read_section", "Bash(git:*)"),
        needs_approval=True,
        max_turns=4,
        timeout_s=30.0,
        retries=1,
    )


def test_a_skill_object_is_kept_under_the_callers_name() -> None:
    skill = Skill("anything", "Finds risk.", "Name the risk.", max_tokens=5)

    library = SkillLibrary().merged({"Legal Risk": skill})

    assert library["legal-risk"] == Skill("legal-risk", "Finds risk.", "Name the risk.", max_tokens=5, source="custom")


@pytest.mark.parametrize(
    ("prompt", "description"),
    [
        ("Find the risk. Then rank it.", "Find the risk."),
        ("Find e.g. the risk\nin the text. Then rank it.", "Find e.g. the risk in the text."),
        ("# Risk finder\n\nFind the risk.", "Risk finder"),
        ("Find the risk", "Find the risk"),
        ("word " * 100, "word " * 38 + "word…"),
    ],
)
def test_the_description_of_a_plain_prompt_is_its_first_sentence(prompt: str, description: str) -> None:
    library = SkillLibrary().merged({"risk": prompt})

    assert library["risk"].description == description
    assert library["risk"].system_prompt == prompt.strip()


@pytest.mark.parametrize(
    ("name", "definition", "reason"),
    [
        ("self", "Answer.", "cannot be called 'self'"),
        ("SELF", "Answer.", "cannot be called 'self'"),
        ("_", "Answer.", "has no name"),
        (7, "Answer.", "has no name: 7"),
        ("risk", " \n", "'risk' has an empty prompt"),
        ("risk", Skill("risk", "Finds risk.", " "), "'risk' has an empty prompt"),
        ("risk", Skill("risk", "", "Find risk."), "'risk' has no description"),
        ("risk", 7, "'risk' is a int"),
        ("risk", {"system_prompt": "Find risk."}, "'description': field required"),
        ("risk", {"description": "Finds risk."}, "'system_prompt': field required"),
        ("risk", {"description": "Finds risk.", "system_prompt": ""}, "'system_prompt'"),
        ("risk", {"description": "D", "system_prompt": "P", "prompt": "x", "tone": 1}, "unknown 'prompt', 'tone'"),
        ("risk", {"description": "D", "system_prompt": "P", "max_tokens": 0}, "'max_tokens'"),
        ("risk", {"description": "D", "system_prompt": "P", "layer": "top"}, "'layer'"),
        ("risk", {"description": "D", "system_prompt": "P", 3: "x"}, "unknown"),
        ("risk", {"description": "D", "system_prompt": "P", "timeout_s": 0}, "'timeout_s'"),
        ("risk", {"description": "D", "system_prompt": "P", "retries": 3}, "'retries'"),
        ("risk", {"description": "D", "system_prompt": "P", "allowed_tools": {"a": 1}}, "'allowed_tools'"),
    ],
)
def test_a_custom_skill_that_is_not_valid_is_refused_by_name(name, definition, reason: str) -> None:
    library = SkillLibrary.builtin()

    with pytest.raises(SkillInvalid, match="SKILL_INVALID") as caught:
        library.merged({name: definition})

    assert reason in str(caught.value)


def test_a_folder_of_skills_is_read_in_name_order(add_skill) -> None:
    folder = add_skill("beta").parent
    add_skill("alpha")

    library = SkillLibrary.from_path(folder)

    assert library.catalogue == (("alpha", "Does alpha."), ("beta", "Does beta."))


def test_a_folder_that_is_one_skill_is_read(add_skill) -> None:
    folder = add_skill("alpha")

    library = SkillLibrary.from_path(folder)

    assert tuple(library) == ("alpha",)
    assert library["alpha"].source == str(folder / "SKILL.md")


def test_a_skill_may_be_named_by_its_file(add_skill) -> None:
    folder = add_skill("alpha")

    library = SkillLibrary.from_path(folder / "SKILL.md")

    assert tuple(library) == ("alpha",)


def test_one_bad_skill_does_not_hide_the_others(add_skill) -> None:
    folder = add_skill("alpha").parent
    add_skill("bad", "---\nname: bad\n---\nNo description.")

    library = SkillLibrary.from_path(folder)

    assert tuple(library) == ("alpha",)
    assert [(Path(found.path).parent.name, found.severity) for found in library.diagnostics] == [("bad", "error")]
    assert "SKILL_INVALID" in library.diagnostics[0].message


def test_a_bad_skill_that_was_named_itself_is_an_error(add_skill) -> None:
    folder = add_skill("bad", "---\nname: bad\n---\nNo description.")

    with pytest.raises(SkillInvalid, match="has no description"):
        SkillLibrary.from_path(folder)


@pytest.mark.parametrize("folder", ["nowhere", "."])
def test_a_folder_without_skills_is_an_error(tmp_path: Path, folder: str) -> None:
    with pytest.raises(SkillInvalid, match="holds no skill"):
        SkillLibrary.from_path(tmp_path / folder)


def test_folders_that_hold_no_skills_of_their_own_are_skipped(add_skill) -> None:
    folder = add_skill("alpha").parent
    add_skill("node_modules")
    (folder / "notes").mkdir()

    library = SkillLibrary.from_path(folder)

    assert tuple(library) == ("alpha",)


def test_of_two_skills_with_one_name_the_later_folder_holds(add_skill) -> None:
    first = add_skill("alpha", under="user").parent
    second = add_skill("alpha", "---\nname: alpha\ndescription: The project's.\n---\nP.", under="project").parent

    library = SkillLibrary.from_path(first, second)

    assert library["alpha"].description == "The project's."
    assert [found.severity for found in library.diagnostics] == ["warning"]


def test_a_merged_library_brings_its_diagnostics(add_skill) -> None:
    folder = add_skill("alpha").parent
    add_skill("bad", "nothing")

    library = SkillLibrary.builtin().merged(SkillLibrary.from_path(folder))

    assert list(library)[-1] == "alpha"
    assert len(library.diagnostics) == 1


def test_a_skill_that_is_not_listed_can_still_be_named(add_skill) -> None:
    front = "---\nname: alpha\ndescription: Does it.\ndisable-model-invocation: true\n---\nDo it."

    library = SkillLibrary.from_path(add_skill("alpha", front))

    assert library.catalogue == ()
    assert library.get_or_generic("alpha")[1] is True
