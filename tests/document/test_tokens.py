from __future__ import annotations

import random

import pytest

from orchestra.document import Document, DocumentSet, count_tokens
from orchestra.document.tokens import EXACT_CHARACTERS, size_of

VOCABULARY = "revenue margin the of segment because 1,204 although quarterly (see note 7) 現金 increase — cash flow"


def mixed_text(characters: int) -> str:
    """Stretches of different words, so that tokens per character vary from place to place."""
    dice = random.Random(3)
    blocks: list[str] = []
    while characters > 0:
        words = dice.sample(VOCABULARY.split(), 4)
        blocks.append("# A heading\n\n" + " ".join(dice.choices(words, k=3_000)) + "\n\n")
        characters -= len(blocks[-1])
    return "".join(blocks)


@pytest.fixture(scope="module")
def huge() -> Document:
    return Document.from_text(mixed_text(EXACT_CHARACTERS * 3 // 2))


def test_a_text_of_common_length_is_counted() -> None:
    text = "# A\n\nsome text\n"

    assert (size_of(text).tokens, size_of(text).is_exact) == (count_tokens(text), True)


def test_the_size_of_a_set_is_that_of_its_annotated_text() -> None:
    documents = DocumentSet.of(["# A\n\nsome text\n", "# B\n\nmore\n"])

    assert (documents.size.tokens, documents.size.is_exact) == (documents.tokens, True)


def test_the_size_of_a_huge_text_is_estimated_within_two_per_cent(huge: Document) -> None:
    assert not huge.size.is_exact
    assert huge.size.tokens == pytest.approx(huge.tokens, rel=0.02)
    assert not huge.alone.size.is_exact
    assert huge.alone.size.tokens == pytest.approx(huge.alone.tokens, rel=0.02)


def test_the_size_of_a_huge_set_needs_no_annotated_text(huge: Document) -> None:
    documents = DocumentSet([huge, Document("more")])

    size = documents.size

    assert size.tokens > huge.size.tokens
    assert "annotated_text" not in vars(documents)
