from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestra.models.rate_headers import RateLimit, read_rate_limits, seconds_until

NOON = 1_767_268_800.0  # 2026-01-01T12:00:00Z


@pytest.mark.parametrize(
    ("reset", "seconds"),
    [("6m0s", 360), ("20ms", 0.02), ("1h2m3.5s", 3723.5), ("2d", 172_800), ("0s", 0), ("500us", 0.0005),
     ("2026-01-01T12:01:30Z", 90), ("2026-01-01T13:00:00+01:00", 0), ("2026-01-01T12:00:10", 10),
     ("2025-12-31T00:00:00Z", 0), ("12.5", 12.5), ("1767268830", 30), ("1767268830000", 30), (" 7s ", 7)],
)  # fmt: skip
def test_a_reset_is_read_in_every_form(reset, seconds):
    assert seconds_until(reset, now=NOON) == pytest.approx(seconds)


@pytest.mark.parametrize("reset", ["", "soon", "6m0", "s6", "nan", "inf", "6m0s!", "2026-13-01T00:00:00Z", "--1"])
def test_a_reset_in_no_form_is_none(reset):
    assert seconds_until(reset, now=NOON) is None


@given(st.text(max_size=30))
def test_any_text_is_read_without_an_error_and_bounded(text):
    seconds = seconds_until(text, now=NOON)

    assert seconds is None or 0 <= seconds <= 31 * 86_400


def test_openai_headers():
    headers = {
        "x-ratelimit-limit-requests": "500",
        "x-ratelimit-remaining-requests": "499",
        "x-ratelimit-reset-requests": "120ms",
        "x-ratelimit-limit-tokens": "30000",
        "x-ratelimit-remaining-tokens": "29000",
        "x-ratelimit-reset-tokens": "2s",
    }

    assert read_rate_limits(headers) == (
        RateLimit("requests", 500, 499, 0.12),
        RateLimit("tokens", 30_000, 29_000, 2.0),
    )


def test_anthropic_headers():
    headers = {
        f"anthropic-ratelimit-{metered}-{what}": value
        for metered in ("requests", "input-tokens", "output-tokens")
        for what, value in (("limit", "50"), ("remaining", "0"), ("reset", "2000-01-01T00:00:00Z"))
    }

    assert read_rate_limits(headers) == tuple(
        RateLimit(metered, 50, 0, 0.0) for metered in ("requests", "input-tokens", "output-tokens")
    )


@pytest.mark.parametrize(
    ("headers", "limits"),
    [({}, ()),
     ({"content-type": "application/json"}, ()),
     ({"x-ratelimit-limit-requests": "10"}, ()),
     ({"x-ratelimit-remaining-requests": "many"}, ()),
     ({"x-ratelimit-remaining-requests": "3"}, (RateLimit("requests", 3, 3),)),
     ({"x-ratelimit-remaining-tokens": "-5", "x-ratelimit-limit-tokens": "0"}, (RateLimit("tokens", 1, 0),))],
)  # fmt: skip
def test_what_cannot_be_read_is_left_out(headers, limits):
    assert read_rate_limits(headers) == limits
