"""One call of `run`: from options to files."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.datasets import load
from benchmarks.documents import Documents, default_cache
from benchmarks.dry_run import bill_table, bills
from benchmarks.models import PRICED_AS, Prices, StandIn, is_builtin, model_of
from benchmarks.plot import plot, points
from benchmarks.progress import progress
from benchmarks.question import Question
from benchmarks.results import Outcome, ResultFolder, RunSettings
from benchmarks.runner import Bench, Case, case_of, hash_of, run, sampled
from benchmarks.store import ReplyStore, facts_of
from benchmarks.strategies import Entry, entries
from benchmarks.summary import as_json, summarise
from benchmarks.table import markdown
from orchestra.cli.terminal import print_answer, say
from orchestra.errors import InputInvalid
from orchestra.models.deadline import Cancellation
from orchestra.models.protocol import Model

INTERRUPTED = 130
LIBRARIES = ("bm25s", "matplotlib", "numpy", "Stemmer")


@dataclass(frozen=True, slots=True)
class Options:
    """The options of the command, as it names them."""

    dataset: str
    strategies: str
    model: str
    data_folder: Path | None = None
    sample: int | None = None
    seed: int = 0
    out_folder: Path | None = None
    budget: str = ""
    subtasks: int = 5
    store_path: Path | None = None
    judge_spec: str = ""
    price_as: str = ""
    workers: int = 1
    is_dry: bool = False


def run_session(options: Options) -> int:
    """The exit code: 0, or 130 when it was stopped. Raises `OrchestraError` for what cannot be begun."""
    ways = entries([name.strip() for name in options.strategies.split(",") if name.strip()], options.budget)
    if options.out_folder is None and not options.is_dry:
        raise InputInvalid("there is no --out", cause="results must go somewhere", suggestion="Add --out DIR.")
    _check_installed(*LIBRARIES)
    dataset = load(options.dataset, options.data_folder)
    cases = _cases(sampled(dataset, options.sample, options.seed))
    priced_as = options.price_as or (PRICED_AS if is_builtin(options.model) else options.model)
    if options.is_dry:
        return _dry_run(options, cases, ways, priced_as)
    settings = RunSettings(
        dataset=dataset.name,
        questions=[case.question.id for case in cases],
        dataset_hash=hash_of(cases),
        note=dataset.note,
        model=options.model,
        priced_as=priced_as,
        is_builtin=is_builtin(options.model),
        judge=options.judge_spec,
        sample=options.sample,
        seed=options.seed,
        subtasks=options.subtasks,
        budget=options.budget,
    )
    assert options.out_folder is not None
    store = ReplyStore(options.store_path) if options.store_path else None
    try:
        return _run(options, cases, ways, settings, ResultFolder(options.out_folder), store)
    finally:
        if store is not None:
            store.close()


def _run(
    options: Options,
    cases: list[Case],
    ways: tuple[Entry, ...],
    settings: RunSettings,
    results: ResultFolder,
    store: ReplyStore | None,
) -> int:
    model = model_of(options.model, store)
    bench = _bench(options, model, settings.priced_as, store)
    before = {(each.question, each.strategy): each for each in results.begin(settings) if each.status == "completed"}
    wanted = {(case.question.id, way.label) for case in cases for way in ways}
    done = {key: outcome for key, outcome in before.items() if key in wanted}
    if done:
        say(f"{len(done)} of {len(wanted)} were done already")
    failed: list[Outcome] = []
    try:
        with progress("answered", len(wanted) - len(done)) as advance:

            def on_outcome(outcome: Outcome) -> None:
                results.add(outcome)
                if outcome.status == "failed":
                    failed.append(outcome)
                advance(f"{outcome.question} {outcome.strategy} {outcome.error}".rstrip())

            run(cases, ways, bench, done, on_outcome, workers=options.workers)
    except KeyboardInterrupt:
        say("stopped; what is done is kept, and the same command goes on from there")
        return INTERRUPTED
    if failed:
        say(f"{len(failed)} failed, the first with {failed[0].error}; the same command tries them again")
    print_answer(write_report(results), end="")
    return 0


def _check_installed(*libraries: str) -> None:
    """Before anything is sent, rather than question by question."""
    missing = [name for name in libraries if find_spec(name) is None]
    if missing:
        raise InputInvalid(
            f"{' and '.join(missing)} cannot be imported", suggestion="pip install 'orchestra[benchmarks]'"
        )


def _cases(questions: Sequence[Question]) -> list[Case]:
    documents = Documents(default_cache())
    cases: list[Case] = []
    with progress("read", len(questions)) as advance:
        for question in questions:
            cases.append(case_of(question, documents))
            advance(question.document.name)
    return cases


def _bench(options: Options, model: Model, priced_as: str, store: ReplyStore | None) -> Bench:
    prices = Prices(facts_of(model), priced_as if priced_as != options.model else "")
    judge = model_of(options.judge_spec, store) if options.judge_spec else None
    return Bench(model, prices, Cancellation(), options.subtasks, judge, store)


def _dry_run(options: Options, cases: list[Case], ways: tuple[Entry, ...], priced_as: str) -> int:
    model = StandIn(options.model)
    bench = Bench(model, Prices(facts_of(model), priced_as), Cancellation(), options.subtasks)
    outcomes: list[Outcome] = []
    with progress("estimated", len(cases) * len(ways)) as advance:

        def on_outcome(outcome: Outcome) -> None:
            outcomes.append(outcome)
            advance(f"{outcome.question} {outcome.strategy}")

        run(cases, ways, bench, {}, on_outcome, workers=options.workers)
    print_answer(bill_table(bills(outcomes), priced_as=priced_as, questions=len(cases)))
    return 0


def tabulated(results: ResultFolder) -> tuple[str, dict[str, Any]]:
    """The markdown table of a folder's results, and the same as data."""
    settings, outcomes = results.settings(), results.outcomes()
    if not outcomes:
        raise InputInvalid(f"there are no results in {results.path}")
    summaries = summarise(settings, outcomes)
    return markdown(settings, summaries, outcomes), as_json(settings, summaries)


def write_report(results: ResultFolder) -> str:
    """Write table.md, summary.json and the plot; the table."""
    text, figures = tabulated(results)
    results.write("table.md", text)
    results.write("summary.json", json.dumps(figures, indent=1) + "\n")
    settings = results.settings()
    summaries = summarise(settings, results.outcomes())
    if points(summaries):
        plot(settings, summaries, results.path)
    return text
