"""The words of a finished run: sources, the capsule, the bill."""

from __future__ import annotations

import pytest
from models_for_tests import ScriptedModel

from orchestra.cli.bill import Bill, BillLine, bill_text
from orchestra.cli.report import answer_text, source_line, store_words
from orchestra.document import Citation
from orchestra.pipeline import orchestrate
from orchestra.planning.plan import Plan
from orchestra.result import (
    LayerMetrics,
    LayerSkillReport,
    OtherWay,
    Result,
    RunUsage,
    Savings,
    SubtaskResult,
    UsageReport,
)
from orchestra.result.words import capsule, layer_lines


def citation(**changes: object) -> Citation:
    fields = {
        "number": 1,
        "key": "",
        "document": "report.md",
        "first_line": 120,
        "last_line": 134,
        "page": None,
        "quote": "Revenue was 412.",
        "status": "verified",
        "claim": "Revenue was 412.",
        "reason": "",
    }
    return Citation(**{**fields, **changes})


def tokens(count: int) -> OtherWay:
    return OtherWay(way="fanout", usage=UsageReport(model="m", calls=3, input_tokens=count))


def subtask(name: str, status: str) -> SubtaskResult:
    return SubtaskResult(id=name, task="Why?", skill="critique", status=status)


RESULT = Result(
    task="Why?",
    answer="Because [1].",
    status="completed",
    plan=Plan.model_validate({"subtasks": [{"id": "1", "task": "Why?", "skill": "critique"}]}),
    citations=(citation(),),
    subtasks=(subtask("1", "completed"), subtask("2", "completed"), subtask("3", "self-answered")),
    usage=RunUsage(plan=UsageReport(model="claude-sonnet-5-5", calls=1, input_tokens=12_310, output_tokens=1_638)),
    savings=Savings(input_tokens=12_310, fanout=tokens(55_955), fanout_cached=tokens(55_955), one_call=tokens(10_000)),
    self_answered=1,
    delegated=2,
    duration_ms=2_449.0,
)


def savings(fanout: int) -> Savings:
    return RESULT.savings.model_copy(update={"fanout": tokens(fanout)})


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({}, '[1] report.md L120-L134 verified "Revenue was 412."'),
        ({"last_line": 120}, '[1] report.md L120 verified "Revenue was 412."'),
        ({"page": 12}, '[1] report.md L120-L134, p. 12 verified "Revenue was 412."'),
        (
            {"status": "unverified", "reason": "99 is not in these lines"},
            '[1?] report.md L120-L134 unverified "Revenue was 412." (99 is not in these lines)',
        ),
        (
            {"status": "derived", "reason": "412 - 371 = 41"},
            '[1] report.md L120-L134 derived "Revenue was 412." (412 - 371 = 41)',
        ),
        ({"quote": "so\n " * 50}, '[1] report.md L120-L134 verified "' + "so " * 28 + 'so..."'),
        ({"quote": ""}, "[1] report.md L120-L134 verified"),
    ],
)
def test_a_source_is_one_line(changes: dict[str, object], line: str) -> None:
    assert source_line(citation(**changes)) == line


def test_the_answer_is_followed_by_its_sources() -> None:
    assert answer_text(RESULT) == 'Because [1].\n\nSources\n[1] report.md L120-L134 verified "Revenue was 412."'


def test_an_answer_without_citations_has_no_list_of_sources() -> None:
    result = RESULT.model_copy(update={"citations": ()})

    assert answer_text(result) == "Because [1]."


def test_data_stands_between_the_answer_and_its_sources() -> None:
    result = RESULT.model_copy(update={"data": {"why": "é"}})

    assert 'Because [1].\n\nData\n{\n  "why": "é"\n}\n\nSources\n' in answer_text(result)


def test_the_capsule_sums_up_the_run() -> None:
    assert capsule(RESULT) == (
        "routed 2 skills · 1 self-answered · 2.4 s · all succeeded · "
        "12,310 tokens in (78 % less than naive fan-out) · $0.041"
    )


def test_what_the_skills_around_the_task_used_is_told_apart_from_what_is_compared() -> None:
    usage = RESULT.usage.model_copy(update={"layers": UsageReport(calls=1, input_tokens=840)})

    line = capsule(RESULT.model_copy(update={"usage": usage}))

    assert "13,150 tokens in, 840 of them around the task (the rest 78 % less than naive fan-out)" in line


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"delegated": 1}, "routed 1 skill · "),
        ({"self_answered": 0}, "routed 2 skills · 2.4 s"),
        ({"duration_ms": 125_000.0}, " · 2 min 5 s · "),
        ({"savings": savings(10_000)}, "(23 % more than naive fan-out)"),
        ({"savings": savings(12_300)}, "(as many as naive fan-out)"),
        (
            {"status": "partial", "subtasks": (subtask("1", "completed"), subtask("2", "failed"))},
            " · 1 of 2 succeeded · ",
        ),
        ({"status": "partial", "subtasks": (subtask("1", "completed"),)}, " · partial · "),
        ({"status": "failed", "subtasks": (subtask("1", "failed"),)}, " · failed · "),
    ],
)
def test_the_capsule_tells_the_truth(changes: dict[str, object], part: str) -> None:
    assert part in capsule(RESULT.model_copy(update=changes))


@pytest.mark.parametrize("model", ["no-such-model-anywhere", "builtin:extractive"])
def test_a_price_that_is_not_known_or_nothing_is_left_out(model: str) -> None:
    usage = RunUsage(plan=UsageReport(model=model, calls=1, input_tokens=10, output_tokens=10))

    assert "$" not in capsule(RESULT.model_copy(update={"usage": usage}))


def test_the_bill_is_a_table_that_fits_80_columns() -> None:
    line = BillLine("plan", 1, 54_314, 0, 200, 0.12345)
    bill = Bill(
        (line,), BillLine("this plan", 1, 54_314, 0, 200, None), (BillLine("one call, everything", 1, 9, 5, 1, 0.0),)
    )

    rows = bill_text(bill).splitlines()

    assert max(map(len, rows)) <= 80
    assert [row.split()[-5:] for row in rows[1:]] == [
        ["1", "54,314", "0", "200", "$0.1235"],
        ["1", "54,314", "0", "200", "unknown"],
        ["1", "9", "5", "1", "$0"],
    ]


@pytest.mark.parametrize(
    ("store", "words"),
    [
        (None, ""),
        ("runs.db", " --store runs.db"),
        ("my runs.db", " --store 'my runs.db'"),
        ("postgresql://me:secret@host/runs", " --store URL"),
    ],
)
def test_a_command_that_is_shown_names_the_store_and_no_password(store: str | None, words: str) -> None:
    assert store_words(store) == words


def test_layers_have_a_line_each_once_more_than_gates_stood_around_the_task():
    gate = LayerSkillReport(skill="readable", layer="guarantee", status="completed")
    late = LayerSkillReport(skill="slow", layer="enhancement", status="late")
    glossary = LayerSkillReport(skill="glossary", layer="enhancement", status="completed")
    metrics = {
        "guarantee": LayerMetrics(duration_ms=12.0),
        "enhancement": LayerMetrics(calls=1, input_tokens=1_200, output_tokens=80, cost_usd=0.004, duration_ms=1_500.0),
        "execution": LayerMetrics(calls=3, input_tokens=12_000, output_tokens=900, duration_ms=61_000.0),
    }
    eco = RESULT.model_copy(update={"layers": (gate,), "layer_metrics": metrics})
    standard = RESULT.model_copy(update={"layers": (gate, late, glossary), "layer_metrics": metrics})

    assert layer_lines(eco) == []
    assert layer_lines(standard) == [
        "guarantee: 1 skill · 0.0 s",
        "enhancement: 2 skills, 1 late · 1 call · 1,200 tokens in · 80 out · $0.004 · 1.5 s",
        "execution: the task · 3 calls · 12,000 tokens in · 900 out · 1 min 1 s",
    ]


def test_what_enhancements_have_for_the_reader_stands_below_the_answer():
    result = orchestrate(
        "# A\n\nThe Board of Directors (BOD) met twice.\n",
        "How often did the BOD meet?",
        model=ScriptedModel(subtask="The BOD met twice [L3]."),
        strategy="direct",
        mode="standard",
    )

    text = answer_text(result)

    assert "Glossary\n- BOD: Board of Directors" in text
    assert "Follow up questions\nThe BOD met twice" in text
    assert "Lessons" not in text
