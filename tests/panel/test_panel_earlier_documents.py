"""A session that a program began: the panel names the documents of its runs, since it does not have their files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from html_for_tests import Read
from models_for_tests import REPORT

from orchestra import orchestrate
from orchestra.store import Store

TASK = "Who audits the company?"


@pytest.fixture
def begun(tmp_path: Path) -> Any:
    """A store with a session of a program, over one document."""
    (tmp_path / "mine<b>.md").write_text(REPORT, encoding="utf-8")
    with Store.open(tmp_path / "shared.db") as store:
        orchestrate([tmp_path / "mine<b>.md"], TASK, store=store, session_id="s1")
        yield store


def shelf(panel: Any) -> str:
    return Read(panel.client.get("/sessions/s1/documents", headers={"HX-Request": "true"}).text).text


def test_what_earlier_tasks_were_over_is_named_where_the_panel_does_not_have_it(start_panel, begun, tmp_path) -> None:
    other = tmp_path / "other.md"
    other.write_text("# Other\n\nNothing.\n", encoding="utf-8")

    panel = start_panel(begun, documents=[other])

    assert "Earlier tasks of this session were over mine<b>.md. Add it to ask about it again." in shelf(panel)


def test_a_document_that_the_session_has_is_not_named_again(start_panel, begun, tmp_path) -> None:
    panel = start_panel(begun)
    before = shelf(panel)

    orchestrate([tmp_path / "mine<b>.md"], TASK, store=begun, session_id="s2")
    files = {"file": ("report.md", REPORT.encode())}
    panel.client.post("/sessions/s2/documents", files=files)
    orchestrate([panel.desk.shelf.documents("s2")[0].path], TASK, store=begun, session_id="s2")
    page = Read(panel.client.get("/sessions/s2/documents", headers={"HX-Request": "true"}).text).text

    assert "Earlier tasks" in before
    assert "were over mine<b>.md. Add" in page


def test_a_session_without_runs_names_nothing(start_panel, begun) -> None:
    panel = start_panel(begun)
    session_id = panel.client.post("/sessions").headers["location"].rsplit("/", 1)[-1]

    page = panel.client.get(f"/sessions/{session_id}/documents", headers={"HX-Request": "true"}).text

    assert "Earlier tasks" not in page
