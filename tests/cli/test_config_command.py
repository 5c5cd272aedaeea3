"""`orchestra config`, and the file that commands read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from orchestra.settings import RANGES


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in (*RANGES, "store", "config"):
        monkeypatch.delenv(f"ORCHESTRA_{name.upper()}", raising=False)


def rows(done) -> dict[str, list[str]]:
    assert (done.exit_code, done.stderr) == (0, "")
    return {row[0]: row[1:] for row in map(str.split, done.stdout.splitlines())}


def test_every_setting_is_shown_with_its_value_and_where_it_comes_from(call, monkeypatch) -> None:
    Path("orchestra.toml").write_text("max_workers = 8\nmax_depth = 3\n\n[timeout_per_skill]\ntranslation = 90\n")
    monkeypatch.setenv("ORCHESTRA_MAX_DEPTH", "5")

    shown = rows(call("config"))

    assert shown["max_workers"] == ["8", "orchestra.toml"]
    assert shown["max_depth"] == ["5", "ORCHESTRA_MAX_DEPTH"]
    assert shown["timeout_per_skill"] == ["translation=90", "orchestra.toml"]
    assert shown["timeout_s"] == ["60", "default"]
    assert shown["phase_timeout_s"] == ["300", "default"]
    assert shown.keys() >= RANGES.keys()


def test_json_names_the_variable_and_the_range_of_each(call) -> None:
    Path("team.toml").write_text('[permissions]\nallow = ["read_section"]\n')

    shown = json.loads(call("config", "--config", "team.toml", "--json").stdout)

    assert (shown["file"], shown["permissions"]) == ("team.toml", {"allow": ["read_section"]})
    assert next(each for each in shown["settings"] if each["name"] == "max_depth") == {
        "name": "max_depth",
        "value": 4,
        "source": "default",
        "place": "",
        "variable": "ORCHESTRA_MAX_DEPTH",
        "range": "a whole number from 2 to 8",
    }


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_what_is_secret_is_not_shown(call, monkeypatch, form) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "planted-key-1")
    monkeypatch.setenv("ORCHESTRA_STORE", "postgresql://me:planted-word@db.example/runs?password=planted-too")
    monkeypatch.setenv("ORCHESTRA_MODEL", "openai:sk-planted-key-12345")

    done = call("config", *form)

    assert "postgresql://db.example/runs" in done.stdout
    assert "planted" not in done.output


def test_a_variable_that_looks_misspelt_is_named(call, monkeypatch) -> None:
    monkeypatch.setenv("ORCHESTRA_MAX_WORKER", "9")

    done = call("config")

    assert done.stderr == "warning: ORCHESTRA_MAX_WORKER is not read; did you mean ORCHESTRA_MAX_WORKERS?\n"


@pytest.mark.parametrize("command", [("config",), ("run", "doc.md", "What?"), ("plan", "doc.md", "What?"), ("models",)])
def test_a_mistake_in_the_file_of_the_folder_is_two_lines_and_exit_code_2(call, command) -> None:
    Path("doc.md").write_text("The auditor is Pike.")
    Path("orchestra.toml").write_text("max_depth = 99\n")

    done = call(*command)

    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.splitlines() == [
        "orchestra: INPUT_INVALID: max_depth in orchestra.toml is 99 (it is a whole number from 2 to 8)",
        "  Correct it there; `orchestra config` shows what is read from where.",
    ]


def test_a_run_takes_its_settings_from_the_file_unless_an_option_says_otherwise(call) -> None:
    Path("doc.md").write_text("The auditor is Pike.")
    Path("orchestra.toml").write_text('model = "builtin:extractive"\nstrategy = "full"\n')

    from_file = json.loads(call("run", "doc.md", "Who audits?", "--json").stdout)
    by_option = json.loads(call("run", "doc.md", "Who audits?", "--json", "--strategy", "auto").stdout)
    planned = json.loads(call("plan", "doc.md", "Who audits?", "--json").stdout)

    assert from_file["strategy"]["asked"] == "full"
    assert by_option["strategy"]["asked"] == "auto"
    assert planned["strategy"]["asked"] == "full"


def test_the_model_of_the_file_is_the_default_one(call) -> None:
    Path("orchestra.toml").write_text('model = "ollama:tiny"\n')

    done = call("models")

    assert [line.split()[1] for line in done.stdout.splitlines() if line.startswith("*")] == ["ollama:tiny"]


def test_a_variable_names_another_file_than_that_of_the_folder(call, monkeypatch) -> None:
    Path("orchestra.toml").write_text("max_workers = 8\n")
    Path("team.toml").write_text("max_workers = 9\n")
    monkeypatch.setenv("ORCHESTRA_CONFIG", "team.toml")

    assert rows(call("config"))["max_workers"] == ["9", "team.toml"]


@pytest.mark.parametrize("command", ["run", "plan"])
def test_the_help_says_the_defaults_and_ranges_that_hold(command) -> None:
    from importlib import import_module

    from orchestra.settings import Settings

    options = {option.name: option for option in getattr(import_module(f"orchestra.cli.{command}"), command).params}

    shared = [name for name in RANGES if name in options and getattr(Settings(), name) not in (None, False)]
    assert {name: options[name].default for name in shared} == {name: getattr(Settings(), name) for name in shared}
    for name in shared:
        ends = [getattr(options[name].type, end, None) for end in ("min", "max")]
        assert all(RANGES[name].holds(end) for end in ends if end is not None)
        assert not any(
            RANGES[name].holds(end + step) for end, step in zip(ends, (-1, 1), strict=True) if end is not None
        )
