"""POST under a total deadline, over one httpx.Client for the whole process.

Making a client costs tens of milliseconds (its TLS context reads every root certificate), so there is one,
made at the first call, for every base URL; it is thread-safe and keeps connections alive. Proxies are read from
the environment when it is made. After a fork the child makes its own: connections cannot be shared by processes.
"""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from orchestra.errors import (
    InputInvalid,
    ModelBadRequest,
    ModelReplyInvalid,
    ModelTimeout,
    ModelUnreachable,
    OrchestraError,
)
from orchestra.models.deadline import Deadline
from orchestra.models.keys import Credential, display_url, scrub

if TYPE_CHECKING:
    import httpx

    from orchestra.models.network import Call, CurrentCall

CONNECT_TIMEOUT_S = 10.0
IDLE_TIMEOUT_S = 600.0
"""The longest silence of a server, where the request has no deadline."""
MAX_REPLY_BYTES = 32 * 2**20
"""No reply of a model is near this size; a larger body is refused."""
KEPT_CONNECTIONS = 32
KEPT_FOR_S = 60.0

_TIMEOUTS = {"connect": CONNECT_TIMEOUT_S, "read": IDLE_TIMEOUT_S, "write": IDLE_TIMEOUT_S, "pool": CONNECT_TIMEOUT_S}


class Reply:
    """A response whose body is still to come."""

    def __init__(self, response: httpx.Response, call: Call, where: str, deadline: Deadline | None) -> None:
        self.status: int = response.status_code
        self.headers: Mapping[str, str] = dict(response.headers.items())  # names in lower case
        self._response = response
        self._call = call
        self._where = where
        self._deadline = deadline
        self._is_settling = False

    def settle(self, seconds: float) -> None:
        """What matters has arrived: the rest is waited for `seconds` at most, and not missed if it fails to come.

        Reading on to the end lets the connection be used again.
        """
        self._is_settling = True
        self._call.hurry(seconds)

    def chunks(self) -> Iterator[bytes]:
        """The body as it arrives, decompressed, up to `MAX_REPLY_BYTES`."""
        import httpx

        failure: OrchestraError | None = None
        size = 0
        is_plain = "content-encoding" not in self.headers
        try:
            for chunk in self._response.iter_raw() if is_plain else self._response.iter_bytes():
                size += len(chunk)
                if size > MAX_REPLY_BYTES:
                    break
                yield chunk
        except httpx.HTTPError as error:
            failure = _explain(error, self._where, is_answering=True)
        if failure is not None and not self._is_settling:
            _check(self._deadline)
            raise failure
        if size > MAX_REPLY_BYTES:
            limit = f"{MAX_REPLY_BYTES // 2**20} MB"
            raise ModelReplyInvalid(f"{self._where} sent more than {limit}", is_retryable=False)

    def body(self) -> bytes:
        return b"".join(self.chunks())


class Transport:
    """Sends requests over one client. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._made: tuple[httpx.Client, CurrentCall] | None = None

    @contextmanager
    def post(
        self,
        url: str,
        body: bytes,
        *,
        headers: Mapping[str, str],
        credential: Credential | None = None,
        deadline: Deadline | None = None,
    ) -> Iterator[Reply]:
        """POST `body` and give the reply when its headers are there; the connection is let go at the end.

        Raises `ModelUnreachable`, `ModelTimeout`, `ModelReplyInvalid`, and `RunCancelled` when the deadline is.
        """
        from orchestra.models.network import Call

        _check(deadline)
        client, current = self._client()
        outer, call = current.call, Call(deadline)
        current.call = call
        try:
            response = _send(client, url, body, headers, credential, deadline)
            try:
                yield Reply(response, call, display_url(url), deadline)
            finally:
                response.close()
        finally:
            current.call = outer
            call.finish()

    def close(self) -> None:
        """Close the connections; a later call opens new ones."""
        with self._lock:
            made, self._made = self._made, None
        if made is not None:
            made[0].close()

    def _client(self) -> tuple[httpx.Client, CurrentCall]:
        made = self._made
        if made is None:
            with self._lock:
                made = self._made = self._made or _new_client()
        return made


@cache
def shared_transport() -> Transport:
    """The process's own transport."""
    return Transport()


def _send(
    client: httpx.Client,
    url: str,
    body: bytes,
    headers: Mapping[str, str],
    credential: Credential | None,
    deadline: Deadline | None,
) -> httpx.Response:
    import httpx

    try:
        return client.send(_request(url, body, headers, credential), stream=True)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        failure = _explain(error, display_url(url), credential)
    # Raised out here, so that no httpx error, whose request holds the key, hangs on to ours as its context.
    _check(deadline)
    raise failure


def _request(url: str, body: bytes, headers: Mapping[str, str], credential: Credential | None) -> httpx.Request:
    import httpx

    return httpx.Request(
        "POST",
        _read_url(url),
        headers=[*headers.items(), *([credential.reveal()] if credential else [])],
        content=body,
        extensions={"timeout": _TIMEOUTS},
    )


@lru_cache(maxsize=64)
def _read_url(url: str) -> httpx.URL:
    import httpx

    return httpx.URL(url)


def _new_client() -> tuple[httpx.Client, CurrentCall]:
    import httpx

    from orchestra.models.network import CurrentCall, DeadlineBackend, NoCookies

    try:
        client = httpx.Client(
            follow_redirects=False,
            limits=httpx.Limits(
                max_connections=None, max_keepalive_connections=KEPT_CONNECTIONS, keepalive_expiry=KEPT_FOR_S
            ),
        )
    except (OSError, ValueError, ImportError) as error:
        raise ModelUnreachable(
            "no HTTP client can be made",
            cause=scrub(str(error)),
            suggestion="Check HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, SSL_CERT_FILE and SSL_CERT_DIR in the environment.",
            is_retryable=False,
        ) from error
    client._cookies = NoCookies()  # pyright: ignore
    current = CurrentCall()
    for pool in _pools(client):
        pool._network_backend = DeadlineBackend(current)
    return client, current


def _pools(client: httpx.Client) -> list[Any]:
    """The connection pools below a client, one per proxy and one for direct connections.

    httpx has no public way to give a pool a network backend, or a client a jar of another kind, so these names of its
    inside are used, in this module and nowhere else: `Client._transport`, `Client._mounts`, `HTTPTransport._pool`,
    `ConnectionPool._network_backend`, `Client._cookies`.
    """
    transports = [client._transport, *client._mounts.values()]
    return [transport._pool for transport in transports if transport is not None]  # pyright: ignore


def _check(deadline: Deadline | None) -> None:
    if deadline is not None:
        deadline.check()


def _explain(
    error: Exception, where: str, credential: Credential | None = None, *, is_answering: bool = False
) -> OrchestraError:
    """Our error for one of httpx's."""
    import httpx

    cause = scrub(str(error), credential)
    if isinstance(error, httpx.UnsupportedProtocol | httpx.InvalidURL):
        return InputInvalid(f"{where} is no URL that can be called", cause=cause, suggestion="Correct the base URL.")
    if isinstance(error, httpx.ConnectTimeout):
        return ModelUnreachable(f"no connection to {where}", cause=cause or f"none within {CONNECT_TIMEOUT_S:g} s")
    if isinstance(error, httpx.TimeoutException):
        return ModelTimeout(f"{where} was silent for {IDLE_TIMEOUT_S:g} s")
    if isinstance(error, httpx.ConnectError | httpx.ProxyError):
        is_distrusted = "CERTIFICATE_VERIFY_FAILED" in cause
        return ModelUnreachable(f"no connection to {where}", cause=cause, is_retryable=not is_distrusted)
    if isinstance(error, httpx.LocalProtocolError):
        return ModelBadRequest(f"the request to {where} is not valid HTTP", cause=cause)
    if is_answering or isinstance(error, httpx.DecodingError):
        return ModelReplyInvalid(f"{where} broke off its reply", cause=cause)
    return ModelUnreachable(f"{where} closed the connection without an answer", cause=cause)


_abandoned: list[Transport] = []


def _forget_shared_transport() -> None:
    """In a forked child: leave the parent's connections alone (not even close them) and start afresh."""
    if shared_transport.cache_info().currsize:
        _abandoned.append(shared_transport())
    shared_transport.cache_clear()


def _close_shared_transport() -> None:
    if shared_transport.cache_info().currsize:
        shared_transport().close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_shared_transport)
atexit.register(_close_shared_transport)
