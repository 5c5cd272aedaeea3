"""The built-in engine asked for a route: by words, and without reasoning."""

from __future__ import annotations

import pytest
from jsonschema import validate

from orchestra.models.extractive import ExtractiveModel
from orchestra.planning.routing import (
    SubSkillCard,
    decomposition_request,
    intent_request,
    resolution_request,
    wording_request,
)
from orchestra.skills.trees.parameters import Parameters, bind

SKILLS = [("email-workflow", "Sorts and answers mail."), ("calendar", "Finds dates for meetings.")]
CARDS = [
    SubSkillCard("responder", "Drafts replies.", Parameters(), dependencies=("classifier",)),
    SubSkillCard("classifier", "Sorts mail by urgency.", Parameters()),
    SubSkillCard("archiver", "Puts old letters away.", Parameters()),
]


def asked(request):
    data = ExtractiveModel().complete(request).data
    validate(data, request.schema)
    return data


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("Answer my mail", ["email-workflow"]),
        ("Which dates are free for meetings?", ["calendar"]),
        ("Which mail is urgent? Which dates are free for meetings?", ["email-workflow", "calendar"]),
        ("Zzz", ["email-workflow"]),
    ],
)
def test_the_skills_that_share_words_with_the_query(query: str, expected: list[str]):
    assert asked(intent_request(query, SKILLS))["primary_skills"] == expected


def test_a_fitting_part_brings_along_what_it_depends_on_and_stands_behind_it():
    plan = asked(decomposition_request("Draft replies", "mail", "Be quick.", CARDS))["execution_plan"]

    assert [(step["step"], step["sub_skill"], step["depends_on"]) for step in plan] == [
        (1, "classifier", []),
        (2, "responder", [1]),
    ]


def test_all_parts_where_no_word_fits_and_a_circle_of_dependencies_ends():
    cards = [
        SubSkillCard("one", "First.", Parameters(), dependencies=("two",)),
        SubSkillCard("two", "Second.", Parameters(), dependencies=("one", "two")),
    ]

    plan = asked(decomposition_request("Zzz", "numbers", "", cards))["execution_plan"]

    assert [step["sub_skill"] for step in plan] == ["one", "two"]


def test_only_values_that_a_schema_lists_and_the_query_says():
    parameters = Parameters.of(
        {
            "properties": {"tone": {"enum": ["formal", "friendly"]}, "size": {"enum": ["a", "b"]}, "to": {}},
            "required": ["tone", "to"],
        }
    )
    query = "A FORMAL reply, a or b"
    bound = bind(parameters, query=query, step=1)

    reply = asked(
        resolution_request(query, "reply", parameters, bound, asked_for=["tone", "size", "to"], outputs={}, context={})
    )

    assert reply["parameters"] == {"tone": "formal"}
    assert reply["missing_required"] == ["size", "to"]


def test_nothing_found_is_nothing_sure():
    parameters = Parameters.of({"required": ["to"]})

    reply = asked(
        resolution_request(
            "Go", "reply", parameters, bind(parameters, query="Go", step=1), asked_for=["to"], outputs={}, context={}
        )
    )

    assert (reply["parameters"], reply["confidence"]) == ({}, 0.0)


def test_a_wording_joins_what_the_results_say():
    results = {
        "step_1 sorter": {"urgent": 2},
        "step_2 writer": "Dear Ada.",
        "step_3 sender": {"not done": "MODEL_TIMEOUT: 30 s"},
    }

    reply = asked(wording_request("Answer my mail", results))

    assert reply["summary"] == "2 of 3 steps gave a result."
    assert '**sorter**\n{"urgent": 2}' in reply["user_message"]
    assert "Dear Ada." in reply["user_message"]
    assert "sender was not done: MODEL_TIMEOUT: 30 s" in reply["user_message"]
    assert reply["detailed_results"]["step_3 sender"] == "MODEL_TIMEOUT: 30 s"
