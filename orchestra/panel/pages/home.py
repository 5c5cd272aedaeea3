"""The page itself: sessions, chat and panel, each of which asks for its own content."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from orchestra.errors import RunNotFound
from orchestra.panel.checked import read_query
from orchestra.panel.desk import Desk, desk_of
from orchestra.panel.ids import session_key
from orchestra.panel.live.feed import mark_of
from orchestra.panel.rendering import render, segment
from orchestra.panel.view.graph_query import Moment
from orchestra.panel.view.pacing import SPEEDS
from orchestra.panel.view.preferences import COOKIE, read_preferences
from orchestra.store import RunRecord

TABS = {"overview": "Overview", "graph": "Call Graph", "permissions": "Permissions", "logs": "Logs"}


def home(request: Request) -> Response:
    """The newest session; without any a page that begins one, by a form: to look changes nothing."""
    known = desk_of(request).store.sessions()
    if not known:
        return render(request, "begin.html")
    return RedirectResponse(f"/sessions/{session_key(known[0].id)}", 303)


def session(request: Request) -> Response:
    """A session, and beside it one of its runs: the newest, if none is named."""
    desk, session_id = desk_of(request), request.path_params["sid"]
    if all(each.id != session_id for each in desk.store.sessions()):
        raise RunNotFound("there is no such session")
    return _page(request, session_id, _run_of(desk, session_id, request.query_params.get("run", "")))


def run(request: Request) -> Response:
    """A run that belongs to no session; one that does is shown in it."""
    store = desk_of(request).store
    found = store.run(request.path_params["rid"])
    if found is None:
        raise RunNotFound("there is no such run")
    if found.session_id:
        chosen = "&".join((f"run={segment(found.id)}", request.url.query)).rstrip("&")
        return RedirectResponse(f"/sessions/{session_key(found.session_id)}?{chosen}", 303)
    return _page(request, "", found)


def _run_of(desk: Desk, session_id: str, run_id: str) -> RunRecord | None:
    if not run_id:
        newest = desk.store.runs(session_id=session_id, limit=1)
        return desk.store.run(newest[0].id) if newest else None
    found = desk.store.run(run_id)
    if found is None or found.session_id != session_id:
        raise RunNotFound("this session has no such run")
    return found


def _page(request: Request, session_id: str, found: RunRecord | None) -> Response:
    tab = request.query_params.get("tab", "")
    tab = tab if tab in TABS else "overview"
    node = request.query_params.get("node", "")
    last = desk_of(request).store.last_sequence(found.id) if found else 0
    return render(
        request,
        "home.html",
        session_id=session_id,
        run=found,
        tab=tab,
        tabs=TABS,
        node=node,
        last=last,
        at=_replayed_at(request, found, last),
        speeds=SPEEDS,
        list_mark=mark_of(desk_of(request).store),
        is_panel_kept=read_preferences(request.cookies.get(COOKIE)).is_panel_kept,
        is_advanced=tab == "logs" or request.cookies.get("orchestra-advanced") == "1",
    )


def _replayed_at(request: Request, found: RunRecord | None, last: int) -> int | None:
    """The place of a replay that the address names, in a run that can be played again."""
    at = read_query(request.query_params, Moment).at
    return None if at is None or found is None or found.status == "running" else min(at, last)


routes: list[BaseRoute] = [
    Route("/", home),
    Route("/sessions/{sid:session}", session),
    Route("/runs/{rid}", run),
]
