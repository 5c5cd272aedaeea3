"""What a server's refusal means: an HTTP status, headers and a body become one of our errors.

The error's `details` hold `status`, `request_id`, `provider_type`, `provider_code` and `provider_param` where the
server gave them. Messages are cut to 500 characters and scrubbed of keys.
"""

from __future__ import annotations

import email.utils
import math
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

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
from orchestra.models.json_text import parse_json
from orchestra.models.keys import Credential, scrub

MESSAGE_CHARACTERS = 500
LONGEST_RETRY_AFTER_S = 600.0
"""A server may ask for a longer wait than that; nobody would sit through it."""

_NEVER_RETRIED = frozenset({400, 401, 403, 404, 413})
_NEVER_RETRIED_KINDS = (ContextTooLong, ModelNotFound, ModelRefused)
_TOO_LONG = re.compile(
    r"context[ _-]?(length|window|size|limit)|prompt is too long|input is too long|exceed_context_size"
    r"|maximum context|reduce the length|too many (input |prompt )?tokens|input token count",
    re.IGNORECASE,
)
_TOO_LARGE_FOR_THE_RATE = re.compile(r"request too large", re.IGNORECASE)
_UNPAID = re.compile(r"insufficient_quota|credit balance|billing|insufficient (funds|credits?|balance)", re.IGNORECASE)
_FILTERED = re.compile(r"content_filter|content_policy|ResponsibleAIPolicy", re.IGNORECASE)
_NO_SUCH_MODEL = re.compile(r"model_not_found|model .{0,120}(does not exist|not found)|unknown model", re.IGNORECASE)

_STATUS_OF_TYPE = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "conflict_error": 409,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "insufficient_quota": 429,
    "api_error": 500,
    "server_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
"""What an error that arrives inside a stream would have had as its status."""

BILLING_SUGGESTION = "Check the plan and the billing of the account that the key belongs to."


@dataclass(frozen=True, slots=True)
class Complaint:
    """What a provider said was wrong."""

    message: str = ""
    type: str = ""
    code: str = ""
    param: str = ""
    request_id: str = ""

    def mentions(self, pattern: re.Pattern[str]) -> bool:
        return any(pattern.search(text) for text in (self.code, self.type, self.message) if text)


def read_complaint(body: bytes) -> Complaint:
    """The complaint in an error body: any provider's JSON shape, plain text, or a page of HTML. Never raises."""
    try:
        parsed = parse_json(body)
    except ValueError:
        return Complaint(_from_page(body.decode("utf-8", "replace")))
    if not isinstance(parsed, dict):
        return Complaint(_short(str(parsed)))
    error: Any = parsed.get("error") or parsed
    if not isinstance(error, dict):
        return Complaint(_short(str(error)), request_id=_word(parsed.get("request_id")))
    message = error.get("message") or error.get("detail") or error.get("errors") or error.get("msg") or ""
    return Complaint(
        message=_short(message if isinstance(message, str) else _from_list(message)),
        type=_word(error.get("type") or error.get("status")),
        code=_word(error.get("code")),
        param=_word(error.get("param")),
        request_id=_word(parsed.get("request_id")),
    )


def explain_status(
    model: str, status: int, headers: Mapping[str, str], body: bytes, credential: Credential | None = None
) -> ModelError:
    """The error for a reply with `status`, with the provider's own words as the cause."""
    complaint = read_complaint(body)
    if 300 <= status < 400:
        target = headers.get("location", "nowhere").partition("?")[0]
        complaint = Complaint(f"a redirect to {_short(target)}, not followed because it would carry the key along")
    advised = {"true": True, "false": False}.get(headers.get("x-should-retry", ""))
    request_id = headers.get("request-id") or headers.get("x-request-id") or complaint.request_id
    return _explain(model, status, complaint, credential, request_id, retry_after_s(headers), advised)


def explain_event(model: str, payload: Mapping[str, Any], request_id: str, credential: Credential | None) -> ModelError:
    """The error for one that arrived inside a stream, or inside a reply with status 200."""
    from pydantic_core import to_json

    complaint = read_complaint(to_json(payload, fallback=str))
    status = _STATUS_OF_TYPE.get(complaint.type) or _STATUS_OF_TYPE.get(complaint.code)
    if status is None and complaint.code.isdigit() and 400 <= int(complaint.code) < 600:
        status = int(complaint.code)
    return _explain(model, status or 500, complaint, credential, request_id or complaint.request_id, None, None)


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait as the server asks, from `retry-after-ms` or `retry-after` (seconds or a date), bounded."""
    seconds = _number(headers.get("retry-after-ms"))
    if seconds is not None:
        return _bounded(seconds / 1000)
    text = headers.get("retry-after")
    seconds = _number(text)
    if seconds is not None:
        return _bounded(seconds)
    try:
        return _bounded(email.utils.parsedate_to_datetime(text or "").timestamp() - time.time())
    except (ValueError, OverflowError):
        return None


def _explain(
    model: str,
    status: int,
    complaint: Complaint,
    credential: Credential | None,
    request_id: str,
    wait_s: float | None,
    advised: bool | None,
) -> ModelError:
    kind = _kind(status, complaint)
    is_unpaid = complaint.mentions(_UNPAID) or status == 402
    may_retry = status >= 400 and status not in _NEVER_RETRIED and kind not in _NEVER_RETRIED_KINDS and not is_unpaid
    is_retryable = may_retry and (kind.is_retryable if advised is None else advised)
    details = {
        "status": status,
        "request_id": scrub(request_id[:200], credential),
        "provider_type": complaint.type,
        "provider_code": complaint.code,
        "provider_param": complaint.param,
    }
    return kind(
        f"{model} answered with status {status}",
        cause=scrub(complaint.message or complaint.code or complaint.type, credential),
        suggestion=BILLING_SUGGESTION if is_unpaid else _suggestion(kind, status, model),
        retry_after_s=wait_s,
        is_retryable=is_retryable,
        **{name: value for name, value in details.items() if value},
    )


def _kind(status: int, complaint: Complaint) -> type[ModelError]:
    if status == 413 or (status in (400, 422, 500) and complaint.mentions(_TOO_LONG)):
        return ContextTooLong
    if status == 429 and complaint.mentions(_TOO_LARGE_FOR_THE_RATE):
        return ContextTooLong
    if status in (400, 403) and complaint.mentions(_FILTERED):
        return ModelRefused
    if status == 400 and complaint.mentions(_NO_SUCH_MODEL):
        return ModelNotFound
    named: dict[int, type[ModelError]] = {
        401: ModelAuth,
        402: ModelAuth,
        403: ModelAuth,
        404: ModelNotFound,
        408: ModelTimeout,
        409: ModelOverloaded,
        429: ModelRateLimited,
        504: ModelTimeout,
    }
    if status in named:
        return named[status]
    if status >= 500:
        return ModelOverloaded
    return ModelBadRequest if status >= 400 else ModelReplyInvalid


def _suggestion(kind: type[ModelError], status: int, model: str) -> str:
    if kind is ModelNotFound and model.startswith("ollama:"):
        return f"Fetch it with `ollama pull {model.removeprefix('ollama:')}`, or name a model that `ollama list` shows."
    if status in (405, 415, 426):
        return "Check the base URL; `orchestra models` shows it."
    if kind is ModelTimeout:
        return "Run again, or use a faster model: the server itself gave up waiting."
    return ""


def _from_list(message: Any) -> str:
    """FastAPI's validation errors as `where: what`, without the input they echo (it holds the prompt)."""
    rows = message if isinstance(message, list) else [message]
    said = [
        f"{'.'.join(str(step) for step in row.get('loc', ()))}: {row.get('msg') or row.get('message') or ''}"
        if isinstance(row, dict)
        else str(row)
        for row in rows
    ]
    return "; ".join(said)


def _from_page(text: str) -> str:
    """The words of an HTML page, title first; other text as it is."""
    if not re.match(r"\s*<(!doctype|html|\?xml|head|body)", text, re.IGNORECASE):
        return _short(text)
    title = re.search(r"<title[^>]*>(.*?)</title>", text[:20_000], re.IGNORECASE | re.DOTALL)
    words = title[1] if title else re.sub(r"<[^>]*>", " ", text[:20_000])
    return _short(f"an HTML page: {words}")


def _short(text: str) -> str:
    words = " ".join(text[:20_000].split())
    if "'loc'" in words:
        # Pydantic's text form repeats the input, which may hold the prompt; what stands before it says enough.
        words = words.partition("'input':")[0]
    return words if len(words) <= MESSAGE_CHARACTERS else words[: MESSAGE_CHARACTERS - 1] + "…"


def _word(value: Any) -> str:
    return str(value)[:120] if isinstance(value, str | int) and not isinstance(value, bool) else ""


def _number(text: str | None) -> float | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _bounded(seconds: float) -> float:
    return min(max(0.0, seconds), LONGEST_RETRY_AFTER_S)
