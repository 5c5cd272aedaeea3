"""A run at a glance: `/runs/RUN/overview`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from orchestra.panel.checked import read_query
from orchestra.panel.desk import Desk, desk_of
from orchestra.panel.pages.standing import is_worked_on
from orchestra.panel.rendering import render
from orchestra.panel.view.addresses import in_address
from orchestra.panel.view.gantt import gantt_of
from orchestra.panel.view.graph_query import Moment
from orchestra.panel.view.overview import overview_of, result_of
from orchestra.panel.view.remarks import Remarks, RunRemarks
from orchestra.panel.view.statuses import StatusShown, Tone, status_left, status_shown
from orchestra.panel.view.turns import SIGNS, state_of
from orchestra.panel.view.visible import one_line
from orchestra.store import RunRecord, Store

_TONES: Mapping[str, Tone] = {
    "running": "live",
    "interrupted": "warn",
    "waiting": "warn",
    "answered": "warn",
    "completed": "good",
    "partial": "warn",
    "failed": "bad",
    "cancelled": "quiet",
}


class OverviewQuery(Moment):
    """`part` is "rows" for what is in the part alone."""

    part: Literal["", "rows"] = ""


def overview(request: Request) -> Response:
    """The whole part; what is in it alone where `part=rows` asks for that, as of the event `at` if it is given."""
    run_id, query = request.path_params["rid"], read_query(request.query_params, OverviewQuery)
    is_at_rest = query.at is None and not is_worked_on(desk_of(request), run_id)
    run, forest = desk_of(request).forests.forest(run_id, query.at)
    result = result_of(run) if query.at is None else None
    remarks = _remarks(desk_of(request), run_id, query.at) if result is None else Remarks()
    is_under_way = run.status == "running" or query.at is not None
    context: dict[str, Any] = {
        "run": run,
        "at": query.at,
        "overview": overview_of(run, forest, result, remarks),
        "gantt": gantt_of(forest, remarks.latest_at if is_under_way else None),
        "is_at_rest": is_at_rest,
        "state": _state(request, run, is_held=not is_at_rest)
        if query.at is None
        else StatusShown("▸", "As it was", "live"),
        "models": _models(run),
        "shown": status_left if is_at_rest else status_shown,
        "words": one_line,
        "in_address": in_address,
    }
    return render(request, "parts/overview_body.html" if query.part else "parts/overview.html", **context)


def _remarks(desk: Desk, run_id: str, at: int | None) -> Remarks:
    """What the events have told by now, or by the event `at`."""
    if at is None:
        return desk.remarks.look(run_id, RunRemarks.remarks)
    return desk.feeds.replays.remarks(run_id, at, _moment(desk.store, run_id, at))


def _moment(store: Store, run_id: str, at: int) -> float | None:
    """When an event was heard, in unix seconds."""
    event = next(store.events(run_id, after=max(0, at - 1), limit=1), {})
    moment = event.get("at")
    return float(moment) if isinstance(moment, int | float) else None


def _state(request: Request, run: RunRecord, *, is_held: bool) -> StatusShown:
    """How the run stands, in the words of the chat."""
    has_questions = run.status == "waiting" and bool(desk_of(request).store.approvals(run.id, "open"))
    state = state_of(run, is_held=is_held, has_questions=has_questions)
    sign, word = SIGNS[state]
    return StatusShown(sign, word.capitalize(), _TONES[state])


def _models(run: RunRecord) -> list[tuple[str, list[str]]]:
    """Each model, and the phases that ask it."""
    found: dict[str, list[str]] = {}
    for phase, name in run.models.items():
        found.setdefault(str(name), []).append(one_line(phase, 30))
    return list(found.items())


routes: list[BaseRoute] = [Route("/runs/{rid}/overview", overview)]
