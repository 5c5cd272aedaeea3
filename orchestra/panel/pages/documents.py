"""The documents of a session: sent by a browser, or from the folders that the policy allows; and their outlines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from orchestra.errors import OrchestraError
from orchestra.panel.app import status_of
from orchestra.panel.checked import read_form, read_query
from orchestra.panel.desk import Desk, desk_of
from orchestra.panel.ids import session_key
from orchestra.panel.pages.sessions import check_session
from orchestra.panel.rendering import is_part, render
from orchestra.panel.shelves.uploads import uploaded_files
from orchestra.panel.view.names import SUFFIXES
from orchestra.panel.view.outlines import MOST_KEPT, SHOWN_AT_ONCE, branches
from orchestra.panel.view.shelf_rows import browsed, shelf_rows
from orchestra.panel.view.visible import one_line

ENTRIES_AT_ONCE = 200
MOST_RUNS = 40  # of a session that are asked for what they were over
MOST_NAMED = 10
LONGEST_NAME = 100

_Root = Annotated[int, Field(ge=0, le=10_000)]
_Path = Annotated[str, Field(max_length=4_096)]


class _Add(BaseModel):
    """A file below a root, or the number of a document that was named on the command line."""

    root: _Root = 0
    path: _Path = ""
    named: _Root | None = None


class _Browsed(BaseModel):
    root: _Root = 0
    path: _Path = ""
    shown: Annotated[int, Field(ge=1, le=20_000)] = ENTRIES_AT_ONCE


class _Outlined(BaseModel):
    shown: Annotated[int, Field(ge=1, le=MOST_KEPT)] = SHOWN_AT_ONCE


def documents(request: Request) -> Response:
    check_session(desk_of(request), request.path_params["sid"])
    return _documents(request)


async def upload(request: Request) -> Response:
    """Keep what is sent. Of several files those that can be read are kept, and of the others is said why not."""
    session_id = request.path_params["sid"]
    await run_in_threadpool(check_session, desk_of(request), session_id)
    try:
        async with uploaded_files(request, desk_of(request).shelf.upload_limit) as files:
            return await run_in_threadpool(_keep, request, files)
    except OrchestraError as error:
        return await run_in_threadpool(_done, request, [error])


async def add(request: Request) -> Response:
    form = await read_form(request, _Add)
    return await run_in_threadpool(_add, request, form)


def remove(request: Request) -> Response:
    desk, session_id = desk_of(request), request.path_params["sid"]
    check_session(desk, session_id)
    try:
        desk.shelf.remove(session_id, request.path_params["did"])
    except OrchestraError as error:
        return _done(request, [error])
    return _done(request, [], is_removed=True)


def outline(request: Request) -> Response:
    """The headings of a document, the first `shown` of them."""
    desk, session_id, document_id = desk_of(request), request.path_params["sid"], request.path_params["did"]
    asked = read_query(request.query_params, _Outlined)
    check_session(desk, session_id)
    found = desk.shelf.outline(session_id, document_id)
    return _shown(
        request,
        "parts/outline.html",
        base=f"/sessions/{session_key(session_id)}/documents/{document_id}/outline",
        session_id=session_id,
        document_id=document_id,
        outline=found,
        branches=branches(found.headings[: asked.shown]),
        shown=min(asked.shown, len(found.headings)),
        more=min(asked.shown + SHOWN_AT_ONCE, MOST_KEPT) if asked.shown < len(found.headings) else 0,
    )


def browse(request: Request) -> Response:
    """A folder below a root."""
    session_id = request.path_params["sid"]
    check_session(desk_of(request), session_id)
    asked = read_query(request.query_params, _Browsed)
    has_moved = request.headers.get("hx-trigger", "").startswith(("browse-", "trail-", "root-"))
    return _shown(
        request, "parts/browser.html", **_base(request), browser=_browser(request, asked), has_moved=has_moved
    )


def _shown(request: Request, part: str, *, status: int = 200, **context: Any) -> Response:
    """A part where htmx asks, else a page around it."""
    return render(request, part if is_part(request) else "documents.html", status=status, part=part, **context)


def _keep(request: Request, files: list[UploadFile]) -> Response:
    shelf, session_id = desk_of(request).shelf, request.path_params["sid"]
    errors: list[OrchestraError] = []
    for file in files:
        try:
            shelf.upload(session_id, file.filename or "", file.file)
        except OrchestraError as error:
            errors.append(error)
    return _done(request, errors)


def _add(request: Request, form: _Add) -> Response:
    desk, session_id = desk_of(request), request.path_params["sid"]
    check_session(desk, session_id)
    errors: list[OrchestraError] = []
    try:
        if form.named is not None:
            desk.shelf.add_named(session_id, form.named)
        else:
            desk.shelf.add(session_id, form.root, form.path)
    except OrchestraError as error:
        errors.append(error)
    folder = None if form.named is not None or errors else _Browsed(root=form.root, path=_folder_of(form.path))
    return _done(request, errors, folder)


def _folder_of(path: str) -> str:
    return path.replace("\\", "/").rstrip("/").rpartition("/")[0]


def _done(
    request: Request, errors: list[OrchestraError], folder: _Browsed | None = None, *, is_removed: bool = False
) -> Response:
    """The documents as they are now; without htmx the page that they stand on, or the page of the first error."""
    if is_part(request):
        answer = _documents(request, errors, folder, is_removed=is_removed)
        answer.headers["HX-Trigger-After-Settle"] = "documents-changed"  # what depends on them asks anew
        return answer
    if errors:
        raise errors[0]
    return RedirectResponse(f"/sessions/{session_key(request.path_params['sid'])}", 303)


def _documents(
    request: Request,
    errors: list[OrchestraError] | None = None,
    folder: _Browsed | None = None,
    *,
    is_removed: bool = False,
) -> Response:
    desk, session_id = desk_of(request), request.path_params["sid"]
    known = desk.shelf.documents(session_id)
    return _shown(
        request,
        "parts/documents.html",
        status=status_of(errors[0]) if errors else 200,
        **_base(request),
        documents=shelf_rows(known),
        earlier=_read_by_earlier_runs(desk, session_id, [document.name for document in known]),
        named=[(number, path.name) for number, path in desk.shelf.named_beside(session_id)],
        has_roots=bool(desk.shelf.roots.folders),
        browser=_browser(request, folder) if folder else None,
        accepted=",".join(SUFFIXES),
        limit=desk.shelf.upload_limit,
        errors=errors or [],
        is_removed=is_removed,
        has_moved=False,
    )


def _read_by_earlier_runs(desk: Desk, session_id: str, known: Sequence[str]) -> list[str]:
    """Names of documents that runs of the session were over and that it does not have here: others began those runs."""
    runs = desk.store.runs(session_id=session_id, limit=MOST_RUNS)
    names = dict.fromkeys(name for run in reversed(runs) for name in run.documents)
    return [one_line(name, LONGEST_NAME) for name in names if name not in known][:MOST_NAMED]


def _base(request: Request) -> dict[str, Any]:
    session_id = request.path_params["sid"]
    return {"session_id": session_id, "base": f"/sessions/{session_key(session_id)}"}


def _browser(request: Request, asked: _Browsed) -> object:
    shelf, session_id = desk_of(request).shelf, request.path_params["sid"]
    added = {document.place for document in shelf.documents(session_id) if document.place is not None}
    listing = shelf.roots.listing(asked.root, asked.path)
    return browsed(listing, shelf.roots.folders, added, shown=asked.shown, at_once=ENTRIES_AT_ONCE)


routes: list[BaseRoute] = [
    Route("/sessions/{sid:session}/documents", documents, methods=["GET"]),
    Route("/sessions/{sid:session}/documents", upload, methods=["POST"]),
    Route("/sessions/{sid:session}/documents/add", add, methods=["POST"]),
    Route("/sessions/{sid:session}/documents/browse", browse),
    Route("/sessions/{sid:session}/documents/{did}/remove", remove, methods=["POST"]),
    Route("/sessions/{sid:session}/documents/{did}/outline", outline),
]
