"""The lines that an answer cites, and those that a node was sent, over HTTP and in a browser."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from orchestra import Result, orchestrate
from orchestra.store import DocumentRef
from tests.panel.conftest import Panel
from tests.records_for_tests import a_run

PART = {"HX-Request": "true"}
ROOT = Path(__file__).parents[2]
REPORT = ROOT / "examples" / "annual-report.md"
PDF = ROOT / "tests" / "data" / "report.pdf"
TASK = "Who audits the company, and what was total revenue in 2024?"
SCRIPT = '<script>alert(1)</script>"><img src=x onerror=alert(1)>'


def _citation(number: int, **fields: Any) -> dict[str, Any]:
    given = {
        "key": "",
        "document": "a.md",
        "first_line": 2,
        "last_line": 2,
        "page": None,
        "quote": "",
        "status": "verified",
    }
    return {"number": number, **given, "claim": "It says so.", "reason": "", **fields}


def _keep(panel: Panel, citations: list[Mapping[str, Any]], *documents: tuple[str, str], run_id: str = "r1") -> None:
    """A finished run over documents (name, text) whose answer has these citations."""
    refs = tuple(DocumentRef(name, f"digest-{run_id}-{at}") for at, (name, _) in enumerate(documents))
    panel.store.begin_run(a_run(run_id, session_id="s1", documents=refs))
    for ref, (name, text) in zip(refs, documents, strict=True):
        panel.store.put_document(ref.digest, name, text)
    panel.store.end_run(run_id, "completed", result={"answer": "It says so [1].", "citations": citations})


def _source(panel: Panel, run_id: str = "r1", status: int = 200, **query: Any) -> str:
    answer = panel.client.get(f"/runs/{run_id}/source", params=query, headers=PART)
    assert answer.status_code == status, answer.text
    return answer.text


def _marked(page: str) -> list[str]:
    return [unescape(each) for each in re.findall(r"<mark>(.*?)</mark>", page, re.DOTALL)]


def _run(panel: Panel, document: Path) -> Result:
    return orchestrate(document, TASK, model="builtin:extractive", store=panel.store, session_id="s1")


def test_each_citation_of_a_real_answer_shows_its_lines(panel: Panel) -> None:
    result = _run(panel, REPORT)
    lines = REPORT.read_text().splitlines()

    assert result.citations
    for citation in result.citations:
        page = _source(panel, result.run_id, n=citation.number)
        assert _marked(page) == lines[citation.first_line - 1 : citation.last_line]
        assert f"Source {citation.number} · annual-report.md" in page
        assert citation.status.capitalize() in page


def test_a_citation_of_a_pdf_tells_its_page(panel: Panel) -> None:
    result = orchestrate(PDF, "What does the report say?", model="builtin:extractive", store=panel.store)
    citation = next(each for each in result.citations if each.page)

    page = _source(panel, result.run_id, n=citation.number)

    assert f"Page {citation.page}" in page
    assert re.search(rf"pages? {citation.page}\b", page)
    assert _marked(page)


def test_verified_and_unverified_are_told_apart_by_sign_and_word(panel: Panel) -> None:
    verified, doubtful = _citation(1), _citation(2, status="unverified", reason="the number 7 is missing")
    _keep(panel, [verified, doubtful], ("a.md", "One.\nTwo.\nThree.\n"))

    first, second = _source(panel, n=1), _source(panel, n=2)

    assert re.search(r"✓</span> Verified</strong> The lines state", first)
    assert re.search(r"\?</span> Unverified</strong> The number 7 is missing\.", second)
    assert "It says so." in first
    assert _marked(first) == ["Two."]
    assert 'id="source-next"' in first
    assert 'id="source-previous"' not in first
    assert "2 of 2" in second


def test_of_several_documents_the_one_that_is_cited_is_shown(panel: Panel) -> None:
    _keep(
        panel,
        [_citation(1, key="d2", document="b.md", first_line=1, last_line=1)],
        ("a.md", "Of a.\n"),
        ("b.md", "Of b.\n"),
    )

    assert _marked(_source(panel, n=1)) == ["Of b."]
    assert _marked(_source(panel, doc="b.md", **{"from": 1, "to": 1})) == ["Of b."]
    assert _marked(_source(panel, doc="d1", **{"from": 1, "to": 1})) == ["Of a."]


def test_lines_that_a_node_was_sent_are_shown_in_all_their_ranges(panel: Panel) -> None:
    _keep(panel, [], ("a.md", "\n".join(f"line {number}" for number in range(1, 201))))

    page = _source(panel, doc="a.md", **{"from": [10, 100], "to": [11, 100]}, before=1, after=1, node="run/1")

    assert _marked(page) == ["line 10", "line 11", "line 100"]
    assert "86 lines in between" in page
    assert "tab=graph&amp;node=run%2F1" in page


def test_more_lines_are_shown_on_request(panel: Panel) -> None:
    text = "\n".join(f"line {number}" for number in range(1, 201))
    _keep(panel, [_citation(1, first_line=100, last_line=100)], ("a.md", text))

    first = _source(panel, n=1)
    above = unescape(re.search(r'id="source-above" href="([^"]+)"', first)[1])  # type: ignore[index]
    more = panel.client.get(above, headers=PART).text

    assert (">line 92<" in first, ">line 91<" in first, ">line 108<" in first) == (True, False, True)
    assert (">line 60<" in more, ">line 59<" in more, ">line 109<" in more) == (True, False, False)


def test_hostile_text_is_shown_and_never_run(panel: Panel) -> None:
    hostile = _citation(1, document=SCRIPT, claim=SCRIPT, reason=SCRIPT, status="unverified", quote=SCRIPT)
    _keep(
        panel, [hostile, _citation(2, key="d9", document=SCRIPT, quote=SCRIPT)], (SCRIPT, f"\n{SCRIPT}\u202e\n\x1b[0m")
    )

    pages = [_source(panel, n=1), _source(panel, n=2), _source(panel, doc=SCRIPT, **{"from": 1, "to": 3}, node=SCRIPT)]
    pages.append(panel.client.get("/runs/r1/source", params={"n": 1}).text)

    for page in pages:
        body = page.partition("<body")[2] or page
        assert "<script" not in body
        assert "<img" not in body
        assert "\u202e" not in body
    assert _marked(pages[0]) == [f"{SCRIPT}‹U+202E›"]


def test_a_document_that_is_gone_leaves_what_was_quoted(panel: Panel) -> None:
    panel.store.begin_run(a_run("r1", documents=(DocumentRef("a.md", "never-kept"),)))
    panel.store.end_run("r1", "completed", result={"answer": "x [1]", "citations": [_citation(1, quote="The line.")]})

    page = _source(panel, n=1)

    assert "a.md is not in the store any more" in page
    assert _marked(page) == ["The line."]


def test_lines_beyond_the_document_are_told(panel: Panel) -> None:
    _keep(panel, [_citation(1, first_line=500, last_line=600)], ("a.md", "One.\nTwo."))

    assert "The document has no such lines." in _source(panel, n=1)


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ({"n": "7"}, 404),
        ({"n": "0"}, 400),
        ({"n": "x"}, 400),
        ({}, 400),
        ({"doc": "a.md", "from": "1"}, 400),
        ({"doc": "a.md", "from": "1", "to": "-1"}, 400),
        ({"doc": "a.md", "from": ["1"] * 201, "to": ["1"] * 201}, 400),
        ({"n": "1", "before": "100000"}, 400),
    ],
)
def test_an_odd_address_is_refused(panel: Panel, query: dict[str, Any], status: int) -> None:
    _keep(panel, [_citation(1)], ("a.md", "One.\nTwo."))

    _source(panel, status=status, **query)


def test_a_run_that_is_not_there_has_no_sources(panel: Panel) -> None:
    _source(panel, run_id="nobody", status=404, n=1)


def test_only_documents_of_the_run_itself_can_be_read(panel: Panel) -> None:
    _keep(panel, [], ("mine.md", "Mine.\n"), run_id="r1")
    _keep(panel, [], ("theirs.md", "Theirs.\n"), run_id="r2")

    for name in ("theirs.md", "digest-r2-0", "../theirs.md", "/etc/passwd", "d2"):
        page = _source(panel, doc=name, **{"from": 1, "to": 9})
        assert "Theirs." not in page
        assert "the run has no such document" in page


def test_sources_are_read_by_keyboard_in_both_schemes_and_on_a_narrow_page(
    look: Callable[..., Page], panel: Panel
) -> None:
    result = _run(panel, REPORT)
    assert len(result.citations) == 4
    page = look(panel, viewport={"width": 1200, "height": 800})
    page.goto(f"{panel.url}/sessions/s1?run={result.run_id}")
    body = page.locator("#panel-body")

    page.locator("#chat a.cite").first.focus()
    page.keyboard.press("Enter")
    expect(body.locator("#source-title")).to_contain_text("annual-report.md")
    expect(body.locator("#source-title")).to_be_focused()
    expect(body.locator("mark").first).to_be_visible()
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        assert Axe().run(page, context="#panel").violations_count == 0

    page.set_viewport_size({"width": 360, "height": 740})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    body.locator("#source-next").focus()
    page.keyboard.press("Enter")
    expect(body).to_contain_text("2 of 4")
    expect(body.locator("#source-next")).to_be_focused()
    body.locator("#source-back").focus()
    page.keyboard.press("Enter")
    expect(body.locator("#source-title")).to_have_count(0)
