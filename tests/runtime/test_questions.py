"""What an answer is bound to, and what counts as one."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestra.errors import InputInvalid
from orchestra.runtime.questions import Decision, Question, checked_decision

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
SHOWN = st.dictionaries(st.text(), JSON, max_size=4)
QUESTION = Question("approval", "run/subtask-1", "send subtask 1", {"task": "Why?", "lines": ["L9"], "tokens": 12})
WORDS = Question("ask_user", "run/subtask-1/tool-1", "Which year?", options=("2024", "2025"))


def asked(**changes):
    return replace(QUESTION, **changes)


@given(SHOWN, st.randoms(use_true_random=False))
def test_the_order_of_keys_does_not_change_the_digest(shown, random):
    keys = list(shown)
    random.shuffle(keys)

    assert asked(shown={key: shown[key] for key in keys}).digest == asked(shown=shown).digest


@given(SHOWN, SHOWN)
def test_the_digest_is_equal_only_for_what_is_equal(one, other):
    is_same = json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)

    assert (asked(shown=one).digest == asked(shown=other).digest) is is_same


@given(SHOWN, st.text(), JSON)
def test_any_key_more_or_changed_changes_the_digest(shown, key, value):
    changed = {**shown, key: [value, "changed"]}

    assert (asked(shown=changed).digest == asked(shown=shown).digest) is (shown.get(key) == [value, "changed"])


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "permission"},
        {"node_id": "run/subtask-2"},
        {"title": "send subtask 2"},
        {"options": ("yes",)},
        {"editable": ()},
        {"asking": 2},
        {"shown": {"task": "Why? ", "lines": ["L9"], "tokens": 12}},
        {"shown": {"task": "Why?", "lines": ["L9"], "tokens": "12"}},
        {"shown": {"task": "Why?", "lines": ["L9"], "tokens": True}},
    ],
)
def test_whatever_is_shown_otherwise_has_another_digest(change):
    assert asked(**change).digest != QUESTION.digest


def test_one_and_true_and_one_point_zero_are_shown_apart():
    digests = {asked(shown={"value": value}).digest for value in (1, True, 1.0, "1")}

    assert len(digests) == 4


def test_the_digest_is_the_same_in_every_process():
    code = (
        "from orchestra.runtime.questions import Question\n"
        "print(Question('approval', 'run/subtask-1', 'send subtask 1',"
        " {'tokens': 12, 'lines': ('L9',), 'task': 'Why?'}).digest)"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == QUESTION.digest


@given(SHOWN, st.lists(st.text(), max_size=3), st.integers(1, 9))
def test_a_question_comes_back_from_json_as_it_was(shown, options, asking):
    question = asked(shown=shown, options=tuple(options), asking=asking)

    back = Question.from_dict(json.loads(json.dumps(question.to_dict())))

    assert back == question
    assert back.digest == question.digest


def test_what_is_shown_cannot_be_changed_from_outside():
    lines = ["L9"]
    question = asked(shown={"lines": lines})

    lines.append("L10-L99")

    assert question.shown == {"lines": ["L9"]}


@pytest.mark.parametrize("shown", [{"at": object()}, {"at": float("nan")}, {"at": {1, 2}}, {"at": b"x"}])
def test_what_is_no_json_cannot_be_asked(shown):
    with pytest.raises(InputInvalid, match="no JSON"):
        asked(shown=shown)


def test_an_unknown_kind_cannot_be_asked():
    with pytest.raises(InputInvalid, match="no kind of question"):
        asked(kind="order")


@pytest.mark.parametrize("stored", [{}, {"kind": "approval"}, {**QUESTION.to_dict(), "shown": 3}])
def test_what_is_no_question_is_refused_as_one(stored):
    with pytest.raises(InputInvalid):
        Question.from_dict(stored)


@pytest.mark.parametrize(
    ("answer", "decision"),
    [
        (True, Decision("approved")),
        (False, Decision("rejected")),
        (Decision("rejected", reason="too dear"), Decision("rejected", reason="too dear")),
        ({"outcome": "approved"}, Decision("approved")),
        (
            Decision("edited", {"task": "Since when?"}),
            Decision("edited", {"task": "Since when?", "lines": ["L9"], "tokens": 12}),
        ),
        (Decision("approved", {"task": "not asked for"}), Decision("approved")),
    ],
)
def test_an_approval_is_given_or_not_or_edited(answer, decision):
    assert checked_decision(QUESTION, answer) == decision


@pytest.mark.parametrize(
    "answer",
    [
        "yes",
        1,
        None,
        object(),
        [],
        {},
        {"outcome": "approved", "by": "me"},
        {"outcome": "APPROVED"},
        {"outcome": True},
        Decision("answered", text="yes"),
        Decision("edited"),
        Decision("edited", {}),
        Decision("edited", {"task": ""}),
        Decision("edited", {"task": None}),
        Decision("edited", {"task": ["Why?"]}),
        Decision("edited", {"more": "keys"}),
        Decision("edited", {"tokens": True}),
        Decision("edited", {"task": object()}),
        Decision("edited", "Since when?"),  # type: ignore[arg-type]
        Decision("approved", reason=3),  # type: ignore[arg-type]
        Decision("rejected", reason="x" * 200_000),
    ],
)
def test_nonsense_decides_nothing(answer):
    with pytest.raises(InputInvalid):
        checked_decision(QUESTION, answer)


def test_only_what_is_editable_can_be_edited():
    question = asked(editable=("task",))

    with pytest.raises(InputInvalid, match="changes 'lines'"):
        checked_decision(question, Decision("edited", {"task": "Why not?", "lines": ["L1-L999"]}))


def test_a_permission_is_given_for_the_call_as_it_stands():
    question = asked(kind="permission", editable=None)

    with pytest.raises(InputInvalid, match="nothing of it may be changed"):
        checked_decision(question, Decision("edited", {"task": "rm -rf"}))


@pytest.mark.parametrize("answer", ["2025", Decision("answered", text="2025"), {"outcome": "answered", "text": "2025"}])
def test_a_question_is_answered_in_words(answer):
    assert checked_decision(WORDS, answer) == Decision("answered", text="2025")


@pytest.mark.parametrize("answer", [True, "", "  ", Decision("approved"), Decision("edited", {"a": 1})])
def test_a_question_that_wants_words_takes_nothing_else(answer):
    with pytest.raises(InputInvalid):
        checked_decision(WORDS, answer)
