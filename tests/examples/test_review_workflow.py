"""The review of a report finds what was put wrong into it, blames nothing else, and cites it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from orchestra.pipeline import route
from orchestra.result import Result
from orchestra.runtime.events import Event, NodeUpdated

REPORT = """# Report

## Results

Revenue rose 25.0% to $50.0 million, from $40.0 million.

| Millions | 2024 | 2025 |
| --- | ---: | ---: |
| North | 15.0 | 20.0 |
| South | 25.0 | 30.0 |
| Total revenue | 40.0 | 50.0 |

## Costs

See Note 1 for what they are made of.

| Millions | Labour | Steel | Total |
| --- | ---: | ---: | ---: |
| North | 4.0 | 5.0 | 9.0 |
| South | 6.0 | 7.0 | 13.0 |
| West | 1.0 | (0.5) | 0.5 |

## Note 1: Costs

The board looks at return on capital (ROC) first. ROC was good. ROC will be better.
"""


def review(text: str) -> Result:
    return route("Review this report", context=text)


def findings(result: Result) -> list[dict[str, Any]]:
    assert result.status == "completed", result.errors
    assert {citation.status for citation in result.citations} <= {"verified", "derived"}, result.citations
    summary = next(step for step in result.subtasks[0].steps if step.skill == "review-summary")
    return summary.output["findings"]


def test_the_example_report_has_nothing_to_blame(report: Path) -> None:
    events: list[Event] = []

    result = route("Review this report", context=report, on_event=events.append)

    assert findings(result) == []
    assert "81 tables with 65 totals" in result.answer
    assert "34 stated changes" in result.answer
    updates = (event for event in events if isinstance(event, NodeUpdated) and event.kind != "guarantee")
    assert {event.node_id: event.skill_name for event in updates} == {
        "run/subtask-1": "report-review",
        "run/subtask-1/step-1": "report-ready",
        "run/subtask-1/step-2": "figure-checks",
        "run/subtask-1/step-3": "terms-and-references",
        "run/subtask-1/step-4": "review-summary",
    }


def test_mistakes_in_the_example_report_are_found_where_they_are(orchestra, report: Path, tmp_path: Path) -> None:
    text = report.read_text()
    for right, wrong in (
        ("Revenue rose 9.5% to $2,839.5", "Revenue rose 8.5% to $2,839.5"),
        ("| Total | 2,593.9 | 146.6 |", "| Total | 2,593.9 | 149.6 |"),
        ("| Total debt | | | 802.5 |", "| Total debt | | | 812.5 |"),
        ("Cost of sales rose 6.7% to $1,791.2", "Cost of sales rose 6.7% to $1,719.2"),
    ):
        assert text.count(right) == 1
        text = text.replace(right, wrong)
    broken = tmp_path / "broken.md"
    broken.write_text(text)

    done = orchestra("route", "Review this report", broken, "--no-store")

    assert done.returncode == 0, done.stderr
    assert "# Review: 5 findings" in done.stdout
    assert '- Volume, "Total": 149.6 [1]. The 4 rows that it adds up come to 146.6.' in done.stdout
    assert "The 4 rows that it adds up come to 802.5." in done.stdout
    assert "From 2,593.9 to 2,839.5 is +9.5%, not +8.5%." in done.stdout
    assert "No table of the document states 1,719.2." in done.stdout
    assert "unverified" not in done.stdout


@pytest.mark.parametrize(
    ("right", "wrong", "kind", "problem"),
    [
        ("| 40.0 | 50.0 |", "| 40.0 | 51.0 |", "total", "come to 50.0"),
        ("| 6.0 | 7.0 | 13.0 |", "| 6.0 | 7.0 | 31.0 |", "total", "The 2 columns before it come to 13.0"),
        ("| (0.5) | 0.5 |", "| 0.5 | 0.5 |", "total", "come to 1.5"),
        ("rose 25.0%", "rose 24.0%", "change", "is +25.0%, not +24.0%"),
        ("rose 25.0%", "fell 25.0%", "change", "is +25.0%, not -25.0%"),
        (
            "Revenue rose 25.0% to $50.0 million",
            "Total revenue rose 32.5% to $53.0 million",
            "unsupported",
            "No table of the document states 53.0",
        ),
    ],
)
def test_one_mistake_is_one_finding(right: str, wrong: str, kind: str, problem: str) -> None:
    assert findings(review(REPORT)) == []
    assert right in REPORT

    found = findings(review(REPORT.replace(right, wrong)))

    assert [each["kind"] for each in found] == [kind]
    assert problem in found[0]["problem"]


def test_rows_of_one_name_that_differ_in_one_year_contradict_each_other() -> None:
    table = "\n## {0}\n\n| Millions | 2023 | 2024 | 2025 |\n| --- | --- | --- | --- |\n| Orders | 11.5 | 12.5 | {1} |\n| Staff | 1 | 2 | 3 |\n"

    same = findings(review(REPORT + table.format("One", "13.5") + table.format("Two", "13.5")))
    rounded = findings(review(REPORT + table.format("One", "13.5") + table.format("Two", "14")))
    other = findings(review(REPORT + table.format("One", "13.5") + table.format("Two", "15.3")))

    assert same == rounded == []
    assert [(each["kind"], each["lines"]) for each in other] == [("contradiction", "[L36-L38]")]
    assert "L29-L31 says 13.5" in other[0]["problem"]


def test_a_total_that_nothing_explains_is_not_blamed() -> None:
    table = "\n## Other\n\n| | 2024 | 2025 |\n| --- | --- | --- |\n| A | 1 | 2 |\n| B | 3 | 4 |\n| Total of something else | 90 | 95 |\n"

    result = review(REPORT + table)

    assert findings(result) == []
    assert "Left unjudged: 1 total that could not be followed." in result.answer


def test_subtotals_stand_for_their_rows() -> None:
    table = (
        "\n## Assets\n\n| | 2025 |\n| --- | --- |\n| Cash | 10.0 |\n| Stock | 20.0 |\n| Total current assets | 30.0 |\n"
        "| Land | 5.0 |\n| Plant | 7.0 |\n| Total fixed assets | 12.0 |\n| Total assets | {} |\n"
    )

    assert findings(review(REPORT + table.format("42.0"))) == []
    assert "The 2 rows that it adds up come to 42.0" in findings(review(REPORT + table.format("43.0")))[0]["problem"]


def test_amounts_are_read_as_the_document_writes_them() -> None:
    text = "# Bericht\n\n## Umsatz\n\n| Mio. | 2024 | 2025 |\n| --- | --- | --- |\n| Nord | 1.015,5 | 1.020,5 |\n| Süd | 25,0 | 30,0 |\n| Summe | 1.040,5 | {} |\n"

    assert findings(review(text.format("1.050,5"))) == []
    assert "1,055.5" not in str(findings(review(text.format("1.055,5"))))
    assert len(findings(review(text.format("1.055,5")))) == 1


def test_terms_and_references_are_told() -> None:
    text = (
        REPORT.replace("See Note 1", "See Note 7")
        + "\nThe XYZQ rose. The XYZQ fell. The XYZQ stayed.\n\n## Nothing here\n"
    )

    result = review(text)

    assert findings(result) == []
    assert "## References that lead nowhere\n- Note 7 [" in result.answer
    assert "## Abbreviations that nothing explains\n- XYZQ [" in result.answer
    assert "- ROC: return on capital [" in result.answer
    assert "## Sections without text\n- Nothing here [" in result.answer


@pytest.mark.parametrize(
    ("context", "reason"),
    [
        (None, "there is no report to review"),
        ("# Poem\n\nThe wind blows.\n", "document has no figures to check"),
        ("We had 1,200 and then 1,300 and 1,400 of them in all.\n", "document has no sections"),
    ],
)
def test_what_is_no_report_ends_with_the_reason(context: str | None, reason: str) -> None:
    result = route("Review this report", context=context)

    assert result.status == "failed"
    assert any(error.code == "GATE_FAILED" and reason in error.message for error in result.errors)
    assert reason in result.answer


@pytest.mark.parametrize(
    "table",
    [
        "| a | b |\n| --- | --- |\n",
        "| a | b |\n| --- | --- |\n| Total | 1 |\n| Total | 2 |\n",
        "| Total |\n| --- |\n| 1 |\n| 2 |\n",
        "| a | Total | b |\n| --- | --- | --- |\n| x | 1 | 2 | 3 | 4 |\n| y |\n| Total | – | n/a |\n",
        "| a | b |\n| --- | --- |\n| x | 12% |\n| y | 1,2,3 |\n| Total | 13% |\n",
        "| a | b |\n| --- | --- |\n| x | 1 |\n| y | 2 |\n| z | |\n| Total | 77 |\n",
        "| a | b | c |\n| --- | --- | --- |\n| x | 1 | |\n| y | | 2 |\n| Total | 7 | 8 |\n",
        "||\n|-|\n||\n|\n",
    ],
)
def test_odd_tables_are_passed_over(table: str) -> None:
    assert findings(review(f"{REPORT}\n## Odd\n\n{table}")) == []


def test_nothing_to_compute_is_said() -> None:
    result = review("# Diary\n\n## Monday\n\nI ran 12 miles, slept 7.5 hours and ate 3 apples.\n")

    assert findings(result) == []
    assert "No table, and no sentence that states a change" in result.answer
