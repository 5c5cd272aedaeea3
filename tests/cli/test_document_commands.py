"""`orchestra outline` and `orchestra slice`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest


def test_outline_prints_one_line_per_section_and_the_rest_on_standard_error(spawn, report: Path) -> None:
    done = spawn("outline", report)

    rows = [line.split() for line in done.stdout.splitlines()]
    assert done.returncode == 0
    assert [(row[0], row[1], row[3:]) for row in rows] == [
        ("s1", "L1-L15", ["Annual", "report"]),
        ("s2", "L5-L8", ["Audit"]),
        ("s3", "L9-L15", ["Results"]),
        ("s4", "L13-L15", ["Margin"]),
    ]
    assert done.stderr.startswith("report.md: 15 lines, ")


def test_outline_as_json_holds_every_section_with_its_tokens(call, report: Path) -> None:
    done = call("outline", report, "--json")

    found = json.loads(done.stdout)
    assert done.stderr == ""
    assert (found["name"], found["lines"], len(found["sections"])) == ("report.md", 15, 4)
    assert found["sections"][3]["path"] == ["Annual report", "Results", "Margin"]
    assert found["sections"][0]["tokens"] > found["sections"][3]["tokens"] > 0


def test_outline_reads_standard_input(call) -> None:
    done = call("outline", "-", "--json", text="# One\n\ntext\n")

    assert [section["title"] for section in json.loads(done.stdout)["sections"]] == ["One"]


@pytest.mark.parametrize("command", [["outline"], ["slice"]])
def test_a_document_that_cannot_be_read_is_an_error(call, tmp_path: Path, command: list[str]) -> None:
    pointers = ["s1"] if command == ["slice"] else []

    done = call(*command, tmp_path / "none.md", *pointers)

    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr.startswith("orchestra: DOCUMENT_UNREADABLE: ")


def test_what_was_replaced_while_reading_is_said_on_standard_error(call, tmp_path: Path) -> None:
    path = tmp_path / "odd.md"
    path.write_bytes(b"# One\n\nna\x00ught\n")

    done = call("outline", path)

    assert done.exit_code == 0
    assert "warning: odd.md: " in done.stderr


def test_slice_prints_what_pointers_mean_and_how_each_was_found(spawn, report: Path) -> None:
    done = spawn("slice", report, "s2", "Results > Margin")

    assert done.returncode == 0
    assert "The auditor is Harrow Pike LLP" in done.stdout
    assert "The margin rose to 14.2 percent" in done.stdout
    assert "Revenue was" not in done.stdout
    assert done.stderr.splitlines() == ["s2: L5-L8 (by id)", "Results > Margin: L13-L15 (by path)"]


def test_slice_takes_line_ranges(call, report: Path) -> None:
    done = call("slice", report, "L7-L7")

    assert (done.exit_code, "Harrow Pike" in done.stdout, "Revenue" in done.stdout) == (0, True, False)


def test_slice_as_json_holds_the_pointers_and_the_passages(call, report: Path) -> None:
    done = call("slice", report, "Audit", "--json")

    found = json.loads(done.stdout)
    assert [(pointer["pointer"], pointer["rung"], pointer["ranges"]) for pointer in found["pointers"]] == [
        ("Audit", "title", [[5, 8]])
    ]
    assert [(passage["first_line"], passage["last_line"]) for passage in found["passages"]] == [(5, 8)]
    assert found["tokens"] > 0


def test_some_pointers_without_a_target_are_exit_code_3(call, report: Path) -> None:
    done = call("slice", report, "Audit", "zzqx qqzzw")

    assert done.exit_code == 3
    assert "Harrow Pike" in done.stdout
    assert "zzqx qqzzw: nothing (by unresolved)" in done.stderr


def test_no_pointer_with_a_target_is_an_error(call, report: Path) -> None:
    done = call("slice", report, "zzqx qqzzw")

    assert (done.exit_code, done.stdout) == (1, "")
    assert "orchestra: POINTERS_UNRESOLVED: no pointer resolves in report.md" in done.stderr
