"""`orchestra panel`, as a process."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from contextlib import AbstractContextManager
from pathlib import Path

import httpx
import pytest
from processes import started


def panel_in(folder: Path, *arguments: str, **environment: str) -> AbstractContextManager[subprocess.Popen[str]]:
    return started(
        [sys.executable, "-m", "orchestra", "panel", *arguments],
        stderr=subprocess.PIPE,
        cwd=folder,
        env={**os.environ, "XDG_STATE_HOME": str(folder), **environment},
    )


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_it_prints_a_link_that_opens_and_ends_when_it_is_told_to(tmp_path: Path, ending: signal.Signals) -> None:
    (tmp_path / "report.md").write_text("# Report\n\nPellworth audits the company.\n")
    with panel_in(tmp_path, "report.md", "--no-browser") as process:
        assert process.stdout is not None
        link = process.stdout.readline().strip()
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/open\?key=[\w-]{20,}", link)
        with httpx.Client() as browser:
            assert browser.get(link).status_code == 200
            page = browser.get(httpx.URL(link).join("/"), follow_redirects=True)
            assert page.status_code == 200
            assert "/sessions/" in str(page.url)
        process.send_signal(ending)
        _, said = process.communicate(timeout=20)
    assert process.returncode == (0 if ending == signal.SIGINT else -ending)
    assert "Traceback" not in said
    assert "nothing had finished" not in said


def test_it_opens_the_browser_at_its_link(tmp_path: Path) -> None:
    opened = tmp_path / "opened.txt"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > "{opened}.part" && mv "{opened}.part" "{opened}"\n')
    browser.chmod(0o755)
    with panel_in(tmp_path, BROWSER=f"{browser} %s") as process:
        assert process.stdout is not None
        link = process.stdout.readline().strip()
        assert process.stderr is not None
        assert "Ctrl-C" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=20)
    assert opened.read_text().strip() == link


def test_a_port_that_is_taken_is_said(tmp_path: Path) -> None:
    with panel_in(tmp_path, "--no-browser") as process:
        assert process.stdout is not None
        port = httpx.URL(process.stdout.readline().strip()).port
        with panel_in(tmp_path, "--no-browser", "--port", str(port)) as second:
            _, said = second.communicate(timeout=20)
        assert second.returncode == 2
        assert "cannot listen" in said
        assert "--port" in said
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=20)


def test_a_document_that_is_not_there_is_said(tmp_path: Path) -> None:
    with panel_in(tmp_path, "missing.pdf", "--no-browser") as process:
        _, said = process.communicate(timeout=20)
    assert process.returncode == 2
    assert "missing.pdf" in said


def test_the_last_chat_goes_on_if_it_is_over_the_documents_that_are_named(tmp_path: Path) -> None:
    (tmp_path / "first.md").write_text("# First\n\nA line.\n")
    (tmp_path / "second.md").write_text("# Second\n\nA line.\n")
    sessions: list[str] = []
    for name in ("first.md", "first.md", "second.md"):
        with panel_in(tmp_path, name, "--no-browser") as process, httpx.Client() as browser:
            assert process.stdout is not None
            link = httpx.URL(process.stdout.readline().strip())
            browser.get(link)
            page = browser.get(link.join("/"), follow_redirects=True)
            shelf = f"{page.url.copy_with(query=None)}/documents"
            assert name in browser.get(shelf).text
            token = re.findall(r'data-token="(\w+)"', page.text)[0]
            sent = browser.post(shelf, files={"file": ("more.md", b"# More")}, headers={"X-Token": token})
            assert sent.status_code == 303
            sessions.append(page.url.path)
    assert sessions[0] == sessions[1] != sessions[2]
