"""What the outline planner's model may send, and the decision that is read from it. Rows to extend: outline_replies.json."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestra.document import DocumentSet
from orchestra.errors import PlanInvalid
from orchestra.planning.outline_reply import parse_outline

ROWS = json.loads((Path(__file__).parents[1] / "data" / "outline_replies.json").read_text(encoding="utf-8"))
DOCUMENTS = DocumentSet.of("# Revenue\n\nIt rose.\n\n# Costs\n\nThey fell.\n\n# Risks\n\nSome.\n\n# End\n\nDone.\n")
PAGED = DocumentSet.of("First page.\n\fSecond page.\n\fThird page.\n")

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12) | st.sampled_from(["s1", "[s2]"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["look", "whole", "subtasks", "task", "id", "skill", "sections", "answer", "depends_on"]),
            inner,
            max_size=5,
        )
    ),
    max_leaves=25,
)


@pytest.mark.parametrize("row", ROWS["plans"], ids=lambda row: row["name"])
def test_a_plan_is_read_from(row):
    reply = parse_outline(row["reply"], DOCUMENTS)

    assert reply.plan is not None
    assert [subtask.context_pointers.sections for subtask in reply.plan.subtasks] == row["sections"]
    assert (reply.look, reply.whole, len(reply.notes)) == ((), False, row["notes"])


@pytest.mark.parametrize("row", ROWS["looks"], ids=lambda row: row["name"])
def test_a_look_is_read_from(row):
    reply = parse_outline(row["reply"], DOCUMENTS)

    assert (reply.plan, list(reply.look), reply.whole) == (None, row["look"], False)


@pytest.mark.parametrize("row", ROWS["wholes"], ids=lambda row: row["name"])
def test_a_task_about_the_whole_is_read_from(row):
    reply = parse_outline(row["reply"], DOCUMENTS)

    assert (reply.plan, reply.look, reply.whole, reply.skill) == (None, (), True, row["skill"])


@pytest.mark.parametrize("row", ROWS["invalid"], ids=lambda row: row["name"])
def test_nothing_usable_is_an_invalid_plan(row):
    with pytest.raises(PlanInvalid) as caught:
        parse_outline(row["reply"], DOCUMENTS)

    assert row["cause"] in caught.value.cause
    assert caught.value.details["raw"] == row["reply"]


def test_bare_numbers_are_pages_where_a_document_has_pages():
    reply = parse_outline({"subtasks": [{"task": "t", "sections": [2, "p3"]}]}, PAGED)

    assert reply.plan is not None
    assert reply.plan.subtasks[0].context_pointers.sections == ["p2", "p3"]


def test_bare_numbers_keep_their_document_s_key():
    documents = DocumentSet.of([DOCUMENTS[0], PAGED[0]])

    reply = parse_outline({"subtasks": [{"task": "t", "sections": ["d1:2", "d2:3", "d9:1"]}]}, documents)

    assert reply.plan is not None
    assert reply.plan.subtasks[0].context_pointers.sections == ["d1:s2", "d2:p3", "d9:1"]


def test_after_a_look_another_one_gives_the_subtasks_their_places():
    reply = parse_outline({"look": ["s2"], "subtasks": [{"task": "t", "sections": []}]}, DOCUMENTS, may_look=False)

    assert reply.look == ()
    assert reply.plan is not None
    assert reply.plan.subtasks[0].context_pointers.sections == ["s2"]


def test_after_a_look_another_one_alone_is_no_plan():
    with pytest.raises(PlanInvalid):
        parse_outline({"look": ["s2"], "whole": False, "subtasks": []}, DOCUMENTS, may_look=False)


def test_an_answer_counts_as_a_plan_without_places():
    reply = parse_outline({"look": ["s2"], "subtasks": [{"task": "t", "skill": "self", "answer": "x [L3]"}]}, DOCUMENTS)

    assert reply.plan is not None
    assert reply.plan.subtasks[0].answer == "x [L3]"


@settings(deadline=None)
@given(reply=st.text() | json_values.map(json.dumps) | json_values, may_look=st.booleans())
def test_reading_gives_just_one_decision_or_plan_invalid(reply, may_look):
    try:
        found = parse_outline(reply, DOCUMENTS, may_look=may_look)
    except PlanInvalid:
        return

    assert [found.plan is not None, bool(found.look), found.whole].count(True) == 1
    assert may_look or not found.look
