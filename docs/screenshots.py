"""Take the pictures of the panel that the README shows: a real panel, a real browser, real runs.

    python docs/screenshots.py [--chromium /usr/bin/chromium]

Needs `pip install -e '.[test]'` and a Chromium. Nothing is drawn: each picture is what the page showed.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from orchestra import ModelReply, ModelRequest, orchestrate
from orchestra.errors import ModelRefused
from orchestra.models.extractive import ExtractiveModel
from orchestra.panel.desk import open_desk
from orchestra.panel.server import PanelServer
from orchestra.store import Store

HERE = Path(__file__).parent
REPORT = HERE.parent / "examples" / "annual-report.md"
TASK = "Who audits the company, what was revenue in 2025, and what drove the change in gross margin?"
SIZE = {"width": 1360, "height": 820}
PLAN = {
    "subtasks": [
        {"id": "1", "task": "What was revenue?", "skill": "fact-extraction", "sections": ["Revenue"]},
        {"id": "2", "task": "What are the risks of suppliers?", "skill": "summarization", "sections": ["Risk factors"]},
        {"id": "3", "task": "What drove the gross margin?", "skill": "causal-reasoning", "sections": ["Gross margin"]},
    ]
}
LETTER = {
    "letter": {
        "description": "Drafts a letter to an auditor.",
        "system_prompt": "Draft the letter.",
        "needs_approval": True,
    }
}
LETTER_PLAN = {
    "subtasks": [{"id": "1", "task": "Ask the auditor for the fee.", "skill": "letter", "sections": ["Audit"]}]
}


class RefusesSuppliers(ExtractiveModel):
    """The built-in engine, but for one subtask that it refuses, as a provider may."""

    def complete(self, request: ModelRequest) -> ModelReply:
        if request.purpose == "subtask" and PLAN["subtasks"][1]["task"] in request.prompt:
            raise ModelRefused("the model refused to answer")
        return super().complete(request)


def tell_runs(store: Store) -> tuple[str, str]:
    """Two runs of the function, kept where the panel looks: one that failed in part, one that waits for a person."""
    failed = orchestrate(
        REPORT, "Revenue, risks and margin, in short.", model=RefusesSuppliers(), plan=PLAN, store=store
    )
    letter = {
        "subtasks": [{"id": "1", "task": "Ask the auditor for the fee.", "skill": "letter", "sections": ["Audit"]}]
    }
    waiting = orchestrate(REPORT, "Ask the auditor for its fee.", LETTER, plan=letter, store=store)
    assert (failed.status, waiting.status) == ("partial", "waiting"), (failed.status, waiting.status)
    return failed.run_id, waiting.run_id


def take(page: Page, folder: Path, name: str) -> None:
    page.wait_for_timeout(1500)  # until what was asked for is there, and nothing moves
    page.screenshot(path=folder / f"panel-{name}.png")
    print(folder / f"panel-{name}.png")


def visit(browser: Browser, server: PanelServer, runs: tuple[str, str], folder: Path) -> None:
    failed, waiting = runs
    page = browser.new_context(viewport=SIZE).new_page()
    page.goto(server.link)
    page.get_by_role("textbox", name="Task").fill(TASK)
    page.get_by_role("button", name="Send").click()
    page.locator("a[hx-get*='source?n=3']").first.click()
    take(page, folder, "answer")
    page.goto(f"{server.url}/runs/{failed}?tab=graph")
    page.get_by_role("button", name="Show first failure").click()
    take(page, folder, "failure")
    page.goto(f"{server.url}/runs/{waiting}?tab=permissions")
    take(page, folder, "approval")
    dark = browser.new_context(viewport=SIZE, color_scheme="dark").new_page()
    dark.goto(server.link)
    take(dark, folder, "overview-dark")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chromium", default=shutil.which("chromium"))
    parser.add_argument("--folder", type=Path, default=HERE / "images")
    arguments = parser.parse_args()
    arguments.folder.mkdir(exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as home,
        Store.open(Path(home) / "runs.db") as store,
        sync_playwright() as started,
    ):
        runs = tell_runs(store)
        server = PanelServer(open_desk(store, [REPORT]))
        options = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
        browser = started.chromium.launch(executable_path=arguments.chromium, args=options)
        with server.running():
            visit(browser, server, runs, arguments.folder)
        browser.close()


if __name__ == "__main__":
    main()
