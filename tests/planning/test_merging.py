"""Which subtasks go out together, and how the one reply is taken apart."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestra.document import Document
from orchestra.models.blocks import Finding, Tasks
from orchestra.planning.assemble import assemble
from orchestra.planning.costs import request_tokens
from orchestra.planning.merging import MOST_REPLY_TOKENS, MOST_TASKS, merge, split_reply
from orchestra.skills import Skill

TEXT = "\n".join(
    line for number in range(1, 9) for line in (f"# Chapter {number}", "", f"Body of chapter {number}.", "")
)
DOCUMENT = Document.from_text(TEXT, name="book.md")
SKILLS = {
    "short": Skill("short", "d", "Be short.", max_tokens=300),
    "long": Skill("long", "d", "Be long."),
}


def bundled(*subtasks, max_tokens=2048):
    """Ids of the subtasks of each call. A subtask is (section, skill) or (section, skill, depends_on)."""
    return [
        [assignment.subtask.id for assignment in bundle.assignments]
        for bundle in bundles(*subtasks, max_tokens=max_tokens)
    ]


def bundles(*subtasks, max_tokens=2048):
    plan = [
        {"id": str(number), "task": f"task {number}", "sections": [section], "skill": skill, "depends_on": list(rest)}
        for number, (section, skill, *rest) in enumerate(subtasks, start=1)
    ]
    return merge(assemble(plan, DOCUMENT, SKILLS), max_tokens=max_tokens)


def test_subtasks_with_one_skill_and_the_same_lines_go_together():
    assert bundled(("s1", "long"), ("s2", "long"), ("Chapter 1", "long")) == [["1", "3"], ["2"]]


def test_another_skill_is_another_call():
    assert bundled(("s1", "long"), ("s1", "short")) == [["1"], ["2"]]


def test_a_subtask_does_not_go_with_what_it_depends_on():
    assert bundled(("s1", "long"), ("s1", "long", "1"), ("s1", "long", "2")) == [["1"], ["2"], ["3"]]


def test_subtasks_that_need_the_same_findings_go_together():
    assert bundled(("s2", "long"), ("s1", "long", "1"), ("s1", "long", "1")) == [["1"], ["2", "3"]]


def test_a_subtask_that_cannot_be_sent_is_merged_with_none():
    plan = [{"id": name, "task": "t", "sections": ["zzzz qqqq"], "skill": "long"} for name in "ab"]

    made = merge(assemble(plan, DOCUMENT, SKILLS, on_unresolved="error"))

    assert [len(bundle.assignments) for bundle in made] == [1, 1]


def test_a_call_takes_only_so_many_tasks():
    subtasks = [("s1", "short")] * (MOST_TASKS + 2)

    assert [len(ids) for ids in bundled(*subtasks)] == [MOST_TASKS, 2]


@pytest.mark.parametrize(("max_tokens", "together"), [(2048, [4, 1]), (4096, [2, 2, 1]), (9000, [1, 1, 1, 1, 1])])
def test_a_call_takes_no_more_tasks_than_its_reply_has_room_for(max_tokens, together):
    assert [len(ids) for ids in bundled(*[("s1", "long")] * 5, max_tokens=max_tokens)] == together


def test_the_reply_of_a_merged_call_may_be_as_long_as_its_parts():
    (bundle,) = bundles(("s1", "short"), ("s1", "short"))

    assert 600 <= bundle.request(max_tokens=2048).max_tokens <= 600 + 2 * 10
    assert bundle.request(max_tokens=100).max_tokens < 300


def test_a_merged_request_shows_the_slice_the_skill_and_the_findings_once():
    _, bundle = bundles(("s2", "short"), ("s1", "short", "1"), ("s1", "short", "1"))

    request = bundle.request(findings=[Finding("1", "task 1", "It is so [L7].")])

    kinds = [block.kind for block in request.blocks]
    assert kinds == ["instructions", "slice", "findings", "instructions", "instructions", "tasks"]
    assert request.blocks[-1] == Tasks(("task 2", "task 3"), 300)


def test_a_merged_call_is_smaller_than_the_calls_that_it_stands_for():
    (bundle,) = bundles(("s1", "long"), ("s1", "long"))

    alone = sum(request_tokens(assignment.request()) for assignment in bundle.assignments)

    assert request_tokens(bundle.request()) < alone


def test_a_bundle_of_one_sends_what_its_subtask_would_send():
    (bundle,) = bundles(("s1", "long"))

    assert bundle.request().prompt == bundle.first.request().prompt


@st.composite
def plans(draw):
    """Up to eight subtasks, each depending on some of those before it."""
    size = draw(st.integers(1, 8))
    return [
        (
            draw(st.sampled_from(["s1", "s2"])),
            draw(st.sampled_from(["long", "short"])),
            *draw(st.lists(st.sampled_from([str(n) for n in range(1, number)]), unique=True, max_size=3) if number > 1 else st.just([])),
        )
        for number in range(1, size + 1)
    ]  # fmt: skip


@given(plans())
def test_every_subtask_is_in_one_call_and_the_calls_can_be_put_in_order(subtasks):
    calls = bundled(*subtasks)

    call_of = {name: at for at, names in enumerate(calls) for name in names}
    needed = {
        at: {call_of[other] for name in names for other in subtasks[int(name) - 1][2:]}
        for at, names in enumerate(calls)
    }
    assert sorted(name for names in calls for name in names) == sorted(map(str, range(1, len(subtasks) + 1)))
    assert order_exists(needed)


def order_exists(needed):
    done: set[int] = set()
    while ready := {at for at, others in needed.items() if at not in done and others <= done}:
        done |= ready
    return len(done) == len(needed)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("<<1>>\nOne [L1].\n\n<<2>>\nTwo [L2].", ("One [L1].", "Two [L2].")),
        ("<<1>> One.\n<<2>> Two.", ("One.", "Two.")),
        ("**<<1>>**\nOne.\n**<<2>>**\nTwo.", ("One.", "Two.")),
        ("<<1>> **One** is it.\n<<2>> _Two_ is it.", ("**One** is it.", "_Two_ is it.")),
        ("## <<Task 1>>\nOne.\n## <<Task 2>>:\nTwo.", ("One.", "Two.")),
        ("<1>\nOne.\n<2>\nTwo.", ("One.", "Two.")),
        ("<<2>>\nTwo.\n<<1>>\nOne.", ("One.", "Two.")),
        ("Here you are:\n<<1>>\nOne.\n<<2>>\nTwo.", ("One.", "Two.")),
        ("<<1>>\nOne.\n\nMore.\n<<2>>\nTwo.\n<<3>>\nWhat?", ("One.\n\nMore.", "Two.\n<<3>>\nWhat?")),
        ("<<1>>\nOne <<2>> inline.", ("One <<2>> inline.", None)),
        ("<<1>>\n\n<<2>>\nTwo.", (None, "Two.")),
        ("<<1>>\nOne.\n<<2>>\nTwo.\n<<1>>\nOnce more.", (None, None)),
        ("<<1>>\nThe file reads:\n<<2>>\nas it is.\n<<2>>\nTwo.", (None, None)),
        ("<<1>>\n<<1>>\nOne.\n<<2>>\nTwo.", (None, "Two.")),
        ("One.\n\nTwo.", (None, None)),
        ("", (None, None)),
    ],
)
def test_a_reply_is_split_at_its_marks(text, parts):
    assert split_reply(text, 2) == parts


def test_the_last_answer_of_a_reply_that_was_cut_off_is_missing():
    assert split_reply("<<1>>\nOne.\n<<2>>\nTw", 2, is_cut=True) == ("One.", None)


LINES = st.lists(st.text(alphabet="ab <>12*", max_size=8).filter(lambda line: "<" not in line), max_size=3)


@given(st.lists(LINES.map("\n".join).map(str.strip).filter(bool), min_size=1, max_size=MOST_TASKS))
def test_what_is_joined_under_marks_comes_apart_again(answers):
    reply = "\n\n".join(f"{Tasks.mark(number)}\n{answer}" for number, answer in enumerate(answers, start=1))

    assert split_reply(reply, len(answers)) == tuple(answers)


@given(st.text(alphabet="<>12 \n*ab", max_size=40), st.integers(1, 3), st.booleans())
def test_splitting_gives_one_part_for_each_task_whatever_the_reply(text, tasks, is_cut):
    parts = split_reply(text, tasks, is_cut=is_cut)

    assert len(parts) == tasks
    assert all(part is None or part in text for part in parts)


def test_a_merged_call_stays_within_what_older_models_write():
    (bundle, *_) = bundles(*[("s1", "long")] * 9)

    assert bundle.request().max_tokens <= MOST_REPLY_TOKENS + 9 * 10
