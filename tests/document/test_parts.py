from __future__ import annotations

import tracemalloc
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestra.document import Document, Part, count_tokens
from orchestra.document.lines import Lines
from orchestra.document.parts import PART_TOKENS, WHOLE_TOKENS, divide
from orchestra.document.tokens import EXACT_CHARACTERS

PARAGRAPH = "word " * 300 + "\n\n"

blocks = st.sampled_from(
    [
        "word " * 400,
        "short text",
        "```\ncode\n\n" + "code " * 500 + "\n\nmore\n```",
        "- item\n\n  ~~~\n  a\n\n  b\n  ~~~",
        "| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 200,
        "A sentence of plain prose goes here.\n" * 200,
        "Text that introduces:",
        "<table>\n<tr><td>1</td></tr>\n\n<tr><td>2</td></tr>\n</table>",
        "Revenue 1,200 1,300\n" * 300,
    ]
)
long_texts = st.lists(blocks, min_size=3, max_size=9).map("\n\n".join)


def parts_of(text: str) -> tuple[Part, ...]:
    outline = Document.from_text(text).outline
    return outline.parts(outline.sections[0].id)


@settings(max_examples=60)
@given(long_texts)
def test_parts_partition_a_long_text(text: str) -> None:
    document = Document.from_text("# A\n\n" + text)
    parts = document.outline.parts("s1")

    assert [part.id for part in parts] == [f"s1.{number}" for number in range(1, len(parts) + 1)]
    assert all(before.last_line + 1 == after.first_line for before, after in pairwise(parts))
    assert all(part.tokens == count_tokens(document.lines(part.first_line, part.last_line)) for part in parts)
    assert not parts or (parts[0].first_line, parts[-1].last_line) == (1, document.line_count)


@settings(max_examples=60)
@given(long_texts)
def test_no_part_begins_inside_a_fence_or_a_table(text: str) -> None:
    document = Document.from_text("# A\n\n" + text)
    parts = document.outline.parts("s1")

    before = [document.lines(1, part.first_line - 1) for part in parts[1:]]
    first = [document.line(part.first_line) for part in parts[1:]]

    assert all(text.count("```") % 2 == 0 and text.count("~~~") % 2 == 0 for text in before)
    assert all(text.count("<table>") == text.count("</table>") for text in before)
    assert not any(line.startswith(("| 1", "|--")) for line in first)


def test_a_short_text_has_no_parts() -> None:
    assert parts_of("# A\n\n" + "word " * 1000) == ()


def test_paragraphs_are_packed_evenly_up_to_the_limit() -> None:
    sizes = [part.tokens for part in parts_of("# A\n\n" + PARAGRAPH * 10)]

    assert all(600 <= size <= PART_TOKENS for size in sizes)
    assert len(sizes) == 4


def test_one_block_that_is_too_long_stays_whole() -> None:
    assert parts_of("word " * 1990) == ()
    assert parts_of("```\n" + "code\n\n" * 3000 + "```\n") == ()
    assert parts_of("| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 900) == ()


def test_lines_of_plain_prose_part_at_the_end_of_a_sentence() -> None:
    text = "This line goes on\nand here the sentence ends.\n" * 300

    parts = parts_of(text)

    assert len(parts) > 1
    assert all(part.tokens <= PART_TOKENS for part in parts)
    assert all(part.first_line % 2 == 1 for part in parts)


def test_prose_without_sentences_parts_at_any_line() -> None:
    parts = parts_of("words that never come to an end\n" * 600)

    assert len(parts) > 1
    assert all(part.tokens <= PART_TOKENS for part in parts)


def test_rows_of_figures_stay_together_where_prose_around_them_parts() -> None:
    prose = "This is a sentence of plain prose.\n" * 160
    rows = "Revenue 1,200 1,300\n" * 40
    first_row = 161

    parts = parts_of(prose + rows + prose)

    assert len(parts) > 1
    assert not any(first_row < part.first_line < first_row + 40 for part in parts)


def test_what_introduces_a_block_stays_with_it() -> None:
    text = "# A\n\n" + PARAGRAPH * 3 + "The rates are these:\n\n" + PARAGRAPH * 3

    parts = parts_of(text)
    last_lines = [Document.from_text(text).lines(part.first_line, part.last_line).rstrip() for part in parts]

    assert len(parts) > 1
    assert not any(text.endswith(":") for text in last_lines)


def test_the_text_before_the_first_heading_has_parts_too() -> None:
    assert [part.id for part in parts_of(PARAGRAPH * 8)][:2] == ["s0.1", "s0.2"]


def test_units_are_own_texts_or_their_parts() -> None:
    document = Document.from_text("intro\n# A\n\n" + PARAGRAPH * 8 + "# B\nb\n")

    assert [unit.id for unit in document.units] == ["s0", "s1.1", "s1.2", "s1.3", "s2"]
    assert [unit.section for unit in document.units] == ["s0", "s1", "s1", "s1", "s2"]


LOG_LINE = "12:59:07 worker-3 took 8417 ms for request 77\n"
endless_lines = st.sampled_from(
    [
        LOG_LINE,
        "| 1 | 2 | three |\n",
        '  "key": 7,\n',
        "1,204,x y z,9\n",
        "<row><a>1</a></row>\n",
        "Title Case\n",
        "結果は次のとおり\n",
        "x\n",
    ]
)


@settings(max_examples=12)
@given(st.lists(endless_lines, min_size=1, max_size=4), st.sampled_from(["", "<table>\n", "```\n", "# A\n\n"]))
def test_what_is_too_long_to_be_shown_whole_parts_at_any_line(lines: list[str], front: str) -> None:
    body = "".join(lines)
    repeated = body * (6 * WHOLE_TOKENS // len(body) + 1)
    text = front + repeated * (1 + 2 * WHOLE_TOKENS // count_tokens(repeated))

    parts = divide(Lines(text), 1, text.count("\n"))

    assert len(parts) > 10
    assert all(tokens <= PART_TOKENS for _, _, tokens in parts)


def test_parts_of_a_huge_text_are_those_of_its_blocks_and_about_as_long() -> None:
    paragraphs = ("A sentence of plain prose, and then another one. " * 30 + "\n\n") * 12
    lines = Lines(paragraphs * (EXACT_CHARACTERS // len(paragraphs) + 1))

    parts = divide(lines, 1, lines.count)
    counted = [count_tokens(lines.span(first, last)) for first, last, _ in parts]

    assert all(count <= PART_TOKENS for count in counted)
    assert [tokens for _, _, tokens in parts] == pytest.approx(counted, abs=12)


@pytest.mark.parametrize(
    "lines",
    [
        LOG_LINE * 200,
        "Title Case\n" * 200,
        "name 12\n" * 200,
        "a sentence of prose.\n\n" * 90,
        "```\nx = 1\n\ny\n```\n" * 90,
    ],
    ids=["log", "titles", "contents", "prose", "fences"],
)
def test_a_text_without_headings_takes_little_memory(lines: str) -> None:
    text = lines * (200_000 // len(lines))
    parts_of("# Warm\n\n" + text[:9_000])

    tracemalloc.start()
    document = Document(text)
    units = document.units
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert len(units) > 20
    assert peak < 4 * len(text)
