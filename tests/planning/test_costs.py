from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from orchestra.document import Document, DocumentSet, count_tokens, whole
from orchestra.models.blocks import DocumentBlock, Instructions, SliceBlock, Task
from orchestra.models.protocol import Message, ModelRequest
from orchestra.planning.costs import PROMPT_TOKENS, alternatives, request_tokens

DOCUMENTS = DocumentSet.of(Document.from_text("# Title\n\n" + "Some words of text. " * 400))


def test_naive_fan_out_reads_everything_once_per_subtask_and_one_call_once():
    fanout, cached, single = alternatives(DOCUMENTS, [10, 20, 30], 40)
    size = DOCUMENTS[0].tokens

    assert fanout.usage.total_input_tokens == 3 * (size + PROMPT_TOKENS) + 60 + PROMPT_TOKENS
    assert (cached.usage.cache_write_tokens, cached.usage.cached_input_tokens) == (size, 2 * size)
    assert cached.usage.total_input_tokens == fanout.usage.total_input_tokens
    assert single.usage.total_input_tokens == size + PROMPT_TOKENS
    assert [way.calls for way in (fanout, cached, single)] == [4, 4, 1]


def test_for_a_single_subtask_naive_fan_out_is_one_call():
    fanout, cached, single = alternatives(DOCUMENTS, [10], 10)

    assert fanout.usage == cached.usage == single.usage


def test_a_short_document_is_not_cached_by_providers():
    short = DocumentSet.of("# A\n\nshort\n")

    _, cached, _ = alternatives(short, [10, 10], 10)

    assert cached.usage.cached_input_tokens == 0


@given(scale=st.floats(0.5, 2))
def test_a_provider_that_counts_more_makes_every_way_cost_more(scale):
    plain = alternatives(DOCUMENTS, [10, 10], 10)
    scaled = alternatives(DOCUMENTS, [10, 10], 10, scale=scale)

    assert all(
        abs(one.usage.total_input_tokens * scale - other.usage.total_input_tokens) <= 40
        for one, other in zip(plain, scaled, strict=True)
    )


def test_a_request_is_counted_block_by_block():
    slice_ = whole(DOCUMENTS)
    request = ModelRequest((Instructions("Rules."), DocumentBlock(DOCUMENTS), SliceBlock(slice_), Task("What?")))
    turn = Message("assistant", "I said so.")

    counted = request_tokens(request)

    assert abs(counted - count_tokens(request.prompt)) < 30
    assert request_tokens(request.with_messages(turn)) == counted + count_tokens("I said so.")
