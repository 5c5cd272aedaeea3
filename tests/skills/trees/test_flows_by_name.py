"""Data flows that name steps by their sub-skills, and odd ones."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestra.skills.trees.flow import Binding, bindings
from orchestra.skills.trees.replies import Step
from orchestra.skills.trees.steps import startable
from orchestra.skills.trees.triggers import parts_of

NUMBERS = {"sort": 1, "mail-sort": 2, "step-9": 3, "output": 4}


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("sort.output.urgent → mail_sort.mails", Binding(1, ("urgent",), 2, "mails")),
        ("mail-sort.urgent -> Sort.mails", Binding(2, ("urgent",), 1, "mails")),
        ("Mail_Sort_output => step_1.input.mails", Binding(2, (), 1, "mails")),
        ("step_1_output: urgent → step_2.mails", Binding(1, ("urgent",), 2, "mails")),
        ("sort.output.0.id → output.first", Binding(1, ("0", "id"), 4, "first")),
        ("step_9.output → sort.mails", Binding(3, (), 1, "mails")),
        ("sort → mail-sort.parameters", Binding(1, (), 2, "parameters")),
    ],
)
def test_a_step_may_be_named_by_its_sub_skill(line: str, expected: Binding):
    found, _ = bindings([line], NUMBERS)

    assert found == (expected,)


@given(st.one_of(st.text(), st.dictionaries(st.text(), st.one_of(st.text(), st.lists(st.text()), st.integers()))))
def test_whatever_is_written_is_read_or_given_back(written: object):
    entries = written if isinstance(written, dict) else [written]

    found, odd = bindings(entries, NUMBERS)  # type: ignore[arg-type]

    assert all(binding.source >= 0 and binding.parameter for binding in found)
    assert all(isinstance(line, str) for line in odd)


@given(st.permutations(range(1, 7)), st.data())
def test_steps_start_behind_those_that_they_wait_for(numbers: list[int], data: st.DataObject):
    steps = [
        Step(
            step=number,
            sub_skill="x",
            depends_on=tuple(data.draw(st.sets(st.sampled_from(numbers[:at])))) if at else (),
        )
        for at, number in enumerate(numbers)
    ]
    mixed = data.draw(st.permutations(steps))

    ordered = [step.step for step in startable(mixed)]

    assert sorted(ordered) == sorted(numbers)
    assert all(ordered.index(each) < ordered.index(step.step) for step in steps for each in step.depends_on)


@pytest.mark.parametrize(
    ("query", "parts"),
    [
        ("Summarize my notes and schedule meetings", ("Summarize my notes", "schedule meetings")),
        ("Sort the mail. Answer Ada!", ("Sort the mail", "Answer Ada!")),
        ("Sort the mail and answer it", ("Sort the mail and answer it",)),
        ("Sort the mail, then answer", ("Sort the mail, then answer",)),
        ("Brand and land", ("Brand", "land")),
    ],
)
def test_a_query_falls_into_parts_that_do_not_lean_on_one_another(query: str, parts: tuple[str, ...]):
    assert parts_of(query) == parts
