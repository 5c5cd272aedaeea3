"""Intersection: never wider than an operand, and the same in whatever order and however often it is taken."""

from __future__ import annotations

import json
from functools import reduce
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from orchestra.errors import InputInvalid
from orchestra.skills.permissions import (
    EVERYTHING,
    ArgumentPattern,
    Grants,
    HostName,
    Name,
    PermissionSet,
    Root,
    ToolCall,
    ToolRule,
)
from orchestra.skills.permissions.grants import OUTCOMES
from orchestra.skills.permissions.words import is_within, of_snapshot

NAMES = ("Bash", "bash", "Read", "mcp__files__read", "mcp__mail")
TEXTS = ("git", "git status", "git push", "git push origin", "git push; id", "GIT  push", "npm test", "docs/a.md", "..")
PATTERNS = ("git:*", "git push:*", "npm:*", "git status", "npm test", "git*", "*a*", "docs/*.md", "*; *")
PATHS = ("/", "/a", "/a/b", "/a/b/c", "/A/b", "/ab", "/x")
HOSTS = ("a.com", "x.a.com", "y.x.a.com", "b.org", "localhost")
MODELS = ("anthropic:one", "anthropic:two", "openai:one", "Anthropic:one", "é:x")

names = st.sampled_from((*NAMES, "mcp__*", "*", "b*")).map(Name)
patterns = st.frozensets(st.sampled_from(PATTERNS).map(ArgumentPattern.parse), max_size=1)
rules = st.builds(ToolRule, names, patterns)
roots = st.sampled_from(PATHS).map(lambda path: Root(Path(path).parts))
hosts = st.sampled_from((*HOSTS, "*.a.com", "*.x.a.com")).map(HostName)
models = st.sampled_from((*MODELS, "anthropic:*", "*", "a*")).map(Name)


def grants(entries):
    some = st.lists(entries, max_size=2)
    return st.builds(Grants.of, st.none() | st.lists(entries, max_size=3), some, some)


permission_sets = st.builds(
    PermissionSet,
    grants(rules),
    grants(roots),
    st.just(Grants()),
    grants(hosts),
    grants(models),
    st.none() | st.floats(0, 10),
)
questions = st.one_of(
    st.tuples(
        st.just("tools"), st.builds(ToolCall, st.sampled_from((*NAMES, "Ваsh")), st.none() | st.sampled_from(TEXTS))
    ),
    st.tuples(st.just("read"), st.sampled_from((*PATHS, "/a/../x")).map(Path)),
    st.tuples(st.just("hosts"), st.sampled_from((*HOSTS, "X.A.com."))),
    st.tuples(st.just("models"), st.sampled_from(MODELS)),
)


def width(permissions, question):
    kind, what = question
    return OUTCOMES.index(permissions.kind(kind).outcome(what))


def costs(permissions):
    return float("inf") if permissions.cost_usd is None else permissions.cost_usd


@given(permission_sets, permission_sets, questions)
def test_an_intersection_allows_exactly_what_both_allow(one, other, question):
    both = one.intersect(other)

    assert width(both, question) == min(width(one, question), width(other, question))
    assert costs(both) == min(costs(one), costs(other))


@given(permission_sets, permission_sets, permission_sets)
def test_intersecting_is_associative_to_the_very_form(one, other, third):
    assert one.intersect(other).intersect(third) == one.intersect(other.intersect(third))


@given(permission_sets, permission_sets)
def test_intersecting_is_commutative_to_the_very_form(one, other):
    assert one.intersect(other) == other.intersect(one)
    assert one.intersect(other).snapshot == other.intersect(one).snapshot


@given(permission_sets, permission_sets)
def test_intersecting_again_changes_nothing(one, other):
    both = one.intersect(other)

    assert one.intersect(one) == one
    assert both.intersect(one) == both
    assert EVERYTHING.intersect(one) == one


@given(permission_sets, st.lists(st.tuples(permission_sets, permission_sets), max_size=5), questions)
def test_no_node_of_a_tree_may_do_more_than_one_above_it(root, path, question):
    declared_and_policy = [one.intersect(other) for one, other in path]

    widths = [
        width(reduce(PermissionSet.intersect, declared_and_policy[:depth], root), question)
        for depth in range(len(path) + 1)
    ]

    assert widths == sorted(widths, reverse=True)


@given(grants(rules), rules, st.sampled_from(NAMES), st.sampled_from(TEXTS))
def test_what_a_rule_refuses_is_denied_whatever_else_is_allowed(others, refused, name, text):
    call = ToolCall(name, text)

    outcome = Grants.of(None, (), [refused]).intersect(others).outcome(call)

    assert outcome == "deny" or not refused.refuses(call)


def test_what_is_not_allowed_anyway_need_not_be_refused():
    read, bash = ToolRule.parse("Read"), ToolRule.parse("Bash(git:*)")

    assert Grants.of([read], [bash], [bash]) == Grants.of([read])
    assert Grants.of([read, bash], (), [ToolRule.parse("Bash")]).allowed == {read}


words = st.lists(st.sampled_from(("git", "push", "-m", "x", "a/b", "../a", ";", "|", "$(id)", '"git"', "")), max_size=5)
texts = st.one_of(st.text(max_size=20), words.map(" ".join))
any_pattern = st.one_of(
    st.sampled_from(PATTERNS),
    words.map(lambda each: " ".join(each) + ":*"),
    st.lists(words.map(" ".join), min_size=1, max_size=3).map("*".join),
)


def parsed(text):
    try:
        return ArgumentPattern.parse(text)
    except InputInvalid:
        return None


@given(any_pattern.map(parsed), texts)
@example(ArgumentPattern.parse("docs/*/x"), "docs//x")
def test_whatever_a_pattern_allows_it_also_refuses(pattern, text):
    if pattern is not None and pattern.allows(text):
        assert pattern.refuses(text)


@pytest.mark.parametrize("pattern", ["git push", "git push:*", "a*b*c*d"])
def test_a_text_that_is_too_long_to_be_searched_is_refused(pattern):
    assert ArgumentPattern.parse(pattern).refuses("a " * 500_000)


@given(any_pattern.map(parsed), any_pattern.map(parsed), texts)
def test_what_is_said_of_two_patterns_is_true_of_every_text(one, other, text):
    if one is None or other is None:
        return

    if one.covers(other):
        assert one.allows(text) or not other.allows(text)
    if one.excludes(other):
        assert not (one.allows(text) and other.allows(text))


@pytest.mark.parametrize("form", [",".join, " ".join, ", ".join])
def test_a_rule_reads_back_as_it_is_shown(form):
    shown = ["Bash(git push:*)", "Bash(npm test)", "Read", "Write(docs/*.md)", "mcp__files__*"]

    read = [str(ToolRule.parse(text)) for text in shown]

    assert form(read) == form(shown)


@given(permission_sets)
def test_a_set_comes_back_from_its_snapshot(permissions):
    assert of_snapshot(json.loads(json.dumps(permissions.snapshot))) == permissions


@given(permission_sets, permission_sets, questions)
def test_a_snapshot_is_within_another_only_if_it_allows_no_more(one, other, question):
    assert is_within(one.intersect(other).snapshot, one.snapshot)
    if is_within(one.snapshot, other.snapshot):
        assert width(one, question) <= width(other, question)
        assert costs(one) <= costs(other)
    else:
        assert other.intersect(one) != one


@pytest.mark.parametrize(
    "wrong", [{"tools": "Bash"}, {"read": [1]}, {"hosts": [""]}, {"cost_usd": "much"}, {"ask": {"tools": 1}}]
)
def test_what_is_no_snapshot_is_refused(wrong):
    with pytest.raises(InputInvalid):
        is_within({**EVERYTHING.snapshot, **wrong}, EVERYTHING.snapshot)
