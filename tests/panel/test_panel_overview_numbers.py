"""The overview by pure code: the bars of the timeline, the sums, the counts, and what there is to say of a run."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from models_for_tests import AUDITOR, COSTS, REPORT, REVENUE, ScriptedModel, plan_of

from orchestra import orchestrate
from orchestra.errors import ModelRefused
from orchestra.panel.view.amounts import NOTHING, amount_of
from orchestra.panel.view.forest import Forest, planted
from orchestra.panel.view.gantt import HEAD, MOST_BARS, MOST_FAILED, ROW, Gantt, gantt_of, ticks_of
from orchestra.panel.view.overview import MOST_TROUBLES, Overview, counts_of, overview_of, result_of
from orchestra.panel.view.remarks import MOST_WARNINGS, Remarks, RunRemarks, Warned
from orchestra.store import NodeRecord, RunRecord, Store

STATUSES = ("routing", "executing", "waiting_user", "confirm_required", "completed", "failed", "cancelled", "odd")
PLAN = plan_of({"context_pointers": REVENUE}, {"context_pointers": COSTS}, {"context_pointers": AUDITOR})


def a_node(node_id: str, start: float | None = 0.0, took: float | None = 10.0, **fields: Any) -> NodeRecord:
    parent = node_id.rpartition("/")[0] or None
    timing = {"started_at": start, "duration_ms": took}
    given = {"kind": "subtask", "status": "completed", **fields}
    return NodeRecord(node_id=node_id, parent_node_id=parent, timing=timing, **given)


def a_run(**fields: Any) -> RunRecord:
    return RunRecord(**{"id": "r1", "task": "Why?", "status": "running", "started_at": 100.0, **fields})


def shown(gantt: Gantt) -> list[str]:
    return [bar.node.node_id for bar in gantt.bars]


def overview(*nodes: NodeRecord, remarks: Remarks | None = None, **fields: Any) -> Overview:
    priced = planted(nodes, lambda node: None if node.title == "no price" else 0.5)
    return overview_of(a_run(**fields), priced, None, remarks or Remarks(latest_at=130.0))


# The timeline


moments = st.none() | st.floats(1_000_000, 1_000_900, allow_nan=False)
durations = st.none() | st.floats(0, 1e6, allow_nan=False)
some_nodes = st.lists(st.tuples(moments, durations, st.sampled_from(STATUSES), st.booleans()), max_size=120)


@given(some_nodes, st.none() | st.floats(999_000, 1_002_000))
def test_bars_lie_within_the_chart_in_the_order_of_their_beginnings(raw: list[Any], latest_at: float | None) -> None:
    nodes = [a_node("run", None, None, kind="run")]
    for at, (start, took, status, is_deep) in enumerate(raw):
        above = "run/0" if is_deep and at else "run"
        nodes.append(a_node(f"{above}/{at}", start, took, status=status))

    gantt = gantt_of(planted(nodes), latest_at)

    begun = [node for node in nodes if node.timing and node.timing["started_at"] is not None]
    assert len(gantt.bars) == min(len(begun), MOST_BARS)
    assert gantt.left_out == len(begun) - len(gantt.bars)
    assert len({bar.number for bar in gantt.bars}) == len(gantt.bars)
    for place, bar in enumerate(gantt.bars):
        assert 0 <= bar.x <= 100
        assert 0 < bar.width <= 100
        assert bar.x + bar.width <= 100.01
        assert bar.begins_ms >= 0
        assert bar.duration_ms >= 0
        assert bar.y == HEAD + place * ROW
        assert bar.y + ROW <= gantt.height
    begins = [bar.begins_ms for bar in gantt.bars]
    assert begins == sorted(begins)
    assert all(0 <= tick.x <= 100 for tick in gantt.ticks)


@given(st.floats(1, 1e12))
def test_the_scale_has_a_few_marks_from_nothing_on(span_ms: float) -> None:
    ticks = ticks_of(span_ms)

    assert ticks[0].at_ms == 0
    assert 4 <= len(ticks) <= 11
    assert [tick.x for tick in ticks] == sorted({tick.x for tick in ticks})
    assert ticks[-1].at_ms <= span_ms * (1 + 1e-6)


def test_a_bar_says_when_its_node_began_and_how_long_it_took() -> None:
    forest = planted([a_node("run", 100.0, 10_000.0), a_node("run/1", 102.0, 4_000.0), a_node("run/2", 109.0, 1_000.0)])

    run, first, second = gantt_of(forest).bars

    assert (run.x, run.width) == (0, 100)
    assert (first.x, first.width, first.begins_ms, first.duration_ms) == (20, 40, 2_000, 4_000)
    assert (second.x, second.width) == (90, 10)


def test_what_is_under_way_ends_at_what_was_heard_last_whatever_the_time_is_now() -> None:
    running = a_node("run/1", 104.0, None, status="executing")
    forest = planted([a_node("run", 100.0, None, status="executing"), running, a_node("run/2", 100.0, 2_000.0)])

    run, second, first = gantt_of(forest, 108.0).bars

    assert [(bar.node.node_id, bar.is_open) for bar in (run, first, second)] == [
        ("run", True),
        ("run/1", True),
        ("run/2", False),
    ]
    assert (first.x, first.width, first.duration_ms) == (50, 50, 4_000)
    assert gantt_of(forest, 108.0) == gantt_of(forest, 108.0)


def test_of_many_nodes_the_run_the_failed_and_the_longest_have_bars() -> None:
    many = [a_node(f"run/{number}", 100.0, float(number)) for number in range(1, 5_000)]
    deep = [a_node("run/1/slow", 100.0, 9_000.0)]
    failed = [a_node(f"run/f{number}", 100.0, 0.5, status="failed") for number in range(20)]

    gantt = gantt_of(planted([a_node("run", 100.0, 9_500.0), *many, *deep, *failed]))

    ids = shown(gantt)
    assert (len(ids), gantt.left_out) == (MOST_BARS, 5_021 - MOST_BARS)
    assert {"run", "run/1/slow", "run/4999", "run/4980"} <= set(ids)
    assert sum(each.startswith("run/f") for each in ids) == MOST_FAILED


def test_a_run_of_which_nothing_has_begun_has_no_bars() -> None:
    gantt = gantt_of(planted([a_node("run", None, None, status="routing")]))

    assert (gantt.bars, gantt.ticks, gantt.height) == ((), (), HEAD)


# Counts and sums


def test_child_skills_are_counted_by_what_became_of_them() -> None:
    statuses = ("completed", "completed", "failed", "cancelled", "waiting_user", "executing", "routing")
    steps = [a_node(f"run/{at}", status=status) for at, status in enumerate(statuses)]
    others = [
        a_node("run/plan", kind="plan"),
        a_node("run/0/tool-1", kind="tool"),
        a_node("run/work-x/s", kind="skill"),
    ]

    counts = counts_of(planted([a_node("run", kind="run"), *steps, *others]))

    assert (counts.skills, counts.completed, counts.failed) == (7, 2, 1)
    assert (counts.cancelled, counts.waiting, counts.under_way) == (1, 1, 2)


usages = st.fixed_dictionaries(
    {name: st.integers(0, 10_000) for name in ("input_tokens", "cached_input_tokens", "output_tokens")}
)
places = st.sampled_from(
    ["run", "run/plan", "run/subtask-1", "run/synthesis", "run/gate-a", "run/enhance-b/s", "run/work-c"]
)
kinds = st.sampled_from(["plan", "route", "subtask", "skill", "synthesis", "guarantee", "enhancement", "tool", "odd"])


@given(st.lists(st.tuples(places, kinds, usages, st.booleans()), max_size=40))
def test_phases_and_layers_each_add_up_to_what_all_nodes_took(raw: list[Any]) -> None:
    nodes = [
        a_node(f"{place}-{at}", kind=kind, usage=usage, title="no price" if is_unpriced else "")
        for at, (place, kind, usage, is_unpriced) in enumerate(raw)
    ]

    found = overview(a_node("run", kind="run"), *nodes)

    whole = sum((amount_of(n.usage, None if n.title == "no price" else 0.5) for n in nodes), NOTHING)
    for rows in (found.phases, found.layers, (found.total,)):
        summed = sum((row.amount for row in rows), NOTHING)
        assert (summed.tokens_in, summed.cached, summed.tokens_out) == (whole.tokens_in, whole.cached, whole.tokens_out)
        assert summed.unpriced == whole.unpriced
        assert abs(summed.cost_usd - whole.cost_usd) < 1e-6


def test_the_slowest_node_is_one_that_worked_itself() -> None:
    tree = [
        a_node("run", 100.0, 9_000.0, kind="run"),
        a_node("run/1", 100.0, 8_000.0),
        a_node("run/1/step-1", 100.0, 3_000.0, kind="skill"),
        a_node("run/1/step-2", 103.0, 5_000.0, kind="skill"),
        a_node("run/1/step-2/tool-1", 103.0, 4_000.0, kind="tool"),
    ]

    found = overview(*tree)

    assert (found.slowest.node_id, found.slowest_ms) == ("run/1/step-2", 5_000.0)


def test_a_run_under_way_has_taken_until_it_was_heard_of_last() -> None:
    found = overview(a_node("run", 100.0, None, kind="run", status="executing"), remarks=Remarks(latest_at=112.5))

    assert (found.duration_ms, found.slowest, found.is_final) == (12_500.0, None, False)


def test_limits_say_how_much_of_them_is_used() -> None:
    settings = {"max_tokens_total": 1_000, "max_cost_usd": 2.0}
    node = a_node("run/1", usage={"input_tokens": 200, "output_tokens": 50})

    tokens, price = overview(a_node("run", kind="run"), node, request={"settings": settings}).limits

    assert (tokens.used, tokens.most, tokens.share) == ("250", "1,000", 0.25)
    assert (price.used, price.most, price.share) == ("$0.5000", "$2.0000", 0.25)


def test_a_price_that_is_not_known_uses_an_unknown_part_of_its_limit() -> None:
    node = a_node("run/1", usage={"input_tokens": 200}, title="no price")

    (limit,) = overview(a_node("run", kind="run"), node, request={"settings": {"max_cost_usd": 2.0}}).limits

    assert (limit.used, limit.share) == ("unknown", None)


def test_odd_settings_of_a_run_are_no_limits() -> None:
    for settings in (None, [], {"max_tokens_total": "many", "max_cost_usd": True}):
        assert overview(a_node("run", kind="run"), request={"settings": settings}).limits == ()


# Errors and warnings


def test_an_error_is_told_where_its_failing_path_ends_and_once() -> None:
    error = {"code": "TIMEOUT", "message": "no reply", "cause": "it hangs", "suggestion": "Raise the timeout."}
    tree = [
        a_node("run", kind="run", status="failed", error=error),
        a_node("run/1", status="failed", error=error),
        a_node("run/2"),
    ]

    found = overview(*tree, error=error)

    assert [(each.code, each.node_id, each.cause) for each in found.errors] == [("TIMEOUT", "run/1", "it hangs")]
    assert found.errors[0].suggestion == "Raise the timeout."


def test_an_error_of_the_run_alone_is_told_too() -> None:
    error = {"code": "GATE_FAILED", "message": "no"}

    found = overview(a_node("run", kind="run"), error=error, status="failed")
    again = overview(a_node("run", kind="run"), error=error, status="running")

    assert [(each.code, each.node_id) for each in found.errors] == [("GATE_FAILED", "")]
    assert again.errors == ()


def test_warnings_say_what_they_mean_and_what_to_do() -> None:
    told = Remarks(warnings=(Warned("ASKED_ALONE", "one by one", "run/1"), Warned("OF_LATER", "odd \u202ething")))

    first, second = overview(a_node("run", kind="run"), remarks=told).warnings

    assert "each was asked for by itself" in first.cause
    assert (first.node_id, second.cause, second.message) == ("run/1", "", "odd ‹U+202E›thing")


def test_many_errors_and_warnings_are_counted_and_not_listed() -> None:
    failed = [a_node(f"run/{at}", status="failed", error={"code": "TIMEOUT", "message": str(at)}) for at in range(80)]
    remarks = Remarks(warnings=tuple(Warned("ASKED_ALONE", str(at)) for at in range(60)), left_out=7)

    found = overview(a_node("run", kind="run"), *failed, remarks=remarks)

    assert (len(found.errors), found.errors_left) == (MOST_TROUBLES, 80 - MOST_TROUBLES)
    assert (len(found.warnings), found.warnings_left) == (MOST_TROUBLES, 60 - MOST_TROUBLES + 7)


# What events say


def test_remarks_are_those_of_the_moment() -> None:
    heard = RunRemarks()
    heard.add({"sequence": 1, "type": "strategy-chosen", "strategy": "outline", "reason": "cheaper", "at": 10.0})
    heard.add({"sequence": 2, "type": "warning", "code": "ASKED_ALONE", "message": "m", "node_id": "run/1", "at": 11.0})
    heard.add({"sequence": 3, "type": "warning", "code": "CACHE_MISSED", "message": "n", "at": 12.0})

    assert heard.remarks().latest_at == 12.0
    assert [each.code for each in heard.remarks().warnings] == ["ASKED_ALONE", "CACHE_MISSED"]
    assert [each.code for each in heard.remarks(2, 11.0).warnings] == ["ASKED_ALONE"]
    assert (heard.remarks(2, 11.0).latest_at, heard.remarks(2, 11.0).strategy) == (11.0, "outline")
    assert heard.remarks(0).strategy == ""


def test_more_warnings_than_are_kept_are_counted() -> None:
    heard = RunRemarks()
    for sequence in range(1, MOST_WARNINGS + 4):
        heard.add({"sequence": sequence, "type": "warning", "code": "C", "message": "m"})

    assert (len(heard.remarks().warnings), heard.remarks().left_out) == (MOST_WARNINGS, 3)


# Of real runs


def of_real_run(tmp_path: Any, **options: Any) -> tuple[RunRecord, Forest, Overview]:
    with Store.open(tmp_path / "runs.db") as store:
        found = orchestrate(REPORT, "Tell all.", plan=PLAN, store=store, **options)
        record = store.run(found.run_id)
        forest = planted(store.nodes(found.run_id))
        return record, forest, overview_of(record, forest, result_of(record), Remarks())


def test_a_finished_run_s_numbers_are_those_of_its_result(tmp_path: Any) -> None:
    model = ScriptedModel(subtask="So it says [L5].", synthesis="All of it [L5].")

    record, _, found = of_real_run(tmp_path, model=model)

    result = result_of(record)
    assert found.is_final
    assert found.total.amount.tokens_in == result.usage.total_input_tokens == 100 * len(model.requests)
    assert (found.total.calls, found.duration_ms) == (result.usage.calls, result.duration_ms)
    assert found.total.amount.unpriced
    assert [row.name for row in found.layers] == ["guarantee", "enhancement", "execution"]
    assert found.layers[2].amount.tokens_in == result.usage.total_input_tokens
    assert (found.strategy, found.reason) == ("given", "the plan was given")
    assert (found.counts.skills, found.counts.completed) == (3, 3)


def test_a_run_that_goes_on_is_not_shown_by_the_result_that_it_had(tmp_path: Any) -> None:
    model = ScriptedModel(subtask="So it says [L5].", synthesis="All of it [L5].")
    record, forest, _ = of_real_run(tmp_path, model=model)
    going_on = replace(record, status="running")

    found = overview_of(going_on, forest, result_of(going_on), Remarks(strategy="full"))

    assert (found.is_final, found.strategy) == (False, "full")


def test_a_failed_subtask_is_told_once_with_its_node(tmp_path: Any) -> None:
    def answer(request: Any) -> Any:
        return ModelRefused("no", cause="it is not allowed") if "question 2" in request.prompt else "So it says [L5]."

    _, _, found = of_real_run(tmp_path, model=ScriptedModel(subtask=answer, synthesis="All [L5]."))

    assert [(each.code, each.node_id) for each in found.errors] == [("MODEL_REFUSED", "run/subtask-2")]
    assert (found.counts.completed, found.counts.failed) == (2, 1)
