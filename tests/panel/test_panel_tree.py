"""The call graph as rows: what stands open, what is grouped, what it all took, and that no node is lost."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestra import Usage
from orchestra.panel.view.amounts import amount_of, compact, token_count
from orchestra.panel.view.forest import Forest, planted
from orchestra.panel.view.pricing import list_price, node_prices
from orchestra.panel.view.tree import ALIKE, MOST_ROWS, OUTSIDE, PAGE, Choices, Row, tree_of
from orchestra.result import UsageReport
from orchestra.store import NodeRecord, RunRecord

STATUSES = ("routing", "executing", "waiting_user", "confirm_required", "completed", "failed", "cancelled", "odd")


def a_node(node_id: str, parent: str | None = None, status: str = "completed", **fields: Any) -> NodeRecord:
    return NodeRecord(node_id=node_id, parent_node_id=parent, **{"kind": node_id, "status": status, **fields})


def used(tokens_in: int, tokens_out: int = 0) -> dict[str, Any]:
    return {"input_tokens": tokens_in, "output_tokens": tokens_out, "is_estimated": False}


def a_forest(*nodes: NodeRecord) -> Forest:
    return planted(nodes, lambda node: token_count(node.usage or {}, "input_tokens") / 1000)


def a_crowd(number: int, **fields: Any) -> list[NodeRecord]:
    alike = {"kind": "subtask", "skill_name": "facts", **fields}
    return [a_node("run", kind="run"), *(a_node(f"run/{at}", "run", **alike) for at in range(1, number + 1))]


def shown(forest: Forest, **choices: Any) -> list[str]:
    """Ids of nodes, keys of other rows."""
    return [row.node.node_id if row.node else row.key for row in tree_of(forest, Choices(**choices)).rows]


def row_of(forest: Forest, key: str, **choices: Any) -> Row:
    return next(row for row in tree_of(forest, Choices(**choices)).rows if row.key == key)


# What stands open


def test_successful_branches_are_shut_failed_and_running_ones_are_open() -> None:
    forest = a_forest(
        a_node("run", status="executing"),
        a_node("good", "run"),
        a_node("good/1", "good"),
        a_node("bad", "run"),
        a_node("bad/1", "bad"),
        a_node("bad/1/1", "bad/1", "failed"),
        a_node("busy", "run", "executing"),
        a_node("busy/1", "busy"),
        a_node("gone", "run"),
        a_node("gone/1", "gone", "cancelled"),
    )
    assert shown(forest) == ["run", "good", "bad", "bad/1", "bad/1/1", "busy", "busy/1", "gone", "gone/1"]
    assert [row.is_open for row in tree_of(forest, Choices()).rows[:3]] == [True, False, True]


def test_of_a_successful_run_the_root_is_open() -> None:
    forest = a_forest(a_node("run"), a_node("plan", "run"), a_node("plan/1", "plan"))
    assert shown(forest) == ["run", "plan"]


def test_what_was_chosen_goes_before_what_opens_by_itself() -> None:
    forest = a_forest(
        a_node("run"), a_node("a", "run"), a_node("a/1", "a"), a_node("b", "run"), a_node("b/1", "b", "failed")
    )
    assert shown(forest, opened={"1"}, shut={"3"}) == ["run", "a", "a/1", "b"]
    assert shown(forest, base="none") == ["run", "a", "b"]
    assert shown(forest, base="none", shut={"0"}) == ["run"]
    assert shown(forest, base="all", shut={"3"}) == ["run", "a", "a/1", "b"]


def test_nothing_opens_by_itself_beyond_what_can_be_read() -> None:
    branches = [a_node(f"b{at}", "run") for at in range(90)]
    leaves = [a_node(f"b{at}/{leaf}", f"b{at}", "failed", kind=str(leaf)) for at in range(90) for leaf in range(9)]
    forest = a_forest(a_node("run"), *branches, *leaves)
    assert 150 < len(shown(forest)) < 260
    assert tree_of(forest, Choices()).is_cut is False


# Groups and pages


def test_siblings_alike_become_one_row_that_opens() -> None:
    forest = a_forest(*a_crowd(ALIKE + 3, usage=used(10, 1)))
    assert shown(forest) == ["run", "g1"]
    group = row_of(forest, "g1")
    assert (group.count, group.is_open, group.statuses) == (9, False, (("completed", 9),))
    assert (group.below.tokens_in, group.below.tokens_out, round(group.below.cost_usd, 6)) == (90, 9, 0.09)
    assert shown(forest, opened={"g1"}) == ["run", "g1", *(f"run/{at}" for at in range(1, 10))]
    assert [row.level for row in tree_of(forest, Choices(opened=frozenset({"g1"}))).rows[:3]] == [1, 2, 3]


def test_a_few_siblings_alike_stand_by_themselves() -> None:
    assert shown(a_forest(*a_crowd(ALIKE))) == ["run", *(f"run/{at}" for at in range(1, ALIKE + 1))]


def test_the_failed_and_the_waiting_of_a_group_stand_before_it() -> None:
    crowd = a_crowd(20)
    crowd[7] = a_node("run/7", "run", "failed", kind="subtask", skill_name="facts")
    crowd[9] = a_node("run/9", "run", "waiting_user", kind="subtask", skill_name="facts")
    forest = a_forest(*crowd)
    assert shown(forest) == ["run", "run/7", "run/9", "g1"]
    assert row_of(forest, "g1").count == 18


def test_of_many_failed_siblings_some_stand_before_the_group_and_the_others_come_first_in_it() -> None:
    crowd = a_crowd(40)
    for at in range(20, 40):
        crowd[at] = a_node(f"run/{at}", "run", "failed", kind="subtask", skill_name="facts")
    forest = a_forest(*crowd)
    assert shown(forest) == ["run", *(f"run/{at}" for at in range(20, 20 + OUTSIDE)), "g1"]
    assert row_of(forest, "g1").statuses == (("failed", 10), ("completed", 20))
    assert shown(forest, opened={"g1"})[12:14] == ["run/30", "run/31"]


def test_siblings_are_sent_by_the_page() -> None:
    forest = a_forest(*a_crowd(250))
    rows = tree_of(forest, Choices(opened=frozenset({"g1"}))).rows
    assert (len(rows), rows[-1].kind, rows[-1].key, rows[-1].count) == (2 + PAGE + 1, "more", "mg1", 150)
    assert (rows[2].place, rows[2].siblings) == (1, 250)
    assert len(shown(forest, opened={"g1"}, more={"g1": 1})) == 2 + 2 * PAGE + 1
    assert len(shown(forest, opened={"g1"}, more={"g1": 2})) == 2 + 250


def test_more_than_a_page_of_unlike_siblings_has_the_failed_first() -> None:
    nodes = [a_node(f"run/{at}", "run", "failed" if at == 180 else "completed") for at in range(200)]
    assert shown(a_forest(a_node("run"), *nodes))[:3] == ["run", "run/180", "run/0"]


# Sorting


def test_siblings_are_sorted_by_what_a_branch_took_in_all() -> None:
    timing = [{"duration_ms": each} for each in (5.0, 9.0, 1.0)]
    forest = a_forest(
        a_node("run"),
        a_node("a", "run", usage=used(10), timing=timing[0]),
        a_node("b", "run", usage=used(20), timing=timing[1]),
        a_node("c", "run", "failed", timing=timing[2]),
        a_node("c/1", "c", usage=used(30)),
    )
    assert shown(forest, sort="tokens", is_descending=True) == ["run", "c", "c/1", "b", "a"]
    assert shown(forest, sort="price") == ["run", "a", "b", "c", "c/1"]
    assert shown(forest, sort="duration", is_descending=True, base="none") == ["run", "b", "a", "c"]
    assert shown(forest, sort="status", base="none") == ["run", "c", "a", "b"]
    assert shown(forest, is_descending=True, base="none") == ["run", "c", "b", "a"]


def test_what_is_under_way_takes_longest() -> None:
    forest = a_forest(a_node("run"), a_node("a", "run", timing={"duration_ms": 1e9}), a_node("b", "run", "executing"))
    assert shown(forest, sort="duration", is_descending=True) == ["run", "b", "a"]


# Sums


def test_a_node_and_what_is_below_it_are_told_apart() -> None:
    forest = a_forest(
        a_node("run", usage=used(1)), a_node("a", "run", usage=used(10, 2)), a_node("a/1", "a", usage=used(100, 30))
    )
    root = row_of(forest, "0")
    assert (root.own.tokens_in, root.below.tokens_in, root.below.tokens_out, root.count) == (1, 110, 32, 2)


def test_unknown_prices_are_counted_and_not_taken_for_nothing() -> None:
    nodes = [a_node("run"), a_node("a", "run", usage=used(10)), a_node("b", "run", usage=used(5))]
    forest = planted(nodes, lambda node: 0.5 if node.node_id == "a" else None)
    assert (forest.belows[0].cost_usd, forest.belows[0].unpriced) == (0.5, 1)


@pytest.mark.parametrize(
    "usage", [{}, {"input_tokens": "9"}, {"input_tokens": -1}, {"input_tokens": True}, {"output_tokens": 1.5}]
)
def test_a_usage_that_is_none_counts_nothing(usage: dict[str, Any]) -> None:
    assert amount_of(usage, 1.0).is_empty


def test_large_counts_are_short() -> None:
    assert [compact(each) for each in (0, 99_999, 100_400, 12_345_678)] == ["0", "99,999", "100k", "12.3M"]


# Failures


def test_the_end_of_each_failing_path_is_found_in_order() -> None:
    forest = a_forest(
        a_node("run", status="failed"),
        a_node("b", "run", "failed"),
        a_node("c", "run", "failed"),
        a_node("b/1", "b", "failed"),
        a_node("b/2", "b", "cancelled"),
    )
    assert [forest.nodes[at].node_id for at in forest.failures] == ["b/1", "c"]
    assert forest.failure_after(None) == 3
    assert forest.failure_after(3) == 2
    assert forest.failure_after(2) == 3
    assert forest.failure_after(99) == 3


def test_where_nothing_failed_the_cancelled_are_found_and_else_nothing() -> None:
    assert a_forest(a_node("run"), a_node("a", "run", "cancelled")).failures == (1,)
    assert a_forest(a_node("run")).failure_after(None) is None


def test_a_selected_node_is_shown_with_all_it_stands_in() -> None:
    crowd = [*a_crowd(300), a_node("run/250/1", "run/250")]
    forest = a_forest(*crowd)
    number = forest.number_of("run/250/1")
    tree = tree_of(forest, Choices(selected=number, reveals=True, shut=frozenset({"0"})))
    assert tree.revealed == ("0", "g1", "250")
    assert [row.key for row in tree.rows][-3:] == ["250", "301", "mg1"]
    assert tree.rows[-1].count == 199


def test_a_node_that_would_stand_behind_the_last_row_is_shown_alone() -> None:
    leaves = [a_node(f"{branch}/{at}", branch, kind=str(at)) for branch in ("x", "y") for at in range(900)]
    forest = a_forest(a_node("run"), a_node("x", "run"), a_node("y", "run"), *leaves)
    choices = {"opened": {"1", "2"}, "more": {"1": 9, "2": 9}, "selected": forest.number_of("y/899")}

    assert "y/899" not in shown(forest, **choices)
    assert tree_of(forest, Choices(**choices, reveals=True)).is_reset is True
    assert "y/899" in shown(forest, **choices, reveals=True)


# Bounds and hostile content


def test_everything_is_not_opened_when_that_is_too_much() -> None:
    forest = a_forest(*a_crowd(MOST_ROWS))
    tree = tree_of(forest, Choices(base="all"))
    assert (tree.is_refused, tree.rows_in_all, len(tree.rows)) == (True, MOST_ROWS + 2, 2)
    small = tree_of(a_forest(*a_crowd(MOST_ROWS - 2)), Choices(base="all"))
    assert (small.is_refused, len(small.rows)) == (False, MOST_ROWS)


def test_a_thousand_levels_are_rows_like_others() -> None:
    nodes = [a_node("0"), *(a_node(str(at), str(at - 1)) for at in range(1, 3000))]
    tree = tree_of(a_forest(*nodes), Choices(opened=frozenset(map(str, range(3000)))))
    assert (len(tree.rows), tree.is_cut, tree.rows[-1].level) == (MOST_ROWS, True, MOST_ROWS)


def test_circles_and_orphans_stand_at_the_top() -> None:
    forest = a_forest(
        a_node("run"), a_node("a", "b"), a_node("b", "c"), a_node("c", "b"), a_node("d", "d"), a_node("e", "?")
    )
    assert [forest.nodes[at].node_id for at in forest.tops] == ["run", "b", "d", "e"]
    assert shown(forest, base="all") == ["run", "b", "a", "c", "d", "e"]


def test_no_nodes_are_no_rows() -> None:
    assert tree_of(a_forest(), Choices(base="all", selected=3, reveals=True)).rows == ()


ids = st.sampled_from([f"n{at}" for at in range(25)])
nodes_of_any_kind = st.lists(
    st.builds(
        NodeRecord,
        node_id=ids,
        parent_node_id=st.none() | ids | st.just("nowhere"),
        kind=st.sampled_from(["subtask", "tool", ""]),
        skill_name=st.sampled_from(["", "facts"]),
        status=st.sampled_from(STATUSES),
        timing=st.none() | st.fixed_dictionaries({"duration_ms": st.none() | st.floats(), "started_at": st.none()}),
        usage=st.none() | st.fixed_dictionaries({"input_tokens": st.integers(-5, 50) | st.text(max_size=2)}),
    ),
    max_size=60,
)
keys = st.integers(0, 60).map(str) | st.integers(0, 60).map(lambda at: f"g{at}")
any_choices = st.builds(
    Choices,
    opened=st.frozensets(keys, max_size=20),
    shut=st.frozensets(keys, max_size=20),
    base=st.sampled_from(["default", "all", "none"]),
    sort=st.sampled_from(["started", "duration", "tokens", "price", "status"]),
    is_descending=st.booleans(),
    more=st.dictionaries(keys | st.just(""), st.integers(-2, 5), max_size=3),
    selected=st.none() | st.integers(-3, 70),
    reveals=st.booleans(),
)


@given(nodes_of_any_kind, st.sampled_from(["started", "tokens", "status", "duration", "price"]), st.booleans())
def test_with_everything_open_every_node_has_one_row(nodes: list[NodeRecord], sort: Any, is_descending: bool) -> None:
    tree = tree_of(a_forest(*nodes), Choices(base="all", sort=sort, is_descending=is_descending))
    assert sorted(row.number for row in tree.rows if row.kind == "node") == list(range(len(nodes)))
    assert len(tree.rows) == tree.rows_in_all


@given(nodes_of_any_kind, any_choices)
def test_any_nodes_and_choices_give_rows_that_hold_together(nodes: list[NodeRecord], choices: Choices) -> None:
    forest = a_forest(*nodes)
    rows = tree_of(forest, choices).rows
    assert rows == tree_of(forest, choices).rows
    assert len({row.key for row in rows}) == len(rows) <= MOST_ROWS
    levels = [0, *(row.level for row in rows)]
    assert all(level <= before + 1 for before, level in pairwise(levels))
    for row, following in zip(rows, [*rows[1:], None], strict=False):
        has_inside = following is not None and following.level > row.level
        assert bool(row.is_open) == has_inside
        if row.is_open is not None and not choices.reveals:
            assert row.is_open or row.key in choices.shut or row.key not in choices.opened
            assert not (row.is_open and row.key in choices.shut)


@given(nodes_of_any_kind, any_choices)
def test_sums_are_those_of_the_rows_below(nodes: list[NodeRecord], choices: Choices) -> None:
    forest = a_forest(*nodes)
    inside: Counter[int] = Counter()
    for number in range(len(nodes)):
        for above in forest.ancestors(number):
            inside[above] += forest.own[number].tokens_in
    assert {at: amount.tokens_in for at, amount in enumerate(forest.belows) if amount.tokens_in} == +inside
    for row in tree_of(forest, choices).rows:
        if row.kind == "group":
            assert row.count == sum(number for _, number in row.statuses)


@settings(max_examples=30)
@given(nodes_of_any_kind, st.integers(0, 59))
def test_a_revealed_node_is_always_there(nodes: list[NodeRecord], at: int) -> None:
    rows = tree_of(a_forest(*nodes), Choices(base="none", selected=at, reveals=True)).rows
    assert any(row.number == at for row in rows) == (at < len(nodes))


@given(st.lists(st.integers(0, 40), min_size=1, max_size=40))
def test_order_stays_while_nodes_are_added(parents: list[int]) -> None:
    nodes = [a_node(f"n{at}", f"n{parent % at}" if at else None) for at, parent in enumerate(parents)]
    before, after = (shown(a_forest(*some), base="all") for some in (nodes[:-1], nodes))
    assert before == [each for each in after if each != nodes[-1].node_id]


# Prices


@pytest.mark.parametrize("model", ["anthropic:claude-sonnet-4-5", "openai:gpt-4.1", "builtin:extractive"])
def test_prices_by_rate_are_those_of_the_bill(model: str) -> None:
    tokens = {"input_tokens": 12_345, "cached_input_tokens": 300, "cache_write_tokens": 50, "output_tokens": 701}
    bill = UsageReport.of(model, Usage(12_345, 300, 50, 701)).cost_usd
    assert list_price(model, tokens) == pytest.approx(bill)
    many = {**tokens, "input_tokens": 900_000}
    assert list_price(model, many) == pytest.approx(UsageReport.of(model, Usage(900_000, 300, 50, 701)).cost_usd)


def test_a_model_without_a_price_has_none() -> None:
    assert list_price("local:nothing", used(10)) is None
    assert list_price("", used(10)) is None


def test_a_node_is_priced_by_its_phase_and_a_finished_subtask_by_the_result() -> None:
    models = {"plan": "openai:gpt-4.1", "subtasks": "builtin:extractive", "synthesis": "nobody:knows"}
    bill = {"calls": 1, "input_tokens": 7, "output_tokens": 0, "cost_usd": 0.25}
    result = {"subtasks": [{"id": "1", "usage": bill}, "odd", {"id": "2", "usage": {"calls": 1, "cost_usd": 9}}]}
    price_of = node_prices(RunRecord("r", "t", models=models, result=result))
    assert price_of(a_node("run/subtask-1", usage=used(7), kind="subtask")) == 0.25
    assert price_of(a_node("run/subtask-2", usage=used(7), kind="subtask")) == 0.0
    assert price_of(a_node("run/plan", usage=used(1000), kind="plan")) == pytest.approx(0.002)
    assert price_of(a_node("run/gate-a/steps", usage=used(1000), kind="decompose")) == 0.0
    assert price_of(a_node("run/synthesis", usage=used(1000), kind="synthesis")) is None
