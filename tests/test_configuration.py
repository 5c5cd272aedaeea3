"""Where settings come from, and which source wins."""

from __future__ import annotations

import json
import math
from dataclasses import fields
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import get_type_hints

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from models_for_tests import COSTS, REPORT, ScriptedModel, plan_of

from orchestra import compare_strategies, make_plan, orchestrate
from orchestra.configuration import configure, range_words, unread_variables, variable
from orchestra.errors import InputInvalid
from orchestra.settings import RANGES, Options, Settings
from orchestra.skills import Skill

COUNTS = st.integers(1, 10**6)
SECONDS = st.floats(0.001, 10**6)
SKILLS = st.from_regex(r"[a-z][a-z0-9_-]{0,9}", fullmatch=True)
SAMPLES: dict[str, st.SearchStrategy[object]] = {
    "max_workers": COUNTS,
    "max_tokens": COUNTS,
    "synthesis_max_tokens": COUNTS,
    "temperature": st.none() | st.floats(0, 2),
    "on_unresolved": st.sampled_from([None, "full", "search", "error"]),
    "timeout_s": st.none() | SECONDS,
    "phase_timeout_s": st.none() | SECONDS,
    "timeout_per_skill": st.none() | SECONDS | st.dictionaries(SKILLS, SECONDS, min_size=1, max_size=3),
    "retries": st.integers(0, 2),
    "retry_on_failure": st.booleans()
    | st.integers(0, 2)
    | st.dictionaries(SKILLS, st.integers(0, 2) | st.booleans(), min_size=1, max_size=3),
    "max_attempts": COUNTS,
    "max_depth": st.integers(2, 8),
    "strategy": st.sampled_from(["auto", "direct", "full", "outline"]),
    "outline_tokens": COUNTS,
    "catalogue_tokens": COUNTS,
    "is_document_cached": st.booleans(),
    "max_followups": st.integers(0, 3),
    "max_tokens_total": st.none() | COUNTS,
    "max_cost_usd": st.none() | st.floats(0, 1000),
    "history_tokens": st.integers(0, 10**6),
    "mode": SKILLS,
}
A_SETTING = st.sampled_from(sorted(SAMPLES)).flatmap(
    lambda name: st.tuples(st.just(name), *[st.none() | st.tuples(SAMPLES[name]) for _ in range(3)])
)
SKILL = Skill("translation", "Translates.", "Translate.")


@pytest.fixture(autouse=True)
def _nothing_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*RANGES, "model", "config"):
        monkeypatch.delenv(variable(name), raising=False)


@pytest.fixture
def file(tmp_path: Path):
    def write(text: str) -> Path:
        path = tmp_path / "orchestra.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def in_environment(value: object) -> str:
    if isinstance(value, dict):
        return ",".join(f"{skill}={in_environment(each)}" for skill, each in value.items())
    return str(value).lower()


def in_toml(name: str, value: object) -> str:
    if isinstance(value, dict):
        return f"[{name}]\n" + "".join(f"{skill} = {json.dumps(each)}\n" for skill, each in value.items())
    return f"{name} = {json.dumps('none' if value is None else value)}\n"


def refusal(**sources) -> InputInvalid:
    with pytest.raises(InputInvalid) as caught:
        configure(**sources)
    return caught.value


@given(A_SETTING)
@settings(max_examples=200, deadline=None)
def test_an_argument_wins_over_the_environment_that_over_the_file_and_that_over_the_default(setting):
    name, argument, environment, written = setting
    with TemporaryDirectory() as folder:
        path = Path(folder, "team.toml")
        path.write_text("" if written is None else in_toml(name, written[0]), encoding="utf-8")

        value = configure(
            {} if argument is None else {name: argument[0]},
            path,
            environ={} if environment is None else {variable(name): in_environment(environment[0])},
        ).values[name]

    found = [
        (argument, "argument", ""),
        (environment, "environment", f"ORCHESTRA_{name.upper()}"),
        (written, "file", str(path)),
        ((getattr(Settings(), name),), "default", ""),
    ]
    expected, source, place = next(each for each in found if each[0] is not None)
    assert (value.value, value.source, value.place) == (*expected, source, place)


def test_every_setting_has_a_range_an_argument_and_a_default_within_its_range():
    names = [field.name for field in fields(Settings)]

    assert set(names) == set(RANGES) == set(get_type_hints(Options)) == set(SAMPLES)
    assert {name: get_type_hints(Settings)[name] for name in names} == get_type_hints(Options)
    Settings().check()


@pytest.mark.parametrize(("name", "least", "most"), [("max_depth", 2, 8), ("retries", 0, 2), ("max_followups", 0, 3)])
def test_a_range_holds_its_ends_and_nothing_beyond_them(name, least, most):
    for value in (least, most):
        Settings(**{name: value}).check()

    for value in (least - 1, most + 1, float(least), str(least), True, None):
        with pytest.raises(InputInvalid, match=name):
            Settings(**{name: value}).check()


@pytest.mark.parametrize(
    "wrong",
    [
        {"timeout_s": math.inf},
        {"timeout_s": 10**400},
        {"phase_timeout_s": 0},
        {"timeout_per_skill": {"translation": 0}},
        {"timeout_per_skill": {"": 5}},
        {"timeout_per_skill": {1: 5}},
        {"timeout_per_skill": [5]},
        {"retry_on_failure": {"translation": 3}},
        {"retry_on_failure": -1},
        {"retry_on_failure": "true"},
        {"is_document_cached": 1},
        {"strategy": ["auto"]},
        {"temperature": math.nan},
    ],
)
def test_a_value_out_of_its_range_is_refused_by_its_name_and_range(wrong):
    (name,) = wrong

    with pytest.raises(InputInvalid) as caught:
        orchestrate("A text.", "What?", model="builtin:extractive", **wrong)

    assert caught.value.what == f"{name} is {wrong[name]!r}"
    assert caught.value.cause == f"it is {range_words(name)}"


def test_the_environment_of_the_process_is_read(monkeypatch):
    monkeypatch.setenv("ORCHESTRA_MAX_WORKERS", "7")

    assert configure().settings.max_workers == 7


def test_a_variable_that_is_empty_is_not_set():
    assert configure(environ={"ORCHESTRA_MAX_WORKERS": "  "}).values["max_workers"].source == "default"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("max_depth", "9"),
        ("max_workers", "many"),
        ("max_workers", "1.5"),
        ("max_workers", "none"),
        ("timeout_s", "inf"),
        ("strategy", "AUTO"),
        ("is_document_cached", "perhaps"),
        ("timeout_per_skill", "translation=soon"),
        ("timeout_per_skill", "translation=5,summarization"),
        ("retry_on_failure", "translation=3"),
    ],
)
def test_a_variable_with_a_wrong_value_is_named_with_the_value_and_the_range(name, text):
    error = refusal(environ={variable(name): text})

    assert error.what == f"{variable(name)} is {text!r}"
    assert error.cause == f"it is {range_words(name)}"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("max_depth = 1", "max_depth in {path} is 1"),
        ('max_workers = "8"', "max_workers in {path} is '8'"),
        ("max_workers = 8.0", "max_workers in {path} is 8.0"),
        ("is_document_cached = 1", "is_document_cached in {path} is 1"),
        ("retry_on_failure = {a = 1, b = 7}", "retry_on_failure in {path} is {{'a': 1, 'b': 7}}"),
        ("model = 5", "model in {path} is 5"),
        ('model = ""', "model in {path} is ''"),
        ("timeout_s = 1979-05-27", "timeout_s in {path} is datetime.date(1979, 5, 27)"),
        ("max_worker = 8", "{path} has a setting 'max_worker' that does not exist"),
        ("[permission]", "{path} has a table 'permission' that does not exist"),
        ("permissions = 1", "permissions is no table in {path}"),
        ("max_workers = ", "{path} could not be read"),
    ],
)
def test_a_file_with_a_mistake_is_named_with_the_value(file, text, shown):
    path = file(text)

    error = refusal(file=path)

    assert error.what == shown.format(path=path)


def test_a_wrong_value_is_told_also_where_another_one_wins(file):
    error = refusal(arguments={"max_depth": 3}, file=file("max_depth = 99"), environ={})

    assert error.what.endswith("is 99")


def test_a_misspelt_name_gets_the_one_that_was_meant(file):
    assert refusal(file=file("[timeout_by_skill]")).suggestion == "Did you mean 'timeout_per_skill'?"
    with pytest.raises(TypeError, match=r"there is no argument 'max_worker'\. Did you mean 'max_workers'\?"):
        orchestrate("A text.", "What?", max_worker=3)  # pyright: ignore[reportCallIssue]
    assert unread_variables({"ORCHESTRA_MAX_WORKER": "3", "ORCHESTRA_MAX_WORKERS": "3", "PATH": ""}) == [
        ("ORCHESTRA_MAX_WORKER", "ORCHESTRA_MAX_WORKERS")
    ]


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"a = [" * 5000])
def test_a_file_that_cannot_be_read_is_an_error_that_names_it(tmp_path, content):
    path = tmp_path / "odd.toml"
    path.write_bytes(content)

    assert refusal(file=path).what == f"{path} could not be read"
    assert refusal(file=tmp_path).what == f"{tmp_path} could not be read"
    assert "there is no configuration file" in refusal(file=tmp_path / "none.toml").what


def test_what_looks_like_a_key_is_not_shown_in_an_error(file):
    in_variable = refusal(environ={"ORCHESTRA_MAX_TOKENS": "sk-planted-key-12345"})
    in_file = refusal(file=file('max_tokens = "sk-planted-key-12345"\n'))

    assert "planted" not in f"{in_variable}{in_file}"


def test_no_file_is_read_that_nobody_named(file, tmp_path, monkeypatch):
    file("max_workers = 0")
    monkeypatch.chdir(tmp_path)

    assert configure().file == ""
    assert orchestrate("The auditor is Pike.", "Who audits?", model="builtin:extractive").status == "completed"


def test_the_file_that_a_variable_names_is_read_unless_the_caller_names_one(file, tmp_path, monkeypatch):
    monkeypatch.setenv("ORCHESTRA_CONFIG", str(file("max_workers = 3")))
    other = tmp_path / "other.toml"
    other.write_text("max_workers = 4")

    assert configure().settings.max_workers == 3
    assert configure(file=other).settings.max_workers == 4


def test_a_table_that_others_read_is_handed_on_as_it_is(file):
    found = configure(file=file('[permissions]\nallow = ["read_file(*.md)"]\n[permissions.deny]\nhosts = ["*"]\n'))

    assert found.permissions == {"allow": ["read_file(*.md)"], "deny": {"hosts": ["*"]}}
    assert configure(environ={}).permissions is None


def test_a_model_that_is_passed_goes_before_all_that_are_configured(file):
    found = configure(file=file('model = "ollama:a"\nplanner_model = "ollama:b"\n'), environ={})

    assert found.models() == ("ollama:b", "ollama:a", "ollama:a")
    assert found.models("ollama:c") == ("ollama:c", "ollama:c", "ollama:c")
    assert found.models("ollama:c", "ollama:d", "ollama:e") == ("ollama:d", "ollama:c", "ollama:e")
    assert configure(environ={}).models() == (None, None, None)


def test_a_run_is_bound_by_what_is_configured(file):
    model = ScriptedModel(plan=plan_of({"context_pointers": COSTS}), subtask="Steel [L9].")
    path = file('strategy = "full"\nmax_tokens = 77\ntemperature = 0.9')

    orchestrate(REPORT, "Why?", model=model, config=path)

    assert [(request.max_tokens, request.temperature) for request in model.sent("subtask")] == [(77, 0.9)]


def test_the_phases_alone_read_the_same_configuration(file):
    path = file('strategy = "direct"\nmodel = "builtin:extractive"')

    assert compare_strategies("A text.", "What?", config=path).asked == "direct"
    assert [subtask.skill for subtask in make_plan("A text.", "What?", config=path).subtasks] == ["direct"]


@pytest.mark.parametrize(
    ("chosen", "manifest", "seconds"),
    [
        ({}, None, 60),
        ({}, 90, 90),
        ({"timeout_s": 5}, None, 5),
        ({"timeout_s": 5}, 90, 90),
        ({"timeout_s": 5, "timeout_per_skill": 7}, None, 7),
        ({"timeout_per_skill": 7}, 90, 90),
        ({"timeout_per_skill": {"Translation": 7}}, 90, 7),
        ({"timeout_per_skill": {"summarization": 7}}, None, 60),
    ],
)
def test_a_subtask_is_bound_by_what_is_said_closest_to_its_skill(chosen, manifest, seconds):
    skill = Skill("translation", "Translates.", "Translate.", timeout_s=manifest)

    assert Settings(**chosen).subtask_limit_s(skill) == seconds


def test_a_call_for_several_subtasks_has_the_time_of_all_of_them_unless_the_caller_set_one():
    slow = Skill("slow", "Slow.", "Be slow.", timeout_s=90)

    assert Settings().subtask_limit_s(SKILL, slow, SKILL) == 210
    assert Settings(timeout_s=5).subtask_limit_s(SKILL, SKILL) == 5
    assert Settings(timeout_s=5).subtask_limit_s(SKILL, slow) == 90


def test_a_setting_for_a_skill_that_the_run_does_not_have_is_told():
    result = orchestrate(
        "The auditor is Pike.",
        "Who is the auditor?",
        model="builtin:extractive",
        timeout_per_skill={"translaton": 5, "Critique": 5},
    )

    assert [(notice.code, notice.message) for notice in result.warnings] == [
        ("SETTING_UNUSED", "timeout_per_skill names 'translaton', and this run has no such skill")
    ]


def test_planning_and_synthesis_have_300_seconds_unless_set():
    assert Settings().phase_limit_s == 300
    assert Settings(timeout_s=5).phase_limit_s == 5
    assert Settings(timeout_s=5, phase_timeout_s=9).phase_limit_s == 9


@pytest.mark.parametrize(
    ("chosen", "manifest", "times"),
    [
        ({}, None, 0),
        ({"retries": 2}, None, 2),
        ({"retries": 2}, 1, 1),
        ({"retry_on_failure": True}, None, 1),
        ({"retry_on_failure": True, "retries": 2}, 0, 0),
        ({"retry_on_failure": {"translation": False}, "retries": 2}, 1, 0),
        ({"retry_on_failure": {"summarization": 2}}, None, 0),
    ],
)
def test_a_subtask_is_done_again_as_often_as_is_said_closest_to_its_skill(chosen, manifest, times):
    skill = Skill("translation", "Translates.", "Translate.", retries=manifest)

    assert Settings(**chosen).retries_of(skill) == times
