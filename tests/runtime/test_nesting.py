from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestra.errors import CallCycleDetected, CallDepthExceeded
from orchestra.runtime.nesting import nest
from orchestra.runtime.node import Node


def chain(*skills, max_depth=8):
    node = Node("run", "run")
    for skill in skills:
        node = nest(node, skill or "tool", "subtask", skill=skill, max_depth=max_depth)
    return node


def test_a_node_is_made_below_its_parent():
    node = chain("a", "b")

    assert (node.id, node.skill, node.depth) == ("run/a/b", "b", 2)


def test_a_skill_that_would_call_itself_is_refused_with_the_path():
    with pytest.raises(CallCycleDetected) as caught:
        chain("a", "b", "c", "b")

    assert caught.value.cause == "b → c → b"


def test_a_skill_beyond_the_depth_is_refused_with_the_path():
    with pytest.raises(CallDepthExceeded, match="depth 3, and 2 is the most") as caught:
        chain("a", "b", "c", max_depth=2)

    assert caught.value.cause == "a → b → c"


def test_nodes_without_a_skill_count_for_nothing():
    assert chain("a", "", "", "b", "", max_depth=2).id == "run/a/tool/tool/b/tool"


@given(st.lists(st.sampled_from("abcdef"), max_size=8), st.integers(2, 8))
def test_no_path_is_ever_deeper_than_the_most_or_holds_a_skill_twice(skills, max_depth):
    is_allowed = len(skills) <= max_depth and len(set(skills)) == len(skills)

    try:
        chain(*skills, max_depth=max_depth)
    except (CallDepthExceeded, CallCycleDetected):
        assert not is_allowed
    else:
        assert is_allowed
