"""Which skills stand around a task, by their manifests alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestra.errors import CallCycleDetected, InputInvalid, SkillInvalid, SkillNotFound
from orchestra.skills.composition import LAYERS, compose
from orchestra.skills.manifest import Manifest


def skill(name: str, layer: str = "execution", *dependencies: str, **fields: object) -> Manifest:
    is_skipped = fields.pop("eco_mode_skip", layer == "enhancement")
    return Manifest(name, f"Does {name}.", layer=layer, dependencies=dependencies, eco_mode_skip=is_skipped, **fields)  # type: ignore[arg-type]


LIBRARY = [
    skill("causal-reasoning"),
    skill("reflect", "execution", "answer", applies="mode == 'deep-work'"),
    skill("glossary", "enhancement", "context-manager"),
    skill("context-manager", "enhancement"),
    skill("readable", "guarantee"),
    skill("several", "guarantee", "readable", applies="size(documents) > 1"),
]


def names(mode: str, library: list[Manifest] = LIBRARY, **options: object) -> list[str]:
    return [step.skill for step in compose("Why?", mode, library, **options).steps]  # type: ignore[arg-type]


def test_guarantees_stand_before_enhancements_and_these_before_the_work():
    assert names("standard") == ["readable", "context-manager", "glossary", "answer"]


def test_eco_leaves_enhancements_out_and_says_so():
    chain = compose("Why?", "eco", LIBRARY)

    assert [step.skill for step in chain.steps] == ["readable", "answer"]
    assert {each.skill: each.reason for each in chain.skipped}["glossary"] == "the mode eco skips it"


def test_what_is_not_trusted_stands_around_a_task_only_where_a_mode_names_it():
    library = [
        skill("blocks", "guarantee", is_trusted=False),
        skill("rewrites", "execution", "answer", applies="true", is_trusted=False),
    ]

    assert names("standard", library) == ["answer"]
    assert "not trusted" in compose("Why?", "standard", library).skipped[0].reason
    assert names("own", library, own_modes={"own": ["blocks"]}) == ["blocks", "answer"]


@pytest.mark.parametrize(
    "bomb",
    [
        "documents.map(d, documents) == []",
        "documents.exists(a, documents.exists(b, documents.exists(c, a == b)))",
        "documents.// a\nexists(a, documents.// b\nexists(b, a == b))",
        "documents.exists//\n(a, documents.exists//\n(b, a == b))",
    ],
)
def test_a_condition_that_could_take_long_is_refused(bomb: str):
    with pytest.raises(SkillInvalid):
        names("standard", [skill("slow", "guarantee", applies=bomb)])


def test_deep_work_reflects_on_the_answer_after_it():
    chain = compose("Why?", "Deep_Work", LIBRARY)

    assert [step.skill for step in chain.of_layer("execution")] == ["answer", "reflect"]
    assert chain.steps[-1].waits_for == ("answer",)


def test_a_condition_over_the_documents_decides():
    assert "several" not in names("standard", documents=[{"name": "a"}])
    assert "several" in names("standard", documents=[{"name": "a"}, {"name": "b"}])


def test_an_execution_skill_that_does_not_wait_for_the_answer_prepares_it():
    library = [skill("research", applies="task.contains('Why')")]

    assert names("standard", library) == ["research", "answer"]


def test_a_mode_of_ones_own_is_its_skills_in_its_order():
    own = {"careful": ["readable", "answer", "causal_reasoning", "glossary"]}

    chain = compose("Why?", "careful", LIBRARY, own_modes=own)

    assert [step.skill for step in chain.steps] == [
        "readable",
        "context-manager",
        "glossary",
        "answer",
        "causal-reasoning",
    ]
    assert chain.steps[-1].waits_for == ("answer",)


def test_a_dependency_that_its_own_condition_leaves_out_is_satisfied():
    library = [skill("a", "guarantee", applies="false"), skill("b", "guarantee", "a")]

    assert names("standard", library) == ["b", "answer"]


@pytest.mark.parametrize(
    ("library", "error", "said"),
    [
        ([skill("a", "guarantee", "ghost")], SkillNotFound, "ghost"),
        ([skill("a", "guarantee", "b"), skill("b", "enhancement")], SkillInvalid, "layer enhancement"),
        ([skill("a", "guarantee", "b"), skill("b", "guarantee", "a")], CallCycleDetected, "wait for one another"),
        ([skill("a", "guarantee", applies="size(")], SkillInvalid, "cannot be read"),
    ],
)
def test_a_composition_that_cannot_be_says_why(library: list[Manifest], error: type[Exception], said: str):
    with pytest.raises(error, match=said):
        compose("Why?", "standard", library)


def test_a_mode_that_does_not_exist_names_those_that_do():
    with pytest.raises(InputInvalid, match="standard, eco, deep-work"):
        compose("Why?", "turbo", LIBRARY)


def test_a_condition_that_cannot_be_decided_is_told():
    chain = compose("Why?", "standard", [skill("odd", "guarantee", applies="documents[0].pages > 3")])

    assert chain.warnings
    assert "odd" not in chain


@given(
    st.lists(
        st.tuples(
            st.sampled_from("abcdefg"), st.sampled_from(LAYERS), st.lists(st.sampled_from("abcdefg"), max_size=3)
        ),
        unique_by=lambda entry: entry[0],
        max_size=7,
    ),
    st.sampled_from(["standard", "eco", "deep-work"]),
)
def test_whatever_composes_has_layers_in_order_and_dependencies_first(
    entries: list[tuple[str, str, list[str]]], mode: str
):
    library = [skill(name, layer, *needs, applies="true") for name, layer, needs in entries]

    try:
        steps = compose("Why?", mode, library).steps
    except (SkillNotFound, SkillInvalid, CallCycleDetected):
        return

    placed = [step.skill for step in steps]
    assert [LAYERS.index(step.layer) for step in steps] == sorted(LAYERS.index(step.layer) for step in steps)
    assert len(set(placed)) == len(placed)
    same_layer = {step.skill: step.layer for step in steps}
    for step in steps:
        for name in step.waits_for:
            assert same_layer[name] != step.layer or placed.index(name) < placed.index(step.skill)
