"""The list of sessions at the side: begin, rename and remove them; and the runs that belong to none."""

from __future__ import annotations

import re
import secrets
from typing import Annotated
from urllib.parse import unquote

from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from orchestra.errors import OrchestraError, RunBusy, RunNotFound
from orchestra.panel.app import status_of
from orchestra.panel.checked import read_form, read_query
from orchestra.panel.desk import Desk, desk_of
from orchestra.panel.ids import session_key
from orchestra.panel.rendering import is_part, render
from orchestra.panel.view.session_list import LONGEST_TITLE, RUNS_AT_ONCE, checked_title, run_rows, session_row

SESSIONS_AT_ONCE = 100
_Id = Annotated[str, Field(max_length=4_096)]
_RUN_PAGE = re.compile(r"https?://[^/]+/runs/([^/?#]+)")


class _Asked(BaseModel):
    """How much of the list is shown, and which session is open."""

    current: _Id = ""
    sessions: Annotated[int, Field(ge=1, le=100_000)] = SESSIONS_AT_ONCE
    runs: Annotated[int, Field(ge=1, le=10_000)] = RUNS_AT_ONCE


class _Rename(BaseModel):
    title: str
    current: _Id = ""


class _Delete(BaseModel):
    current: _Id = ""


def listing(request: Request) -> Response:
    return _listing(request, read_query(request.query_params, _Asked))


def new(request: Request) -> Response:
    """Begin a session, with the documents that were named when the panel was started."""
    desk, session_id = desk_of(request), secrets.token_hex(16)
    desk.store.begin_session(session_id)
    desk.shelf.begin(session_id)
    return RedirectResponse(f"/sessions/{session_key(session_id)}", 303)


async def rename(request: Request) -> Response:
    form = await read_form(request, _Rename)
    return await run_in_threadpool(_rename, request, form)


async def delete(request: Request) -> Response:
    form = await read_form(request, _Delete)
    return await run_in_threadpool(_delete, request, form)


def _rename(request: Request, form: _Rename) -> Response:
    session_id = request.path_params["sid"]
    try:
        if not desk_of(request).store.rename_session(session_id, checked_title(form.title)):
            raise no_session()
    except OrchestraError as error:
        return _failed(request, form.current, error)
    if not is_part(request):
        return RedirectResponse(f"/sessions/{session_key(session_id)}", 303)
    answer = _listing(request, _Asked(current=form.current), renamed=session_id)
    answer.headers["HX-Reswap"] = "innerHTML"  # the form closes, and the name is in focus
    return answer


def _delete(request: Request, form: _Delete) -> Response:
    session_id = request.path_params["sid"]
    try:
        _remove(desk_of(request), session_id)
    except OrchestraError as error:
        return _failed(request, form.current, error)
    is_open = form.current in ("", session_id)
    if not is_part(request):
        return RedirectResponse("/" if is_open else f"/sessions/{session_key(form.current)}", 303)
    if form.current == session_id:
        return Response(status_code=204, headers={"HX-Redirect": "/"})
    answer = _listing(request, _Asked(current=form.current), removed=True)
    answer.headers["HX-Reswap"] = "innerHTML"
    return answer


def _remove(desk: Desk, session_id: str) -> None:
    """A session with its runs, and what was uploaded to it. Raises `RunBusy` while one of them is under way."""
    under_way = [run.id for run in desk.store.runs(session_id=session_id) if desk.runner.is_running(run.id)]
    try:
        if under_way:
            raise RunBusy("a run of the session is under way")
        if not desk.store.remove_session(session_id):
            raise no_session()
    except RunBusy as error:
        raise RunBusy(
            "the session is not removed",
            cause="a run in it is under way",
            suggestion="Cancel the run, or wait until it has ended, and remove the session then.",
        ) from error
    desk.shelf.remove_session(session_id)


def no_session() -> RunNotFound:
    return RunNotFound("there is no such session", suggestion="It may have been removed: choose one from the list.")


def check_session(desk: Desk, session_id: str) -> None:
    """`RunNotFound` unless the store has this session."""
    if all(each.id != session_id for each in desk.store.sessions()):
        raise no_session()


def _failed(request: Request, current: str, error: OrchestraError) -> Response:
    if not is_part(request):
        raise error
    return _listing(request, _Asked(current=current), error=error)


def _listing(
    request: Request,
    asked: _Asked,
    *,
    error: OrchestraError | None = None,
    renamed: str = "",
    removed: bool = False,
) -> Response:
    store = desk_of(request).store
    known = store.sessions()
    runs = store.runs(session_id="", limit=asked.runs + 1)
    return render(
        request,
        "parts/sessions.html" if is_part(request) else "sessions.html",
        status=200 if error is None else status_of(error),
        sessions=[session_row(each) for each in known[: asked.sessions]],
        more_sessions=asked.sessions + SESSIONS_AT_ONCE if len(known) > asked.sessions else 0,
        runs=run_rows(runs[: asked.runs]),
        more_runs=asked.runs + RUNS_AT_ONCE if len(runs) > asked.runs else 0,
        asked=asked,
        current_run=_current_run(request),
        longest_title=LONGEST_TITLE,
        error=error,
        renamed=renamed,
        removed=removed,
    )


def _current_run(request: Request) -> str:
    """The run whose page asks."""
    found = _RUN_PAGE.match(request.headers.get("hx-current-url", ""))
    return unquote(found[1]) if found else ""


routes: list[BaseRoute] = [
    Route("/parts/sessions", listing),
    Route("/sessions", new, methods=["POST"]),
    Route("/sessions/{sid:session}/rename", rename, methods=["POST"]),
    Route("/sessions/{sid:session}/delete", delete, methods=["POST"]),
]
