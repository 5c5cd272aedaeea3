"""What a recording model keeps, and the rule for caches that nobody reports."""

from __future__ import annotations

from pathlib import Path

import pytest
from models_for_tests import ScriptedModel

from benchmarks.cache_rule import Mark, marks_of, with_cache
from benchmarks.recording import RecordingModel, shown_lines
from benchmarks.strategies import STRATEGIES, Attempt
from orchestra.document import Document, LineRange, count_tokens, cut
from orchestra.document.view import OutlineView, outline_view
from orchestra.errors import ModelOverloaded
from orchestra.models import resolve_model
from orchestra.models.blocks import DocumentBlock, Instructions, OutlineBlock, SliceBlock, Task
from orchestra.models.deadline import Cancellation
from orchestra.models.protocol import Model, ModelReply, ModelRequest, Usage

DOCUMENT = Document.from_text("# Report\n\nRevenue was $40 million.\n\nStone audits.\n", name="report.md")
LONG = Instructions("word " * 1500, cacheable=True)


def request(*blocks: object) -> ModelRequest:
    return ModelRequest((Instructions("Answer."), *blocks, Task("Who audits?")), "subtask")  # type: ignore[arg-type]


def test_a_call_keeps_purpose_tokens_and_lines() -> None:
    model = RecordingModel(ScriptedModel(subtask=ModelReply("Stone", Usage(70, 20, 10, 5))))
    slice_ = cut([LineRange("", 5, 5)], DOCUMENT.alone)

    model.complete(request(SliceBlock(slice_)))

    (call,) = model.calls
    assert (call.purpose, call.usage, call.lines) == ("subtask", Usage(70, 20, 10, 5), (LineRange("", 5, 5),))
    assert call.sent_tokens == pytest.approx(count_tokens(request(SliceBlock(slice_)).prompt), abs=3)


def test_a_document_block_shows_every_line() -> None:
    model = RecordingModel(ScriptedModel(subtask="Stone"))

    model.complete(request(DocumentBlock(DOCUMENT.alone)))

    assert model.calls[0].lines == (LineRange("", 1, DOCUMENT.line_count),)


@pytest.mark.parametrize("strategy", ["direct", "bm25", "mapreduce", "full", "outline"])
def test_lines_that_count_as_shown_stand_in_the_prompt(strategy: str) -> None:
    pytest.importorskip("bm25s")
    report = Document.from_path(Path(__file__).parents[2] / "examples" / "annual-report.md")
    seen = Keeping(resolve_model("builtin:extractive"))

    STRATEGIES[strategy](Attempt("How high were the audit fees in 2025?", report, seen, Cancellation()))

    missing = [
        line
        for request, prompt in ((each, each.prompt) for each in seen.requests)
        for lines in shown_lines(request)
        for line in range(lines.first, lines.last + 1)
        if report.line(line).strip() not in prompt
    ]
    assert any(shown_lines(request) for request in seen.requests)
    assert missing == []


class Keeping:
    """Keeps the requests that it passes on."""

    name = "builtin:extractive"

    def __init__(self, model: Model) -> None:
        self._model = model
        self.requests: list[ModelRequest] = []

    def complete(self, request: ModelRequest) -> ModelReply:
        self.requests.append(request)
        return self._model.complete(request)


def test_an_outline_block_shows_the_lines_that_its_view_says() -> None:
    found = outline_view(DOCUMENT.alone, "Who audits?")
    view = OutlineView(DOCUMENT.alone, found.hits, "p1 L5 Stone audits.", 8, (LineRange("", 5, 5),))
    model = RecordingModel(ScriptedModel(subtask="Stone"))

    model.complete(request(OutlineBlock(view)))

    assert model.calls[0].lines == (LineRange("", 5, 5),)


def test_ranges_of_one_prompt_are_joined() -> None:
    slices = [SliceBlock(cut([LineRange("", first, last)], DOCUMENT.alone)) for first, last in [(4, 5), (1, 3)]]
    model = RecordingModel(ScriptedModel(subtask="Stone"))

    model.complete(request(*slices))

    assert model.calls[0].lines == (LineRange("", 1, 5),)


def test_a_model_that_reports_no_tokens_is_counted_for() -> None:
    model = RecordingModel(ScriptedModel(subtask=ModelReply("Stone audits.")))

    reply = model.complete(request())

    assert reply.usage == model.calls[0].usage
    assert model.calls[0].usage == Usage(
        sum(count_tokens(block.text) for block in request().blocks), output_tokens=3, is_estimated=True
    )


def test_a_call_that_raises_leaves_no_trace() -> None:
    model = RecordingModel(ScriptedModel(subtask=ModelOverloaded("busy")))

    with pytest.raises(ModelOverloaded):
        model.complete(request())

    assert model.calls == ()


def test_what_else_a_model_is_asked_is_its_own() -> None:
    engine = resolve_model("builtin:extractive")
    model = RecordingModel(engine)

    assert (model.name, model.notice) == (engine.name, engine.notice)  # type: ignore[attr-defined]


def test_a_shared_prefix_is_written_once_and_then_read() -> None:
    marks = marks_of(request(LONG))
    counted = Usage(2000, output_tokens=9, is_estimated=True)

    first, second = with_cache([(counted, marks), (counted, marks)])

    tokens = marks[-1].tokens
    assert first == Usage(2000 - tokens, 0, tokens, 9, is_estimated=True)
    assert second == Usage(2000 - tokens, tokens, 0, 9, is_estimated=True)


def test_the_longest_prefix_that_was_written_is_read_and_the_rest_written() -> None:
    short, long = Mark("a", 1100), Mark("b", 1600)
    counted = Usage(2000, is_estimated=True)

    _, second = with_cache([(counted, (short,)), (counted, (short, long))])

    assert second == Usage(400, 1100, 500, is_estimated=True)


def test_a_short_prefix_is_not_cached() -> None:
    assert marks_of(request(Instructions("word " * 900, cacheable=True))) == ()


def test_what_is_not_marked_is_not_cached() -> None:
    assert marks_of(request(Instructions("word " * 1500))) == ()


def test_what_a_provider_reports_stays() -> None:
    reported = Usage(2000, 7, 3, 9)

    assert with_cache([(reported, (Mark("a", 1500),))]) == [reported]


def test_a_prefix_that_differs_in_one_word_is_another() -> None:
    one = marks_of(request(LONG))
    other = marks_of(ModelRequest((Instructions("Reply."), LONG)))

    assert {mark.hash for mark in one}.isdisjoint(mark.hash for mark in other)
