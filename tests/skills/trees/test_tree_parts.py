"""Steps, data flow, parameters and triggers of composite skills: what code decides without a model."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestra.errors import CallCycleDetected, SkillInvalid
from orchestra.skills.conditions import Condition
from orchestra.skills.trees.flow import Binding, bindings, value_at
from orchestra.skills.trees.parameters import Parameters, bind
from orchestra.skills.trees.replies import Decomposition, Step
from orchestra.skills.trees.steps import checked, fixed_plan, in_dependency_order, waves, with_dependencies
from orchestra.skills.trees.triggers import triggered

NAMES = ("collect", "sort", "answer", "send")


def test_a_dependency_stands_before_what_needs_it():
    ordered = in_dependency_order(["email_responder", "email_classifier"], {"email-responder": ["email_classifier"]})

    assert ordered == ("email-classifier", "email-responder")


def test_a_fixed_plan_has_a_step_for_each_sub_skill_and_waits_for_dependencies_only():
    steps = fixed_plan(NAMES, {"answer": ["sort"]})

    assert [(step.sub_skill, step.depends_on) for step in steps] == [
        ("collect", ()),
        ("sort", ()),
        ("answer", (2,)),
        ("send", ()),
    ]
    assert waves(steps) == ((1, 2, 4), (3,))


def test_what_is_chosen_brings_what_it_depends_on():
    needs = {"send": ["answer"], "answer": ["sort"]}

    assert with_dependencies(["Answer"], NAMES, needs) == ("sort", "answer")


def test_sub_skills_that_wait_for_one_another_are_named():
    with pytest.raises(CallCycleDetected) as caught:
        fixed_plan(("a", "b", "c"), {"a": ["b"], "b": ["c"], "c": ["a"]})

    assert caught.value.cause == "a → b → c → a"


@given(st.dictionaries(st.sampled_from(NAMES), st.lists(st.sampled_from(NAMES), max_size=3), max_size=4))
def test_an_order_holds_every_name_once_and_dependencies_first_or_names_a_cycle(needs: dict[str, list[str]]):
    try:
        ordered = in_dependency_order(NAMES, needs)
    except CallCycleDetected as error:
        path = error.cause.split(" → ")
        assert path[0] == path[-1]
        assert all(after in needs[before] for before, after in pairwise(path))
        return

    assert sorted(ordered) == sorted(NAMES)
    assert all(ordered.index(each) < ordered.index(name) for name, each_of in needs.items() for each in each_of)


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        ([Step(step=1, sub_skill="sort"), Step(step=1, sub_skill="send")], "same number"),
        ([Step(step=1, sub_skill="fly")], "names 'fly'"),
        ([Step(step=1, sub_skill="sort", depends_on=(7,))], "waits for step 7"),
    ],
)
def test_a_decomposition_that_cannot_be_carried_out_says_why(steps: list[Step], said: str):
    with pytest.raises(SkillInvalid, match=said):
        checked(Decomposition(execution_plan=tuple(steps)), NAMES, {})


def test_a_decomposition_gets_the_dependencies_that_the_skill_declares():
    plan = Decomposition(execution_plan=(Step(step=1, sub_skill="Answer"), Step(step=2, sub_skill="sort")))

    steps = checked(plan, NAMES, {"answer": ["sort"]}).execution_plan

    assert [(step.sub_skill, step.depends_on) for step in steps] == [("answer", (2,)), ("sort", ())]


@pytest.mark.parametrize(
    "written",
    [
        {"step_1_output": "urgent → step_2.email_list"},
        {"step_1.output.urgent": "step_2.email_list"},
        {"step_1": ["urgent -> step_2.email_list"]},
        ["step_1.output.urgent → step_2.email_list"],
        {"step_1.output.urgent": "feeds into step_2.email_list"},
    ],
)
def test_every_way_of_writing_a_data_flow_means_the_same(written: object):
    found, odd = bindings(written)  # type: ignore[arg-type]

    assert found == (Binding(1, ("urgent",), 2, "email_list"),)
    assert odd == ()


def test_a_flow_that_cannot_be_followed_is_given_back():
    found, odd = bindings({"step_1_output": "feeds into something"})

    assert found == ()
    assert odd == ("step_1_output → feeds into something",)


@given(st.integers(1, 99), st.lists(st.from_regex(r"[a-z_]{1,8}", fullmatch=True), max_size=3), st.integers(0, 99))
def test_a_binding_reads_back_from_its_text(source: int, path: list[str], target: int):
    binding = Binding(source, tuple(path), target, "email_list")

    assert bindings([str(binding)]) == ((binding,), ())


def test_a_value_that_is_not_there_is_an_error():
    assert value_at({"mails": [{"id": 7}]}, ("mails", "0", "id")) == 7
    with pytest.raises(LookupError):
        value_at({"mails": []}, ("mails", "0"))


def test_parameters_are_bound_from_query_flow_context_and_defaults_in_that_order():
    parameters = Parameters.of(
        {
            "properties": {"tone": {"enum": ["formal", "friendly"]}, "limit": {"type": "integer", "default": 3}},
            "required": ["tone", "mails", "sender"],
            "optional": ["signature"],
        }
    )

    bound = bind(
        parameters,
        query='Reply to them {"tone": "formal"}',
        step=2,
        flow=bindings(["step_1.output.urgent → step_2.mails"])[0],
        outputs={1: {"urgent": ["m1"]}},
        context={"tone": "friendly"},
    )

    assert bound.values == {"tone": "formal", "limit": 3, "mails": ["m1"]}
    assert bound.methods == {
        "tone": "from_user_query",
        "limit": "default_value",
        "mails": "from_previous_step_1.urgent",
    }
    assert bound.missing == ("sender",)
    assert bound.open == ("signature",)


def test_a_value_that_does_not_fit_the_schema_gives_way_to_the_next_source():
    parameters = Parameters.of({"properties": {"limit": {"type": "integer"}}, "required": ["limit"]})

    bound = bind(parameters, query='{"limit": "many"}', step=1, context={"limit": 5})
    unbound = bind(parameters, query='{"limit": "many"}', step=1)

    assert bound.values == {"limit": 5}
    assert unbound.missing == ("limit",)
    assert "'many' is not of type 'integer'" in unbound.refused["limit"]


def test_triggers_are_found_by_their_stems_and_as_whole_phrases():
    triggers = {"classifier": ["categorize", "organize"], "responder": ["reply"], "sender": ["send out"]}

    assert triggered("Organizing my inbox, with replies to urgent mail", triggers) == ("classifier", "responder")
    assert triggered("send it", triggers) == ()
    assert triggered('"quoted" AND NOT odd*', {"odd": ['"', "", "AND NOT"]}) == ("odd",)


def test_a_condition_is_decided_over_outputs():
    condition = Condition("step_1.output.urgent == true && size(documents) > 1")
    values = {"step_1": {"output": {"urgent": True}}, "documents": ["a", "b"]}

    assert condition.verdict(values).holds
    assert not condition.verdict({**values, "documents": []}).holds


@pytest.mark.parametrize("values", [{}, {"step_1": {"output": {}}}, {"step_1": None}, {"step_1": {"output": [1]}}])
def test_what_cannot_be_decided_does_not_hold_and_says_why(values: dict[str, object]):
    verdict = Condition("step_1.output.urgent == true").verdict(values)

    assert not verdict.holds
    assert verdict.doubt


def test_a_condition_that_is_no_truth_value_does_not_hold():
    assert "int" in Condition("1 + 1").verdict({}).doubt


@pytest.mark.parametrize("text", ["", "step_1.output ==", "x" * 2000, "a.map(x, a.map(y, y))"])
def test_a_condition_that_is_none_or_could_take_long_is_refused(text: str):
    with pytest.raises(SkillInvalid):
        Condition(text)


def test_a_condition_reaches_nothing_but_its_values():
    verdict = Condition("__import__('os').getcwd() == ''").verdict({})

    assert not verdict.holds
    assert "__import__" in verdict.doubt
