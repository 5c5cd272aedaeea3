"""Trees whose skill.yaml makes no sense: an error of ours, or what can be done without it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from trees_for_tests import TreeModel, below, write_skill

from orchestra.pipeline import route
from orchestra.skills import SkillLibrary


@pytest.mark.parametrize(
    "odd",
    [
        {"triggers": [{"if": "x"}, {"else": ["y"]}]},
        {"dependencies": [[["a"]]]},
        {"execution": {"timeout_per_skill": "soon"}},
        {"routing": {"strategy": "sequential", "conditions": {"if": "true", "then": ["a"]}}},
        {"data_flow": ["a.output → b.x", "b.output → a.x"]},
        {"data_flow": {"step_9": "step_1.x"}},
        {"parameters": {"properties": {"a": {"$ref": "#/$defs/x"}}, "required": ["a"]}},
        {"output": {"$ref": "#"}},
        {"sub_skills": [{"name": "a", "dependencies": ["b"]}, {"name": "b", "dependencies": ["a"]}]},
        {"sub_skills": ["nobody"]},
    ],
)
def test_a_manifest_that_makes_no_sense_is_no_defect(tmp_path: Path, odd: dict[str, Any]):
    fields = {"type": "composite", "sub_skills": ["a", "b"], "routing": {"strategy": "parallel"}, **odd}
    place = write_skill(tmp_path, "office", **fields)
    for name in "ab":
        below(place, name)
    write_skill(tmp_path, "other")
    intent = {"primary_skills": ["office"]}
    model = TreeModel(intent=[intent, {"primary_skills": ["other"]}], a="A", b="B", other="C", resolution={"x": 1})

    result = route('Go {"a": 1}', SkillLibrary.from_path(tmp_path), model)

    assert "UNEXPECTED" not in [error.code for error in result.errors]
    assert result.model_dump_json()
