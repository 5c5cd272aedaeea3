"""`orchestra permissions`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

POLICY = """
[permissions.allow]
tools = ["@default", "write_file"]
write = ["out"]
cost_usd = 0.5

[permissions.deny]
tools = ["ask_user"]
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, tools in (("reader", "Read"), ("odd", "Bash(git:*)")):
        (tmp_path / "skills" / name).mkdir(parents=True)
        front = f"---\nname: {name}\ndescription: Does {name}.\nallowed-tools: {tools}\n---\nDo it."
        (tmp_path / "skills" / name / "SKILL.md").write_text(front)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_by_default_a_run_reads_and_asks(call, here):
    done = call("permissions")

    assert done.exit_code == 0
    assert done.stdout.startswith("By the default policy, a run may use:")
    assert "write   nothing" in done.stdout
    assert "critique               all" in done.stdout


def test_the_policy_of_the_folder_and_what_skills_lack_are_shown(call, here):
    (here / "orchestra.toml").write_text(POLICY)

    done = call("permissions", "--skills", "skills")

    words = " ".join(done.stdout.split())
    assert "By orchestra.toml, a run may use:" in words
    assert f"write{here.resolve() / 'out'}" in words.replace(" ", "")
    assert "cost at most $0.5" in words
    assert "reader read_file, read_section; not load_skill, load_subskill, request_approval, search_document" in words
    assert "odd nothing;" in words


def test_json_says_for_each_skill_what_it_may_do_and_who_took_the_rest(call, here):
    (here / "orchestra.toml").write_text(POLICY)

    shown = json.loads(call("permissions", "--skills", "skills", "--json").stdout)

    assert shown["policy"] == "orchestra.toml"
    assert {lost["permission"] for lost in shown["run"]["narrowings"]} == {"tools: ask_user", "cost_usd: everything"}
    assert [shown["skills"][name]["color"] for name in ("critique", "reader", "odd")] == ["green", "yellow", "red"]
    assert {lost["taken_by"] for lost in shown["skills"]["reader"]["narrowings"]} == {"skill"}


def test_a_mistake_in_the_policy_is_told_with_its_line(call, here):
    (here / "orchestra.toml").write_text("[permissions.allow]\ntools = []\nwrites = ['out']\n")

    done = call("permissions")

    assert done.exit_code == 1
    assert done.stderr.splitlines() == [
        "orchestra: POLICY_INVALID: orchestra.toml:3: allow.writes is unknown "
        "(known are tools, read, write, hosts, models, cost_usd)",
        "  Did you mean 'write'?",
    ]
