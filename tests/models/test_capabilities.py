"""What servers turned out to lack."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor

import pytest

from orchestra.errors import ModelBadRequest
from orchestra.models.capabilities import Capabilities, Trait, for_schema, refused_feature

TRAITS = (
    Trait("limit", "max_tokens", re.compile(r"\bmax_tokens\b")),
    Trait("json_schema", "response_format", re.compile(r"response_format|json_schema"), kind="json_schema"),
    Trait("json_object", "response_format", re.compile(r"response_format|json_object"), kind="json_object"),
    Trait("system", "messages", re.compile(r"system role"), is_own_field=False),
)
BODY = {"max_tokens": 9, "response_format": {"type": "json_schema"}, "messages": []}


def refusal(cause: str, *, param: str = "", status: int = 400) -> ModelBadRequest:
    return ModelBadRequest("no", cause=cause, status=status, provider_param=param)


@pytest.mark.parametrize(
    ("error", "feature"),
    [
        (refusal("Unsupported parameter", param="max_tokens"), "limit"),
        (refusal("unknown field max_tokens"), "limit"),
        (refusal("body.max_tokens: Extra inputs are not permitted", status=422), "limit"),
        (refusal("max_tokens is too large: 9; at most 4", param="max_tokens"), None),
        (refusal("this response_format type is unavailable"), "json_schema"),
        (refusal("bad", param="response_format.type"), "json_schema"),
        (refusal("System role not supported".lower()), "system"),
        (refusal("messages must alternate", param="messages"), None),
        (refusal("temperature is refused"), None),
        (refusal("unknown field max_tokens", status=404), None),
    ],
)
def test_a_refusal_names_the_feature(error, feature):
    assert refused_feature(error, BODY, TRAITS, None) == feature


def test_a_feature_that_was_not_sent_was_not_refused():
    assert refused_feature(refusal("unknown field max_tokens"), {"messages": []}, TRAITS, None) is None


def test_one_field_may_ask_for_different_features():
    body = {"response_format": {"type": "json_object"}}

    assert refused_feature(refusal("no response_format here"), body, TRAITS, None) == "json_object"


def test_a_complaint_about_one_schema_says_nothing_about_others():
    schema, other = {"type": "object", "title": "A"}, {"type": "object", "title": "B"}
    error = refusal("Invalid schema for response_format 'reply': In context=(), ...")

    feature = refused_feature(error, BODY, TRAITS, schema)

    assert feature == for_schema(schema) != for_schema(other)


def test_what_is_learnt_holds_for_one_server_and_model():
    capabilities = Capabilities()

    capabilities.learn("http://a", "m", "stream")

    assert capabilities.lacking("http://a", "m") == {"stream"}
    assert capabilities.lacking("http://a", "n") == capabilities.lacking("http://b", "m") == frozenset()


def test_nothing_is_lost_when_many_threads_learn():
    capabilities = Capabilities()
    features = [str(number) for number in range(200)]

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda feature: capabilities.learn("http://a", "m", feature), features))

    assert capabilities.lacking("http://a", "m") == set(features)
