"""A run is ended, or taken up again."""

from __future__ import annotations

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from orchestra.errors import InputInvalid, RunBusy, RunNotFound
from orchestra.panel.desk import Desk, desk_of
from orchestra.panel.rendering import is_part
from orchestra.panel.view.turns import page_of
from orchestra.store import RunRecord


async def cancel(request: Request) -> Response:
    """End a run that this panel started, or that nobody works on; what it has finished stays."""
    record = await run_in_threadpool(_cancelled, desk_of(request), request.path_params["rid"])
    if is_part(request):
        return Response(status_code=204, headers={"HX-Trigger": "run-changed"})
    return RedirectResponse(page_of(record.id, record.session_id), 303)


async def resume(request: Request) -> Response:
    """Go on with a run that was interrupted, ended, or has failed in part."""
    record = await run_in_threadpool(_resumed, desk_of(request), request.path_params["rid"])
    page = page_of(record.id, record.session_id)
    return Response(headers={"HX-Redirect": page}) if is_part(request) else RedirectResponse(page, 303)


def _cancelled(desk: Desk, run_id: str) -> RunRecord:
    record = _record(desk, run_id)
    if desk.runner.cancel(run_id) or record.status not in ("running", "waiting"):
        return record
    try:
        desk.runner.give_up(run_id)
    except RunBusy:
        raise InputInvalid(
            "this run is not ended", cause="another process works on it", suggestion="End it where it was started."
        ) from None
    return record


def _resumed(desk: Desk, run_id: str) -> RunRecord:
    record = _record(desk, run_id)
    desk.runner.resume(run_id)
    return record


def _record(desk: Desk, run_id: str) -> RunRecord:
    record = desk.store.run(run_id)
    if record is None:
        raise RunNotFound("there is no such run")
    return record


routes: list[BaseRoute] = [
    Route("/runs/{rid}/cancel", cancel, methods=["POST"]),
    Route("/runs/{rid}/resume", resume, methods=["POST"]),
]
