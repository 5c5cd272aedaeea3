"""What goes on, as server-sent events."""

from __future__ import annotations

from sse_starlette import EventSourceResponse
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from orchestra.errors import RunNotFound
from orchestra.panel.desk import Desk, desk_of
from orchestra.panel.view.messages import position

HEARTBEAT_S = 10


async def live(request: Request) -> Response:
    """One stream for a tab: of the run `run` behind the last message that it got, and of the list of runs.

    `shown` and `list` say how the run and the list stood when the page was made: as long as they do, nothing is told.
    """
    query, desk = request.query_params, desk_of(request)
    run_id = query.get("run", "")
    after = position(run_id, query.get("after"), request.headers.get("last-event-id"))
    if run_id:
        await run_in_threadpool(_check, desk, run_id, query.get("session"))
    sent = desk.feeds.stream(run_id, after, shown=query.get("shown", ""), mark=query.get("list", ""))
    return EventSourceResponse(sent, ping=HEARTBEAT_S)


def _check(desk: Desk, run_id: str, session_id: str | None) -> None:
    run = desk.store.run(run_id)
    if run is None or (session_id is not None and run.session_id != session_id):
        raise RunNotFound(f"run {run_id[:100]!r} is not in the store")


routes = [Route("/live", live, methods=["GET"])]
