"""The facts of a text: the cases of tests/data/facts.json, and what must hold of any text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestra.document import Document, cite, facts, unsupported
from orchestra.document.grammar import Date, Number
from orchestra.document.grammar.periods import declared_scales

CASES = json.loads((Path(__file__).parent.parent / "data" / "facts.json").read_text(encoding="utf-8"))
FRAGMENTS = [
    "Revenue", "rose", "fell", "by", "5.2%", "(1,577)", "$1.2 billion", "-3", "in", "March 3, 2024", "“some words”",
    "U.S.", "not", "Jane Smith", "Q3 2024", "the", "and", "12-month", "to", "about", "1,5771", "§ 4", "Note 7",
    "10-K", "FY18", "(1)", "", " ", ",", ".", ";", "0.5 percentage points", "twelve", "SEC", "loss", "2018",
    "€5-7m", "[L3-L9]", "'",
]  # fmt: skip


def shown_number(number: Number) -> str:
    scale = "" if number.scale is None else f"e{number.scale}"
    return f"{number.sign}{number.value}{scale} {number.unit}".rstrip()


def shown_date(date: Date) -> str:
    return "|".join("-".join("?" if part is None else str(part) for part in reading) for reading in date.readings)


@pytest.mark.parametrize("case", CASES, ids=[case["text"] for case in CASES])
def test_a_text_states_the_facts_of_the_case(case: dict[str, Any]) -> None:
    found = facts(case["text"])

    assert [shown_number(number) for number in found.numbers] == case.get("numbers", [])
    assert [shown_date(date) for date in found.dates] == case.get("dates", [])
    assert [" | ".join(quote.pieces) for quote in found.quotes] == case.get("quotes", [])
    assert [name.text for name in found.names] == case.get("names", [])


@pytest.mark.parametrize(
    ("text", "scales"),
    [
        ("(in millions, except per share)", {6}),
        ("(Millions) 2024 2023", {6}),
        ("Dollars in thousands", {3}),
        ("($000s)", {3}),
        ("€m 2024", {6}),
        ("$ million, US$ bn", {6, 9}),
        ("It cost $5 million in 2024.", set()),
    ],
)
def test_a_text_declares_the_scale_of_its_bare_numbers(text: str, scales: set[int]) -> None:
    assert declared_scales(text) == scales


def test_what_is_not_held_is_named_as_the_claim_writes_it_in_its_order() -> None:
    claim = 'On March 4, 2024 John Smith said "we shrank" by 13% to $1.3 billion.'
    source = "On March 3, 2024 Jane Smith said “we grew” by 12% to $1.2 billion."

    assert unsupported(claim, source) == ("March 4, 2024", "John Smith", '"we shrank"', "13%", "$1.3 billion")


@given(st.text())
def test_no_text_is_too_odd(text: str) -> None:
    found = facts(text)

    assert all(0 <= fact.start < fact.end <= len(found.text) for fact in (*found.numbers, *found.dates, *found.names))


@given(st.lists(st.sampled_from(FRAGMENTS), min_size=1, max_size=14).map(" ".join))
def test_a_text_holds_every_fact_of_its_own(text: str) -> None:
    assert unsupported(text, text) == ()


@pytest.mark.parametrize(
    "piece",
    [
        *(".", "!?", "_", "a_", "*", "[", "(", "((L1", '"', "“", "1", "1,", "1.", "1,11", "123 ", "S-", "A ", "A and "),
        *("March ", "\0", "$ ", "(in ", "a\n", "| ", "- ", "L1 ", "\u00a0", "'", "of ", "Q3 ", "2024 ", "2024-"),
    ],
)
def test_a_long_monotonous_text_is_read_in_a_moment(piece: str) -> None:
    text = piece * (20_000 // len(piece))

    assert facts(f"x{text}y") is not None
    assert cite(f"{text} [L1]. x{text}y [L1]", Document.from_text("The SEC rose 5.").alone)
    assert unsupported("The SEC rose 5% to $7 in 2024.", f"x{text}y") is not None


@given(st.text(max_size=60), st.text(max_size=60))
def test_a_longer_source_never_holds_less_than_one_of_its_paragraphs(claim: str, source: str) -> None:
    assert not unsupported(claim, f"{claim}\n\n{source}")


@given(
    number=st.from_regex(r"[1-9][0-9]{2}(,[0-9]{3}){0,2}(\.[0-9]{1,2})?", fullmatch=True),
    shape=st.sampled_from(["{}", "{}%", "${} million", "€{}", "({})", "{} months"]),
    data=st.data(),
)
def test_a_number_with_another_digit_is_not_held(number: str, shape: str, data: st.DataObject) -> None:
    place = data.draw(st.sampled_from([place for place, character in enumerate(number) if character.isdigit()]))
    digit = data.draw(st.sampled_from("0123456789").filter(lambda other: other != number[place]))
    other = number[:place] + digit + number[place + 1 :]

    missing = unsupported(f"Tonnage came to {shape.format(other)} then", f"Tonnage came to {shape.format(number)} then")

    assert len(missing) == 1
