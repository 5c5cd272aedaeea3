"""The baselines: what they send."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from models_for_tests import ScriptedModel

from benchmarks.strategies import STRATEGIES, Attempt, entries
from benchmarks.strategies.pieces import chunks_of, pieces_of, whole_text
from orchestra.document import Document, count_tokens
from orchestra.errors import InputInvalid, ModelOverloaded, ModelRefused, RunCancelled
from orchestra.models.blocks import Findings, SliceBlock
from orchestra.models.deadline import Cancellation
from orchestra.models.protocol import ModelReply, Usage
from orchestra.runtime.retry import RetryPolicy

PAGES = [f"Page about {word}.\n" + f"{word} filler words stand here. " * 40 for word in ("steel", "copper", "auditors")]
PAGED = Document("\n".join(PAGES), name="paged.pdf", page_starts=(1, 3, 5))
TEXT = Document.from_text("\n\n".join(f"Paragraph {number} " + "word " * 60 for number in range(60)))


def attempt(model: object, document: Document = PAGED, **options: object) -> Attempt:
    return Attempt("Who are the auditors?", document, model, Cancellation(), **options)  # type: ignore[arg-type]


def slice_text(request: object) -> str:
    (block,) = [block for block in request.blocks if isinstance(block, SliceBlock)]  # type: ignore[attr-defined]
    return block.slice.text


def test_direct_sends_the_document_as_it_is_in_one_call() -> None:
    model = ScriptedModel(subtask="Stone")

    answered = STRATEGIES["direct"](attempt(model))

    assert answered.text == "Stone"
    assert [slice_text(request) for request in model.requests] == [PAGED.text]


def test_fanout_sends_everything_to_every_subtask_and_joins_the_replies() -> None:
    model = ScriptedModel(subtask="Stone", synthesis="Joined")

    answered = STRATEGIES["fanout"](attempt(model, subtasks=3))

    (join,) = model.sent("synthesis")
    (findings,) = [block for block in join.blocks if isinstance(block, Findings)]
    assert answered.text == "Joined"
    assert [slice_text(request) for request in model.sent("subtask")] == [PAGED.text] * 3
    assert len({finding.task for finding in findings.findings}) == 3


def test_fanout_sends_nothing_cacheable_and_its_cached_twin_only_the_same_prefix() -> None:
    plain, cached = ScriptedModel(subtask="a", synthesis="b"), ScriptedModel(subtask="a", synthesis="b")

    STRATEGIES["fanout"](attempt(plain))
    STRATEGIES["fanout-cached"](attempt(cached))

    assert not any(block.cacheable for request in plain.requests for block in request.blocks)
    assert len({tuple(block.text for block in request.blocks[:2]) for request in cached.sent("subtask")}) == 1
    assert all(request.blocks[1].cacheable for request in cached.sent("subtask"))


def test_map_reduce_reads_every_line_once() -> None:
    model = ScriptedModel(subtask="Stone", synthesis="Joined")

    STRATEGIES["mapreduce"](attempt(model, TEXT))

    texts = [slice_text(request) for request in model.sent("subtask")]
    assert "\n".join(sorted("\n".join(texts).split("\n"))) == "\n".join(sorted(TEXT.text.split("\n")))


def test_map_reduce_joins_only_what_was_found() -> None:
    long = Document.from_text("\n\n".join(f"Paragraph {number} " + "word " * 600 for number in range(40)))
    model = ScriptedModel(subtask=["Stone", "INSUFFICIENT"], synthesis="Joined")

    STRATEGIES["mapreduce"](attempt(model, long))

    (join,) = model.sent("synthesis")
    (findings,) = [block for block in join.blocks if isinstance(block, Findings)]
    assert [finding.text for finding in findings.findings] == ["Stone"]


def test_bm25_sends_the_best_pages_in_document_order_within_its_budget() -> None:
    pytest.importorskip("bm25s")
    model = ScriptedModel(subtask="Stone")
    question = "Who are the auditors, and what of steel?"
    two_pages = count_tokens(PAGES[0] + PAGES[2]) + 110

    STRATEGIES["bm25"](Attempt(question, PAGED, model, Cancellation(), budget_tokens=two_pages))

    (request,) = model.requests
    assert slice_text(request) == "\n\n".join(f"[page {number}]\n{PAGES[number - 1]}".rstrip("\n") for number in (1, 3))


@given(st.integers(110, 3000))
def test_bm25_holds_its_budget_to_the_token(budget: int) -> None:
    pytest.importorskip("bm25s")
    model = ScriptedModel(subtask="Stone")

    STRATEGIES["bm25"](attempt(model, TEXT, budget_tokens=budget))

    sent = sum(count_tokens(block.text) for block in model.requests[0].blocks)
    assert sent <= max(budget, 200)


def test_bm25_sends_everything_when_the_budget_has_room() -> None:
    pytest.importorskip("bm25s")
    model = ScriptedModel(subtask="Stone")

    STRATEGIES["bm25"](attempt(model, budget_tokens=100_000))

    assert slice_text(model.requests[0]).count("[page ") == 3


def test_bm25_reads_the_beginning_where_no_word_counts() -> None:
    pytest.importorskip("bm25s")
    model = ScriptedModel(subtask="Stone")

    STRATEGIES["bm25"](Attempt("the of and", PAGED, model, Cancellation(), budget_tokens=100_000))

    assert slice_text(model.requests[0]).startswith("[page 1]")


def test_pages_and_chunks_hold_every_line_once() -> None:
    for pieces, document in ((pieces_of(PAGED), PAGED), (pieces_of(TEXT), TEXT), (chunks_of(TEXT, 10), TEXT)):
        lines = [line for piece in pieces for line in range(piece.lines.first, piece.lines.last + 1)]
        assert lines == list(range(1, document.line_count + 1))


@given(st.integers(70, 900))
def test_a_chunk_holds_no_more_than_it_may(most_tokens: int) -> None:
    assert max(piece.tokens for piece in chunks_of(TEXT, most_tokens)) <= most_tokens


def test_baselines_pay_for_no_line_numbers() -> None:
    assert whole_text(PAGED).tokens == PAGED.tokens


def test_a_call_that_may_succeed_later_is_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RetryPolicy, "delay_before_next", lambda self, error, attempt: 0.0 if attempt < 3 else None)
    model = ScriptedModel(subtask=[ModelOverloaded("busy"), ModelOverloaded("busy"), "Stone"])

    answered = STRATEGIES["direct"](attempt(model))

    assert answered.text == "Stone"
    assert len(model.requests) == 3


def test_a_call_that_failed_for_good_is_not_made_again() -> None:
    model = ScriptedModel(subtask=ModelRefused("no"))

    with pytest.raises(ModelRefused):
        STRATEGIES["direct"](attempt(model))

    assert len(model.requests) == 1


def test_nothing_is_sent_once_it_is_cancelled() -> None:
    model = ScriptedModel(subtask=ModelReply("Stone", Usage(1)))
    cancellation = Cancellation()
    cancellation.cancel()

    with pytest.raises(RunCancelled):
        STRATEGIES["direct"](Attempt("Who?", PAGED, model, cancellation))

    assert model.requests == []


def test_strategies_that_follow_another_come_last() -> None:
    found = entries(["bm25@auto", "bm25@4000", "auto", "direct"])

    assert [entry.label for entry in found] == ["bm25@4000", "auto", "direct", "bm25@auto"]
    assert [(entry.budget_tokens, entry.follows) for entry in found] == [
        (4000, ""),
        (None, ""),
        (None, ""),
        (None, "auto"),
    ]


def test_the_budget_auto_follows_outline_where_there_is_no_auto() -> None:
    found = entries(["bm25", "outline"], "auto")

    assert found[-1].follows == "outline"


@pytest.mark.parametrize(
    ("names", "budget", "said"),
    [
        ([], "", "no strategy is named"),
        (["rag"], "", "no strategy 'rag'"),
        (["direct", "direct"], "", "named twice"),
        (["direct@4000"], "", "direct has no budget"),
        (["bm25"], "auto", "the budget of bm25 is 'auto'"),
        (["bm25"], "-3", "the budget of bm25 is '-3'"),
        (["bm25@0"], "", "the budget of bm25@0 is '0'"),
        (["bm25@bm25@4000", "bm25@4000"], "", "the budget of"),
    ],
)
def test_a_strategy_that_makes_no_sense_is_an_error(names: list[str], budget: str, said: str) -> None:
    with pytest.raises(InputInvalid, match=said):
        entries(names, budget)
