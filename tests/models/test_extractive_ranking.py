"""Words, synonyms and the order of statements."""

from __future__ import annotations

import pytest

from orchestra.models.extractive.query import make_query
from orchestra.models.extractive.ranking import rank
from orchestra.models.extractive.statements import read
from orchestra.models.extractive.vocabulary import stem, synonym_groups, words


@pytest.mark.parametrize(
    "forms",
    [
        ("audit", "audits", "audited", "auditor", "auditors", "auditing"),
        ("employee", "employees", "employed"),
        ("location", "located", "locate"),
        ("expire", "expires", "expired"),
        ("company", "companies"),
        ("supplier", "suppliers", "supply"),
        ("buy", "bought"),
        ("stop", "stopped", "stopping"),
    ],
)
def test_forms_of_one_word_have_one_stem(forms: tuple[str, ...]) -> None:
    assert len({stem(form) for form in forms}) == 1


@pytest.mark.parametrize("pair", [("meter", "metal"), ("loss", "lose"), ("rate", "rating agency"), ("status", "state")])
def test_different_words_keep_different_stems(pair: tuple[str, str]) -> None:
    assert stem(pair[0]) != stem(pair[1])


def test_an_identifier_is_read_in_its_parts_and_a_figure_whole() -> None:
    assert words("server.keepAliveTimeout is 4.15% of Ann's share") == [
        "server", "keep", "alive", "timeout", "is", "4.15", "of", "ann", "share",
    ]  # fmt: skip


def test_no_phrase_stands_twice_in_a_group_of_synonyms() -> None:
    repeated = [group for group in synonym_groups() if len(set(group)) < len(group) or len(group) < 2]

    assert repeated == []


def best(question: str, text: str) -> str:
    statements = read(text.split("\n"), 1)
    return rank(make_query(question, [text]), statements)[0].statement.text


@pytest.mark.parametrize(
    ("question", "text", "expected"),
    [
        ("Who is the auditor?", "We like audits.\nThe auditor is Ada Byron.", "The auditor is Ada Byron."),
        ("Where is the headquarters?", "Sales are good.\nThe head office is in Duluth.", "The head office is in Duluth."),
        ("How many shares were bought?", "Shares cost $5.\nWe bought 16 shares.", "We bought 16 shares."),
        ("What was revenue in 2024?", "Revenue was 5 in 2023.\nRevenue was 6 in 2024.", "Revenue was 6 in 2024."),
        ("What is flux?", "Flux is used.\n\n**Flux**: flow through a membrane.", "**Flux**: flow through a membrane."),
        (
            "How much does the Calloway Authority claim?",
            "# Calloway Authority\n\nIt claims $38 million.\n\n# Others\n\nThe Dorset Authority claims $5 million.",
            "It claims $38 million.",
        ),
        (
            "What is the interest on the notes due in 2029?",
            "| | Interest | Due |\n| --- | --- | --- |\n| Notes | 3.6% | 2027 |\n| Notes | 4.1% | 2029 |",
            "| Notes | 4.1% | 2029 |",
        ),
    ],
)  # fmt: skip
def test_the_statement_that_answers_comes_first(question: str, text: str, expected: str) -> None:
    assert best(question, text) == expected


def test_a_word_in_a_heading_counts_less_than_in_the_sentence() -> None:
    text = "# Pumps\n\nThey are blue.\n\n# Colours\n\nPumps are red."

    assert best("What colour are the pumps?", text) == "Pumps are red."


def test_a_statement_with_nothing_of_the_question_is_not_ranked() -> None:
    statements = read(["Cats sleep.", "", "Dogs bark."], 1)

    ranked = rank(make_query("Why do dogs bark?", ["Cats sleep. Dogs bark."]), statements)

    assert [each.statement.text for each in ranked] == ["Dogs bark."]
