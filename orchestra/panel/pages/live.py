"""What goes on, as server-sent events."""

from __future__ import annotations

from collections.abc import AsyncIterator

from sse_starlette import EventSourceResponse
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from orchestra.errors import PanelBusy, RunNotFound
from orchestra.panel.desk import Desk, desk_of
from orchestra.panel.live.feed import Feeds
from orchestra.panel.view.messages import position

HEARTBEAT_S = 10
MOST_STREAMS = 200  # at once, of all who watch


async def live(request: Request) -> Response:
    """One stream for a tab: of the run `run` behind the last message that it got, and of the list of runs.

    `shown` and `list` say how the run and the list stood when the page was made: as long as they do, nothing is told.
    """
    query, desk = request.query_params, desk_of(request)
    run_id = query.get("run", "")
    after = position(run_id, query.get("after"), request.headers.get("last-event-id"))
    if run_id:
        await run_in_threadpool(_check, desk, run_id, query.get("session"))
    if desk.feeds.open_streams >= MOST_STREAMS:
        raise PanelBusy("this page gets no stream", cause=f"{MOST_STREAMS} of them are open")
    sent = desk.feeds.stream(run_id, after, shown=query.get("shown", ""), mark=query.get("list", ""))
    return _Stream(desk.feeds, sent)


class _Stream(EventSourceResponse):
    """Counts as open from the moment on that it is answered with."""

    def __init__(self, feeds: Feeds, sent: AsyncIterator[bytes]) -> None:
        super().__init__(sent, ping=HEARTBEAT_S)
        self._feeds = feeds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._feeds.one_more_stream():
            await super().__call__(scope, receive, send)


def _check(desk: Desk, run_id: str, session_id: str | None) -> None:
    run = desk.store.run(run_id)
    if run is None or (session_id is not None and run.session_id != session_id):
        raise RunNotFound(f"run {run_id[:100]!r} is not in the store")


routes = [Route("/live", live, methods=["GET"])]
