"""Answers beside gold answers. Cases are in `tests/data/scores.json`."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.scoring import score

CASES = json.loads((Path(__file__).parents[1] / "data" / "scores.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", CASES, ids=[case["why"] for case in CASES])
def test_an_answer_scores_as_the_case_says(case: dict[str, str]) -> None:
    found = score(case["question"], case["gold"], case["answer"])

    assert found.value == pytest.approx(case["score"])


@given(st.decimals(min_value="0.01", max_value="99999", places=2))
def test_a_number_is_met_by_itself_in_any_scale(value: Decimal) -> None:
    gold = f"${value:,} million"

    same = score("How much?", gold, f"It is ${value:,} million.")
    in_thousands = score("How much?", gold, f"It is ${value * 1000:,} thousand.")

    assert same.value == in_thousands.value == 1.0


@given(st.text(max_size=200), st.text(max_size=200))
def test_a_score_lies_between_nothing_and_one(gold: str, answer: str) -> None:
    assert 0 <= score("What?", gold, answer).value <= 1


@given(st.text(max_size=200))
def test_a_gold_text_is_met_by_itself(text: str) -> None:
    found = score("What?", text, text)

    assert found.kind == "number" or found.value == 1.0
