"""The example report is what its generator writes, is long enough, and its figures add up."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def report() -> str:
    return (EXAMPLES / "annual-report.md").read_text(encoding="utf-8")


def cells(report: str, section: str, label: str) -> list[float]:
    """The figures of the first row with this label after the heading."""
    row = re.search(rf"^\| {re.escape(label)} \|(.+)\|$", report.split(f"\n{section}\n")[1], re.MULTILINE)
    assert row is not None, label
    texts = [text.strip().replace(",", "").replace("–", "0") for text in row[1].split("|")]
    return [-float(text.strip("()")) if text.startswith("(") else float(text) for text in texts]


def test_the_committed_report_and_questions_are_what_the_generator_writes_under_any_hash_seed() -> None:
    script = "import make_report, sys; r = make_report.make_report(); sys.stdout.buffer.write(r.encode())"

    written = subprocess.run(
        [sys.executable, "-c", script],
        cwd=EXAMPLES,
        env={"PYTHONPATH": str(EXAMPLES), "PYTHONHASHSEED": "7"},
        capture_output=True,
        check=True,
    )

    assert written.stdout == (EXAMPLES / "annual-report.md").read_bytes()


def test_the_committed_questions_are_what_the_generator_writes(monkeypatch: pytest.MonkeyPatch, report: str) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLES))
    from make_report import make_questions

    assert make_questions(report) == json.loads((EXAMPLES / "questions.json").read_text(encoding="utf-8"))


def test_another_seed_gives_other_figures(monkeypatch: pytest.MonkeyPatch, report: str) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLES))
    from make_report import make_report

    assert make_report(seed=1) != report


def test_the_report_has_25000_words_four_levels_and_titles_that_repeat(report: str) -> None:
    words = re.findall(r"\w[\w,.'’-]*", report)
    levels = {len(level) for level in re.findall(r"^(#{1,6}) ", report, re.MULTILINE)}
    titles = re.findall(r"^#{1,6} (.+)$", report, re.MULTILINE)

    assert len(words) >= 25_000
    assert levels == {1, 2, 3, 4}
    assert min(titles.count(title) for title in ("Results", "Risks", "Outlook")) > 4


def test_the_custom_skill_example_runs_without_a_key() -> None:
    done = subprocess.run(
        [sys.executable, "custom_skills.py"],
        cwd=EXAMPLES,
        env={"PYTHONPATH": str(EXAMPLES.parent)},
        capture_output=True,
        check=True,
        text=True,
    )

    assert "expires in June 2029" in done.stdout
    assert "legal-risk: Which legal claims does the company face?" in done.stdout


def test_no_directive_is_left_unfilled(report: str) -> None:
    assert "{{" not in report
    assert "}}" not in report


def test_assets_equal_liabilities_and_equity(report: str) -> None:
    assets = cells(report, "### Balance Sheets", "Total assets")
    liabilities = cells(report, "### Balance Sheets", "Total liabilities")
    equity = cells(report, "### Balance Sheets", "Shareholders' equity")

    assert assets == [round(a + b, 1) for a, b in zip(liabilities, equity, strict=True)]


@pytest.mark.parametrize(
    ("section", "labels", "total"),
    [
        (
            "### Segments in Brief",
            ("Flow Measurement", "Pumps and Drives", "Treatment Systems", "Field Services"),
            "Total",
        ),
        ("## Regions", ("North America", "Europe", "Asia Pacific", "Latin America", "Middle East and Africa"), "Total"),
        ("### Statements of Income", ("Revenue", "Cost of sales"), "Gross profit"),
        (
            "### Statements of Cash Flows",
            (
                "Net cash provided by operating activities",
                "Net cash used in investing activities",
                "Net cash used in financing activities",
                "Effect of exchange rates on cash",
                "Cash at the beginning of the year",
            ),
            "Cash at the end of the year",
        ),
        ("#### Fees", ("Audit fees", "Audit-related fees", "Tax fees", "Other fees"), "Total fees"),
    ],
)
def test_a_total_is_the_sum_of_its_rows(report: str, section: str, labels: tuple[str, ...], total: str) -> None:
    columns = zip(*(cells(report, section, label) for label in labels), strict=True)

    assert cells(report, section, total) == pytest.approx([sum(column) for column in columns], abs=0.001)
