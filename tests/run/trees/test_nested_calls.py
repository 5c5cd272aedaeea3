"""How deep skills call one another: depth, cycles and permissions, before anything is sent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from trees_for_tests import Heard, TreeModel, below, of, write_skill

from orchestra.pipeline import route
from orchestra.runtime.events import PermissionsNarrowed
from orchestra.skills import SkillLibrary

FIXED = {"type": "composite", "routing": {"strategy": "sequential"}}


def chain(folder: Path, levels: int, **fields: Any) -> SkillLibrary:
    """Composites within one another, and a prompt skill at the bottom: `levels` in all."""
    place = write_skill(folder, "level-1", sub_skills=["level-2"], **FIXED, **fields)
    for level in range(2, levels):
        place = below(place, f"level-{level}", sub_skills=[f"level-{level + 1}"], **FIXED)
    below(place, f"level-{levels}")
    return SkillLibrary.from_path(folder)


def test_a_tree_of_four_levels_runs(tmp_path: Path):
    heard = Heard()

    result = route("Go", chain(tmp_path, 4), TreeModel(level_4="Down here."), on_event=heard)

    assert result.answer == "Down here."
    assert list(heard.tree)[-1] == "run/subtask-1/step-1/step-1/step-1"


def test_one_level_too_many_is_found_before_a_call(tmp_path: Path):
    model = TreeModel(level_5="Down here.")

    result = route("Go", chain(tmp_path, 5), model)

    assert [error.code for error in result.errors] == ["CALL_DEPTH_EXCEEDED"]
    assert result.errors[0].cause == "level-1 → level-2 → level-3 → level-4 → level-5"
    assert model.asked == []


def test_the_depth_is_the_callers_to_raise_and_the_skills_to_lower(tmp_path: Path):
    deep = route("Go", chain(tmp_path / "deep", 5), TreeModel(level_5="Down here."), max_depth=5)
    library = chain(tmp_path / "low", 3)
    yaml = tmp_path / "low" / "level-1" / "skill.yaml"
    yaml.write_text(yaml.read_text().replace('"strategy"', '"max_depth": 1, "strategy"'))
    low = route("Go", SkillLibrary.from_path(tmp_path / "low"), TreeModel(level_3="x"))

    assert deep.answer == "Down here."
    assert route("Go", library, TreeModel(level_3="x")).answer == "x"
    assert [error.code for error in low.errors] == ["CALL_DEPTH_EXCEEDED"]


def test_a_cycle_through_names_of_the_library_is_found_before_a_call(tmp_path: Path):
    write_skill(tmp_path, "a", sub_skills=["b"], triggers=["go"], **FIXED)
    write_skill(tmp_path, "b", sub_skills=["c"], **FIXED)
    write_skill(tmp_path, "c", sub_skills=["b"], **FIXED)
    model = TreeModel()

    result = route("Go", SkillLibrary.from_path(tmp_path), model)

    assert [error.code for error in result.errors] == ["CALL_CYCLE_DETECTED"]
    assert result.errors[0].cause == "b → c → b"
    assert model.asked == []


def test_a_part_of_the_same_name_is_another_skill(tmp_path: Path):
    place = write_skill(tmp_path, "sum", sub_skills=["sum"], **FIXED)
    below(place, "sum", "You are inner.")

    result = route("Go", SkillLibrary.from_path(tmp_path), TreeModel(inner="Done by another."))

    assert result.answer == "Done by another."


def test_many_ways_to_the_same_skills_are_gone_through_once(tmp_path: Path):
    for level in range(1, 7):
        names = [f"l{level + 1}-{n}" for n in range(12)]
        for n in range(12):
            write_skill(tmp_path, f"l{level}-{n}", sub_skills=names, **FIXED)
    for n in range(12):
        write_skill(tmp_path, f"l7-{n}", sub_skills=["l1-0"], **FIXED)
    write_skill(tmp_path, "start", sub_skills=["l1-0"], triggers=["go"], **FIXED)

    result = route("Go", SkillLibrary.from_path(tmp_path), TreeModel(), max_depth=8)

    assert [error.code for error in result.errors] == ["CALL_DEPTH_EXCEEDED"] or result.errors[0].code.startswith(
        "CALL"
    )


def test_a_code_skill_cannot_call_itself_through_others(tmp_path: Path):
    call = "from orchestra.skills.code import CallSkill\ndef work():\n    return (yield CallSkill('{}'))\n"
    write_skill(tmp_path, "a", code=call.format("b"), sub_skills=["b"], triggers=["go"])
    write_skill(tmp_path, "b", code=call.format("a"), sub_skills=["a"])

    result = route("Go", SkillLibrary.from_path(tmp_path), TreeModel())

    assert [error.code for error in result.errors] == ["CALL_CYCLE_DETECTED"]
    assert result.errors[0].cause == "a → b → a"


def test_permissions_narrow_at_each_level(tmp_path: Path):
    place = write_skill(tmp_path, "outer", sub_skills=["inner"], allowed_tools="look write", **FIXED)
    below(place, "inner", allowed_tools="write send")
    heard = Heard()

    def look(text: str) -> str:
        return text

    def write(text: str) -> str:
        return text

    def send(text: str) -> str:
        return text

    model = TreeModel(inner="Done.")
    result = route("Go", SkillLibrary.from_path(tmp_path), model, tools=[look, write, send], on_event=heard)

    narrowed = {event.node_id for event in heard if isinstance(event, PermissionsNarrowed)}
    assert result.answer == "Done."
    assert {"run/subtask-1", "run/subtask-1/step-1"} <= narrowed
    assert [tool.name for tool in model.requests[0].tools] == ["write"]
    assert len([event for event in heard if isinstance(event, PermissionsNarrowed)]) == len(narrowed)


@pytest.mark.parametrize("strategy", ["sequential", "parallel"])
def test_the_registry_of_the_design_runs(strategy: str):
    registry = {
        "email_workflow": {
            "description": "Manages mail.",
            "routing": {"strategy": strategy},
            "sub_skills": {
                "email_classifier": {"system_prompt": "You are classifier.", "triggers": ["organize"]},
                "email_responder": {
                    "description": "Replies.",
                    "triggers": ["reply"],
                    "dependencies": ["email_classifier"],
                    "routing": {"strategy": "sequential"},
                    "sub_skills": {
                        "tone_analyzer": {"system_prompt": "You are tone."},
                        "draft_generator": {"system_prompt": "You are draft."},
                    },
                },
            },
        }
    }
    model = TreeModel(classifier="two", tone="calm", draft="Dear Ada.")

    result = route("Reply to my mail", SkillLibrary.from_registry(registry), model)

    assert model.asked == ["classifier", "tone", "draft", "wording"]
    assert of(result, 0, 1, 1).output == "Dear Ada."
