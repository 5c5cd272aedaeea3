from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestra.planning.insufficient import for_readers, missing_in, shortfall

CASES = json.loads((Path(__file__).parents[1] / "data" / "insufficient.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", CASES, ids=[case["says"] for case in CASES])
def test_a_reply_is_read_for_what_it_lacks(case):
    assert missing_in(case["reply"]) == case["missing"]


@pytest.mark.parametrize("case", [case for case in CASES if "found" in case], ids=lambda case: case["says"])
def test_what_a_reply_found_stands_beside_what_it_lacks(case):
    assert shortfall(case["reply"]).found == case["found"]


LINES = st.sampled_from(
    ["INSUFFICIENT: a", "**insufficient:** b", "- c", "d [L4]", "", "```", "~~~", "> e", "# f", "INSUFFICIENT"]
)


@given(lines=st.lists(LINES | st.text(max_size=20), max_size=12))
def test_what_was_found_lacks_nothing_any_more(lines):
    lack = shortfall("\n".join(lines))

    assert lack is None or shortfall(lack.found) is None


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        ("A is 4 [L2].", "A is 4 [L2]."),
        ("A is 4 [L2].\nINSUFFICIENT: b", "A is 4 [L2].\nMissing: b"),
        ("- **INSUFFICIENT:** b and c", "Missing: b and c"),
        ("A is 4 [L2].\n\nINSUFFICIENT:\n- b\n- c", "A is 4 [L2].\n\nMissing:\n- b\n- c"),
        ("INSUFFICIENT", "Missing: what was asked for."),
        ("A is 4 [L2].\nINSUFFICIENT: none.", "A is 4 [L2]."),
        ("> INSUFFICIENT: said the auditor [L4]", "> INSUFFICIENT: said the auditor [L4]"),
        ("Insufficient data: they say [L4].", "Insufficient data: they say [L4]."),
    ],
)
def test_what_is_missing_is_told_to_readers_in_words(reply, told):
    assert for_readers(reply) == told


@given(lines=st.lists(LINES | st.text(max_size=20), max_size=12))
def test_words_for_readers_stay_as_they_are(lines):
    told = for_readers("\n".join(lines))

    assert for_readers(told) == told
