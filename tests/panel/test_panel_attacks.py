"""What attacks the panel gets nowhere: texts of others, other sites, other names, ways out of folders."""

from __future__ import annotations

import hashlib
import itertools
import os
import re
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from harmless import faults
from hostile_records import ALL, ATTACKS, SCRIPTS, SESSION, filled
from starlette.routing import Route

from orchestra.panel.app import create_app
from orchestra.panel.ids import session_key
from orchestra.panel.security import Gate
from orchestra.panel.view.addresses import in_address, well_formed
from orchestra.skills.policy import Policy
from orchestra.store import Store
from tests.panel.conftest import Panel, panel_over

PART = {"HX-Request": "true"}
REFUSED = "Open the link that `orchestra panel` has printed.\n"
VIEWS = ("chat", "turn", "overview", "overview?at=20", "graph?base=all", "permissions", "logs", "player", "source?n=1")
SESSION_PATH = f"/sessions/{session_key(SESSION)}"


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Panel, list[str]]]:
    """A panel over a store full of attacks, of which nothing may change, and the ids of its runs."""
    folder = tmp_path_factory.mktemp("attacked")
    (folder / "docs" / "deep").mkdir(parents=True)
    (folder / "docs" / "report.md").write_text("# Report\n")
    (folder / "docs" / "<img src=x onerror=owned()>.md").write_text(ALL.encode("utf-8", "replace").decode())
    (folder / "secret.md").write_text("the secret\n")
    (folder / "docs" / "link.md").symlink_to(folder / "secret.md")
    (folder / "docs" / "linked").symlink_to(folder)
    policy = Policy.from_mapping({"allow": {"read": ["docs"]}}, folder=folder, source="orchestra.toml")
    with Store.open(folder / "runs.db") as store:
        runs = filled(store, range(0, len(SCRIPTS), 16))
        with panel_over(store, policy=policy, documents=[folder / "docs" / "report.md"]) as panel:
            panel.desk.shelf.begin(SESSION)
            before = dump(panel)
            yield panel, runs
            assert dump(panel) == before, "an attack changed what is on record"


@pytest.fixture
def kept(attacked: tuple[Panel, list[str]]) -> Panel:
    """The panel alone."""
    return attacked[0]


def dump(panel: Panel) -> dict[str, str]:
    """All that is on record and on disk, as hashes."""
    folder = panel.desk.home.parent
    files = [path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("runs.db")]
    found = {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
    store = panel.store
    found["sessions"] = repr(store.sessions())
    for run in store.runs():
        told = (store.run(run.id), list(store.events(run.id)), store.calls(run.id), store.approvals(run.id))
        found[f"run {run.id}"] = hashlib.sha256(repr(told).encode("utf-8", "replace")).hexdigest()
    return found


def routes(panel: Panel, method: str) -> list[str]:
    """The paths of all routes that answer a method, with `{parameters}`."""
    app = create_app(panel.desk, panel.gate)
    return [route.path for route in app.routes if isinstance(route, Route) and method in (route.methods or ())]


def path_of(route: str, run_id: str = "asks", document: str = "0" * 32) -> str:
    key = session_key(SESSION)
    path = re.sub(r"\{sid:session\}", key, route)
    return path.replace("{rid}", in_address(run_id)).replace("{did}", document)


def harmless(answer: httpx.Response) -> None:
    assert answer.status_code < 500, answer.url
    assert "owned" not in str(answer.headers.get("set-cookie", ""))
    if answer.headers.get("content-type", "").startswith("text/html"):
        assert faults(answer.text) == [], answer.url


# Texts of others


def test_no_text_of_others_is_more_than_text_in_any_view(attacked: tuple[Panel, list[str]]) -> None:
    panel, runs = attacked
    for run_id in runs:
        run = f"/runs/{in_address(run_id)}"
        for view in VIEWS:
            harmless(panel.client.get(f"{run}/{view}", headers=PART))
        harmless(panel.client.get(run, follow_redirects=True))
        harmless(panel.client.get(f"{run}/source?from=1&to=400&before=400&doc=d1", headers=PART))
        for node in panel.store.nodes(run_id)[:3]:
            query = {"id": well_formed(node.node_id), "n": "1"}
            harmless(panel.client.get(f"{run}/node", params=query, headers=PART))
        for view in ("prompt", "reply"):
            harmless(panel.client.get(f"{run}/{view}", params={"id": "run", "n": "1"}))
        for sequence in (1, 2, 3, panel.store.last_sequence(run_id)):
            harmless(panel.client.get(f"{run}/event", params={"seq": max(1, sequence)}))
    for path in ("", "?tab=logs", "/chat?all=1", "/documents", "/documents/browse"):
        harmless(panel.client.get(f"{SESSION_PATH}{path}"))
    harmless(panel.client.get("/parts/sessions"))


def test_no_query_and_no_form_is_more_than_text_in_its_answer(kept: Panel) -> None:
    texts = itertools.cycle(well_formed(text) for text in SCRIPTS.values())
    asked = {
        SESSION_PATH: ("run", "tab", "node"),
        "/runs/r0": ("tab", "node", "at"),
        "/parts/sessions": ("current", "sessions", "runs"),
        "/runs/r0/logs": ("q", "of", "type", "status", "after"),
        "/runs/r0/graph": ("node", "open", "more", "sort", "part"),
        "/runs/r0/node": ("id", "at"),
        "/runs/r0/source": ("doc", "node", "n"),
        "/runs/r0/permissions": ("only",),
        f"{SESSION_PATH}/documents/browse": ("root", "path"),
        f"{SESSION_PATH}/estimate": ("strategy", "model_name"),
        "/live": ("run", "after"),
    }
    for path, names in asked.items():
        for each, text in itertools.product(names, itertools.islice(texts, 3)):
            more = {"from": "1", "to": "2"} if each in ("doc", "node") and path.endswith("source") else {}
            headers = PART | {"HX-Current-URL": f"http://x/runs/{in_address(text)}", "HX-Trigger": "x"}
            harmless(kept.client.get(path, params={each: text, **more}, headers=headers))
    for text in map(well_formed, SCRIPTS.values()):
        harmless(kept.client.get(f"/sessions/{session_key(text)}/chat"))
        harmless(kept.client.get(f"/runs/{in_address(text)}"))
    forms = {
        "/settings": ("max_depth", "timeout_s"),
        "/runs/asks/answer": ("node", "digest", "outcome"),
        f"{SESSION_PATH}/rename": ("title", "current"),
        f"{SESSION_PATH}/messages": ("task", "strategy", "mode"),
        f"{SESSION_PATH}/documents/add": ("root", "path", "named"),
    }
    for (path, names), text in itertools.product(forms.items(), itertools.islice(texts, 6)):
        form = dict.fromkeys(names, text * 300 if "title" in names else text)
        harmless(kept.client.post(path, data=form))


def test_names_of_uploads_are_text_and_what_is_uploaded_is_never_served(panel: Panel) -> None:
    panel.store.begin_session("s")
    attacks = list(SCRIPTS.values())[::4]
    for number, text in enumerate(attacks):
        name = well_formed(text).replace('"', "%22").replace("\r", "").replace("\n", "") + ".svg.md"
        content = f"<svg xmlns='http://www.w3.org/2000/svg' onload='owned()'>{number}</svg>\n# {well_formed(text)}\n"
        boundary = b'--b\r\nContent-Disposition: form-data; name="file"; filename="' + name.encode() + b'"\r\n'
        body = boundary + b"Content-Type: image/svg+xml\r\n\r\n" + content.encode() + b"\r\n--b--\r\n"
        headers = {"Content-Type": "multipart/form-data; boundary=b", **PART}
        sent = panel.client.post("/sessions/s/documents", content=body, headers=headers)
        harmless(sent)
    documents = panel.desk.shelf.documents("s")
    assert len(documents) == len(attacks)
    for document in documents[::3]:
        assert document.path.resolve().is_relative_to(panel.desk.home.resolve())
        harmless(panel.client.get(f"/sessions/s/documents/{document.id}/outline"))
        for way in (document.name, document.id, f"{document.path.parent.name}/{document.name}"):
            for base in ("/sessions/s/documents/", "/static/", "/static/../../", "/panel/uploads/", "/"):
                answer = panel.client.get(f"{base}{in_address(way)}")
                assert (answer.status_code, "<svg" in answer.text) in ((404, False), (405, False)), answer.url


def test_a_message_of_a_stream_is_one_message_whatever_its_text(attacked: tuple[Panel, list[str]]) -> None:
    panel, _ = attacked
    with panel.client.stream("GET", "/live", params={"run": "asks"}) as answer:
        got = ""
        for chunk in answer.iter_text():
            got += chunk
            if re.search(r"^event: ended", got, re.MULTILINE):
                break
    fields = [line.partition(":")[0] for line in re.split(r"[\r\n\u2028\u2029\x85\x0b]", got) if line]
    assert set(fields) <= {"", "event", "data", "id", "retry"}
    assert re.findall(r"^id: (.*?)\r?$", got, re.MULTILINE) == ["asks:1"]
    assert re.findall(r"^event: (.*?)\r?$", got, re.MULTILINE)[-1] == "ended"
    assert got.isascii()


# Who may ask


def test_without_the_cookie_every_route_answers_the_same(attacked: tuple[Panel, list[str]]) -> None:
    panel, _ = attacked
    other = Gate("another secret", "127.0.0.1", panel.gate.port)
    jars = ({}, {other.cookie_name: other.cookie}, {panel.gate.cookie_name: panel.gate.token}, {"x": panel.gate.cookie})
    with httpx.Client(base_url=panel.url, headers={"X-Token": panel.gate.token}) as stranger:
        for method in ("GET", "POST"):
            for route in routes(panel, method):
                for jar in jars:
                    cookie = {"Cookie": "; ".join(f"{name}={value}" for name, value in jar.items())} if jar else {}
                    answer = stranger.request(method, path_of(route), headers=cookie)
                    assert (answer.status_code, answer.text) == (403, REFUSED), route
        for path in ("/static/nothing.js", "/static/", "/static/%00", "/static/..", "/nothing", "/openly", "/open/"):
            answer = stranger.get(path)
            assert answer.status_code in (403, 404)
            assert panel.gate.token not in answer.text


def test_without_the_token_no_form_is_taken(kept: Panel) -> None:
    posts = routes(kept, "POST")
    assert len(posts) >= 10
    for route in posts:
        for given in ({}, {"X-Token": Gate("another", "127.0.0.1", 1).token}, {"X-Token": kept.gate.cookie}):
            request = kept.client.build_request("POST", path_of(route), data={"x": "y"})
            del request.headers["X-Token"]
            request.headers.update(given)
            assert kept.client.send(request).status_code == 403, route


@pytest.mark.parametrize("headers", ATTACKS["headers"]["refused"], ids=str)
def test_a_form_of_another_site_is_refused(kept: Panel, headers: dict[str, str]) -> None:
    host = f"127.0.0.1:{kept.gate.port}"
    forged = {name: value.replace("{host}", host) for name, value in headers.items()}
    for kind in ("application/x-www-form-urlencoded", "text/plain", "multipart/form-data; boundary=b"):
        for path in (f"{SESSION_PATH}/delete", "/sessions", "/runs/asks/cancel", f"{SESSION_PATH}/documents"):
            given = {**forged, "Content-Type": kind}
            sent = kept.client.post(path, headers=given, content=f"token={kept.gate.token}".encode())
            assert sent.status_code == 403


@pytest.mark.parametrize("name", ["X-HTTP-Method-Override", "X-Method-Override", "X-HTTP-Method", "_method"])
def test_a_look_is_no_form_by_another_name(kept: Panel, name: str) -> None:
    for path in ("/sessions", f"{SESSION_PATH}/delete", "/runs/asks/cancel", "/settings"):
        kept.client.get(path, headers={name: "POST"}, params={name: "POST", "token": kept.gate.token})
    for method in ("PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND"):
        assert kept.client.request(method, f"{SESSION_PATH}/delete").status_code == 405


def test_to_look_changes_nothing(kept: Panel) -> None:
    before = dump(kept)
    plausible = {
        "at": "3", "id": "run", "n": "1", "seq": "1", "from": "1", "to": "2", "task": "What?", "all": "1", "after": "0",
        "base": "all", "root": "0", "path": "", "strategy": "auto", "outcome": "approved", "title": "x", "find": "failure",
        "token": kept.gate.token, "current": "x", "doc": "d1", "back": "1", "speed": "2", "named": "0", "saved": "1",
    }  # fmt: skip
    found = routes(kept, "GET")
    assert len(found) >= 20
    for route in set(found) - {"/live"}:
        for query, headers in (({}, PART), (plausible, {})):
            path = path_of(route, "asks" if query else "r0", kept.desk.shelf.documents(SESSION)[0].id)
            assert kept.client.get(path, params=query, headers=headers).status_code < 500
            assert kept.client.head(path, params=query).status_code < 500
    assert dump(kept) == before


def test_nothing_is_begun_where_nothing_is(panel: Panel) -> None:
    before = dump(panel)
    for _ in range(2):
        assert panel.client.get("/").status_code == 200
    assert dump(panel) == before
    assert panel.store.sessions() == []


def spoken(panel: Panel, head: str) -> tuple[int, bytes]:
    """The status and the whole of the answer to a request that no client would send."""
    with socket.create_connection(("127.0.0.1", panel.gate.port), timeout=20) as raw:
        try:
            raw.sendall(head.encode("latin-1"))
            answer = b"".join(iter(lambda: raw.recv(65536), b""))
        except ConnectionError:
            return 0, b""
    return int(answer.split()[1]), answer


@pytest.mark.parametrize("name", ATTACKS["host"]["refused"])
def test_by_another_name_there_is_nothing(kept: Panel, name: str) -> None:
    host = name.replace("{port}", str(kept.gate.port))
    cookie = (
        f"Cookie: {kept.gate.cookie_name}={kept.gate.cookie}\r\nX-Token: {kept.gate.token}\r\nConnection: close\r\n"
    )
    for target in ("GET /settings", "GET /static/panel.css", f"GET /open?key={kept.desk.secret}", "POST /sessions"):
        status, answer = spoken(kept, f"{target} HTTP/1.1\r\nHost: {host}\r\n{cookie}Content-Length: 0\r\n\r\n")
        assert status in (400, 421)
        assert b"set-cookie" not in answer.lower()


def test_odd_requests_are_refused(kept: Panel) -> None:
    host = f"Host: 127.0.0.1:{kept.gate.port}\r\n"
    cookie = f"Cookie: {kept.gate.cookie_name}={kept.gate.cookie}\r\nConnection: close\r\n"
    for target, headers, wanted in (
        ("GET http://evil.example/settings", host + cookie, (404,)),
        (f"GET http://127.0.0.1:{kept.gate.port}/settings", host + cookie, (200, 404)),
        ("GET /settings", f"Host: evil.example\r\n{host}{cookie}", (400, 421)),
        ("GET /settings", f"{host}Host: evil.example\r\n{cookie}", (400, 421)),
        ("GET /settings", cookie, (400, 421)),
        ("GET /settings", f"{host}{cookie}X: {'a' * 100_000}\r\n", (0, 200, 400, 431)),
        ("GET /settings", f"{host}{cookie}Cookie: {'a=b; ' * 20_000}\r\n", (0, 200, 400, 431)),
        (f"GET /{'a' * 100_000}", host + cookie, (0, 400, 404, 414)),
        ("GET /settings?\xff=\xff", host + cookie, (200, 400)),
        ("GET /settings", f"{host}{cookie}Cookie: orchestra-settings=\xff\xfe\r\n", (200, 400)),
        ("POST /sessions", f"{host}{cookie}X-Token: \xff\r\nContent-Length: 0\r\n", (400, 403)),
        ("POST /sessions", f"{host}{cookie}Origin: \xff\xfe\r\nContent-Length: 0\r\n", (400, 403)),
        ("POST /sessions", f"{host}{cookie}Content-Length: 0\r\nTransfer-Encoding: chunked\r\n", (400, 403)),
        ("CONNECT evil.example:1", host + cookie, (400, 403, 404, 405)),
        ("OPTIONS *", host + cookie, (400, 403, 404, 405)),
    ):
        assert spoken(kept, f"{target} HTTP/1.1\r\n{headers}\r\n")[0] in wanted, (target[:60], headers[:60])


def test_the_secret_stands_in_no_answer_and_in_no_log(
    attacked: tuple[Panel, list[str]], caplog: pytest.LogCaptureFixture
) -> None:
    panel, runs = attacked
    caplog.set_level(0)
    paths = [path_of(route, runs[0]) for route in routes(panel, "GET") if route != "/live"]
    for path in (*paths, f"/?key={panel.desk.secret}x", "/open?key=x", f"/nothing?{panel.gate.cookie}"):
        answer = panel.client.get(path, headers={"Referer": panel.link})
        assert panel.desk.secret not in answer.text
        assert panel.gate.cookie not in answer.text
        assert panel.gate.cookie not in str(answer.headers)
    entered = httpx.get(panel.link)
    assert panel.desk.secret not in entered.text + str(entered.headers)
    assert entered.headers["referrer-policy"] == "same-origin"
    for method in ("POST", "HEAD", "PUT"):
        refused = httpx.request(method, panel.link)
        assert (refused.status_code, "set-cookie" in refused.headers) == (403, False)
    assert not [each for each in caplog.messages if panel.desk.secret in each and "HTTP Request" not in each]
    assert panel.desk.secret not in repr(panel.gate.cookie + panel.gate.token)


# Ways out


@pytest.mark.parametrize("way", ATTACKS["path"]["texts"])
def test_no_path_leads_out(kept: Panel, way: str) -> None:
    for form in ({"root": "0", "path": way}, {"root": "-1", "path": way}, {"root": "1", "path": way}):
        answers = [
            kept.client.post(f"{SESSION_PATH}/documents/add", data=form, headers=PART),
            kept.client.get(f"{SESSION_PATH}/documents/browse", params=form),
            kept.client.get("/runs/r0/source", params={"doc": way, "from": "1", "to": "9"}),
        ]
        for answer in answers:
            assert answer.status_code < 500
            assert "the secret" not in answer.text
            assert "root:x:0" not in answer.text
        assert answers[0].status_code >= 400
    for quoted in (way, in_address(in_address(way))):
        path = "".join(
            each if each.isascii() and each.isprintable() and each not in " #?" else in_address(each) for each in quoted
        )
        for base in ("/static/", f"{SESSION_PATH}/documents/"):
            for end in ("", "/outline"):
                status, answer = spoken(
                    kept,
                    f"GET {base}{path}{end} HTTP/1.1\r\nHost: 127.0.0.1:{kept.gate.port}\r\nConnection: close\r\n"
                    f"Cookie: {kept.gate.cookie_name}={kept.gate.cookie}\r\n\r\n",
                )
                assert status in (303, 307, 400, 403, 404, 405), (base, path)
                assert b"the secret" not in answer
                assert b"root:x:0" not in answer


def test_a_file_that_becomes_a_link_is_not_followed(tmp_path: Path, start_panel: Any) -> None:
    (tmp_path / "docs" / "deep").mkdir(parents=True)
    (tmp_path / "secret.md").write_text("# The secret\n")
    for place in ("report.md", "deep/report.md"):
        (tmp_path / "docs" / place).write_text("# Report\n")
    policy = Policy.from_mapping({"allow": {"read": ["docs"]}}, folder=tmp_path, source="orchestra.toml")
    panel = start_panel(policy=policy)
    panel.store.begin_session("s")
    for place in ("report.md", "deep/report.md"):
        assert panel.client.post("/sessions/s/documents/add", data={"root": "0", "path": place}).status_code == 303
    (tmp_path / "docs" / "report.md").unlink()
    (tmp_path / "docs" / "report.md").symlink_to(tmp_path / "secret.md")
    os.rename(tmp_path / "docs" / "deep", tmp_path / "gone")
    (tmp_path / "docs" / "deep").symlink_to(tmp_path)
    (tmp_path / "report.md").write_text("# The secret\n")

    for document in panel.desk.shelf.documents("s"):
        answer = panel.client.get(f"/sessions/s/documents/{document.id}/outline")
        assert 400 <= answer.status_code < 500
        assert "The secret" not in answer.text
    refused = panel.client.post("/sessions/s/messages", data={"task": "What?", "model": "builtin:extractive"})
    assert 400 <= refused.status_code < 500
    assert panel.store.runs() == []
