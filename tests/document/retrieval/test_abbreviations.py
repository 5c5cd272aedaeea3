"""What abbreviations stand for."""

from __future__ import annotations

import pytest

from orchestra.document import DocumentSet
from orchestra.document.retrieval.abbreviations import long_form, long_forms
from orchestra.document.retrieval.shelf import Shelf


@pytest.mark.parametrize(
    ("short", "text", "form"),
    [
        ("SG&A", "Our selling, general and administrative (“SG&A”) costs", "selling general and administrative"),
        ("ROIC", "We watch the return on\ninvested capital (ROIC).", "return on invested capital"),
        ("IRS", "the Internal Revenue Service (the IRS)", ""),
        ("XYZ", "another word (XYZ)", ""),
        ("PFAS", "PFAS are not explained", ""),
    ],
)
def test_the_words_before_the_brackets_are_the_long_form(short: str, text: str, form: str) -> None:
    assert long_form(short, text) == form


def test_the_long_form_is_looked_for_in_the_documents(report: DocumentSet) -> None:
    assert long_forms(["SG&A", "EPS"], Shelf(report)) == ("Selling general and administrative",)
