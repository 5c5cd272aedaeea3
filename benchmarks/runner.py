"""A benchmark from its plan to its outcomes: every question by every strategy."""

from __future__ import annotations

import hashlib
import random
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import TypeAlias

from benchmarks.cache_rule import with_cache
from benchmarks.documents import Documents
from benchmarks.evidence import Gold, is_recalled
from benchmarks.judge import judge
from benchmarks.models import Prices
from benchmarks.question import Dataset, Question
from benchmarks.recording import Call, RecordingModel
from benchmarks.results import CallRecord, Outcome
from benchmarks.scoring import score
from benchmarks.store import ReplyStore
from benchmarks.strategies import Answered, Attempt, Entry
from orchestra.document import Document
from orchestra.errors import InputInvalid, ModelError, OrchestraError, UnexpectedFailure
from orchestra.models.deadline import Cancellation
from orchestra.models.protocol import Model, Usage

OnOutcome: TypeAlias = Callable[[Outcome], None]


@dataclass(frozen=True, slots=True)
class Case:
    """A question with its document read and its evidence found there."""

    question: Question
    document: Document
    gold: tuple[Gold, ...]


@dataclass(frozen=True, slots=True)
class Bench:
    """What is needed to answer a case. `store` knows how long stored replies took."""

    model: Model
    prices: Prices
    cancellation: Cancellation
    subtasks: int = 5
    judge: Model | None = None
    store: ReplyStore | None = None


def sampled(dataset: Dataset, sample: int | None, seed: int) -> tuple[Question, ...]:
    """`sample` questions drawn by `seed`, in the dataset's order; all of them without a number."""
    questions = dataset.questions
    if sample is None or sample >= len(questions):
        return questions
    rows = sorted(random.Random(seed).sample(range(len(questions)), sample))
    return tuple(questions[row] for row in rows)


def case_of(question: Question, documents: Documents) -> Case:
    """Raises `DocumentUnreadable`, and `InputInvalid` for evidence that is not in the document."""
    document = documents.get(question.document)
    try:
        gold = tuple(Gold.of(each, document) for each in question.evidence)
    except InputInvalid as error:
        raise InputInvalid(f"{question.source}: {error.what}", cause=error.cause) from None
    return Case(question, document, gold)


def hash_of(cases: Sequence[Case]) -> str:
    """SHA-256 over everything that the questions and documents say."""
    digest = hashlib.sha256()
    for case in cases:
        question = case.question
        said = (question.id, question.text, question.answer, repr(question.evidence), case.document.sha256)
        digest.update("\x1f".join(said).encode() + b"\x1e")
    return digest.hexdigest()


def run(
    cases: Sequence[Case],
    entries: Sequence[Entry],
    bench: Bench,
    done: Mapping[tuple[str, str], Outcome],
    on_outcome: OnOutcome,
    *,
    workers: int = 1,
) -> None:
    """Answer what is not done, `workers` questions at once; `on_outcome` hears of each, on the questions' threads.

    A question that fails is an outcome too. Ctrl-C cancels what is under way and is raised again.
    """
    pool = ThreadPoolExecutor(workers)
    futures = [pool.submit(_answer_case, case, entries, bench, done, on_outcome) for case in cases]
    try:
        _wait(futures)
    except BaseException:
        bench.cancellation.cancel()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _wait(futures: Sequence[Future[None]]) -> None:
    """Until all have ended, or one raised: that is raised here."""
    pending = set(futures)
    while pending:
        ended, pending = wait(pending, timeout=0.5, return_when=FIRST_COMPLETED)
        for future in ended:
            future.result()


def _answer_case(
    case: Case,
    entries: Sequence[Entry],
    bench: Bench,
    done: Mapping[tuple[str, str], Outcome],
    on_outcome: OnOutcome,
) -> None:
    """All strategies on one question in turn, so that a budget which follows another strategy is known."""
    here = {entry.label: done.get((case.question.id, entry.label)) for entry in entries}
    for entry in entries:
        if here[entry.label] is not None:
            continue
        outcome = answer(case, entry, here.get(entry.follows), bench)
        if bench.cancellation.is_cancelled:
            return
        here[entry.label] = outcome
        on_outcome(outcome)


def answer(case: Case, entry: Entry, followed: Outcome | None, bench: Bench) -> Outcome:
    """One question by one strategy. `followed` is the outcome whose tokens the strategy may use. Never raises."""
    recorder = RecordingModel(bench.model)
    start = time.perf_counter()
    answered, error = Answered(""), ""
    budget = entry.budget_tokens
    try:
        budget = _followed_budget(entry, followed) if entry.follows else budget
        attempt = Attempt(case.question.text, case.document, recorder, bench.cancellation, bench.subtasks, budget)
        answered = entry.run(attempt)
    except OrchestraError as failure:
        error = _said(failure)
    except Exception as failure:  # noqa: BLE001 - a defect in one question must not end a long benchmark
        error = _said(UnexpectedFailure(f"{type(failure).__name__}: {failure}"))
    seconds = time.perf_counter() - start
    return _outcome(case, entry, answered, error, recorder.calls, seconds, budget, bench)


def _followed_budget(entry: Entry, followed: Outcome | None) -> int:
    if followed is None or followed.status == "failed" or not followed.sent_tokens:
        raise InputInvalid(f"{entry.follows} gave no budget for this question", cause="it failed")
    return followed.sent_tokens


def _outcome(
    case: Case,
    entry: Entry,
    answered: Answered,
    error: str,
    calls: Sequence[Call],
    seconds: float,
    budget: int | None,
    bench: Bench,
) -> Outcome:
    usages = with_cache([(call.usage, call.marks) for call in calls])
    text = answered.text.replace(str(getattr(bench.model, "notice", "")) or "\0", "").strip()
    scored = score(case.question.text, case.question.answer, text)
    judged, error = _judged(case, text, bench) if not error else (None, error)
    return Outcome(
        question=case.question.id,
        strategy=entry.label,
        document=case.document.name,
        status="failed" if error else "completed",
        error=error,
        answer=answered.text,
        calls=[_record(call, usage) for call, usage in zip(calls, usages, strict=True)],
        input_tokens=sum(usage.input_tokens for usage in usages),
        cache_write_tokens=sum(usage.cache_write_tokens for usage in usages),
        cached_input_tokens=sum(usage.cached_input_tokens for usage in usages),
        output_tokens=sum(usage.output_tokens for usage in usages),
        sent_tokens=sum(call.sent_tokens for call in calls),
        price_usd=bench.prices.of(usages),
        wall_s=_wall_seconds(entry.label, calls, seconds, bench.store),
        is_recalled=is_recalled(case.gold, [call.lines for call in calls]) if case.gold else None,
        score=0.0 if error else scored.value,
        score_kind=scored.kind,
        judged=0.0 if error and bench.judge is not None else judged,
        cache="rule" if any(call.usage.is_estimated and call.marks for call in calls) else "reported",
        is_counted_here=any(call.usage.is_estimated for call in calls),
        chosen=answered.chosen,
        estimated_input_tokens=answered.estimated_input_tokens,
        budget_tokens=budget,
    )


def _judged(case: Case, text: str, bench: Bench) -> tuple[float | None, str]:
    if bench.judge is None:
        return None, ""
    try:
        return judge(bench.judge, case.question.text, case.question.answer, text), ""
    except ModelError as error:
        return None, f"judge: {_said(error)}"


def _wall_seconds(label: str, calls: Sequence[Call], seconds: float, store: ReplyStore | None) -> float | None:
    """As measured; where all replies came from the store, as measured when they were made."""
    if store is None or not calls:
        return seconds
    fingerprints = [call.fingerprint for call in calls]
    replayed = sum(call.is_replayed for call in calls)
    if not replayed:
        store.put_seconds(label, fingerprints, seconds)
        return seconds
    return store.seconds(label, fingerprints) if replayed == len(calls) else None


def _record(call: Call, usage: Usage) -> CallRecord:
    return CallRecord(
        purpose=call.purpose,
        input_tokens=usage.input_tokens,
        cache_write_tokens=usage.cache_write_tokens,
        cached_input_tokens=usage.cached_input_tokens,
        output_tokens=usage.output_tokens,
        seconds=round(call.seconds, 4),
        lines=[str(each) for each in call.lines],
    )


def _said(error: OrchestraError) -> str:
    cause = f" ({error.cause})" if error.cause else ""
    return f"{error.code}: {error.what}{cause}"
