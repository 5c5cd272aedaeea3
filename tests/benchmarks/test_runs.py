"""Whole benchmarks through the command: results, resuming, stores, dry runs, errors."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from servers import (
    Received,
    ScriptedServer,
    Wire,
    json_answer,
    openai_chunks,
    openai_completion,
    openai_stream,
    sse_answer,
)

pytest.importorskip("bm25s")
pytest.importorskip("Stemmer")
pytest.importorskip("matplotlib")
pytest.importorskip("numpy")

from benchmarks.cli import main

ROOT = Path(__file__).parents[2]
Serve = Callable[..., ScriptedServer]


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    """Three questions about one short document."""
    (tmp_path / "report.md").write_text(
        "# Report\n\n## Revenue\n\nRevenue was $40 million in 2025.\n\n## Auditor\n\nMiller & Stone audits.\n", "utf-8"
    )
    rows = [
        {"id": "revenue", "question": "What was revenue?", "answer": "$40 million", "evidence": [[5, 5]]},
        {
            "id": "auditor",
            "question": "Who audits?",
            "answer": "Miller & Stone",
            "evidence": ["Miller & Stone audits."],
        },
        {"id": "mood", "question": "How is the mood?", "answer": "Good", "evidence": []},
    ]
    path = tmp_path / "questions.jsonl"
    path.write_text("".join(json.dumps({"document": "report.md", **row}) + "\n" for row in rows), "utf-8")
    return path


def invoke(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments], catch_exceptions=False)


def lines(folder: Path) -> list[dict]:
    return [json.loads(line) for line in (folder / "results.jsonl").read_text("utf-8").splitlines()]


def answering(text: str = "Revenue was $40 million.") -> Callable[[Received, Wire], bytes]:
    def script(received: Received, wire: Wire) -> bytes:
        if received.json.get("stream"):
            return sse_answer(openai_stream(openai_chunks(text)))
        return json_answer(openai_completion(text))

    return script


@pytest.fixture
def server(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> ScriptedServer:
    """An OpenAI-compatible server that the model `openai:m` is asked at."""
    started = serve(answering())
    monkeypatch.setenv("OPENAI_BASE_URL", f"{started.url}/v1")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    return started


def test_the_report_runs_from_questions_to_table_and_plot(tmp_path: Path) -> None:
    out = tmp_path / "out"

    done = invoke(
        "run", "--dataset", "report", "--strategies", "direct,fanout,fanout-cached,bm25@4000,mapreduce,full,outline,auto",
        "--sample", 3, "--seed", 5, "--subtasks", 2, "--out", out,
    )  # fmt: skip

    summary = json.loads((out / "summary.json").read_text("utf-8"))
    strategies = summary["strategies"]
    assert done.exit_code == 0, done.output
    assert len(lines(out)) == 24
    assert all(each["failed"] == 0 for each in strategies.values())
    assert strategies["direct"]["recall"]["value"] == strategies["fanout"]["recall"]["value"] == 1
    assert strategies["bm25@4000"]["input_median"]["value"] <= 4000
    assert strategies["fanout"]["calls"]["value"] == 3
    assert 1.9 < strategies["fanout"]["input_over_direct_median"]["value"] < 2.2
    assert strategies["fanout-cached"]["cache_read_mean"]["value"] > 0.9 * strategies["direct"]["input_mean"]["value"]
    assert strategies["fanout-cached"]["price_mean"]["value"] < strategies["fanout"]["price_mean"]["value"]
    assert "built-in engine" in done.stdout
    assert "by rule" in done.stdout
    assert (out / "table.md").read_text("utf-8") == done.stdout
    assert (out / "plot.svg").read_bytes().startswith(b"<?xml")
    assert (out / "plot.png").read_bytes().startswith(b"\x89PNG")


def test_equal_figures_give_an_equal_plot(questions: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    invoke("run", "--dataset", questions, "--strategies", "direct,bm25@200", "--out", out)
    first = [(out / name).read_bytes() for name in ("plot.svg", "plot.png")]

    invoke("plot", out)

    assert [(out / name).read_bytes() for name in ("plot.svg", "plot.png")] == first


def test_a_budget_that_follows_a_strategy_is_what_that_one_sent_for_the_same_question(
    questions: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"

    invoke("run", "--dataset", questions, "--strategies", "bm25,outline", "--budget", "auto", "--out", out)

    sent = {(each["question"], each["strategy"]): each for each in lines(out)}
    assert [sent[question, "bm25"]["budget_tokens"] for question in ("revenue", "auditor", "mood")] == [
        sent[question, "outline"]["sent_tokens"] for question in ("revenue", "auditor", "mood")
    ]


def test_figures_of_a_real_model_are_said_to_be_its_own(
    questions: Path, tmp_path: Path, server: ScriptedServer
) -> None:
    out = tmp_path / "out"

    done = invoke("run", "--dataset", questions, "--strategies", "direct", "--model", "openai:m", "--out", out)

    first = lines(out)[0]
    assert "from a real model, openai:m; tokens as it reported" in done.stdout
    assert (first["input_tokens"], first["cached_input_tokens"], first["cache_write_tokens"]) == (20, 60, 20)
    assert (first["is_recalled"], first["score"]) == (True, 1.0)


def test_a_question_without_evidence_has_no_recall(questions: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"

    invoke("run", "--dataset", questions, "--strategies", "direct", "--out", out)

    recall = json.loads((out / "summary.json").read_text("utf-8"))["strategies"]["direct"]["recall"]
    assert [each["is_recalled"] for each in lines(out)] == [True, True, None]
    assert recall["questions"] == 2


def test_a_finished_run_makes_no_call_when_started_again(
    questions: Path, tmp_path: Path, server: ScriptedServer
) -> None:
    command = ("run", "--dataset", questions, "--strategies", "direct", "--model", "openai:m", "--out", tmp_path / "o")
    first = invoke(*command)

    second = invoke(*command)

    assert len(server.requests) == 3
    assert second.stdout == first.stdout


def test_strategies_may_be_added_later(questions: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    invoke("run", "--dataset", questions, "--strategies", "direct", "--out", out)

    done = invoke("run", "--dataset", questions, "--strategies", "direct,bm25@200", "--out", out)

    assert "3 of 6 were done already" in done.stderr
    assert [each["strategy"] for each in lines(out)] == ["direct"] * 3 + ["bm25@200"] * 3


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (("--seed", "4"), "seed was 0 and is 4"),
        (("--sample", "2"), "sample was null and is 2"),
        (("--subtasks", "3"), "subtasks was 5 and is 3"),
        (("--price-as", "openai:gpt-6-luna"), "priced_as was"),
    ],
)
def test_a_run_with_other_settings_does_not_mix_with_the_results(
    questions: Path, tmp_path: Path, changed: tuple[str, str], said: str
) -> None:
    out = tmp_path / "out"
    invoke("run", "--dataset", questions, "--strategies", "direct", "--out", out)
    before = (out / "results.jsonl").read_bytes()

    done = invoke("run", "--dataset", questions, "--strategies", "direct", "--out", out, *changed)

    assert done.exit_code == 2
    assert said in done.stderr
    assert (out / "results.jsonl").read_bytes() == before


def test_results_do_not_mix_with_those_of_a_changed_document(questions: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    invoke("run", "--dataset", questions, "--strategies", "direct", "--out", out)
    document = questions.with_name("report.md")
    document.write_text(document.read_text("utf-8") + "\nMore.\n", "utf-8")

    done = invoke("run", "--dataset", questions, "--strategies", "direct", "--out", out)

    assert done.exit_code == 2
    assert "dataset_hash" in done.stderr


def test_a_run_that_was_killed_goes_on_where_it_was(questions: Path, tmp_path: Path, serve: Serve) -> None:
    out = tmp_path / "out"

    def once_then_silent(received: Received, wire: Wire) -> bytes | None:
        return answering()(received, wire) if len(silent.requests) == 1 else wire.hang()

    silent = serve(once_then_silent)
    command = ["run", "--dataset", str(questions), "--strategies", "direct", "--model", "openai:m", "--out", str(out)]
    process = start(command, silent)
    wait_for(lambda: len(silent.requests) == 2, process)
    process.kill()
    process.communicate(timeout=30)
    with (out / "results.jsonl").open("ab") as file:
        file.write(b'{"question": "auditor", "stra')

    answered = serve(answering())
    resumed = start(command, answered)
    resumed.communicate(timeout=60)

    assert resumed.returncode == 0
    assert [each["question"] for each in lines(out)] == ["revenue", "auditor", "mood"]
    assert len(answered.requests) == 2


def test_ctrl_c_keeps_what_is_done(questions: Path, tmp_path: Path, serve: Serve) -> None:
    out = tmp_path / "out"

    def once_then_silent(received: Received, wire: Wire) -> bytes | None:
        return answering()(received, wire) if len(silent.requests) == 1 else wire.hang()

    silent = serve(once_then_silent)
    command = ["run", "--dataset", str(questions), "--strategies", "direct", "--model", "openai:m", "--out", str(out)]
    process = start(command, silent)
    wait_for(lambda: len(silent.requests) == 2, process)

    process.send_signal(signal.SIGINT)

    _, said = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "what is done is kept" in said
    assert "Traceback" not in said
    assert [each["question"] for each in lines(out)] == ["revenue"]


def start(command: list[str], server: ScriptedServer) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "benchmarks", *command],
        cwd=ROOT,
        env={**os.environ, "OPENAI_BASE_URL": f"{server.url}/v1", "OPENAI_API_KEY": ""},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for(is_so: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    """Until it is so; fails when the process ended before."""
    while not is_so():
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=0.02)
        assert is_so() or process.poll() is None, process.communicate()


def test_an_error_of_one_question_ends_nothing_and_is_tried_again(
    questions: Path, tmp_path: Path, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    refusals = [json_answer({"error": {"message": "no such model"}}, status=404)]

    def script(received: Received, wire: Wire) -> bytes:
        return refusals.pop() if refusals else answering()(received, wire)

    monkeypatch.setenv("OPENAI_BASE_URL", f"{serve(script).url}/v1")
    command = ("run", "--dataset", questions, "--strategies", "direct", "--model", "openai:m", "--out", out)

    first = invoke(*command)
    second = invoke(*command)

    assert first.exit_code == 0
    assert "1 failed, the first with MODEL_NOT_FOUND" in first.stderr
    assert "| direct | 3 (1) |" in first.stdout
    assert "| direct | 3 (0) |" in second.stdout


def test_a_run_in_which_everything_failed_still_says_so(
    questions: Path, tmp_path: Path, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusing = serve(lambda *_: json_answer({"error": {"message": "no such model"}}, status=404))
    monkeypatch.setenv("OPENAI_BASE_URL", f"{refusing.url}/v1")

    done = invoke(
        "run", "--dataset", questions, "--strategies", "direct", "--model", "openai:m", "--out", tmp_path / "out"
    )

    assert done.exit_code == 0
    assert "| direct | 3 (3) |" in done.stdout


def test_a_failed_question_counts_as_not_recalled_and_is_left_out_of_tokens(
    questions: Path, tmp_path: Path, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    refusals = [json_answer({"error": {"message": "no such model"}}, status=404)]

    def script(received: Received, wire: Wire) -> bytes:
        return refusals.pop() if refusals else answering()(received, wire)

    monkeypatch.setenv("OPENAI_BASE_URL", f"{serve(script).url}/v1")

    invoke("run", "--dataset", questions, "--strategies", "direct", "--model", "openai:m", "--out", out)

    direct = json.loads((out / "summary.json").read_text("utf-8"))["strategies"]["direct"]
    assert direct["recall"]["value"] == 0.5
    assert (direct["input_median"]["questions"], direct["input_median"]["value"]) == (2, 100)


def test_a_finished_benchmark_runs_again_from_its_store_with_no_key_and_no_call(
    questions: Path, tmp_path: Path, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = (
        "run", "--dataset", questions, "--strategies", "direct,fanout,auto", "--model", "openai:m",
        "--judge", "openai:judge", "--store", tmp_path / "replies.sqlite", "--out",
    )  # fmt: skip
    server._script = judging
    first = invoke(*command, tmp_path / "one")
    made = len(server.requests)
    monkeypatch.delenv("OPENAI_BASE_URL")

    second = invoke(*command, tmp_path / "two")

    assert (first.exit_code, second.exit_code) == (0, 0), second.stderr
    assert "| 3 (0) |" in first.stdout
    assert len(server.requests) == made > 0
    assert second.stdout == first.stdout


def judging(received: Received, wire: Wire) -> bytes:
    is_judge = received.json["model"] == "judge"
    return answering('{"is_correct": true}' if is_judge else "It is $40 million.")(received, wire)


def test_a_judge_gives_its_own_figure_and_is_not_counted_to_the_strategy(
    questions: Path, tmp_path: Path, server: ScriptedServer
) -> None:
    out = tmp_path / "out"
    server._script = judging

    invoke(
        "run", "--dataset", questions, "--strategies", "direct", "--model", "openai:m", "--judge", "openai:judge",
        "--out", out,
    )  # fmt: skip

    assert [each["judged"] for each in lines(out)] == [1.0, 1.0, 1.0]
    assert [len(each["calls"]) for each in lines(out)] == [1, 1, 1]


def test_a_dry_run_says_what_it_would_cost_and_makes_no_call(
    questions: Path, tmp_path: Path, server: ScriptedServer
) -> None:
    done = invoke(
        "run", "--dataset", questions, "--strategies", "direct,fanout,auto", "--model", "openai:m", "--dry-run",
        "--price-as", "openai:gpt-6-luna", "--out", tmp_path / "out",
    )  # fmt: skip

    assert done.exit_code == 0
    assert server.requests == []
    assert "| direct | 3 |" in done.stdout
    assert "| fanout | 18 |" in done.stdout
    assert "| total |" in done.stdout
    assert "nothing was sent" in done.stdout
    assert not (tmp_path / "out").exists()


def test_a_dry_run_needs_no_key(questions: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)

    done = invoke(
        "run", "--dataset", questions, "--strategies", "direct", "--model", "anthropic:claude-sonnet-5-5", "--dry-run"
    )

    assert done.exit_code == 0


def test_several_questions_at_once_give_the_same_answers(questions: Path, tmp_path: Path) -> None:
    command = ("run", "--dataset", questions, "--strategies", "direct,bm25@200,auto", "--out")

    invoke(*command, tmp_path / "one")
    invoke(*command, tmp_path / "three", "--workers", 3)

    one, three = (
        sorted(
            (each["question"], each["strategy"], each["answer"], each["sent_tokens"]) for each in lines(tmp_path / name)
        )
        for name in ("one", "three")
    )
    assert one == three


def test_pairs_are_compared_question_by_question(questions: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    invoke("run", "--dataset", questions, "--strategies", "direct,fanout", "--out", out)

    done = invoke("compare", out)

    assert "| fanout | 3 | " in done.stdout
    assert "| +0 (+0 to +0) |" in done.stdout


def test_the_table_is_printed_again_from_the_results(questions: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    first = invoke("run", "--dataset", questions, "--strategies", "direct", "--out", out)

    assert invoke("table", out).stdout == first.stdout
    assert json.loads(invoke("table", out, "--json").stdout) == json.loads((out / "summary.json").read_text("utf-8"))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("run", "--dataset", "report", "--strategies", "rag", "--out", "x"), "there is no strategy 'rag'"),
        (("run", "--dataset", "report", "--strategies", "direct"), "there is no --out"),
        (("run", "--dataset", "squad", "--strategies", "direct", "--out", "x"), "there is no dataset 'squad'"),
        (("run", "--dataset", "report", "--strategies", "direct", "--out", "x", "--model", "x"), "names no model"),
        (("table", "."), "settings.json cannot be read"),
    ],
)
def test_what_cannot_be_begun_is_said_in_two_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], said: str
) -> None:
    monkeypatch.chdir(tmp_path)

    done = invoke(*arguments)

    assert done.exit_code == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_library_that_is_missing_is_named_before_anything_is_sent(
    questions: Path, monkeypatch: pytest.MonkeyPatch, server: ScriptedServer
) -> None:
    monkeypatch.setattr("benchmarks.session.find_spec", lambda name: None if name == "bm25s" else name)

    done = invoke("run", "--dataset", questions, "--strategies", "direct", "--model", "openai:m", "--out", "x")

    assert done.exit_code == 2
    assert "bm25s cannot be imported" in done.stderr
    assert "pip install 'orchestra[benchmarks]'" in done.stderr
    assert server.requests == []


def test_a_line_of_the_results_that_is_not_ours_is_named(questions: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    invoke("run", "--dataset", questions, "--strategies", "direct", "--out", out)
    (out / "results.jsonl").write_text('{"question": "x"}\n', "utf-8")

    done = invoke("table", out)

    assert done.exit_code == 2
    assert "results.jsonl:1 was not written by this benchmark" in done.stderr
