"""The order in which a plan's subtasks can run."""

from __future__ import annotations

from orchestra.planning.plan import Plan


def plan_with(dependencies):
    subtasks = [
        {"id": name, "task": "t", "skill": "critique", "depends_on": list(needed)}
        for name, needed in dependencies.items()
    ]
    return Plan.model_validate({"subtasks": subtasks})


def order(plan):
    return [subtask.id for subtask in plan.in_dependency_order()]


def test_subtasks_come_after_what_they_depend_on_and_otherwise_in_plan_order():
    assert order(plan_with({"a": "dc", "b": "", "c": "d", "d": ""})) == ["d", "c", "a", "b"]


def test_a_plan_in_which_everything_depends_on_everything_before_is_ordered_at_once():
    names = [str(number) for number in range(60)]

    assert order(plan_with({name: names[: int(name)] for name in names})) == names


def test_a_chain_of_thousands_is_ordered():
    names = [str(number) for number in range(3000)]
    backwards = {name: [str(int(name) + 1)] for name in names[:-1]} | {names[-1]: []}

    assert order(plan_with(backwards)) == names[::-1]
