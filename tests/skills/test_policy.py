"""A workspace's policy: what a file or a mapping says, and how a mistake in it is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestra.errors import PolicyInvalid
from orchestra.skills.permissions import Grants, HostName, Name, PermissionSet, Root, ToolCall, ToolRule
from orchestra.skills.policy import Policy

DEFAULT = PermissionSet(
    tools=Grants.of([ToolRule.parse("ask_user"), ToolRule.parse("mine")]),
    read=Grants.of([Root(("/", "report.md"))]),
    write=Grants.of(()),
    hosts=Grants.of([HostName("api.example.com")]),
    models=Grants.of([Name("openai:m")]),
    cost_usd=2.0,
)


def tools(policy, name, subject=None):
    return policy.permissions(DEFAULT).tools.outcome(ToolCall(name, subject))


@pytest.mark.parametrize("nothing", [None, {}, {"allow": {}}, {"deny": {"tools": []}}])
def test_a_policy_that_says_nothing_is_the_default_policy(nothing):
    assert Policy.of(nothing).permissions(DEFAULT) == DEFAULT


def test_a_list_says_all_of_its_kind_and_leaves_the_other_kinds(tmp_path):
    allowed = Policy.from_mapping({"allow": {"tools": ["write_file"]}}, folder=tmp_path).permissions(DEFAULT)

    assert allowed.snapshot == {**DEFAULT.snapshot, "tools": ["write_file"]}


def test_default_in_a_list_stands_for_what_is_allowed_without_it():
    policy = Policy.of({"allow": {"tools": ["@default", "write_file"]}})

    assert [tools(policy, name) for name in ("mine", "write_file", "Bash")] == ["allow", "allow", "deny"]


def test_an_empty_list_allows_nothing():
    assert tools(Policy.of({"allow": {"tools": []}}), "mine") == "deny"


def test_deny_beats_ask_and_ask_beats_allow():
    lists = {"tools": ["a", "b", "c"]}, {"tools": ["b", "c"]}, {"tools": ["c"]}
    policy = Policy.of(dict(zip(("allow", "ask", "deny"), lists, strict=True)))

    assert [tools(policy, name) for name in "abcd"] == ["allow", "ask", "deny", "deny"]


def test_what_is_asked_for_is_allowed_when_a_person_says_so():
    policy = Policy.of({"ask": {"tools": ["write_file"]}})

    assert [tools(policy, name) for name in ("write_file", "mine")] == ["ask", "allow"]


def test_a_star_asks_for_everything_and_denies_everything():
    assert tools(Policy.of({"ask": {"tools": ["*"]}}), "whatever") == "ask"
    assert tools(Policy.of({"allow": {"tools": ["*"]}, "deny": {"tools": ["*"]}}), "mine") == "deny"
    assert tools(Policy.of({"allow": {"tools": ["*"]}}), "whatever") == "allow"
    assert Policy.of({"allow": {"hosts": ["*"]}}).permissions(DEFAULT).hosts.outcome("x.org") == "allow"


def test_roots_are_relative_to_the_files_folder_and_resolved(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "docs").symlink_to("real")
    (tmp_path / "orchestra.toml").write_text("[permissions.allow]\nread = ['docs', '@skill']")

    read = Policy.from_file(tmp_path / "orchestra.toml").permissions(DEFAULT).read

    assert read.allowed == {Root((tmp_path / "real").resolve().parts), Root(("@skill",))}


def test_of_two_costs_the_lower_one_holds():
    assert Policy.of({"allow": {"cost_usd": 3}}).permissions(DEFAULT).cost_usd == 2.0
    assert Policy.of({"allow": {"cost_usd": 0.5}}).permissions(DEFAULT).cost_usd == 0.5


def test_a_policy_stays_as_it_was_read(tmp_path):
    file = tmp_path / "orchestra.toml"
    file.write_text("[permissions.allow]\ntools = []")
    policy = Policy.from_file(file)

    file.write_text("[permissions.allow]\ntools = ['*']")

    assert tools(policy, "mine") == "deny"


def test_other_tables_of_the_file_are_not_read(tmp_path):
    (tmp_path / "orchestra.toml").write_text("model = 'x'\n[other]\nallow = 3\n")

    assert Policy.from_file(tmp_path / "orchestra.toml").is_default


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("[permissions]\nalow = {}", 2, "alow is unknown"),
        ("[permissions.allow]\n\ntols = []", 3, "Did you mean 'tools'"),
        ("[permissions.allow]\ntools = []\n[permissions.deny]\ntools = 'Bash'", 4, "a list of texts"),
        ("[permissions.allow]\ntools = [\n  'Read',\n  'Bash(git',\n]", 4, "bracket is not closed"),
        ("[permissions.allow]\nread = ['docs/**']", 2, "without `*`"),
        ("[permissions.allow]\nread = ['~nobody-of-that-name/x']", 2, "no root"),
        ("[permissions.allow]\nhosts = ['http://x.org/']", 2, "no host"),
        ("[permissions.allow]\nmodels = ['a b']", 2, "no model"),
        ("[permissions.allow]\ncost_usd = -1", 2, "greater than or equal"),
        ("[permissions.allow]\ncost_usd = true", 2, "cost_usd"),
        ("[permissions.allow]\ncost_usd = nan", 2, "finite"),
        ("[permissions.ask]\nhosts = ['x.org']", 2, "hosts is unknown"),
        ("[permissions.deny]\ntools = ['@default']", 2, "stands for nothing here"),
        ("[permissions.allow]\nwrite = ['@skill']", 2, "stands for nothing here"),
        ("[permissions.allow]\ntools = ['Bash(a;b:*)']", 2, "plain words"),
        ("[permissions.allow]\ntools = ['Bash()']", 2, "empty"),
        ("[permissions.allow]\ntools = [1]", 2, "a list of texts"),
        ("[permissions.allow\n", 1, "no TOML"),
    ],
)
def test_a_mistake_is_told_with_its_line(tmp_path: Path, text, line, said):
    file = tmp_path / "orchestra.toml"
    file.write_text(text)

    with pytest.raises(PolicyInvalid) as caught:
        Policy.from_file(file)

    told = str(caught.value)
    assert said in told
    assert f"orchestra.toml:{line}:" in told or f"line {line}" in told


@pytest.mark.parametrize("choice", ["nowhere.toml", Path("/"), 3, [], {"allow": []}, {"allow": {"tools": "Read"}}])
def test_what_is_no_policy_is_told(choice):
    with pytest.raises(PolicyInvalid):
        Policy.of(choice)


def test_a_file_that_is_not_text_is_told(tmp_path):
    (tmp_path / "orchestra.toml").write_bytes(b"\xff\xfe\x00")

    with pytest.raises(PolicyInvalid):
        Policy.from_file(tmp_path / "orchestra.toml")
