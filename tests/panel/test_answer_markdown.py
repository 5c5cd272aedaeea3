"""Answers as HTML: what markdown means is there, what a page would obey is not."""

from __future__ import annotations

import pytest
from html_for_tests import Read
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestra.panel.view.markdown import LONGEST, CitationLink, answer_html

FIRST = CitationLink(1, "verified", "report.md L5", "/runs/r/source?n=1&doc=a")
SECOND = CitationLink(2, "unverified", 'a "b" <i>.md L9', "/runs/r/source?n=2")


def read(text, citations=(FIRST, SECOND)):
    return Read(str(answer_html(text, citations)))


def test_what_markdown_means_is_kept():
    shown = read("**Bold** and `code`\n\n- one\n- two\n\n| a | b |\n|---|--:|\n| 1 | 2 |\n\n> quoted\n\n3. three\n")

    names = [tag for tag, _ in shown.tags]
    assert {"strong", "code", "ul", "li", "table", "th", "td", "blockquote", "ol"} <= set(names)
    assert shown.attributes("ol") == [{"start": "3"}]
    assert all("style" not in attributes for _, attributes in shown.tags)


@pytest.mark.parametrize(
    "attack",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "<svg/onload=alert(1)>",
        "![x](http://evil.example/pixel.png)",
        "[x](javascript:alert(1))",
        "[x](JaVaScRiPt:alert(1))",
        "[x](data:text/html;base64,PHNjcmlwdD4=)",
        "[x](vbscript:x)",
        "[x](/runs/r/cancel)",
        "[x](//evil.example)",
        "<javascript:alert(1)>",
        '[x](http://e.example "\\" onmouseover=\\"alert(1)")',
        "```html\n<script>alert(1)</script>\n```",
        "<a href='http://e.example' style='position:fixed'>x</a>",
        "[1]: javascript:alert(1)\n\n[1]",
        "| a |\n|---|\n| <iframe src=//evil.example> |",
    ],
)
def test_nothing_of_an_answer_is_obeyed(attack):
    shown = read(f"before\n\n{attack}\n\nafter")

    assert not {tag for tag, _ in shown.tags} & {"script", "img", "svg", "iframe", "style", "form", "input"}
    for _, attributes in shown.tags:
        assert not [name for name in attributes if name.startswith("on") or name == "style"]
        href = attributes.get("href")
        assert href is None or href.startswith(("http://", "https://", FIRST.href))
    assert "before" in shown.text
    assert "after" in shown.text


def test_a_link_leads_to_the_web_in_a_tab_of_its_own_and_tells_nothing():
    (link,) = read("[Docs](https://docs.example/a?b=c)").attributes("a")

    assert link["href"] == "https://docs.example/a?b=c"
    assert (link["rel"], link["target"]) == ("noopener noreferrer", "_blank")


def test_citations_become_links_to_their_lines():
    shown = read("Revenue rose [1]. Costs fell [2?]. Nobody said [3].")

    first, second = shown.attributes("a")
    assert (first["href"], first["hx-get"], first["hx-target"]) == (FIRST.href, FIRST.href, "#panel-body")
    assert second["hx-get"] == SECOND.href
    assert "[3]" in shown.text


def test_verified_and_unverified_are_told_apart_by_sign_and_word():
    shown = read("A [1]. B [2?].")

    first, second = shown.attributes("a")
    assert "[1✓]" in shown.text
    assert "[2?]" in shown.text
    assert first["aria-label"] == "Source 1, verified: report.md L5"
    assert second["aria-label"] == 'Source 2, unverified: a "b" <i>.md L9'


def test_a_mark_in_code_is_text():
    shown = read("`[1]`\n\n    [1]\n")

    assert shown.attributes("a") == []


def test_a_mark_in_a_link_wins_for_links_do_not_nest():
    shown = read("[see [1] here](https://e.example)")

    assert [link["href"] for link in shown.attributes("a")] == [FIRST.href]


def test_a_mark_before_a_parenthesis_is_a_citation_and_no_link_of_the_answer():
    (link,) = read("[1](http://e.example)").attributes("a")

    assert link["href"] == FIRST.href


def test_headings_of_an_answer_are_none_of_the_page():
    shown = read("# Top\n\ntext\n\n### Deep\n")

    assert not {tag for tag, _ in shown.tags} & {"h1", "h2", "h3"}
    assert [p.get("class") for p in shown.attributes("p")] == ["heading", None, "heading"]


def test_a_text_beyond_all_bounds_is_cut_and_says_so():
    shown = read("word " * LONGEST)

    assert len(shown.text) < LONGEST + 200
    assert "longer than what is shown" in shown.text


@settings(deadline=None)
@given(st.text(alphabet="<>[]()!`*_~#|-:\"'&;=/\\ \n\t1?ajx", max_size=120))
def test_whatever_is_written_gives_known_tags_and_no_handlers(text):
    shown = read(text)

    known = {"a", "blockquote", "br", "code", "em", "hr", "li", "ol", "p", "pre", "s", "span", "strong", "ul"}
    tables = {"table", "tbody", "td", "th", "thead", "tr"}
    assert {tag for tag, _ in shown.tags} <= known | tables
    assert all(
        href == FIRST.href
        for each in shown.attributes("a")
        if not (href := each.get("href", "http")).startswith("http")
    )
