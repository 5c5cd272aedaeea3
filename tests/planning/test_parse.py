"""What models really send, and the plan that is made of it. Rows to extend: tests/data/plan_replies.json."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestra.errors import PlanInvalid
from orchestra.planning.parse import parse_plan
from orchestra.planning.plan import Plan

ROWS = json.loads((Path(__file__).parents[1] / "data" / "plan_replies.json").read_text(encoding="utf-8"))
WHOLE = {
    "subtasks": [
        {
            "id": "1",
            "task": "What was revenue?",
            "skill": "self",
            "context_pointers": {"sections": ["s2"], "line_ranges": []},
            "answer": "$4 million",
            "depends_on": [],
        },
        {
            "id": "2",
            "task": "Why did it fall?",
            "skill": "causal-reasoning",
            "context_pointers": {"sections": ["s3", "s4"], "line_ranges": [[10, 20]]},
            "answer": None,
            "depends_on": ["1"],
        },
    ],
    "reasoning": "one lookup, one analysis",
}

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(
        st.sampled_from(["subtasks", "task", "id", "skill", "sections", "section", "context_pointers", "line_ranges",
                         "answer", "depends_on", "plan", "reasoning", "x"]),
        inner,
        max_size=5,
    ),
    max_leaves=25,
)  # fmt: skip


@pytest.mark.parametrize("row", ROWS["mended"], ids=lambda row: row["name"])
def test_a_reply_that_can_be_mended_is(row):
    plan, _ = parse_plan(row["reply"])

    assert [subtask.model_dump(exclude_defaults=True) for subtask in plan.subtasks] == row["subtasks"]


@pytest.mark.parametrize("row", ROWS["invalid"], ids=lambda row: row["name"])
def test_a_reply_that_cannot_be_mended_is_kept_in_the_error(row):
    with pytest.raises(PlanInvalid) as caught:
        parse_plan(row["reply"])

    assert row["cause"] in caught.value.cause
    assert caught.value.details["raw"] == row["reply"]


def test_a_whole_plan_is_taken_as_it_is():
    plan, notes = parse_plan(json.dumps(WHOLE))

    assert plan == Plan.model_validate(WHOLE)
    assert notes == ()


@given(cut=st.integers(0, len(json.dumps(WHOLE))))
def test_a_cut_off_plan_gives_its_first_subtasks_or_plan_invalid(cut):
    try:
        plan, _ = parse_plan(json.dumps(WHOLE)[:cut])
    except PlanInvalid:
        return

    assert plan.subtasks[0].id == "1"


@given(reply=st.text() | json_values.map(json.dumps) | json_values)
def test_parsing_raises_nothing_but_plan_invalid(reply):
    try:
        plan, _ = parse_plan(reply)
    except PlanInvalid:
        return

    ids = [subtask.id for subtask in plan.subtasks]
    assert len(set(ids)) == len(ids) >= 1


@given(prefix=st.text(alphabet='abc {}[]`\n:,"', max_size=30), suffix=st.text(alphabet='abc {}[]`\n:,"', max_size=30))
def test_a_fenced_plan_survives_prose_around_it(prefix, suffix):
    plan, _ = parse_plan(f"{prefix.replace('`', '')}\n```json\n{json.dumps(WHOLE)}\n```\n{suffix.replace('`', '')}")

    assert plan.subtasks == Plan.model_validate(WHOLE).subtasks


def test_parsing_a_plan_again_changes_nothing():
    plan, _ = parse_plan(WHOLE)

    again, notes = parse_plan(plan.model_dump_json())

    assert again == plan
    assert notes == ()


def test_what_depends_on_others_comes_after_them():
    tasks = [{"id": "a", "task": "x", "depends_on": ["c"]}, {"id": "b", "task": "x"}, {"id": "c", "task": "x"}]

    plan, _ = parse_plan(tasks)

    assert [subtask.id for subtask in plan.in_dependency_order()] == ["c", "a", "b"]
