"""Model calls as JSON."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestra.errors import ModelRefused
from orchestra.models.protocol import ModelReply, ToolCall, Usage
from orchestra.run.replies import error_payload, finished_call, reply_payload

texts = st.text(max_size=40)
counts = st.integers(0, 10**9)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
usages = st.builds(Usage, counts, counts, counts, counts, st.booleans())
replies = st.builds(
    ModelReply,
    texts,
    usages,
    json_values,
    st.lists(st.builds(ToolCall, texts, texts, st.dictionaries(texts, json_values, max_size=2)), max_size=2).map(tuple),
    st.sampled_from(["end", "max_tokens", "tool_use"]),
    texts,
    texts,
)


@given(replies, st.lists(usages, max_size=2), st.booleans())
def test_a_reply_comes_back_as_it_was(reply, failed, is_billed):
    call = finished_call(json.loads(json.dumps(reply_payload(reply, failed, is_billed=is_billed))))

    assert (call.reply, call.failed, call.is_billed, call.error) == (reply, tuple(failed), is_billed, None)


def test_a_failure_that_was_billed_comes_back_as_the_same_error():
    error = ModelRefused("it does not want to", cause="policy", suggestion="Ask otherwise.")

    call = finished_call(json.loads(json.dumps(error_payload(error, Usage(7)))))

    assert isinstance(call.error, ModelRefused)
    assert call.error.to_dict() == error.to_dict()
    assert call.error.details["usage"] == Usage(7)
    assert not call.error.is_retryable


@pytest.mark.parametrize(
    "damaged",
    [
        {},
        {"reply": None},
        {"reply": {"text": "x"}},
        {"reply": {**reply_payload(ModelReply("x"))["reply"], "usage": {"input_tokens": -1}}},
        {**reply_payload(ModelReply("x")), **error_payload(ModelRefused("no"), Usage())},
    ],
)
def test_what_is_damaged_is_no_call(damaged):
    assert finished_call(damaged) is None
