from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from orchestra.document import Document
from orchestra.document.headings import front_matter_end, harvest

DATA = Path(__file__).parents[1] / "data"
CASES = [
    pytest.param(case, id=f"{name}-{number}")
    for name in ("headings", "nasty_headings")
    for number, case in enumerate(json.loads((DATA / f"{name}.json").read_text())["cases"])
]

PREFIXES = [
    "",
    "",
    "",
    " ",
    "  ",
    "   ",
    "    ",
    "\t",
    "> ",
    ">",
    "- ",
    "* ",
    "+ ",
    "1. ",
    "2. ",
    "1) ",
    "- > ",
    "> - ",
]
BODIES = """text|# h|## h ##|#|####### x|===|---|--|-|=|***|* * *|```|```py|~~~|````|``` a`b|~~~ x`|<div>|</div>|<!--
|-->|<!-- x -->|<script>|</script>|<b>|<b>x|<?|?>|<!A|>|a . b|<https://x.y>|<pre>|</pre>|*em*|`c|- x|1. x|3. y|* ```|+|*
|1.|_ _ _|==  |=== x||||  |\t|\\|foo  |&amp;""".replace("\n", "").split("|")
nasty_lines = st.builds("".join, st.tuples(*[st.sampled_from(PREFIXES)] * 2, st.sampled_from(BODIES)))
nasty_markdown = st.lists(nasty_lines, min_size=1, max_size=14).map(lambda lines: "\n".join(lines) + "\n")


@pytest.mark.parametrize("case", CASES)
def test_headings_are_those_of_the_reference_implementation(case: dict[str, Any]) -> None:
    outline = Document.from_text(case["text"]).outline

    found = [
        {"level": section.level, "title": section.title, "line": section.first_line, "end_line": section.last_line}
        for section in outline.sections
        if section.kind == "heading"
    ]

    assert found == case["headings"]


@settings(max_examples=400)
@given(nasty_markdown)
@example("- ```\n\n# out\n```\n# code\n")
@example("<!--\n\n- a\n\n-->\n# out\n")
def test_parsing_around_suspects_finds_what_parsing_everything_finds(text: str) -> None:
    from markdown_it import MarkdownIt

    tokens = MarkdownIt("commonmark", {"maxNesting": 100}).parse(text[front_matter_end(text) :])
    skipped = text[: front_matter_end(text)].count("\n")
    whole = [
        (int(token.tag[1]), token.map[0] + 1 + skipped)
        for token in tokens
        if token.type == "heading_open" and token.level == 0 and token.map
    ]

    found = [(heading.level, heading.line) for heading in harvest(text)]

    assert found == whole


@given(st.text(st.sampled_from("#=-~`<>![]()&;:*_ \t\n\f\v\\\"'1.a\u00a0\u2028é\U0001f389\ufffd"), max_size=60))
def test_any_text_has_headings_in_line_order(text: str) -> None:
    lines = [heading.line for heading in harvest(text)]

    assert lines == sorted(set(lines))
    assert all(1 <= line <= text.count("\n") + 1 for line in lines)


@pytest.mark.parametrize(
    "text",
    [
        "---\ntitle: x\n---\n# A\n",
        "---\ntitle: x\ntags:\n- a\n- b\n---\n# A\n",
        "---\n# comment\ntitle: |\n  several\n\n  lines\n...\n# A\n",
        "---\nLast updated: today\n---\n# A\n",
    ],
)
def test_front_matter_has_no_headings(text: str) -> None:
    titles = [heading.title for heading in harvest(text)]

    assert titles == ["A"]


@pytest.mark.parametrize(
    "text",
    [
        "---\nFoo\n---\n",
        "---\nFoo: x\nno key\n---\n",
        "---\n\nFoo: x\n---\n",
        "\n---\nFoo: x\n---\n",
        "text\n\n---\nFoo: x\n---\n",
    ],
)
def test_a_rule_that_begins_no_front_matter_hides_nothing(text: str) -> None:
    assert len(harvest(text)) == 1


def test_front_matter_that_never_closes_is_content() -> None:
    assert [heading.title for heading in harvest("---\ntitle: x\n\n# A\n")] == ["A"]


@pytest.mark.parametrize(
    "hidden",
    [
        "```\n" + "- x\n\n# no\n" * 400 + "```\n",
        "~~~~\n" + "```\n# no\n\n" * 400 + "~~~~~  \n",
        "<!--\n" + "- x\n\n# no\n" * 400 + "-->\n",
        "<pre>\n" + "text\n\n# no\n" * 400 + "</pre>\n",
        "- x\n\n" + "  # no\n\n" * 400,
    ],
)
def test_what_hides_headings_is_followed_to_its_end(hidden: str) -> None:
    text = f"# A\n\n{hidden}\n# B\n"

    headings = harvest(text)

    assert [(heading.title, heading.line) for heading in headings] == [("A", 1), ("B", text.count("\n"))]


def test_a_definition_anywhere_gives_a_title_its_plain_text() -> None:
    text = "# [Fine][here] print\n\nText.\n\n- > [here]: https://example.org 'x'\n"

    assert harvest(text)[0].title == "Fine print"


@pytest.mark.parametrize("nesting", ["> " * 400 + "x\n<b>", "- " * 400 + "x\n  <b>", "> - " * 200 + "x\n<b>"])
def test_deep_nesting_ends_with_its_own_block(nesting: str) -> None:
    text = f"{nesting}\n\n# A\n"

    assert [heading.title for heading in harvest(text)] == ["A"]
