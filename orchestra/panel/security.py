"""Who may ask what: the secret and its cookie, where a request comes from, the token of forms, and what pages may load.

A pure ASGI layer around the whole application: no page can be reached around it.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import socket
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LONGEST_FORM = 1_000_000  # bytes of a form that is no upload
_SAFE = ("GET", "HEAD")
OPEN_PATHS = ("/static/",)
"""What is sent to anybody: what stands in the package."""
HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "x-frame-options": "DENY",
}
"""Of every answer."""
_ENTERED = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Orchestra</title>
<link rel="icon" href="data:,"><meta http-equiv="refresh" content="0; url=/">
<p><a href="/">Open the panel</a></p></html>
"""


@dataclass(frozen=True, slots=True)
class Gate:
    """What lets a browser in, and by which names the panel may be called. `host` is the address that it is bound to."""

    secret: str
    host: str
    port: int

    @property
    def cookie_name(self) -> str:
        return f"orchestra-{self.port}"

    @property
    def cookie(self) -> str:
        return self._derived("cookie")

    @property
    def token(self) -> str:
        return self._derived("form")

    def is_secret(self, given: str) -> bool:
        return _is_same(given, self.secret)

    def is_let_in(self, headers: Headers) -> bool:
        return any(_is_same(value, self.cookie) for value in _cookies(headers, self.cookie_name))

    def is_ours(self, host: str) -> bool:
        """Whether a `Host` header names this panel. A name that somebody else's DNS points here does not."""
        name, _, port = host.rpartition(":") if not host.endswith("]") else (host, "", "")
        if not name:
            name, port = host, ""
        if port != str(self.port) and not (self.port == 80 and not port):
            return False
        name = name.strip("[]").lower()
        if name in ("localhost", "127.0.0.1", "::1", self.host):
            return True
        return self.host in ("0.0.0.0", "::") and (_is_address(name) or name == socket.gethostname().lower())

    def _derived(self, purpose: str) -> str:
        return hmac.new(self.secret.encode(), purpose.encode(), hashlib.sha256).hexdigest()


def token_of(request: Request) -> str:
    """What a form must send back."""
    return request.app.state.gate.token


class Guard:
    """Lets through what comes from a browser that was let in, and from our own pages."""

    def __init__(self, app: ASGIApp, gate: Gate) -> None:
        self._app = app
        self._gate = gate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        send = _with_headers(scope, send)
        refusal, receive = await self._refusal(scope, receive)
        await (refusal or self._app)(scope, receive, send)

    async def _refusal(self, scope: Scope, receive: Receive) -> tuple[Response | None, Receive]:
        """Why a request is answered here, None for one that may pass; and where its body is read from now."""
        headers = Headers(scope=scope)
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not self._gate.is_ours(hosts[0]):
            return _refused("This is not the name of the panel.", 421), receive
        path, method = scope["path"], scope["method"]
        if path == "/open":
            return self._enter(scope), receive
        if method in _SAFE and path.startswith(OPEN_PATHS):
            return None, receive
        if not self._gate.is_let_in(headers):
            return _refused("Open the link that `orchestra panel` has printed.", 403), receive
        if method in _SAFE:
            return None, receive
        if not _is_from_here(headers):
            return _refused("This request comes from another site.", 403), receive
        given, receive = await _token(scope, headers, receive)
        if not _is_same(given, self._gate.token):
            return _refused("The form is out of date: load the page again.", 403), receive
        return None, receive

    def _enter(self, scope: Scope) -> Response:
        given = parse_qs(scope["query_string"].decode("latin-1")).get("key", [""])[0]
        if scope["method"] != "GET" or not self._gate.is_secret(given):
            return _refused("Open the link that `orchestra panel` has printed.", 403)
        answer = HTMLResponse(_ENTERED)  # no redirect: after one from another program a strict cookie would not be sent
        answer.set_cookie(self._gate.cookie_name, self._gate.cookie, path="/", httponly=True, samesite="strict")
        return answer


def _with_headers(scope: Scope, send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers[name] = value
            if not scope["path"].startswith(OPEN_PATHS):
                headers["cache-control"] = "no-store"
        await send(message)

    return sending


def _is_from_here(headers: Headers) -> bool:
    """Whether our own page sends this. A browser says so; what is no browser needs cookie and token all the same."""
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    if site not in (None, "same-origin"):
        return False
    host = headers.get("host", "")
    return origin is None or origin.lower() in (f"http://{host}".lower(), f"https://{host}".lower())


async def _token(scope: Scope, headers: Headers, receive: Receive) -> tuple[str, Receive]:
    """The token of a request: in its header, its query, or its form, which can be read again."""
    if "x-token" in headers:
        return headers["x-token"], receive
    asked = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
    if asked or not headers.get("content-type", "").startswith("application/x-www-form-urlencoded"):
        return asked, receive
    body, is_more = b"", True
    while is_more and len(body) <= LONGEST_FORM:
        message = await receive()
        body += message.get("body", b"")
        is_more = message["type"] == "http.request" and message.get("more_body", False)
    if is_more:
        return "", receive
    sent = False

    async def again() -> Message:
        nonlocal sent
        if sent:
            return await receive()
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return parse_qs(body.decode("utf-8", "replace")).get("token", [""])[0], again


def _refused(why: str, status: int) -> Response:
    return PlainTextResponse(f"{why}\n", status_code=status)


def _cookies(headers: Headers, name: str) -> list[str]:
    found: list[str] = []
    for header in headers.getlist("cookie"):
        for part in header.split(";"):
            try:
                jar = SimpleCookie(part.strip())
            except CookieError:
                continue
            found += [each.value for key, each in jar.items() if key == name]
    return found


def _is_same(given: str, wanted: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), wanted.encode())


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
