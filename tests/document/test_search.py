from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestra.document import Hit, LexicalIndex
from orchestra.document.search import terms_of

ROWS = [
    ("Revenue", "Sales grew in the north."),
    ("Costs", "Freight and revenue were discussed; revenues rose."),
    ("Café", "Naïve résumé of the board. 第二章 结果"),
    ("", "Nothing of note happened, it's said."),
]


def rows_for(query: str) -> list[int]:
    return [hit.row for hit in LexicalIndex(ROWS).search(query)]


def test_a_title_weighs_more_than_a_body() -> None:
    assert rows_for("revenue") == [0, 1]


def test_words_are_stemmed() -> None:
    assert rows_for("discussing") == [1]


def test_diacritics_and_case_do_not_matter() -> None:
    assert rows_for("NAIVE cafe") == [2]


def test_any_word_suffices_and_stop_words_do_not() -> None:
    assert set(rows_for("what is the freight of the board?")) == {1, 2}
    assert rows_for("of the and in") == []


def test_words_of_a_query_are_distinct_and_in_order() -> None:
    assert terms_of("Who audits the Audits, of_whom?") == ["audits"]
    assert terms_of("beta alpha BETA") == ["beta", "alpha"]


def test_scores_fall_and_ties_go_by_row() -> None:
    index = LexicalIndex([("", "equal words")] * 5 + [("", "text")] * 20)

    hits = index.search("equal")

    assert [hit.row for hit in hits] == [0, 1, 2, 3, 4]
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_the_limit_holds() -> None:
    assert len(LexicalIndex([("", "word")] * 9).search("word", limit=3)) == 3
    assert LexicalIndex(ROWS).search("revenue", limit=0) == []


@pytest.mark.parametrize(
    "query",
    [
        "",
        " ",
        "\0",
        '"',
        '""',
        "NEAR(",
        "a AND",
        "AND OR NOT",
        "title:",
        "*",
        "^x",
        "a-b",
        "'; DROP",
        "\ud800",
        "🎉",
        "_",
        "x" * 9999,
    ],
)
def test_odd_queries_find_nothing_and_raise_nothing(query: str) -> None:
    assert LexicalIndex(ROWS).search(query) == []


@given(st.text(max_size=80))
def test_no_query_raises(query: str) -> None:
    index = LexicalIndex(ROWS)

    assert all(isinstance(hit, Hit) for hit in index.search(query))
    assert all(coverage >= 0.5 for _, coverage, _ in index.covering(query, 0.5, 3))
    assert all(0 <= row < len(ROWS) for row in index.titled(query))


def test_a_very_long_query_is_answered() -> None:
    assert rows_for("revenue " + " ".join(f"word{number}" for number in range(20_000))) == [0, 1]


def test_a_run_without_spaces_is_one_word() -> None:
    assert rows_for("结果") == [2]


def test_coverage_weighs_words_by_rarity() -> None:
    index = LexicalIndex([("", f"common text {number}") for number in range(20)] + [("", "common text and a rarity")])

    covered = index.covering("common rarity", 0.6, limit=5)

    assert [row for row, _, _ in covered] == [20]
    assert covered[0][1] == pytest.approx(1.0)


def test_a_single_common_word_covers_nothing() -> None:
    index = LexicalIndex([("", "company text")] * 20)

    assert index.covering("company", 0.1, limit=5) == []


def test_titles_that_hold_every_word_are_found() -> None:
    index = LexicalIndex([("Results of Operations", ""), ("Operations", "results"), ("Operating result", "")])

    assert index.titled("results of operations") == [0, 2]
    assert index.titled("") == []


def test_an_empty_index_finds_nothing() -> None:
    assert LexicalIndex([]).search("word") == []
    assert LexicalIndex([]).covering("word", 0.5, 3) == []
