from __future__ import annotations

import pytest

from orchestra.document import DocumentSet
from orchestra.planning.parse import parse_plan
from orchestra.planning.self_answers import check_self_answers

DOCUMENTS = DocumentSet.of(
    "# Revenue\n\nRevenue was $40 million in 2025.\n\n# Auditor\n\nMiller & Stone LLP audits the company.\n\n"
    "# Offices\n\nThe office in Oslo has 12 desks.\n\n# Labs\n\nThe lab in Bergen has 12 desks.\n"
)


def check(answer, *sections):
    plan, _ = parse_plan([{"task": "What?", "skill": "self", "answer": answer, "sections": list(sections)}])
    checked, demotions = check_self_answers(plan, DOCUMENTS)
    return checked.subtasks[0], [demotion.reason for demotion in demotions]


@pytest.mark.parametrize(
    ("answer", "sections", "expected"),
    [
        ("$40 million", [], "$40 million [L3]"),
        ("Revenue was $40 million [L3].", [], "Revenue was $40 million [L3]."),
        ("Miller & Stone LLP [L3]", [], "Miller & Stone LLP [L7]"),
        ("12 desks", ["Labs"], "12 desks [L15]"),
        ("12 desks", ["Offices"], "12 desks [L11]"),
        ("$40 million", ["Labs"], "$40 million [L3]"),
    ],
)
def test_an_answer_that_stands_is_cited_where_it_stands(answer, sections, expected):
    subtask, reasons = check(answer, *sections)

    assert (subtask.skill, subtask.answer) == ("self", expected)
    assert reasons == []


@pytest.mark.parametrize(
    ("answer", "reason"),
    [("$41 million", "$41 million"), ("the firm of Carter Ltd", "Carter"), ("Carter Ltd [L7]", "no line")],
)
def test_an_answer_that_the_document_does_not_hold_goes_out(answer, reason):
    subtask, reasons = check(answer)

    assert (subtask.skill, subtask.answer) == ("fact-extraction", None)
    assert reason in reasons[0]


def test_an_answer_spread_over_the_section_it_points_at_is_cited_there_not_where_a_few_of_its_words_stand_elsewhere():
    levels = "\n\n".join(
        f"Level {n}: {name}" for n, name in enumerate(["Router", "Decomposer", "Resolver", "Executor"])
    )
    documents = DocumentSet.of(
        f"# Levels\n\n{levels}\n\n# Next Steps\n\nRouter, Decomposer, Resolver and Executor, levels 0, 1, 2 and 3.\n"
    )
    answer = "Level 0: Router; Level 1: Decomposer; Level 2: Resolver; Level 3: Executor"
    plan, _ = parse_plan([{"task": "Which levels?", "skill": "self", "answer": answer, "sections": ["Levels"]}])

    checked, _ = check_self_answers(plan, documents)

    assert checked.subtasks[0].answer == f"{answer} [L1-L10]"


def test_a_self_answer_without_an_answer_goes_out():
    subtask, reasons = check(None)

    assert subtask.skill == "fact-extraction"
    assert reasons == ["it has no answer"]


def test_checking_a_checked_plan_changes_nothing():
    plan, _ = parse_plan([{"task": "What?", "skill": "self", "answer": "$40 million"}])

    once, _ = check_self_answers(plan, DOCUMENTS)
    twice, demotions = check_self_answers(once, DOCUMENTS)

    assert twice == once
    assert demotions == ()


def check_outlined(answer, *sections):
    plan, _ = parse_plan([{"task": "What?", "skill": "self", "answer": answer, "sections": list(sections)}])
    checked, demotions = check_self_answers(plan, DOCUMENTS, needs_lines=True)
    return checked.subtasks[0], [demotion.reason for demotion in demotions]


def test_an_answer_from_a_line_that_was_shown_keeps_its_citation():
    subtask, reasons = check_outlined("Revenue was $40 million in 2025 [L3]", "s1")

    assert (subtask.skill, subtask.answer, reasons) == ("self", "Revenue was $40 million in 2025 [L3]", [])


def test_facts_that_stand_far_apart_are_no_answer_of_a_planner_that_saw_only_some_lines():
    answer = "Miller & Stone LLP has 12 desks in Bergen for $40 million"

    assert check(answer)[0].skill == "self"
    assert check_outlined(answer)[0].skill == "fact-extraction"


@pytest.mark.parametrize(
    ("answer", "sections", "pointed"),
    [
        ("$41 million [L3]", [], ["s1"]),
        ("$41 million [L3]", ["s2"], ["s2", "s1"]),
        ("$41 million [L3]", ["Revenue"], ["Revenue"]),
        ("$41 million [L99]", [], []),
    ],
)
def test_what_is_delegated_points_at_the_lines_that_the_answer_cited(answer, sections, pointed):
    subtask, _ = check_outlined(answer, *sections)

    assert subtask.answer is None
    assert subtask.context_pointers.sections == pointed


def test_what_is_delegated_points_at_the_page_of_the_line_that_it_cited():
    documents = DocumentSet.of("First page.\n\fRevenue was $40 million.\n\fThird page.\n")
    plan, _ = parse_plan([{"task": "What?", "skill": "self", "answer": "$41 million [L2]"}])

    checked, _ = check_self_answers(plan, documents, needs_lines=True)

    assert checked.subtasks[0].context_pointers.sections == ["p2"]
