"""JSON as models and servers write it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestra.models.json_text import find_json, mend_object, parse_json, without_lone_surrogates

VALUE = {"answer": [1, 2, {"deep": "yes }"}]}
WRITTEN = '{"answer": [1, 2, {"deep": "yes }"}]}'


@pytest.mark.parametrize(
    "text",
    [
        WRITTEN,
        f"  {WRITTEN}\n",
        f"```json\n{WRITTEN}\n```",
        f"```\n{WRITTEN}\n```\nHope that helps!",
        f"Here is what [L12-L14] says:\n{WRITTEN} (see above)",
    ],
)
def test_an_object_is_found_in_whatever_stands_around_it(text):
    assert find_json(text) == VALUE


@pytest.mark.parametrize("text", ["", "no braces", "{broken", "see {this} and that", "[1, 2"])
def test_text_without_json_gives_none(text):
    assert find_json(text) is None


def test_a_list_is_found_where_one_is_asked_for():
    assert find_json('Sure: [{"a": 1}]', is_object=False) == [{"a": 1}]


@given(before=st.text(), value=st.dictionaries(st.text(), st.integers() | st.text()), after=st.text())
def test_an_object_is_found_whatever_prose_stands_around_it(before, value, after):
    prose = [words.translate(str.maketrans("", "", "{}[]`")) for words in (before, after)]

    assert find_json(f"So: {prose[0]} {json.dumps(value)} {prose[1]}") == value


@given(st.text(alphabet='{}[]":,`x1\n '))
def test_finding_never_raises(text):
    assert find_json(text) is None or any(character in text for character in '{["1')


@pytest.mark.parametrize("text", ["[" * 100_000, "{" * 100_000, '{"a":' * 100_000])
def test_nesting_without_end_is_no_json(text):
    assert find_json(text) is None


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("", {}),
        ('{"city": "Paris"}', {"city": "Paris"}),
        ('{"city": "Paris",}', {"city": "Paris"}),
        ("{'city': 'Paris'}", {"city": "Paris"}),
        ('{"city": "Par', {"city": "Par"}),
    ],
)
def test_broken_arguments_are_mended(text, arguments):
    assert mend_object(text) == arguments


@pytest.mark.parametrize("text", ["[1]", "Paris", "42"])
def test_arguments_that_are_no_object_are_reported(text):
    assert mend_object(text) is None


def test_broken_utf8_and_half_characters_are_let_through():
    assert parse_json(b'"a\xffb"') == "a\ufffdb"
    assert parse_json(b'"\\ud83d"') == "\ud83d"


def test_two_halves_of_a_character_become_one():
    assert without_lone_surrogates("a\ud83d\ude42b\udc00") == "a🙂b\ufffd"
