from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestra.document import Document, DocumentSet, LineRange, best_parts, count_tokens, cut, resolve_section, whole

TEXT = "start\n\n# A\n\na one\na two\n\n## A1\n\na three\n\n# B\n\nb one\n"
ONE = DocumentSet.of(TEXT)
TWO = DocumentSet.of([Document(TEXT, name="one.md"), Document("# C\n\nc\n", name="two.md")])

line = st.sampled_from(["text", "more text", "", "", "# A", "## B", "  indented", "- item", "12| odd", "[L1-L2]"])
texts = st.lists(line, min_size=1, max_size=60).map("\n".join).filter(str.strip)
spans = st.lists(st.tuples(st.integers(-5, 70), st.integers(-5, 70)), max_size=6)


def ranges_of(passages_of: DocumentSet, pairs: list[tuple[int, int]]) -> list[LineRange]:
    return [LineRange(passages_of.keys[sum(pair) % len(passages_of)], *pair) for pair in pairs]


@given(st.lists(texts, min_size=1, max_size=3), spans)
def test_a_slice_holds_exactly_the_lines_asked_for_once_and_in_order(
    contents: list[str], pairs: list[tuple[int, int]]
) -> None:
    documents = DocumentSet.of(contents)
    ranges = ranges_of(documents, pairs)
    wanted = sorted(
        {
            (documents.keys.index(one.key), number)
            for one in ranges
            for number in range(max(one.first, 1), min(one.last, documents.find(one.key).line_count) + 1)
        }
    )

    passages = cut(ranges, documents).passages

    assert wanted == [
        (documents.keys.index(passage.key), number)
        for passage in passages
        for number in range(passage.first_line, passage.last_line + 1)
    ]
    assert all(
        passage.text == documents.find(passage.key).lines(passage.first_line, passage.last_line) for passage in passages
    )


@given(texts, spans)
def test_numbers_in_the_text_are_those_of_the_document(text: str, pairs: list[tuple[int, int]]) -> None:
    documents = DocumentSet.of(text)
    found = cut(ranges_of(documents, pairs), documents)
    shown = [line for line in found.text.split("\n") if line and not line.startswith("[s")]

    numbered = [(int(line.partition("| ")[0]), line.partition("| ")[2]) for line in shown if re.match(r"\d+\| ", line)]
    plain = [re.sub(r"^\d+\| ", "", line, count=1) for line in shown]

    assert all(documents[0].line(number) == line for number, line in numbered if line != "odd")
    assert [re.sub(r"^\d+\| ", "", line) for line in plain] == [
        re.sub(r"^\d+\| ", "", line)
        for passage in found.passages
        for line in passage.text.split("\n")
        if line and not line.startswith("[s")
    ]


@given(texts, spans)
def test_tokens_are_those_of_the_text(text: str, pairs: list[tuple[int, int]]) -> None:
    documents = DocumentSet.of(text)

    found = cut(ranges_of(documents, pairs), documents)

    assert found.tokens == count_tokens(found.text)


def test_a_passage_stands_under_its_breadcrumb() -> None:
    assert cut([LineRange("", 10, 10)], ONE).text == "[s2 | A > A1 | L10-L10]\n10| a three"


def test_a_title_that_the_passage_begins_with_is_not_said_twice() -> None:
    assert cut([LineRange("", 8, 10)], ONE).text == "[s2 | A | L8-L10]\n8| ## A1\n\n10| a three"
    assert cut([LineRange("", 3, 5)], ONE).text == "[s1 | L3-L5]\n3| # A\n\n5| a one"


def test_a_paragraph_marked_as_a_heading_is_not_repeated_whole_in_breadcrumbs() -> None:
    documents = DocumentSet.of("# " + "word " * 1500 + "\n\ntext\n\n## Sub\n\nmore text\n")

    shown = cut([LineRange("", 7, 7)], documents)

    assert shown.tokens < 100
    assert shown.text.startswith("[s2 | word word")
    assert "… > Sub" in shown.text


def test_a_path_that_goes_on_from_the_one_before_does_not_repeat_it() -> None:
    text = "# A\n\n## B\n\nb\n\n## C\n\nc\n\n### D\n\nd\n\n# E\n\n## F\n\nf\n"

    heads = re.findall(r"^\[.*\]$", cut([LineRange("", 3, 18)], DocumentSet.of(text)).text, re.MULTILINE)

    assert heads == ["[s2 | A | L3-L6]", "[s3 | … | L7-L14]", "[s5 | L15-L18]"]
    assert cut([LineRange("", 9, 9), LineRange("", 11, 13)], DocumentSet.of(text)).text.count("[s4 | … | L11-L13]") == 1


def test_a_section_asked_for_with_its_parent_appears_once() -> None:
    parent, child = resolve_section("A", ONE), resolve_section("A1", ONE)

    together = cut([*child.ranges, *parent.ranges], ONE)

    assert together == cut(parent.ranges, ONE)
    assert together.line_ranges == (LineRange("", 3, 11),)


def test_ranges_that_touch_become_one_passage() -> None:
    assert cut([LineRange("", 7, 8), LineRange("", 5, 6)], ONE).line_ranges == (LineRange("", 5, 8),)


def test_a_section_that_is_no_part_of_the_one_before_stands_under_a_breadcrumb_of_its_own() -> None:
    siblings = DocumentSet.of("# A\ntext\n## A1\ntext\n## A2\ntext\n# B\ntext\n")

    assert [passage.path for passage in whole(siblings).passages] == [("A",), ("B",)]
    assert [passage.path for passage in cut([LineRange("", 3, 8)], siblings).passages] == [
        ("A", "A1"),
        ("A", "A2"),
        ("B",),
    ]


def test_a_part_asked_for_stands_under_its_own_id() -> None:
    documents = DocumentSet.of("# Long\n\n" + "\n\n".join("Some words of text. " * 60 for _ in range(8)))
    part = documents[0].outline.parts("s1")[1]

    passage = cut([LineRange("", part.first_line, part.last_line)], documents).passages[0]

    assert passage.section == part.id == "s1.2"
    assert whole(documents).passages[0].section == "s1"


def test_several_documents_are_told_apart() -> None:
    text = cut([LineRange("d2", 1, 3), LineRange("d1", 12, 14)], TWO).text

    assert text == (
        "[d1:s3 | one.md | d1:L12-L14]\n12| # B\n\n14| b one\n\n[d2:s1 | two.md | d2:L1-L3]\n1| # C\n\n3| c"
    )


def test_pages_are_shown_where_they_are_known() -> None:
    documents = DocumentSet.of(Document("a\nb\nc\nd\n", page_starts=(1, 3)))

    passages = cut([LineRange("", 1, 1), LineRange("", 3, 4)], documents).passages
    text = cut([LineRange("", 2, 3)], documents).text

    assert [passage.pages for passage in passages] == [(1, 1), (2, 2)]
    assert text == "[s1 | Page 1 | L2-L2 | p. 1]\n2| b\n\n[s2 | Page 2 | L3-L3 | p. 2]\n3| c"


def test_each_fifth_line_of_a_long_block_is_numbered() -> None:
    documents = DocumentSet.of("\n".join(f"line {number}" for number in range(1, 25)))

    lines = cut([LineRange("", 3, 24)], documents).text.split("\n")[1:]

    assert [line for line in lines if "|" in line] == [
        "3| line 3",
        "8| line 8",
        "13| line 13",
        "18| line 18",
        "23| line 23",
    ]


def test_runs_of_blank_lines_are_shown_as_one() -> None:
    documents = DocumentSet.of("a\n\n\n \n\nb\n\n\n")

    assert whole(documents).text == "[s0 | L1-L8]\n1| a\n\n6| b"


def test_nothing_asked_for_is_an_empty_slice() -> None:
    empty = cut([LineRange("", 99, 120), LineRange("", 5, 4)], ONE)

    assert (empty.passages, empty.text, empty.tokens) == ((), "", 0)


def test_a_key_that_is_not_there_is_an_error() -> None:
    with pytest.raises(KeyError):
        cut([LineRange("d7", 1, 2)], ONE)


def test_the_best_parts_hold_the_query_s_words_within_the_budget() -> None:
    sections = [f"# Topic {number}\n\nPlain words number {number}.\n\n" for number in range(40)]
    documents = DocumentSet.of("".join([*sections[:20], "# Glue\n\nThe glue is made of bones.\n\n", *sections[20:]]))

    found = best_parts("what is glue made of?", documents, budget_tokens=60)

    assert [passage.path for passage in found.passages] == [("Glue",)]


@given(
    st.lists(texts, min_size=1, max_size=2), st.integers(-5, 300), st.sampled_from(["text", "more item", "absent", ""])
)
def test_the_best_parts_never_exceed_the_budget(contents: list[str], budget: int, query: str) -> None:
    found = best_parts(query, DocumentSet.of(contents), budget)

    assert found.tokens <= max(budget, 0)


def test_without_a_hit_the_best_parts_are_the_beginning() -> None:
    documents = DocumentSet.of("# A\n\na\n\n# B\n\nb\n")

    assert best_parts("absent", documents, budget_tokens=1000).line_ranges == (LineRange("", 1, 4), LineRange("", 5, 7))


SCRIPT = """
import hashlib, sys
from orchestra.document import DocumentSet, best_parts, cut, resolve_section, whole
text = "".join(f"# T{n % 7}\\n\\nwords {n} alpha beta\\n\\n- gamma {n % 3}\\n\\n" for n in range(60))
documents = DocumentSet.of([text, text[::-1]])
slices = [whole(documents), best_parts("gamma alpha 3", documents, 400)]
slices += [cut(resolve_section(reference, documents).ranges, documents) for reference in ("T3", "d1:T5", "alpha beta")]
print(hashlib.sha256("\\0".join([documents.annotated_text, *(one.text for one in slices)]).encode()).hexdigest())
"""


def test_the_same_input_gives_the_same_bytes_in_every_process() -> None:
    digests = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            check=True,
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("0", "1", "4242")
    }

    assert len(digests) == 1
