"""The numbers of a synthesis, over random trees of steps."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from orchestra.errors import ModelRefused
from orchestra.run.trees.calls import StepOutcome, partial_failures, success_rate
from orchestra.run.trees.wording import as_found


def leaf(number: int, kind: str) -> StepOutcome:
    fields: dict[str, Any] = {
        "completed": {"status": "completed", "output": "x"},
        "failed": {"status": "failed", "error": ModelRefused("no")},
        "skipped": {"status": "skipped", "reason": "step 1 failed"},
        "left out": {"status": "skipped", "is_required": False},
        "waiting": {"status": "waiting", "error": ModelRefused("later")},
    }[kind]
    return StepOutcome(f"step_{number}", "work", f"run/{number}", **fields)


LEAVES = st.builds(leaf, st.integers(1, 9), st.sampled_from(["completed", "failed", "skipped", "left out", "waiting"]))
TREES = st.recursive(
    LEAVES,
    lambda steps: st.builds(
        lambda below: StepOutcome("step_1", "composite", "run/1", "completed", steps=tuple(below)),
        st.lists(steps, min_size=1, max_size=4),
    ),
    max_leaves=12,
)


def leaves(step: StepOutcome) -> list[StepOutcome]:
    return [each for one in step.steps for each in leaves(one)] if step.steps else [step]


@given(st.lists(TREES, max_size=4))
def test_each_leaf_that_was_to_be_done_counts_once(steps: list[StepOutcome]):
    wanted = [each for step in steps for each in leaves(step) if each.is_required]
    completed = [each for each in wanted if each.status == "completed"]

    rate, failures = success_rate(steps), partial_failures(steps)

    assert rate == (round(len(completed) / len(wanted), 4) if wanted else 1.0)
    assert len(failures) == len(wanted) - len(completed)
    assert as_found(steps).summary.startswith(f"{len(completed)} of {len(wanted)} steps")


@given(st.lists(TREES, min_size=1, max_size=3))
def test_a_composite_that_failed_by_itself_is_a_failure_more(below: list[StepOutcome]):
    sound = [step for step in below if all(each.error is None for each in leaves(step))]
    failed = StepOutcome("step_1", "composite", "run/1", "failed", error=ModelRefused("no"), steps=tuple(sound))

    assert success_rate([failed]) < 1.0
    assert failed.leaves[-1].error is not None
