"""`orchestra route`: what it prints, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from trees_for_tests import below, write_skill

from orchestra.cli import main

WAY = {"type": "composite", "routing": {"strategy": "sequential"}}


@pytest.fixture
def skills(tmp_path: Path) -> Path:
    place = write_skill(
        tmp_path / "skills",
        "mail",
        sub_skills=["sort", {"name": "answer", "dependencies": ["sort"]}],
        data_flow=["step_1.output.urgent → step_2.mails"],
        **WAY,
    )
    below(
        place,
        "sort",
        code="def work(context):\n    return {'urgent': ['m1', 'm2'] if 'urgent' in context.query else None}\n",
    )
    below(
        place,
        "answer",
        code="def work(mails):\n    return {'message': f'{len(mails)} answered'}\n",
        parameters={"properties": {"mails": {"type": "array"}}, "required": ["mails"]},
    )
    return tmp_path / "skills"


def run(*words: object):
    return CliRunner().invoke(main, ["route", *map(str, words)], env={"ORCHESTRA_MODEL": "builtin:extractive"})


def test_the_message_and_the_route_in_a_line(skills: Path):
    done = run("Answer what is urgent", "--skills", skills)

    assert done.exit_code == 0, done.output
    assert done.stdout == "2 answered\n"
    assert "1 skill · 2 steps · " in done.stderr
    assert "success rate 100 %" in done.stderr
    assert "fan-out" not in done.stderr


def test_the_result_as_json(skills: Path):
    done = run("Answer what is urgent", "--skills", skills, "--json", "--quiet")

    result = json.loads(done.stdout)
    assert [step["skill"] for step in result["subtasks"][0]["steps"]] == ["sort", "answer"]
    assert result["route"]["success_rate"] == 1.0


def test_a_value_that_nobody_gives_leaves_the_rest_and_says_so(skills: Path):
    done = run("Answer", "--skills", skills, "--no-store")

    assert done.exit_code == 3, done.output
    assert "MISSING_PARAMETERS: answer lacks mails" in done.stderr
    assert "success rate 50 %" in done.stderr


def test_a_cycle_is_an_error_in_two_lines(tmp_path: Path):
    write_skill(tmp_path, "a", sub_skills=["b"], triggers=["go"], **WAY)
    write_skill(tmp_path, "b", sub_skills=["a"], **WAY)

    done = run("Go", "--skills", tmp_path)

    assert done.exit_code == 1
    assert "CALL_CYCLE_DETECTED" in done.stderr
    assert "a → b → a" in done.stderr


def test_no_step_that_a_query_did_not_need_is_counted(tmp_path: Path):
    place = write_skill(
        tmp_path,
        "mail",
        sub_skills=[{"name": "sort", "triggers": ["sort"]}, {"name": "send", "triggers": ["send"]}],
        **WAY,
    )
    for name in ("sort", "send"):
        below(place, name, code=f"def work():\n    return '{name} done'\n")

    done = run("Sort it", "--skills", tmp_path)

    assert done.stdout == "sort done\n"
    assert "1 skill · 1 step · " in done.stderr


def test_without_skills_of_ones_own_the_shipped_ones_are_taken(tmp_path: Path):
    report = tmp_path / "report.md"
    report.write_text("# Revenue\n\nRevenue rose because prices rose.\n")

    done = run("Why did revenue rise?", report, "--no-store")

    assert done.exit_code == 0, done.output
    assert "because prices rose" in done.stdout
