"""The raw events of a run: filtered, searched, exported, and played again."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Annotated, Any

from pydantic import BaseModel, Field
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from orchestra.errors import InputInvalid, RunNotFound
from orchestra.panel.checked import read_query
from orchestra.panel.desk import Desk, desk_of
from orchestra.panel.rendering import render
from orchestra.panel.view.addresses import in_address
from orchestra.panel.view.logs import PAGE, TYPES, LogQuery, as_shown, chosen, file_name, page_of, row_of
from orchestra.panel.view.pacing import SPEEDS, frames
from orchestra.panel.view.statuses import status_shown
from orchestra.panel.view.visible import one_line
from orchestra.runtime.node import Status
from orchestra.store import RunRecord

SEARCH_S = 2.0  # after which a search shows what it has found, and offers to go on
MOST_FRAMES = 300  # of a replay, fetched at a time
_LOOK_BACK = 200  # events read at a time on the way back


class _Event(BaseModel):
    seq: Annotated[int, Field(ge=1, le=2**31 - 1)]


class _Play(BaseModel):
    """A replay goes on behind the event `after`, `speed` times as fast as the run was."""

    after: Annotated[int, Field(ge=0, le=2**31 - 1)] = 0
    speed: Annotated[float, Field(ge=0.5, le=50)] = 1.0


class _Step(BaseModel):
    """From the event `at` to the one before it or behind it."""

    at: Annotated[int, Field(ge=0, le=2**31 - 1)]
    back: bool = False


def logs(request: Request) -> Response:
    """A page of events, with the choices of what is shown."""
    desk, run = _desk_and_run(request)
    query = read_query(request.query_params, LogQuery)
    found = page_of(_events(desk, run.id, query), query, _began_at(desk, run.id), limit_s=SEARCH_S)
    last = desk.store.last_sequence(run.id)
    return render(
        request,
        "parts/logs.html",
        run=run,
        query=query,
        page=found,
        last=last,
        latest=max(0, last - PAGE),
        address=_address(query),
        types=TYPES,
        statuses=tuple(status.value for status in Status),
        in_address=in_address,
        shown=status_shown,
        words=one_line,
    )


def event(request: Request) -> Response:
    """The whole of one event."""
    desk, run = _desk_and_run(request)
    sequence = read_query(request.query_params, _Event).seq
    found = next(iter(desk.store.events(run.id, sequence - 1, 1)), None)
    if found is None or found["sequence"] != sequence:
        raise InputInvalid(f"run {run.id} has no event {sequence}")
    return render(request, "parts/event.html", run=run, sequence=sequence, text=as_shown(found))


def export(request: Request) -> Response:
    """All events that are asked for, a line of JSON each, as a file."""
    desk, run = _desk_and_run(request)
    query = read_query(request.query_params, LogQuery)

    def lines() -> Iterator[str]:
        for each in chosen(_events(desk, run.id, query), query):
            yield f"{json.dumps(each)}\n"

    headers = {"Content-Disposition": f'attachment; filename="{file_name(run.id)}"'}
    return StreamingResponse(lines(), media_type="application/jsonl", headers=headers)


def player(request: Request) -> Response:
    """The controls of a replay."""
    desk, run = _desk_and_run(request)
    last = desk.store.last_sequence(run.id)
    return render(request, "parts/player.html", run=run, last=last, speeds=SPEEDS, at=None)


def replay(request: Request) -> Response:
    """`{"frames": [[milliseconds to wait, sequence], ...], "is_all": ...}`: the next pictures of a replay."""
    desk, run = _desk_and_run(request)
    play = read_query(request.query_params, _Play)
    found = list(islice(frames(desk.store.events(run.id, play.after), play.speed), MOST_FRAMES + 1))
    told = [[frame.wait_ms, frame.at] for frame in found[:MOST_FRAMES]]
    return JSONResponse({"frames": told, "is_all": len(found) <= MOST_FRAMES})


def step(request: Request) -> Response:
    """`{"at": sequence, "says": what happened there}`: the event before or behind another one, or the same again."""
    desk, run = _desk_and_run(request)
    asked = read_query(request.query_params, _Step)
    found = _before(desk, run.id, asked.at) if asked.back else next(iter(desk.store.events(run.id, asked.at, 1)), None)
    if found is None:
        return JSONResponse({"at": asked.at, "says": ""})
    row = row_of(found, None)
    return JSONResponse({"at": row.sequence, "says": one_line(f"{row.type} {row.node_id} {row.status}", 120)})


def _events(desk: Desk, run_id: str, query: LogQuery) -> Iterator[Mapping[str, Any]]:
    """Those behind `query.after`; of a type that is asked for, only those."""
    if query.type:
        return desk.store.events_of_types(run_id, [query.type], query.after)
    return desk.store.events(run_id, query.after)


def _before(desk: Desk, run_id: str, sequence: int) -> Any:
    start = sequence - 1
    while start > 0:
        end, start = start, max(0, start - _LOOK_BACK)
        found = [each for each in desk.store.events(run_id, start, end - start) if each["sequence"] <= end]
        if found:
            return found[-1]
    return None


def _began_at(desk: Desk, run_id: str) -> float | None:
    first = next(iter(desk.store.events(run_id, 0, 1)), {})
    at = first.get("at")
    return at if isinstance(at, int | float) else None


def _address(query: LogQuery) -> str:
    """The filters as they stand in an address; empty, or `&` and more."""
    given = {"type": query.type, "of": query.of, "status": query.status, "q": query.q, "at": query.at}
    return "".join(f"&{name}={in_address(str(value))}" for name, value in given.items() if value not in ("", None))


def _desk_and_run(request: Request) -> tuple[Desk, RunRecord]:
    desk = desk_of(request)
    run = desk.store.run(request.path_params["rid"])
    if run is None:
        raise RunNotFound("there is no such run")
    return desk, run


routes: list[BaseRoute] = [
    Route("/runs/{rid}/logs", logs),
    Route("/runs/{rid}/event", event),
    Route("/runs/{rid}/events.jsonl", export),
    Route("/runs/{rid}/player", player),
    Route("/runs/{rid}/replay", replay),
    Route("/runs/{rid}/step", step),
]
