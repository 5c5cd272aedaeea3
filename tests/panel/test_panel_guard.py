"""Nothing works without the secret, from elsewhere, or without the token."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from starlette.datastructures import Headers

from orchestra.panel.ids import session_key, session_of
from orchestra.panel.security import Gate

GATE = Gate("secret", "127.0.0.1", 8000)


def test_the_link_lets_a_browser_in(panel: Any) -> None:
    with httpx.Client(base_url=panel.url) as browser:
        assert browser.get("/").status_code == 403
        entered = browser.get(panel.link)
        assert entered.status_code == 200
        cookie = entered.headers["set-cookie"].lower()
        assert "httponly" in cookie
        assert "samesite=strict" in cookie
        assert browser.get("/").status_code == 200


@pytest.mark.parametrize(
    "path", ["/", "/sessions/x", "/runs/x", "/nothing", "/live", "/settings", "/open", "/open?key=x"]
)
def test_without_the_secret_every_page_answers_the_same(panel: Any, path: str) -> None:
    answers = [
        httpx.request(method, panel.url + path, cookies=cookies, headers={"X-Token": panel.gate.token})
        for method in ("GET", "POST")
        for cookies in ({}, {panel.gate.cookie_name: "guessed"}, {panel.gate.cookie_name: panel.gate.token})
    ]
    assert {(each.status_code, each.text) for each in answers} == {
        (403, "Open the link that `orchestra panel` has printed.\n")
    }


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:80", "127.0.0.1", "127.0.0.1:1", "localhost", "", "127.0.0.1.evil:1"]
)
def test_a_foreign_name_is_refused(panel: Any, host: str) -> None:
    assert panel.client.get("/", headers={"Host": host}).status_code in (400, 421)
    assert panel.client.get("/static/panel.css", headers={"Host": host}).status_code in (400, 421)


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"X-Token": ""},
        {"X-Token": "guessed"},
    ],
)
def test_a_post_from_elsewhere_is_refused(panel: Any, headers: dict[str, str]) -> None:
    panel.store.begin_session("s")
    sent = panel.client.post("/sessions/s/delete", headers=headers, data={"token": panel.gate.token})
    assert sent.status_code == 403
    assert [each.id for each in panel.store.sessions()] == ["s"]


def test_a_form_sends_the_token_in_its_body(panel: Any) -> None:
    request = panel.client.build_request("POST", "/nothing", data={"token": panel.gate.token, "text": "é" * 9})
    del request.headers["X-Token"]
    assert panel.client.send(request).status_code == 404
    request = panel.client.build_request("POST", "/nothing", data={"text": "x"})
    del request.headers["X-Token"]
    assert panel.client.send(request).status_code == 403


def test_pages_may_load_nothing_from_elsewhere(panel: Any) -> None:
    for path in ("/", "/nothing", "/static/panel.css"):
        headers = panel.client.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
    assert panel.client.get("/").headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    "path", ["/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2fapp.py", "/static//etc/passwd"]
)
def test_static_files_are_those_of_the_folder(panel: Any, path: str) -> None:
    with socket.create_connection(("127.0.0.1", panel.gate.port)) as raw:
        raw.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{panel.gate.port}\r\nConnection: close\r\n\r\n".encode())
        answer = b"".join(iter(lambda: raw.recv(65536), b""))
    assert b" 200 " not in answer.split(b"\r\n")[0]


@pytest.mark.parametrize(
    ("host", "name", "is_ours"),
    [
        ("127.0.0.1", "127.0.0.1:8000", True),
        ("127.0.0.1", "localhost:8000", True),
        ("127.0.0.1", "[::1]:8000", True),
        ("127.0.0.1", "192.168.1.5:8000", False),
        ("0.0.0.0", "192.168.1.5:8000", True),
        ("0.0.0.0", "evil.example:8000", False),
        ("panel.example", "panel.example:8000", True),
    ],
)
def test_the_names_of_the_panel(host: str, name: str, is_ours: bool) -> None:
    assert Gate("secret", host, 8000).is_ours(name) is is_ours


@pytest.mark.parametrize(
    "cookie", ["a=b; ;=;x", "orchestra-8000=x; orchestra-8000={}", 'orchestra-8000="{}"', "\x7f; orchestra-8000={}"]
)
def test_a_cookie_is_found_among_others(cookie: str) -> None:
    headers = Headers({"cookie": cookie.format(GATE.cookie)})
    assert GATE.is_let_in(headers) is (GATE.cookie in headers["cookie"])


@pytest.mark.parametrize("session_id", ["abc-1", "a/b", "..", "~x", "", "x" * 65, "日本", "a b?c#d%2F"])
def test_a_session_of_any_name_has_a_path(session_id: str) -> None:
    key = session_key(session_id)
    assert session_of(key) == session_id
    assert "/" not in key


def test_a_page_opens_in_a_browser(panel: Any, look: Callable[..., Any]) -> None:
    page = look(panel, expects=("404",))
    page.get_by_role("link", name="Orchestra").wait_for()
    assert page.url.startswith(f"{panel.url}/sessions/")
