"""Statuses, headers and bodies as our errors."""

from __future__ import annotations

import email.utils
import json
import time

import pytest

from orchestra.errors import (
    ContextTooLong,
    ModelAuth,
    ModelBadRequest,
    ModelError,
    ModelNotFound,
    ModelOverloaded,
    ModelRateLimited,
    ModelRefused,
    ModelReplyInvalid,
    ModelTimeout,
)
from orchestra.models.failures import (
    BILLING_SUGGESTION,
    LONGEST_RETRY_AFTER_S,
    MESSAGE_CHARACTERS,
    explain_event,
    explain_status,
    read_complaint,
    retry_after_s,
)
from orchestra.models.keys import Credential


def explain(status: int, body: object = None, **headers: str) -> ModelError:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return explain_status("anthropic:m", status, named, json.dumps(body or {}).encode())


def anthropic_error(kind: str, message: str = "no") -> dict[str, object]:
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}


def openai_error(message: str, code: str | None = None, kind: str = "invalid_request_error") -> dict[str, object]:
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


@pytest.mark.parametrize(
    ("status", "body", "kind", "is_retryable"),
    [
        (400, anthropic_error("invalid_request_error"), ModelBadRequest, False),
        (401, anthropic_error("authentication_error"), ModelAuth, False),
        (402, anthropic_error("billing_error"), ModelAuth, False),
        (403, anthropic_error("permission_error"), ModelAuth, False),
        (404, anthropic_error("not_found_error"), ModelNotFound, False),
        (405, {}, ModelBadRequest, False),
        (408, {}, ModelTimeout, True),
        (409, {}, ModelOverloaded, True),
        (413, anthropic_error("request_too_large"), ContextTooLong, False),
        (422, {"detail": [{"loc": ["body", "model"], "msg": "bad"}]}, ModelBadRequest, False),
        (429, anthropic_error("rate_limit_error"), ModelRateLimited, True),
        (500, anthropic_error("api_error"), ModelOverloaded, True),
        (502, {}, ModelOverloaded, True),
        (503, {}, ModelOverloaded, True),
        (504, {}, ModelTimeout, True),
        (529, anthropic_error("overloaded_error"), ModelOverloaded, True),
        (307, {}, ModelReplyInvalid, False),
        (400, openai_error("too many", "context_length_exceeded"), ContextTooLong, False),
        (
            400,
            anthropic_error("invalid_request_error", "prompt is too long: 9 tokens > 8 maximum"),
            ContextTooLong,
            False,
        ),
        (400, openai_error("request exceeds the available context size"), ContextTooLong, False),
        (400, openai_error("This model's maximum context length is 4097 tokens."), ContextTooLong, False),
        (429, openai_error("Request too large for gpt-6-sol: Limit 30000, Requested 45000."), ContextTooLong, False),
        (429, openai_error("You exceeded your quota", "insufficient_quota"), ModelRateLimited, False),
        (400, openai_error("The model `gpt-9` does not exist", "model_not_found"), ModelNotFound, False),
        (400, openai_error("filtered", "content_filter"), ModelRefused, False),
    ],
)
def test_each_status_has_its_error(status, body, kind, is_retryable):
    error = explain(status, body)

    assert type(error) is kind
    assert error.is_retryable is is_retryable
    assert error.details["status"] == status


@pytest.mark.parametrize(
    ("status", "advice", "is_retryable"),
    [
        (500, "false", False),
        (429, "false", False),
        (422, "true", True),
        (500, "true", True),
        (500, "perhaps", True),
        (400, "true", False),
        (401, "true", False),
        (403, "true", False),
        (404, "true", False),
        (413, "true", False),
    ],
)
def test_the_server_advises_on_retries_but_not_against_what_is_never_retried(status, advice, is_retryable):
    assert explain(status, x_should_retry=advice).is_retryable is is_retryable


def test_a_payment_that_is_required_is_told_to_look_at_billing():
    assert explain(402, {"error": {"message": "pay"}}).suggestion == BILLING_SUGGESTION


def test_an_unpaid_account_is_never_retried_and_is_told_to_look_at_its_billing():
    error = explain(429, openai_error("quota", "insufficient_quota"), x_should_retry="true")

    assert not error.is_retryable
    assert error.suggestion == BILLING_SUGGESTION


@pytest.mark.parametrize("message", ["Your credit balance is too low to access the API.", "insufficient funds"])
def test_a_refusal_about_money_is_told_to_look_at_billing(message):
    assert explain(400, anthropic_error("invalid_request_error", message)).suggestion == BILLING_SUGGESTION


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after-ms": "soon", "retry-after": "9"}, 9.0),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "999999"}, LONGEST_RETRY_AFTER_S),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "later"}, None),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({"retry-after": "Wed, 99 Oct 2015 07:28:00 GMT"}, None),
    ],
)
def test_a_wait_is_read_in_every_form(headers, seconds):
    assert retry_after_s(headers) == seconds


def test_a_wait_until_a_date_counts_from_now():
    until = email.utils.formatdate(time.time() + 30, usegmt=True)

    assert retry_after_s({"retry-after": until}) == pytest.approx(30, abs=2)


def test_an_error_carries_the_wait_and_the_request_id():
    error = explain(429, anthropic_error("rate_limit_error", "slow down"), retry_after="3", request_id="req_9")

    assert error.retry_after_s == 3.0
    assert error.cause == "slow down"
    assert error.details == {"status": 429, "request_id": "req_9", "provider_type": "rate_limit_error"}


def test_the_request_id_is_taken_from_the_body_where_no_header_has_it():
    assert explain(500, anthropic_error("api_error")).details["request_id"] == "req_1"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b'{"error": {"message": "bad thing"}}', "bad thing"),
        (b'{"error": "bad thing"}', "bad thing"),
        (b'{"message": "bad thing"}', "bad thing"),
        (b'{"detail": "bad thing"}', "bad thing"),
        (b'{"detail": [{"loc": ["body", "n"], "msg": "bad thing", "input": "THE PROMPT"}]}', "body.n: bad thing"),
        (b'{"errors": [{"message": "bad thing"}]}', ": bad thing"),
        (b"{\"error\": {\"message\": \"[{'loc': ('n',), 'input': 'THE PROMPT'}]\"}}", "[{'loc': ('n',), "),
        (b'"bad thing"', "bad thing"),
        (b"bad\n thing", "bad thing"),
        (b"<html><head><title>502 Bad Gateway</title></head><body>x</body></html>", "an HTML page: 502 Bad Gateway"),
        (b"<!DOCTYPE html><body>bad <b>thing</b></body>", "an HTML page: bad thing"),
        (b"", ""),
        (b"null", "None"),
        (b"[]", "[]"),
        (b"\xff\xfe", "\ufffd\ufffd"),
    ],
)
def test_the_providers_words_are_found_in_every_shape_of_body(body, message):
    assert read_complaint(body).message == message


def test_a_long_message_is_cut():
    message = read_complaint(json.dumps({"error": {"message": "long " * 1000}}).encode()).message

    assert len(message) == MESSAGE_CHARACTERS
    assert message.endswith("…")


def test_a_redirect_is_named_without_its_query():
    error = explain(307, location="https://elsewhere.example/v1?token=secret")

    assert "https://elsewhere.example/v1," in error.cause
    assert "secret" not in str(error)


def test_a_missing_ollama_model_says_how_to_fetch_it():
    error = explain_status("ollama:llama3.2", 404, {}, b'{"error": "model not found"}')

    assert "ollama pull llama3.2" in error.suggestion


@pytest.mark.parametrize(
    ("payload", "kind"),
    [
        (anthropic_error("overloaded_error"), ModelOverloaded),
        (anthropic_error("rate_limit_error"), ModelRateLimited),
        (anthropic_error("invalid_request_error", "prompt is too long"), ContextTooLong),
        (openai_error("broke", None, "server_error"), ModelOverloaded),
        ({"error": {"message": "upstream", "code": 502}}, ModelOverloaded),
        ({"error": {"message": "upstream", "code": 429}}, ModelRateLimited),
        ({"error": "out of memory"}, ModelOverloaded),
    ],
)
def test_an_error_inside_a_stream_is_the_one_its_type_would_have_been(payload, kind):
    assert type(explain_event("openai:m", payload, "", None)) is kind


@pytest.mark.parametrize(
    "message",
    [
        "Incorrect API key provided: sk-proj-abcdef123456. You can find it at ...",
        "bad header Bearer abcdef123456",
        "your key planted-key-value is unknown",
    ],
)
def test_keys_in_the_providers_words_are_scrubbed(message):
    credential = Credential("x-api-key", "planted-key-value")

    error = explain_status("openai:m", 401, {}, json.dumps(openai_error(message)).encode(), credential)

    assert "***" in error.cause
    assert not {"sk-proj-abcdef123456", "abcdef123456", "planted-key-value"} & set(
        error.cause.replace(".", " ").split()
    )
